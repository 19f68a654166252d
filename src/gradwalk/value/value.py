"""`Value`, a number that records the operation that computed it.

Operators such as `+` and methods such as `exp` are in `methods.py`. The module is Cython in pure-Python mode.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.evaluate import OPERATORS
from gradwalk.ops.compiled.opcodes import NAMES, UFUNCS
from gradwalk.value import apply, arrays, conditions, convert, equality, modes, pickling, scalars
from gradwalk.value import node as nodes
from gradwalk.value.methods import Methods
from gradwalk.value.node import ValueNode, as_text
from gradwalk.value.source.expr_repr import spelled
from gradwalk.value.source.source_line import named_line, users_line
from gradwalk.value.sweep import backward as sweep
from gradwalk.value.sweep.hand_made import Closure

if not TYPE_CHECKING and cython.compiled:
    import cython

_equal = cython.declare(cython.int, NAMES.index("equal"))
_less = cython.declare(cython.int, NAMES.index("less"))
_where = cython.declare(cython.int, NAMES.index("where"))
_less_equal = cython.declare(cython.int, NAMES.index("less_equal"))
_stop_gradient = cython.declare(cython.int, NAMES.index("stop_gradient"))

_picture = cython.declare(object, None)  # set by `register_picture`


def register_picture(html_of: Callable[[object], object]) -> None:
    """Set the function that returns the HTML of a Value for notebooks, or None."""
    global _picture
    _picture = html_of


@cython.no_gc
@cython.cclass
class Value(Methods):
    """A real number, the operation that computed it, and (after `backward`) d root / d self.

    Args:
        data: The number, stored as float64.
        _children: The operands of a hand-made node.
        _op: The symbol of a hand-made node. After creating the node, set `_backward` to a function that adds to the
            `grad` of the operands. Alternatively, as in microgpt, `_op` can be a tuple, list or array of the
            derivatives d self / d child.
        label: A name for displays.

    Raises:
        TypeError: If `data` is not a real number, a child is not a Value, or `_op` has another type.
        ValueError: If the number of derivatives differs from the number of children.

    Example:
        >>> a, b = Value(2.0), Value(-3.0)
        >>> c = a * b
        >>> c.backward()
        >>> a
        Value(data=2.0, grad=-3.0)
    """

    __slots__ = ()

    @cython.annotation_typing(False)  # Cython must not convert the arguments: the code below checks their types
    def __init__(
        self,
        data: float,
        _children: Iterable[Value] = (),
        _op: str | Sequence[float] | numpy.ndarray = "",
        label: str = "",
    ) -> None:
        primal: cython.double = convert.real(data, "the data of a Value")
        children = None if type(_children) is tuple and not _children else nodes.as_children(_children)
        local_grads = None if isinstance(_op, str) else convert.as_derivatives(_op)
        symbol = as_text(_op, "the symbol of an operation") if local_grads is None else ""
        name = label if type(label) is str else as_text(label, ".label")
        nodes.set_leaf(self, primal, 0 if modes.recordings == 0 else modes.depth())
        if children or symbol:
            nodes.set_by_hand(self, children or [], symbol)
            if local_grads is not None:
                _set_partials(self, local_grads)
            if modes.recordings != 0:
                nodes.details_of(self).source = users_line()
            if modes.open_switches != 0 or self._level < modes.staging:
                modes.inspect(self)
        elif modes.open_switches != 0 and modes.remembers_lines():
            nodes.details_of(self).source = named_line(modes.scope_path())
        if name:
            nodes.details_of(self).label = name

    # Attributes

    @property
    def data(self) -> float:
        """The number. Setting it changes only this node; `refresh(root)` recomputes the nodes that depend on it."""
        if modes.staging != 0:
            modes.refuse_if_staging(self, "reads .data of")
        return self._primal

    @data.setter
    def data(self, value: Any) -> None:
        if modes.staging != 0:
            modes.refuse_if_staging(self, "sets .data of")
        self._primal = convert.real(value, ".data")

    @property
    def grad(self) -> float:
        """The gradient d root / d self, summed over all calls of `backward` since it was last set to zero."""
        if modes.recordings != 0:
            modes.refuse_if_recorded(self, "reads .grad of")
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if modes.staging != 0:
            modes.refuse_if_staging(self, "sets .grad of")
        self._grad = convert.real(value, ".grad")

    @property
    def partials(self) -> tuple[float, ...]:
        """The partial derivatives d self / d operand, in the order of `operands`.

        They are computed when the node is created or refreshed. For a hand-made node, they are found by running its
        `_backward` with gradient 1. If an operand of a hand-made node occurs more than once, its first position has the
        sum of its partials, and its other positions have 0.

        Example:
            >>> (Value(2.0) * Value(3.0)).partials
            (3.0, 2.0)
        """
        if modes.recordings != 0:
            modes.refuse_if_recorded(self, "reads .partials of")
        partials: tuple[float, ...] = sweep.partials_of(self)
        return partials

    def __repr__(self) -> str:
        # While a function is being recorded, do not show the number: a branch on the text would not be recorded.
        if modes.staging != 0 and (modes.is_staging() or modes.is_recorded_elsewhere(self)):
            return f"Value({spelled(self)})"
        label = f", label={self.label!r}" if self.label else ""
        return f"Value(data={self._primal}, grad={self._grad}{label})"

    def _repr_html_(self) -> str | None:
        """Return HTML for notebooks: a drawing of a small graph. None for other graphs, which are shown as text."""
        return None if modes.recordings != 0 else _picture(self)

    def __format__(self, specification: str) -> str:
        if not specification:
            return repr(self)
        if modes.staging != 0:
            number = modes.ask_for_number(self, "formats")
            if number == 0.0 and modes.follows_branches():
                bool(1.0 / self > 0.0)  # the sign of 0 is another condition
            return format(number, specification)
        self._note()
        return format(self._primal, specification)

    def __bool__(self) -> bool:
        if modes.staging != 0:
            modes.refuse_if_staging(self, "branches on")
        return modes.recordings == 0 or self._level == 0 or self._primal != 0.0

    def __int__(self) -> int:
        """Return the number without its fraction, as a plain int, because the derivative is 0.

        If branches are recorded, the recorded path is valid only for numbers with the same result.
        """
        if not modes.follows_branches():
            modes.refuse_if_staging(self, "calls int() on")
            self._note()
            return int(self._primal)
        return int(modes.follow_number(self.trunc()))  # may raise an error, for nan and inf

    def __index__(self) -> int:
        if modes.follows_branches() and conditions.is_condition(self):
            return int(bool(self))
        if conditions.is_whole(self):
            self._note()
            return int(modes.ask_for_number(self, "needs the plain number for an index or a count of"))
        raise _number_refused(self, "an index or a count")

    def __round__(self, digits: int | None = None) -> Value | float:
        """Return the nearest integer as a Value, or the number rounded to decimal digits as a plain float."""
        if digits is None:
            return nodes.with_number_type(self.rint(), int)  # type: ignore[return-value]  # a Value
        if modes.follows_branches():
            return conditions.round_and_follow(self, digits)
        modes.refuse_if_staging(self, "rounds to digits")
        self._note()
        return round(self._primal, digits)

    def is_integer(self) -> bool:
        """Return whether the number is an integer.

        Example:
            >>> Value(3.0).is_integer()
            True
        """
        if not modes.follows_branches():
            modes.refuse_if_staging(self, "branches on")
            if modes.recordings != 0 and self._level > 0:
                modes.note_comparison(self)
            return self._primal.is_integer()
        return bool(self - self.trunc() == 0.0)

    def _note(self) -> None:
        """Note that a function asks for this number, if it is being differentiated."""
        if modes.recordings != 0 and self._level > 0:
            modes.note_number(self)

    def __float__(self) -> float:
        modes.refuse_if_staging(self, "calls float() on")
        raise modes.refused(
            f"{users_line()}: a Value cannot be converted to float implicitly, because its gradient would be lost. Use "
            "v.data for the number, gradwalk.values(tree) for the numbers of lists and arrays of Values, "
            "gradwalk.math.sin for math.sin, and arrays of dtype=object to hold Values",
            self,
        )

    # micrograd's names

    @property
    def _prev(self) -> set[Value]:
        """The operands as a set. Can be set on hand-made nodes.

        A constant operand becomes a new Value, but a constant exponent is left out.
        """
        arguments = self.arguments[:1] if _has_constant_exponent(self) else self.arguments
        return {x if isinstance(x, Value) else Value(x) for x in arguments}

    @_prev.setter
    def _prev(self, children: Iterable[Value]) -> None:
        nodes.set_by_hand(self, nodes.as_children(children), self.op)

    @property
    def _op(self) -> str:
        """The symbol as in micrograd, where a constant exponent is part of it: `**2`. Can be set on hand-made nodes."""
        return f"**{self._pb:g}" if _has_constant_exponent(self) else self.op

    @_op.setter
    def _op(self, symbol: Any) -> None:
        nodes.set_symbol(self, as_text(symbol, "the symbol of an operation"))

    @property
    def _backward(self) -> Callable[[], None]:
        """A function without arguments that adds this node's contributions to its operands' `grad`.

        Set it to give a hand-made node its derivative rule. The function may refer to the node itself.
        """
        closure = self._details.closure if self._special else None
        return partial(sweep.push_native, self) if closure is None else partial(sweep.call_rule, closure, self)

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise TypeError(f"._backward must be a function without arguments, got {type(function).__name__}")
        if self._opcode != nodes.UNCONNECTED:
            nodes.set_closure(self, Closure(function, self))

    @property
    def _children(self) -> tuple[Value, ...]:
        """The operands, under their name in microgpt."""
        return self.operands

    @property
    def _local_grads(self) -> tuple[float, ...]:
        """The partials, under their name in microgpt."""
        return self.partials

    # Python's divmod is the pair of // and %.

    def __divmod__(self, other: Value | float) -> tuple[Value, Value]:
        return (self // other, self % other) if scalars.is_operand(other) else NotImplemented

    def __rdivmod__(self, other: Value | float) -> tuple[Value, Value]:
        return (other // self, other % self) if scalars.is_operand(other) else NotImplemented

    # Comparisons use the numbers, with one exception: two Values are equal only if they are the same object, so that
    # sets and dicts can hold Values. In a function that is being recorded, == and != always compare the numbers.

    def __lt__(self, other: Value | float) -> Any:
        return _compared(_less, self, other) if scalars.is_operand(other) else NotImplemented

    def __le__(self, other: Value | float) -> Any:
        return _compared(_less_equal, self, other) if scalars.is_operand(other) else NotImplemented

    def __gt__(self, other: Value | float) -> Any:
        return _compared(_less, other, self) if scalars.is_operand(other) else NotImplemented

    def __ge__(self, other: Value | float) -> Any:
        return _compared(_less_equal, other, self) if scalars.is_operand(other) else NotImplemented

    def __eq__(self, other: object) -> Any:
        is_recorded: cython.bint = modes.recordings != 0 and modes.is_tracer(self, other)
        if not scalars.is_operand(other):
            return equality.asked_of_other(self, other, "__eq__", is_recorded)
        if is_recorded:
            return _compared(_equal, self, other)
        return self is other if isinstance(other, ValueNode) else convert.equals(self._primal, other)

    def __ne__(self, other: object) -> Any:
        is_recorded: cython.bint = modes.recordings != 0 and modes.is_tracer(self, other)
        if not scalars.is_operand(other):
            return equality.asked_of_other(self, other, "__ne__", is_recorded)
        if not is_recorded:
            return self is not other if isinstance(other, ValueNode) else not convert.equals(self._primal, other)
        same = _compared(_equal, self, other)
        return nodes.with_number_type(1.0 - same, bool) if isinstance(same, Value) else not same

    # While a function is staged, comparisons return Values that are 1 or 0. These operators combine them like bools.

    def __and__(self, other: Any) -> Any:
        return _joined("&", self, other)

    def __rand__(self, other: Any) -> Any:
        return _joined("&", self, other)

    def __or__(self, other: Any) -> Any:
        return _joined("|", self, other)

    def __ror__(self, other: Any) -> Any:
        return _joined("|", self, other)

    def __xor__(self, other: Any) -> Any:
        return _joined("^", self, other)

    def __rxor__(self, other: Any) -> Any:
        return _joined("^", self, other)

    def __lshift__(self, other: Any) -> Any:
        raise _number_refused(self, "<<")

    def __rlshift__(self, other: Any) -> Any:
        raise _number_refused(self, "<<")

    def __rshift__(self, other: Any) -> Any:
        raise _number_refused(self, ">>")

    def __rrshift__(self, other: Any) -> Any:
        raise _number_refused(self, ">>")

    def __hash__(self) -> int:
        if modes.recordings != 0 and self._level > 0:
            equality.refuse_look_up(self)
        return object.__hash__(self)

    # Methods

    def backward(self) -> None:
        """Add d self / d v to `v.grad` for every Value v that self depends on, including self.

        Gradients accumulate: a second call adds the same contributions again. `zero_grad(root)` clears them. If an
        error is raised, all gradients keep their earlier values.

        Raises:
            ValueError: If hand-edited nodes form a cycle.
            RuntimeError: If self was computed under `no_grad()`, or another sweep over the same nodes is running.
            FloatingPointError: Under `debug_nans()`, if a gradient becomes nan or inf.
            Exception: Any error that a hand-made `_backward` raises.

        Example:
            >>> a = Value(3.0)
            >>> (a * a).backward()
            >>> a.grad
            6.0
        """
        sweep.backward(self)

    def detach(self) -> Value:
        """Return a new leaf with the same number; no gradient flows through it back to this Value.

        Returns:
            The leaf. While `jit` records a function, the result is instead a node that passes no gradient to its
            operand.

        Example:
            >>> a = Value(3.0)
            >>> (a * a.detach()).backward()
            >>> a.grad
            3.0
        """
        if modes.is_staging() or modes.is_recorded_elsewhere(self):
            return cython.cast(Value, apply.unary(_stop_gradient, self))
        out: Value = cython.cast(Value, apply.new_node(nodes.UNCONNECTED, None, None, self._primal, 0.0, 0.0))
        out._level = self._level
        return out

    def conjugate(self) -> Value:
        """Return the Value itself, because it is real. NumPy's `var` and `vdot` call this method.

        Example:
            >>> a = Value(3.0)
            >>> a.conjugate() is a
            True
        """
        return self

    @property
    def real(self) -> Value:
        """The Value itself, as for a float."""
        return self

    @property
    def imag(self) -> float:
        """The imaginary part, which is 0, as for a float."""
        return 0.0

    def radians(self) -> Value:
        """Convert an angle from degrees to radians. NumPy's `radians` and `deg2rad` of object arrays call this method.

        Example:
            >>> Value(180.0).radians().data
            3.141592653589793
        """
        return self * (math.pi / 180.0)

    deg2rad = radians

    def degrees(self) -> Value:
        """Convert an angle from radians to degrees. NumPy's `degrees` and `rad2deg` of object arrays call this method.

        Example:
            >>> Value(math.pi).degrees().data
            180.0
        """
        return self * (180.0 / math.pi)

    rad2deg = degrees

    def fabs(self) -> Value:
        """Return the absolute value. NumPy's `fabs` of object arrays calls this method.

        Example:
            >>> Value(-2.0).fabs().data
            2.0
        """
        return abs(self)

    def __pos__(self) -> Value:
        return self

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a NumPy ufunc: the operation of the table for scalars, else the ufunc itself to object arrays."""
        if ufunc is numpy.divmod and method == "__call__":  # NumPy's divmod does not support objects
            return numpy.floor_divide(*inputs, **kwargs), numpy.remainder(*inputs, **kwargs)
        asked = arrays.PREDICATES.get(ufunc)
        if asked is not None and method == "__call__" and not kwargs:
            holds = asked(arrays.without_dimensions(inputs[0]))
            return holds if isinstance(holds, Value) else numpy.bool_(holds)
        compare = arrays.COMPARISONS.get(ufunc)
        if compare is not None and method == "__call__" and not kwargs:
            numbers = tuple([arrays.without_dimensions(x) for x in inputs])  # NumPy passes its scalars as arrays
            if convert.are_operands(numbers):
                x, y = [number if isinstance(number, Value) else convert.as_float(number) for number in numbers]
                answer = compare(x, y)
                return answer if isinstance(answer, Value) else numpy.bool_(answer)
        opcode = UFUNCS.get(ufunc.__name__, 0)
        has_own_operators = type(self) is not Value and opcode in OPERATORS  # object arrays call them
        if opcode and method == "__call__" and not kwargs and not has_own_operators and convert.are_operands(inputs):
            return apply.applied(opcode, inputs)
        is_lifted = modes.recordings and nodes.level_of(self) and method == "__call__" and not kwargs
        try:
            if is_lifted:
                return arrays.of_recording(arrays.applied(ufunc, inputs))
            return getattr(ufunc, method)(*[arrays.of_object(operand) for operand in inputs], **kwargs)
        except TypeError as error:  # NumPy does not support the function for objects, or out= cannot hold objects
            if modes.recordings == 0 or isinstance(error, modes.RecordingError):
                raise
            raise modes.refused(f"{users_line()}: {error}", self) from error

    # Copies

    def __copy__(self) -> Value:
        """Copy the node; the copy has the same operands. A node of a recording is returned unchanged."""
        copy: Value = pickling.copied(self)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        """Copy the whole graph, except nodes in the memo and nodes of a recording."""
        copy: Value = pickling.deep_copied(self, memo)
        return copy

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Pickle the node after all its ancestors, unless they are being pickled already."""
        reduced: tuple[Any, ...] = pickling.reduced(self)
        return reduced

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)


@cython.cfunc
def _has_constant_exponent(node: Value) -> cython.bint:
    """Return whether a node is a power with a constant exponent, which micrograd shows as part of the symbol."""
    return node.op == "**" and node._a is not None and node._b is None


@cython.cfunc
def _set_partials(node: Value, partials: Any) -> object:
    """Set the partials of a hand-made node, one for each operand."""
    i: cython.Py_ssize_t = 0
    if len(partials) != len(node._details.arguments):
        raise ValueError(
            "Value(data, children, derivatives) needs one derivative for each child, "
            f"got {len(node._details.arguments)} children and {len(partials)} derivatives"
        )
    for local in partials:
        node._details.partials[i] = convert.real(local, "a derivative")
        i += 1
    return None


@cython.cfunc
def _attributes(node: object, made: cython.int) -> object:
    """Return the dict of attributes that users set on a node, such as `parameter.momentum`.

    If the node has no such dict, create one if `made` is not 0, else return None.
    """
    details: nodes.Details | None
    if made:
        details = nodes.details_of(cython.cast(ValueNode, node))
        with cython.critical_section(details):
            if details.attributes is None:
                details.attributes = {}
    else:
        details = nodes.known_details(cython.cast(ValueNode, node))
    return None if details is None else details.attributes


@cython.cfunc
def _leaf(data: Any) -> object:
    """Build `Value(data)` without calling `Value.__init__`."""
    primal: cython.double = convert.real(data, "the data of a Value")
    level: cython.int = 0 if modes.recordings == 0 else modes.depth()
    out: Value = cython.cast(Value, apply.new_leaf(primal, level))
    if modes.open_switches != 0 and modes.remembers_lines():
        nodes.details_of(out).source = named_line(modes.scope_path())
    return out


@cython.cfunc
def _with_partials(data: Any, children: Any, local_grads: Any) -> object:
    """Build `Value(data, children, local_grads)` without calling `Value.__init__`.

    Returns None unless `children` and `local_grads` are tuples and `children` is not empty.
    """
    if type(local_grads) is not tuple or type(children) is not tuple or len(children) == 0:
        return None
    out: Value = Value.__new__(Value)
    nodes.set_leaf(out, convert.real(data, "the data of a Value"), 0 if modes.recordings == 0 else modes.depth())
    nodes.set_operands_and_level(out, nodes.as_children(children))
    _set_partials(out, local_grads)
    if modes.recordings != 0:
        nodes.details_of(out).source = users_line()
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


apply.register(Value)
c_compat.open_to_assignment(Value, _attributes)
c_compat.construct_by(Value, _leaf, _with_partials)


# Custom rules, errors and conditions


def with_rule(
    data: float, operands: tuple[Value, ...], symbol: str, rule: Any, made: Callable[..., Value] = Value
) -> Value:
    """Create a node with a custom rule, a function that takes the node and adds to the gradients of its operands.

    `symbol` is the operation's name in displays. Under `no_grad()` the result is a leaf without a rule. `made` is the
    class of the node.
    """
    out: Value = made(data, operands, symbol)
    if out._opcode != nodes.UNCONNECTED:
        out._details.closure = rule
    return out


def _number_refused(node: Value, what: str) -> TypeError:
    """Return the error for the use of a Value where Python needs a plain number."""
    modes.refuse_if_staging(node, f"needs the plain number for {what} of")
    return modes.refused(
        f"{users_line()}: {what} needs a plain number, got a Value. Use int(v), which has no derivative", node
    )


@cython.cfunc
def _joined(operator: str, left: Value, right: Any) -> object:
    """Apply `&`, `|` or `^` to two conditions of a staged function. The result is nan if one of them is not 0 or 1."""
    if not conditions.are_joined(left, right):
        return NotImplemented
    if not isinstance(right, Value):
        right = scalars.number(right)
    whens = {"&": (right, 0.0), "|": (1.0, right), "^": (1.0 - right, right)}
    out: ValueNode = apply.ternary(_where, [left, *whens[operator]])
    for operand in (left, right):
        if isinstance(operand, Value) and not conditions.is_condition(operand):
            out = apply.ternary(_where, [apply.binary(_equal, operand * (1.0 - operand), 0.0), out, math.nan])
    return nodes.with_number_type(out, bool)


@cython.cfunc
def _compared(opcode: cython.int, left: object, right: object) -> object:
    """Compare two operands; while a function is staged, return the result as a Value of 1 or 0."""
    if modes.staging != 0:
        if modes.is_staging():
            return nodes.with_number_type(apply.binary(opcode, left, right), bool)
        for operand in (left, right):
            if isinstance(operand, Value):
                modes.refuse_if_staging(operand, "branches on")
    if modes.recordings != 0:
        for operand in (left, right):
            if isinstance(operand, ValueNode) and cython.cast(ValueNode, operand)._level > 0:
                modes.note_comparison(operand)
    return evaluate.value(opcode, scalars.number(left), scalars.number(right), 0.0) != 0.0
