"""Small neural networks of Values, like micrograd's: same classes, same weights from the same seed, same repr.

The activations of `gradwalk.math` are also attributes of this module, under their names in `jax.nn`. `gelu` has the
argument `approximate` of `jax.nn.gelu`.
"""

from __future__ import annotations

import importlib
import random
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence, Set, ValuesView
from functools import partial
from types import FunctionType, MemberDescriptorType, MethodType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base.locks import process_lock
from gradwalk.functions.reductions import sumprod
from gradwalk.value.value import Value

if not TYPE_CHECKING and cython.compiled:
    import cython

if TYPE_CHECKING:  # the default of a TypeVar needs Python 3.13; type checkers take it from typing_extensions
    from typing_extensions import TypeVar

    Parameter = TypeVar("Parameter", default=Value)
else:
    from typing import TypeVar

    Parameter = TypeVar("Parameter")

__all__ = ["MLP", "Layer", "Module", "Neuron"]

Activation = Callable[[Value], Value]

# Functions of `gradwalk.math` that are also attributes of this module, under their names in `jax.nn`.
_OF_MATH = frozenset(
    [
        "celu",
        "elu",
        "glu",
        "hard_sigmoid",
        "hard_silu",
        "hard_swish",
        "hard_tanh",
        "leaky_relu",
        "log1mexp",
        "log_sigmoid",
        "log_softmax",
        "logmeanexp",
        "logsumexp",
        "mish",
        "one_hot",
        "relu",
        "relu6",
        "selu",
        "sigmoid",
        "silu",
        "soft_sign",
        "softmax",
        "softplus",
        "sparse_plus",
        "sparse_sigmoid",
        "squareplus",
        "standardize",
        "swish",
        "tanh",
    ]
)


def __getattr__(name: str) -> Any:
    """Import a function of `jax.nn` at its first use."""
    if name == "gelu":
        return importlib.import_module("gradwalk.functions.activations").gelu
    if name in _OF_MATH:
        return getattr(importlib.import_module("gradwalk.math"), name)
    jax_names = importlib.import_module("gradwalk.base.jax_names")
    raise jax_names.missing(__name__, name, jax_names.NN)


