"""Small neural networks out of `Value`, as micrograd's: same classes, same weights from the same seed, same repr."""

from __future__ import annotations

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

if TYPE_CHECKING:  # what type checkers know of before Python 3.13 has it
    from typing_extensions import TypeVar

    Parameter = TypeVar("Parameter", default=Value)
else:
    from typing import TypeVar

    Parameter = TypeVar("Parameter")

__all__ = ["MLP", "Layer", "Module", "Neuron"]

Activation = Callable[[Value], Value]


@cython.cclass
class Number(float):
    """A number in place of a parameter: transforms of functions of a Module return Modules of these."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return type(self), (float(self),)


class Numbers(numpy.ndarray):
    """An array in place of a parameter, where there is a number for each of several results or samples."""


PENDING = " pending"  # the only key of the dict of a Module that nobody has looked at: what knows its attributes
_looking = process_lock()  # held while one is filled, which another thread may look at as well


class Module(Generic[Parameter]):
    """A part of a network with parameters: attributes that are Values, Modules, or containers of them.

    Containers are lists, tuples, dicts and arrays. Attributes may be in `__slots__`. Values in sets, in other
    collections, in objects that are not Modules, and in arguments of partial functions cannot be parameters:
    `parameters()` and the transforms refuse them, and transforms refuse bound methods of Modules. Given to a function
    that is differentiated, recorded or batched, a Module is a tree of the numbers of its parameters; a result
    that is like it is a Module with numbers in their places. All other attributes belong to its structure: where they
    differ, such as in another activation, `jit` records anew.

    For type checkers a Module has a type of parameters. `Module`, and each subclass that does not say otherwise, has
    Values: that is what one makes, trains and sets to zero. A gradient has the class of its Module at run time, but
    numbers as parameters, so the transforms promise `Any` for it; annotate it as `Module[Number]`, or `Module[Numbers]`
    for that of several results or samples, and `parameters()` is a list of these.

    Example:
        >>> from gradwalk import grad
        >>> neuron = Neuron(2, nonlin=False)
        >>> gradient: Module[Number] = grad(lambda neuron, x: neuron(x))(neuron, [3.0, 4.0])
        >>> gradient, gradient.parameters()
        (LinearNeuron(2), [3.0, 4.0, 1.0])
        >>> for p, g in zip(neuron.parameters(), gradient.parameters()):
        ...     p.data -= 0.1 * g
    """

    # A gradient of a Module is a Module, and often nobody looks at its parts: it is passed on, and its numbers read.
    # So what transforms return may have a single attribute, by which it gets the others when one of them is asked for:
    # see trees/fast/module_form.py. Other attributes may have been set in between.

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
            TypeError: A set, or something else that is not a container, holds Values that are not parameters elsewhere.
        """
        pending = attributes_of(self).get(PENDING)
        return pending.parameters() if pending else [parameter for _, parameter in self.named_parameters()]

    def label_parameters(self: Module[Value]) -> None:
        """Label every parameter with its path, by which drawings and checks name it and know its module.

        Neurons, layers and MLPs do so when they are made; a module of your own can at the end of its `__init__`.
        """
        for path, parameter in self.named_parameters():
            parameter.label = path

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Iterate over all parameters with their paths, in the order of the attributes, each parameter once.

        Leaf Values count as parameters; Values that were computed do not. In a Module that is the gradient of another
        one, or otherwise the result of a transform, the numbers and computed Values in their places count.

        Attributes in `__slots__` come before all others, those of base classes first.

        Yields:
            A path such as `"layers.0.neurons.2.w.1"`, and the parameter.

        Raises:
            TypeError: A set, or something else that is not a container, holds Values that are not parameters elsewhere.
        """
        seen: set[int] = set()
        collections: list[tuple[str, object]] = []
        for path, item in _parts(self):
            if isinstance(item, (Value, Number, Numbers)):
                if id(item) not in seen and not (isinstance(item, Value) and item.operands and not is_marked(item)):
                    seen.add(id(item))
                    yield path, item  # type: ignore[misc]  # what stands in a Module decides its type of parameters
            elif is_other_collection(type(item)):
                collections.append((path, item))
        for path, item in collections:
            if any(id(value) not in seen and not value.operands for value in values_within(item)):
                raise refusal(type(self), path, item)


_MARK = "_gradwalk_parameter"


def mark(value: Any) -> None:
    """Mark a computed Value as the parameter of a Module that a transform returns.

    Args:
        value: The Value.
    """
    setattr(value, _MARK, True)


def is_marked(value: Value) -> bool:
    """Return whether a Value is the parameter of a Module that a transform returned.

    Args:
        value: The Value.
    """
    return getattr(value, _MARK, False) is True


def refusal(cls: type, path: str, collection: object) -> TypeError:
    """Return the error for Values in a collection that cannot hold parameters.

    Args:
        cls: The class of the Module.
        path: The path from the Module to the collection.
        collection: The collection.
    """
    return TypeError(
        f"the Values in {cls.__name__}.{path} cannot be parameters, because it is a {type(collection).__name__}: "
        "keep them in a list, tuple, dict or array, or in a Module"
    )


def other_collections(module: Module[Any]) -> Iterator[tuple[str, object]]:
    """Iterate over the collections in a Module that cannot hold parameters, with their paths.

    Args:
        module: The Module.
    """
    return ((path, item) for path, item in _parts(module) if is_other_collection(type(item)))


def _parts(module: Module[Any]) -> Iterator[tuple[str, object]]:
    """Iterate over all parts of a Module and its containers that are not containers themselves, with their paths."""
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
_COMMON = frozenset([type(None), bool, int, float, str, FunctionType, type])  # classes that need no closer look
_ITERATED = (Set, Sequence, ValuesView)
_LIBRARIES = sys.stdlib_module_names | {"gradwalk"}  # whose objects have no parameters of the user in attributes


def is_other_collection(cls: Any) -> bool:
    """Return whether instances of a class may hold Values, which then cannot be parameters of a Module.

    These are collections, bound methods, partial functions, and objects with attributes.

    Args:
        cls: The class, other than a Module or a container of parameters.
    """
    if cls in _COMMON or issubclass(cls, _PLAIN):
        return False
    if issubclass(cls, (*_ITERATED, Mapping, SimpleNamespace, MethodType, partial)):
        return True
    is_plain = issubclass(cls, type) or hasattr(cls, "__code__") or str(cls.__module__).partition(".")[0] in _LIBRARIES
    return not is_plain and (cls.__dictoffset__ != 0 or bool(_slots(cls)))


def values_within(collection: object) -> Iterator[Value]:
    """Iterate over all Values in a collection, at any depth.

    Args:
        collection: A collection or an object of any kind.
    """
    seen: dict[int, object] = {}  # with the objects themselves, so that no id is used again
    pending: list[object] = [collection]
    while pending:
        item = pending.pop()
        if isinstance(item, Value):
            yield item
        elif id(item) not in seen and type(item) not in _COMMON:
            seen[id(item)] = item
            pending.extend(_contents(item))


def _contents(item: Any) -> list[Any]:
    """Return what a collection or an object of any kind holds."""
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
    """Return the dict of a Module as it is, whether anybody has looked at it or not.

    Args:
        module: The Module.
    """
    attributes: dict[str, Any] = object.__getattribute__(module, "__dict__")
    return attributes


def materialize(module: Module[Any]) -> dict[str, Any]:
    """Return the attributes of a Module, as the dict that it keeps them in.

    Args:
        module: The Module, which is filled if nobody has looked at it before.
    """
    attributes = attributes_of(module)
    with _looking:
        pending = attributes.get(PENDING)
        if pending is not None:
            filled = pending.attributes(module)
            # What has been set since stands in place of what there was.
            filled.update((name, item) for name, item in attributes.items() if name != PENDING)
            attributes.clear()
            attributes.update(filled)
    return attributes


_module_size = cython.declare(cython.Py_ssize_t, Module.__basicsize__)


def slots_of(cls: Any) -> dict[str, Any]:
    """Return the descriptors of the slots of a class of Modules by their names, those of base classes first.

    Args:
        cls: The class.
    """
    return {} if cls.__basicsize__ == _module_size else _slots(cls)  # as for most classes


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
    """Return all attributes of a Module: those in slots, if they are set, and then the others.

    Args:
        module: The Module.
        attributes: Its dict.
    """
    slots = slots_of(type(module))
    if not slots:
        return attributes
    unset = object()
    found = {name: getattr(module, name, unset) for name in slots}
    return {name: item for name, item in found.items() if item is not unset} | attributes


def set_attributes(module: Any, attributes: dict[str, Any]) -> None:
    """Set attributes of a new Module, past what its class does when attributes are set.

    Args:
        module: The Module.
        attributes: The attributes, of which some may be in slots.
    """
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
    """The parts of a Module or container, with their names."""
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
        nin: The number of inputs, and of weights.
        nonlin: Whether there is an activation.
        activation: The activation, a function of a Value.
        fused: Whether `w · x + b` is one node, a `sumprod`, which is faster; else it is made of `*` and `+`, as a
            drawing for learners shows it. The numbers are the same to the last bit.

    Raises:
        TypeError: The activation is no function.

    Example:
        >>> Neuron(2)
        ReLUNeuron(2)
    """

    def __init__(
        self, nin: int, nonlin: bool = True, activation: Activation = Value.relu, *, fused: bool = True
    ) -> None:
        if not callable(activation):
            raise TypeError(f"activation is a function of a Value, such as Value.tanh, not {activation!r}")
        self.w = [Value(random.uniform(-1, 1)) for _ in range(nin)]
        self.b = Value(0)
        self.nonlin = nonlin
        self.activation = activation
        self.fused = fused
        self.label_parameters()

    def __call__(self, x: Sequence[Value | float]) -> Value:
        """Return the output for inputs `x`.

        Args:
            x: An input for each weight.

        Raises:
            ValueError: There are more or fewer inputs than weights.
        """
        total: Any
        try:
            if self.fused:
                total = sumprod(self.w, x, self.b)
            else:
                total = sum([w * number for w, number in zip(self.w, x, strict=True)], self.b)
        except ValueError:
            raise ValueError(f"{self!r} takes {len(self.w)} inputs, not {len(x)}") from None
        # With numbers as parameters and inputs, the total is one, too.
        act = total if isinstance(total, Value) else Value(total)
        return self.activation(act) if self.nonlin else act

    def parameters(self) -> list[Value]:
        """Return the weights, then the bias."""
        return [*self.w, self.b]

    def __repr__(self) -> str:
        name = {"relu": "ReLU", "tanh": "Tanh"}.get(self.activation.__name__, self.activation.__name__)
        return f"{name if self.nonlin else 'Linear'}Neuron({len(self.w)})"