@cython.cclass
class Number(float):
    """A parameter in a Module that a transform returned, such as a gradient."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return type(self), (float(self),)


class Numbers(numpy.ndarray):
    """A parameter in a Module that a transform returned: an array with one number per result or sample."""


PENDING = " pending"  # key in the dict of a Module that is not materialized yet; the value creates the attributes
_looking = process_lock()  # held while a Module is materialized


class Module(Generic[Parameter]):
    """A part of a network, with parameters in its attributes: Values, Modules, or containers of Values and Modules.

    Containers are lists, tuples, dicts and arrays. Attributes may be in `__slots__`. Values in other places cannot be
    parameters: in sets or other collections, in objects that are not Modules, or in arguments of partial functions. For
    such Values, `parameters()` and the transforms raise `TypeError`. The transforms also raise `TypeError` if an
    attribute is a bound method of a Module.

    Transforms such as `grad`, `jit` and `vmap` treat a Module argument as a tree whose leaves are its parameters. A
    result of the same structure, such as a gradient, is a Module whose parameters are numbers. All other attributes,
    such as the activation, are part of the structure: if one of them changes, `jit` records the function again.

    For type checkers, Module is generic in the type of its parameters, which is Value by default. A gradient has the
    same class as the Module argument, but its parameters are numbers. Transforms therefore declare the gradient's type
    as `Any`. Annotate a gradient as `Module[Number]`, or as `Module[Numbers]` if each parameter has a number for each
    of several results or samples.

    Example:
        >>> from gradwalk import grad
        >>> neuron = Neuron(2, nonlin=False)
        >>> gradient: Module[Number] = grad(lambda neuron, x: neuron(x))(neuron, [3.0, 4.0])
        >>> gradient, gradient.parameters()
        (LinearNeuron(2), [3.0, 4.0, 1.0])
        >>> for p, g in zip(neuron.parameters(), gradient.parameters()):
        ...     p.data -= 0.1 * g
    """

    # Most code reads only the numbers of a gradient and none of its attributes. So a Module that a transform returned
    # may at first have only the attribute PENDING, which creates the other attributes at the first access (see
    # trees/fast/module_form.py). Users may set attributes before this access.

    def _repr_html_(self) -> str | None:
        """Return HTML for notebooks: the parameters and their gradients as matrices. None if there are many."""
        found: str | None = importlib.import_module("gradwalk.explain.page.value_html").module_html(self)
        return found

    def __delattr__(self, name: str) -> None:
        materialize(self)
        super().__delattr__(name)

    def __getstate__(self) -> Any:
        materialize(self)
        return super().__getstate__()

    def zero_grad(self: Module[Value]) -> None:
        """Set the gradient of every parameter to zero."""
        for parameter in self.parameters():
            parameter.grad = 0.0

    def parameters(self) -> list[Parameter]:
        """Return all parameters, in the order of `named_parameters`.

        Raises:
            TypeError: If a set, or another object that is not a container, holds a Value that is not a parameter
                elsewhere in the Module.
        """
        pending = attributes_of(self).get(PENDING)
        return pending.parameters() if pending else [parameter for _, parameter in self.named_parameters()]

    def label_parameters(self: Module[Value]) -> None:
        """Label every parameter with its path; drawings and checks show these labels.

        Neurons, layers and MLPs call this method when they are created. Other modules can call it at the end of their
        `__init__`.
        """
        for path, parameter in self.named_parameters():
            parameter.label = path

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with their paths, in the order of the attributes, each parameter once.

        Parameters are leaf Values, not results of operations. In a Module that a transform returned, such as a
        gradient, the parameters are the numbers or computed Values in the positions of the original parameters.

        Attributes in `__slots__` come before other attributes, and slots of base classes before slots of derived
        classes.

        Yields:
            Pairs of a path, such as `"layers.0.neurons.2.w.1"`, and the parameter with this path.

        Raises:
            TypeError: If a set, or another object that is not a container, holds a Value that is not a parameter
                elsewhere in the Module.
        """
        seen: set[int] = set()
        collections: list[tuple[str, object]] = []
        for path, item in _parts(self):
            if isinstance(item, (Value, Number, Numbers)):
                if id(item) not in seen and not (isinstance(item, Value) and item.operands and not is_marked(item)):
                    seen.add(id(item))
                    yield path, item  # type: ignore[misc]  # the type of parameters is not known here
            elif is_other_collection(type(item)):
                collections.append((path, item))
        for path, item in collections:
            if any(id(value) not in seen and not value.operands for value in values_within(item)):
                raise refusal(type(self), path, item)


_MARK = "_gradwalk_parameter"


def mark(value: Any) -> None:
    """Mark a computed Value as a parameter of a Module that a transform returns."""
    setattr(value, _MARK, True)


def is_marked(value: Value) -> bool:
    """Return whether a Value is a parameter of a Module that a transform returned."""
    return getattr(value, _MARK, False) is True


def refusal(cls: type, path: str, collection: object) -> TypeError:
    """Return the error for Values in a collection that cannot hold parameters; `path` leads from the Module to it."""
    return TypeError(
        f"the Values in {cls.__name__}.{path} cannot be parameters, because it is a {type(collection).__name__}: "
        "keep them in a list, tuple, dict or array, or in a Module"
    )


def other_collections(module: Module[Any]) -> Iterator[tuple[str, object]]:
    """Iterate over (path, collection) for all collections in a Module in which parameters are not allowed."""
    return ((path, item) for path, item in _parts(module) if is_other_collection(type(item)))


def _parts(module: Module[Any]) -> Iterator[tuple[str, object]]:
    """Iterate over (path, object) for all objects at any depth in a Module, except nonempty Modules and containers."""
    seen: set[int] = set()
    pending: list[tuple[str, object]] = [("", module)]
    while pending:
        path, item = pending.pop()
        if isinstance(item, Value):
            yield path, item
        elif id(item) not in seen:
            children = _children(item)
            if children:
                seen.add(id(item))
                prefix = f"{path}." if path else ""
                pending.extend((f"{prefix}{name}", child) for name, child in reversed(children))
            else:
                yield path, item


_WITHOUT_VALUES = (str, bytes, bytearray, memoryview, range, array)
_PLAIN = (*_WITHOUT_VALUES, list, tuple, dict)
_COMMON = frozenset([type(None), bool, int, float, str, FunctionType, type])  # classes that never hold parameters
_ITERATED = (Set, Sequence, ValuesView)
_LIBRARIES = sys.stdlib_module_names | {"gradwalk"}  # objects of their classes never hold the user's parameters


def is_other_collection(cls: Any) -> bool:
    """Return whether instances of a class may hold Values that cannot be parameters of a Module.

    Such instances are collections, bound methods, partial functions, and objects with attributes. `cls` must not be the
    class of a Module or container.
    """
    if cls in _COMMON or issubclass(cls, _PLAIN):
        return False
    if issubclass(cls, (*_ITERATED, Mapping, SimpleNamespace, MethodType, partial)):
        return True
    is_plain = issubclass(cls, type) or hasattr(cls, "__code__") or str(cls.__module__).partition(".")[0] in _LIBRARIES
    return not is_plain and (cls.__dictoffset__ != 0 or bool(_slots(cls)))


def values_within(collection: object) -> Iterator[Value]:
    """Iterate over all Values in a collection or other object, at any depth."""
    seen: dict[int, object] = {}  # keeps the objects alive, so that ids are not reused
    pending: list[object] = [collection]
    while pending:
        item = pending.pop()
        if isinstance(item, Value):
            yield item
        elif id(item) not in seen and type(item) not in _COMMON:
            seen[id(item)] = item
            pending.extend(_contents(item))


def _contents(item: Any) -> list[Any]:
    """Return the items of a collection, or the attributes of an object."""
    if isinstance(item, Module):
        return [child for _, child in _children(item)]
    if isinstance(item, Mapping):
        return [*item.values()]
    if isinstance(item, numpy.ndarray):
        return item.ravel().tolist() if item.dtype == object else []
    if isinstance(item, (list, tuple, *_ITERATED)):
        return [] if isinstance(item, _WITHOUT_VALUES) else [*item]
    if isinstance(item, MethodType):
        return [item.__self__]
    if isinstance(item, partial):
        return [item.func, *item.args, *item.keywords.values()]
    if not is_other_collection(type(item)):
        return []
    slots = [getattr(item, name, None) for name in _slots(type(item))]
    return [*slots, *getattr(item, "__dict__", {}).values()]


def attributes_of(module: Any) -> dict[str, Any]:
    """Return the `__dict__` of a Module without materializing the Module."""
    attributes: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return attributes


def materialize(module: Module[Any]) -> dict[str, Any]:
    """Create the attributes of a Module if they are pending, and return its dict of attributes."""
    attributes = attributes_of(module)
    with _looking:
        pending = attributes.get(PENDING)
        if pending is not None:
            filled = pending.attributes(module)
            # Attributes that were set in the meantime replace pending attributes of the same name.
            filled.update((name, item) for name, item in attributes.items() if name != PENDING)
            attributes.clear()
            attributes.update(filled)
    return attributes


_module_size = cython.declare(cython.Py_ssize_t, Module.__basicsize__)


def slots_of(cls: Any) -> dict[str, Any]:
    """Return a dict from slot names to the slot descriptors of a class of Modules; slots of base classes come first."""
    return {} if cls.__basicsize__ == _module_size else _slots(cls)  # most classes do not have slots


def _slots(cls: Any) -> dict[str, Any]:
    slots: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        declared = vars(base).get("__slots__", ())
        names = [declared] if isinstance(declared, str) else [*declared]
        private = f"_{base.__name__.lstrip('_')}"
        names = [f"{private}{name}" if name[:2] == "__" and name[-2:] != "__" else name for name in names]
        descriptors = {name: vars(base).get(name) for name in names}
        slots.update((name, slot) for name, slot in descriptors.items() if isinstance(slot, MemberDescriptorType))
    return slots