class Layer(Module):
    """A layer of neurons on the same inputs.

    Args:
        nin: The number of inputs.
        nout: The number of neurons.
        nonlin: Whether the neurons have an activation.
        activation: The activation, a function of a Value.
        fused: See `Neuron`.
    """

    neuron: type[Neuron] = Neuron

    def __init__(
        self, nin: int, nout: int, nonlin: bool = True, activation: Activation = Value.relu, *, fused: bool = True
    ) -> None:
        self.neurons = [self.neuron(nin, nonlin, activation, fused=fused) for _ in range(nout)]
        self.label_parameters()

    def __call__(self, x: Sequence[Value | float]) -> Value | list[Value]:
        """Return a list of outputs, or the output itself of a single neuron."""
        out = [n(x) for n in self.neurons]
        return out[0] if len(out) == 1 else out

    def parameters(self) -> list[Value]:
        """Return the parameters of one neuron after the other."""
        return [p for n in self.neurons for p in n.parameters()]

    def __repr__(self) -> str:
        return f"Layer of [{', '.join(str(n) for n in self.neurons)}]"


class MLP(Module):
    """A multi-layer perceptron, whose last layer is linear.

    Args:
        nin: The number of inputs.
        nouts: The number of neurons in each layer.
        activation: The activation of all other layers, a function of a Value.
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
        """Return the output of the last layer: a list, or a Value where that layer has one neuron."""
        out: Any = x
        for layer in self.layers:
            out = layer(out)
        result: Value | list[Value] = out
        return result

    def parameters(self) -> list[Value]:
        """Return the parameters of one layer after the other."""
        pending = attributes_of(self).get(PENDING)
        if pending:
            return pending.parameters()  # type: ignore[no-any-return]
        return [p for layer in self.layers for p in layer.parameters()]

    def __repr__(self) -> str:
        return f"MLP of [{', '.join(str(layer) for layer in self.layers)}]"