def with_slots(module: Any, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return all attributes of a Module: first the slots that are set, then `attributes`, which is its dict."""
    slots = slots_of(type(module))
    if not slots:
        return attributes
    unset = object()
    found = {name: getattr(module, name, unset) for name in slots}
    return {name: item for name, item in found.items() if item is not unset} | attributes


def set_attributes(module: Any, attributes: dict[str, Any]) -> None:
    """Set attributes of a new Module without calling the `__setattr__` of its class."""
    slots = slots_of(type(module))
    named = attributes_of(module)
    if not slots:
        named.update(attributes)
        return
    for name, item in attributes.items():
        if name in slots:
            slots[name].__set__(module, item)
        else:
            named[name] = item


def _children(item: object) -> list[tuple[object, object]]:
    """Return the items in a Module or container, with their names; an empty list for any other object."""
    if isinstance(item, Module):
        return list(with_slots(item, vars(item)).items())
    if isinstance(item, dict):
        return list(item.items())
    if isinstance(item, numpy.ndarray) and item.dtype == object:
        return [(".".join(map(str, at)), item[at]) for at in numpy.ndindex(item.shape)]
    if isinstance(item, (list, tuple)):
        return list(enumerate(item))
    return []


class Neuron(Module):
    """A neuron: `activation(w · x + b)`, with weights drawn by `random.uniform(-1, 1)` and a bias of 0.

    Args:
        nin: The number of inputs, which is also the number of weights.
        nonlin: Whether to apply the activation.
        activation: The activation function, which takes and returns a Value.
        fused: Whether `w · x + b` is computed by a single `sumprod` node, which is faster. If False, it is computed by
            `*` and `+` nodes, which drawings show one by one. Both give bitwise identical results.

    Raises:
        TypeError: If the activation is not a function.

    Example:
        >>> Neuron(2)
        ReLUNeuron(2)
    """

    def __init__(
        self, nin: int, nonlin: bool = True, activation: Activation = Value.relu, *, fused: bool = True
    ) -> None:
        if not callable(activation):
            raise TypeError(f"activation must be a function of a Value, such as Value.tanh, got {activation!r}")
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0)
        self.nonlin = nonlin
        self.activation = activation
        self.fused = fused
        self.label_parameters()

    def __call__(self, x: Sequence[Value | float]) -> Value:
        """Return the output of the neuron.

        Args:
            x: The inputs, one for each weight.

        Raises:
            ValueError: If the number of inputs differs from the number of weights.
        """
        total: Any
        try:
            if self.fused:
                total = sumprod(self.w, x, self.b)
            else:
                total = sum([w * number for w, number in zip(self.w, x, strict=True)], self.b)
        except ValueError:
            raise ValueError(f"{self!r} needs {len(self.w)} inputs, got {len(x)}") from None
        # The total is a number if the parameters and the inputs are numbers.
        act = total if isinstance(total, Value) else Value(total)
        return self.activation(act) if self.nonlin else act

    def parameters(self) -> list[Value]:
        """Return the weights, then the bias."""
        return [*self.w, self.b]

    def __repr__(self) -> str:
        name = {"relu": "ReLU", "tanh": "Tanh"}.get(self.activation.__name__, self.activation.__name__)
        return f"{name if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """A layer of neurons with the same inputs.

    Args:
        nin: The number of inputs.
        nout: The number of neurons.
        nonlin: Whether the neurons apply the activation.
        activation: The activation function, which takes and returns a Value.
        fused: See `Neuron`.
    """

    neuron: type[Neuron] = Neuron

    def __init__(
        self, nin: int, nout: int, nonlin: bool = True, activation: Activation = Value.relu, *, fused: bool = True
    ) -> None:
        self.neurons = [self.neuron(nin, nonlin, activation, fused=fused) for _ in range(nout)]
        self.label_parameters()

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        """Return the list of outputs, or the single output of a layer with one neuron."""
        out = [n(x) for n in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        """Return the parameters of all neurons, in order."""
        return [p for n in self.neurons for p in n.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(n) for n in self.neurons)}]"


class MLP(Module):
    """A multi-layer perceptron with a linear last layer.

    Args:
        nin: The number of inputs.
        nouts: The number of neurons in each layer.
        activation: The activation function of all layers except the last, which takes and returns a Value.
        fused: See `Neuron`.

    Example:
        >>> random.seed(1337)
        >>> model = MLP(2, [16, 16, 1])
        >>> len(model.parameters())
        337
    """

    layer: type[Layer] = Layer

    def __init__(
        self, nin: int, nouts: Sequence[int], activation: Activation = Value.relu, *, fused: bool = True
    ) -> None:
        sizes = [nin, *nouts]
        self.layers = [
            self.layer(sizes[i], sizes[i + 1], nonlin=i != len(nouts) - 1, activation=activation, fused=fused)
            for i in range(len(nouts))
        ]
        self.label_parameters()

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        """Return the output of the last layer: a list, or a single Value if the layer has one neuron."""
        out: Any = x
        for layer in self.layers:
            out = layer(out)
        result: Value | list[Value] = out
        return result

    def parameters(self) -> list[Value]:
        """Return the parameters of all layers, in order."""
        pending = attributes_of(self).get(PENDING)
        if pending:
            return pending.parameters()  # type: ignore[no-any-return]
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"
