"""`Value`, a number that remembers how it was made.

The file is Cython in pure-Python mode. The marked blocks are generated from the table in `ops/table.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat, ieee
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.evaluate import OPERATORS
from gradwalk.ops.compiled.opcodes import NAMES, UFUNCS
from gradwalk.value import arrays, conditions, convert, equality, modes, pickling, variadic
from gradwalk.value import node as nodes
from gradwalk.value.memory import node_memory
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


@cython.no_gc
@cython.cclass
class Value(ValueNode):
    """A real number, how it was made, and (after `backward`) the derivative of the root with respect to it.

    Args:
        data: The number, kept as float64.
        _children: The operands of a hand-made node.
        _op: The symbol of a hand-made node, whose `_backward` is then to be set to a function that adds to the `grad`
            of its operands; or, as microgpt has it, d self / d child for each of the children, in a tuple, a list or an
            array.
        label: A name for displays.

    Raises:
        TypeError: If `data` is not a real number, a child is not a Value, or the derivatives are in a set, which has no
            order.
        ValueError: If there is not one derivative for each child.

    Example:
        >>> a, b = Value(2.0), Value(-3.0)
        >>> c = a * b
        >>> c.backward()
        >>> a
        Value(data=2.0, grad=-3.0)
    """

    __slots__ = ()

    @cython.annotation_typing(False)  # the arguments are checked here, not turned into C types on the way in
    def __init__(
        self,
        data: float,
        _children: Iterable[Value] = (),
        _op: str | Sequence[float] | numpy.ndarray = "",
        label: str = "",
    ) -> None:
        number: cython.double = convert.real(data, "Value(data)")
        children = None if type(_children) is tuple and not _children else nodes.as_children(_children)
        local_grads = None if isinstance(_op, str) else convert.as_derivatives(_op)
        symbol = as_text(_op, "the symbol of an operation") if local_grads is None else ""
        name = label if type(label) is str else as_text(label, ".label")
        nodes.set_leaf(self, number, 0 if modes.recordings == 0 else modes.depth())
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

    # What it is

    @property
    def data(self) -> float:
        """The number. Setting it changes this node alone; `refresh(root)` recomputes what depends on it."""
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
        """d root / d self, summed over all calls of `backward` since it was last zero."""
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
        """d self / d operand for every operand, in the order of `operands`, as of when it was made.

        For a hand-made node they are found by running its `_backward` with gradient 1. The total for an operand that
        stands there more than once is given at its first place, for the function does not tell the places apart.

        Example:
            >>> (Value(2.0) * Value(3.0)).partials
            (3.0, 2.0)
        """
        if modes.recordings != 0:
            modes.refuse_if_recorded(self, "reads .partials of")
        partials: tuple[float, ...] = sweep.partials_of(self)
        return partials

    def __repr__(self) -> str:
        # A recorded Value shows no number, because a branch on the text would freeze it.
        if modes.staging != 0 and (modes.is_staging() or modes.is_recorded_elsewhere(self)):
            return f"Value({spelled(self)})"
        label = f", label={self.label!r}" if self.label else ""
        return f"Value(data={self._primal}, grad={self._grad}{label})"

    def __format__(self, specification: str) -> str:
        if not specification:
            return repr(self)
        if modes.staging != 0:
            modes.refuse_if_staging(self, "formats")
        return format(self._primal, specification)

    def __bool__(self) -> bool:
        if modes.staging != 0:
            modes.refuse_if_staging(self, "branches on")
        return modes.recordings == 0 or self._level == 0 or self._primal != 0.0

    def __int__(self) -> int:
        raise _number_refused(self, "int()")

    def __index__(self) -> int:
        raise _number_refused(self, "an index or a count")

    def __round__(self, digits: int | None = None) -> Value:
        """The nearest integer, as a Value. Rounding to digits is of decimal text, and refused."""
        if digits is not None:
            raise _number_refused(self, "round() to digits")
        return self.rint()

    def __float__(self) -> float:
        modes.refuse_if_staging(self, "turns into a float")
        raise modes.refused(
            f"{users_line()}: a Value cannot be converted to float implicitly, because its gradient would be lost. Use "
            "v.data for the number, gradwalk.math.sin for math.sin, and arrays of dtype=object to hold Values",
            self,
        )

    # micrograd's names

    @property
    def _prev(self) -> set[Value]:
        """The operands as a set, with a new Value for each constant but an exponent. Can be set on hand-made nodes."""
        arguments = self.arguments[:1] if _has_constant_exponent(self) else self.arguments
        return {x if isinstance(x, Value) else Value(x) for x in arguments}

    @_prev.setter
    def _prev(self, children: Iterable[Value]) -> None:
        nodes.set_by_hand(self, nodes.as_children(children), self.op)

    @property
    def _op(self) -> str:
        """The symbol as micrograd writes it: a constant exponent is part of it. Can be set on hand-made nodes."""
        return f"**{self._pb:g}" if _has_constant_exponent(self) else self.op

    @_op.setter
    def _op(self, symbol: Any) -> None:
        nodes.set_symbol(self, as_text(symbol, "the symbol of an operation"))

    @property
    def _backward(self) -> Callable[[], None]:
        """A function of no arguments that adds this node's contributions to its operands' `grad`.

        Set it to give a hand-made node its rule. The function may close over the node itself.
        """
        closure = self._details.closure if self._special else None
        return partial(sweep.push_native, self) if closure is None else partial(sweep.call_rule, closure, self)

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise TypeError(f"._backward takes a function of no arguments, not {type(function).__name__}")
        if self._opcode != nodes.UNCONNECTED:
            nodes.set_closure(self, Closure(function, self))

    @property
    def _children(self) -> tuple[Value, ...]:
        """The operands, by microgpt's name."""
        return self.operands

    @property
    def _local_grads(self) -> tuple[float, ...]:
        """The partials, by microgpt's name."""
        return self.partials

    # Python's divmod is // and %.

    def __divmod__(self, other: Value | float) -> tuple[Value, Value]:
        return (self // other, self % other) if _is_operand(other) else NotImplemented

    def __rdivmod__(self, other: Value | float) -> tuple[Value, Value]:
        return (other // self, other % self) if _is_operand(other) else NotImplemented

    # Values are ordered by their numbers, and compared with a plain number by number. Two Values are equal by identity,
    # so that Values can be in sets and dicts, except in a function that is being recorded, which compares numbers.

    def __lt__(self, other: Value | float) -> Any:
        return _compared(_less, self, other) if _is_operand(other) else NotImplemented

    def __le__(self, other: Value | float) -> Any:
        return _compared(_less_equal, self, other) if _is_operand(other) else NotImplemented

    def __gt__(self, other: Value | float) -> Any:
        return _compared(_less, other, self) if _is_operand(other) else NotImplemented

    def __ge__(self, other: Value | float) -> Any:
        return _compared(_less_equal, other, self) if _is_operand(other) else NotImplemented

    def __eq__(self, other: object) -> Any:
        is_recorded: cython.bint = modes.recordings != 0 and modes.is_tracer(self, other)
        if not _is_operand(other):
            return equality.asked_of_other(self, other, "__eq__", is_recorded)
        if is_recorded:
            return _compared(_equal, self, other)
        return self is other if isinstance(other, ValueNode) else convert.equals(self._primal, other)

    def __ne__(self, other: object) -> Any:
        is_recorded: cython.bint = modes.recordings != 0 and modes.is_tracer(self, other)
        if not _is_operand(other):
            return equality.asked_of_other(self, other, "__ne__", is_recorded)
        if not is_recorded:
            return self is not other if isinstance(other, ValueNode) else not convert.equals(self._primal, other)
        same = _compared(_equal, self, other)
        return 1.0 - same if isinstance(same, Value) else not same

    # While a function is staged, comparisons are Values of 1 and 0, which these operators join as they join bools.

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
        if modes.staging != 0 and self._level > 0:
            modes.refuse_if_staging(self, "looks up, in a set or a dict,")
        return object.__hash__(self)

    # What one does with it

    def backward(self) -> None:
        """Add d self / d v to `v.grad` for every Value v that self was made from, self (with 1.0) included.

        Earlier gradients are kept: a second call adds exactly the same again. `zero_grad(root)` clears them. Where
        something is raised, every gradient is as it was before.

        Raises:
            ValueError: If hand-edited nodes form a cycle.
            RuntimeError: If self was computed under `no_grad()`, or a sweep over the same nodes goes on.
            FloatingPointError: Under `debug_nans()`.
            Exception: Whatever a hand-made `_backward` raises.

        Example:
            >>> a = Value(3.0)
            >>> (a * a).backward()
            >>> a.grad
            6.0
        """
        sweep.backward(self)

    def detach(self) -> Value:
        """Return a new leaf with the same number: gradients stop there.

        Returns:
            The leaf; in a function that `jit` records, a node through which no gradient flows.

        Example:
            >>> a = Value(3.0)
            >>> (a * a.detach()).backward()
            >>> a.grad
            3.0
        """
        if modes.is_staging() or modes.is_recorded_elsewhere(self):
            return _unary(_stop_gradient, self)
        out: Value = _node(nodes.UNCONNECTED, None, None, self._primal, 0.0, 0.0)
        out._level = self._level
        return out

    def conjugate(self) -> Value:
        """Return the Value itself, for it is real. NumPy's `var` and `vdot` ask for it.

        Example:
            >>> a = Value(3.0)
            >>> a.conjugate() is a
            True
        """
        return self

    def __pos__(self) -> Value:
        return self

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's functions on Values: a row of the table on scalars, else an object array of Values."""
        if ufunc is numpy.divmod and method == "__call__":  # which NumPy has not for objects
            return numpy.floor_divide(*inputs, **kwargs), numpy.remainder(*inputs, **kwargs)
        compare = arrays.COMPARISONS.get(ufunc)
        if compare is not None and method == "__call__" and not kwargs:
            numbers = tuple([arrays.without_dimensions(x) for x in inputs])  # NumPy makes arrays of its numbers
            if convert.are_operands(numbers):
                x, y = [number if isinstance(number, Value) else convert.as_float(number) for number in numbers]
                answer = compare(x, y)
                return answer if isinstance(answer, Value) else numpy.bool_(answer)
        opcode = UFUNCS.get(ufunc.__name__, 0)
        has_own_operators = type(self) is not Value and opcode in OPERATORS  # or may: arrays of objects call them
        if opcode and method == "__call__" and not kwargs and not has_own_operators and convert.are_operands(inputs):
            return _applied(opcode, inputs)
        try:
            return getattr(ufunc, method)(*[arrays.of_object(operand) for operand in inputs], **kwargs)
        except TypeError as error:  # NumPy has no such function of objects, or an array cannot hold them
            if modes.recordings == 0 or isinstance(error, modes.RecordingError):
                raise
            raise modes.refused(f"{users_line()}: {error}", self) from error

    # Copies

    def __copy__(self) -> Value:
        """Another node made the same way, with the same operands. While it is recorded, the node itself."""
        copy: Value = pickling.copied(self)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        """A copy of the whole graph. Nodes that the memo holds already are shared, and those being recorded."""
        copy: Value = pickling.deep_copied(self, memo)
        return copy

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Pickle: the node, preceded by all that it was made from, unless a list of those is being pickled now."""
        reduced: tuple[Any, ...] = pickling.reduced(self)
        return reduced

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    # --- generated by tools/generate.py from ops/table.py: methods ---
    def __add__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = x + y
            return _node(1, self, other, out, 1.0, 1.0)
        return _binary(1, self, other)

    def __radd__(self, other: Value | float) -> Value:
        return _binary(1, other, self)

    def __sub__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = x - y
            return _node(2, self, other, out, 1.0, -1.0)
        return _binary(2, self, other)

    def __rsub__(self, other: Value | float) -> Value:
        return _binary(2, other, self)

    def __mul__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = x * y
            return _node(3, self, other, out, y, x)
        return _binary(3, self, other)

    def __rmul__(self, other: Value | float) -> Value:
        return _binary(3, other, self)

    def __truediv__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = ieee.div(x, y)
            return _node(4, self, other, out, ieee.div(1.0, y), ieee.div(-out, y))
        return _binary(4, self, other)

    def __rtruediv__(self, other: Value | float) -> Value:
        return _binary(4, other, self)

    def __pow__(self, other: Value | float, modulus: None = None) -> Value:
        if modulus is not None:
            raise TypeError("pow() of a Value takes no modulus")
        return _binary(5, self, other)

    def __rpow__(self, other: Value | float, modulus: None = None) -> Value:
        if modulus is not None:
            raise TypeError("pow() of a Value takes no modulus")
        return _binary(5, other, self)

    def pow(self, y: Value | float) -> Value:
        """Power.

        d/dx = y / x if fabs(x) > 0, else 0 if y = 0, else y · pow(x, y - 1)
        d/dy = 0 if x = 0 and y >= 0, else out · log(x)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).pow(2.0).data
            0.25
        """
        result: Value = apply(5, self, y)
        return result

    def __neg__(self) -> Value:
        return _unary(6, self)

    def __abs__(self) -> Value:
        return _unary(7, self)

    def abs(self) -> Value:
        """Absolute value.

        d/dx = sign(x)

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).abs().data
            0.5
        """
        return _unary(7, self)

    def exp(self) -> Value:
        """Exponential.

        d/dx = out

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).exp().data, 6)
            1.648721
        """
        return _unary(8, self)

    def expm1(self) -> Value:
        """exp(x) - 1, accurate near 0.

        d/dx = exp(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).expm1().data, 6)
            0.648721
        """
        return _unary(9, self)

    def exp2(self) -> Value:
        """2 to the power of x.

        d/dx = log(2) · out

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).exp2().data, 6)
            1.414214
        """
        return _unary(10, self)

    def log(self) -> Value:
        """Natural logarithm.

        d/dx = 1 / x

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).log().data, 6)
            -0.693147
        """
        return _unary(11, self)

    def log2(self) -> Value:
        """Logarithm to base 2.

        d/dx = 1 / log(2) / x

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).log2().data
            -1.0
        """
        return _unary(12, self)

    def log10(self) -> Value:
        """Logarithm to base 10.

        d/dx = 1 / log(10) / x

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).log10().data, 6)
            -0.30103
        """
        return _unary(13, self)

    def log1p(self) -> Value:
        """log(1 + x), accurate near 0.

        d/dx = 1 / (1 + x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).log1p().data, 6)
            0.405465
        """
        return _unary(14, self)

    def sqrt(self) -> Value:
        """Square root.

        d/dx = 0.5 / out

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).sqrt().data, 6)
            0.707107
        """
        return _unary(15, self)

    def cbrt(self) -> Value:
        """Cube root, also of negative numbers.

        d/dx = 1 / (3 · out · out)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).cbrt().data, 6)
            0.793701
        """
        return _unary(16, self)

    def log1mexp(self) -> Value:
        """log(1 - exp(x)), accurate for all x < 0.

        d/dx = exp(x) / expm1(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).log1mexp().data, 6)
            nan
        """
        return _unary(17, self)

    def sin(self) -> Value:
        """Sine of an angle in radians.

        d/dx = cos(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).sin().data, 6)
            0.479426
        """
        return _unary(18, self)

    def cos(self) -> Value:
        """Cosine of an angle in radians.

        d/dx = -sin(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).cos().data, 6)
            0.877583
        """
        return _unary(19, self)

    def tan(self) -> Value:
        """Tangent of an angle in radians.

        d/dx = 1 + out²

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).tan().data, 6)
            0.546302
        """
        return _unary(20, self)

    def asin(self) -> Value:
        """Inverse sine, in radians.

        d/dx = 1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).asin().data, 6)
            0.523599
        """
        return _unary(21, self)

    def arcsin(self) -> Value:
        """Inverse sine, in radians.

        d/dx = 1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arcsin().data, 6)
            0.523599
        """
        return _unary(21, self)

    def acos(self) -> Value:
        """Inverse cosine, in radians.

        d/dx = -1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).acos().data, 6)
            1.047198
        """
        return _unary(22, self)

    def arccos(self) -> Value:
        """Inverse cosine, in radians.

        d/dx = -1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arccos().data, 6)
            1.047198
        """
        return _unary(22, self)

    def atan(self) -> Value:
        """Inverse tangent, in radians.

        d/dx = 1 / (1 + x²)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).atan().data, 6)
            0.463648
        """
        return _unary(23, self)

    def arctan(self) -> Value:
        """Inverse tangent, in radians.

        d/dx = 1 / (1 + x²)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arctan().data, 6)
            0.463648
        """
        return _unary(23, self)

    def sinh(self) -> Value:
        """Hyperbolic sine.

        d/dx = cosh(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).sinh().data, 6)
            0.521095
        """
        return _unary(24, self)

    def cosh(self) -> Value:
        """Hyperbolic cosine.

        d/dx = sinh(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).cosh().data, 6)
            1.127626
        """
        return _unary(25, self)

    def tanh(self) -> Value:
        """Hyperbolic tangent.

        d/dx = 1 - out²

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).tanh().data, 6)
            0.462117
        """
        return _unary(26, self)

    def asinh(self) -> Value:
        """Inverse hyperbolic sine.

        d/dx = 1 / sqrt(1 + x²)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).asinh().data, 6)
            0.481212
        """
        return _unary(27, self)

    def arcsinh(self) -> Value:
        """Inverse hyperbolic sine.

        d/dx = 1 / sqrt(1 + x²)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arcsinh().data, 6)
            0.481212
        """
        return _unary(27, self)

    def acosh(self) -> Value:
        """Inverse hyperbolic cosine.

        d/dx = 1 / sqrt(x - 1) / sqrt(x + 1)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).acosh().data, 6)
            nan
        """
        return _unary(28, self)

    def arccosh(self) -> Value:
        """Inverse hyperbolic cosine.

        d/dx = 1 / sqrt(x - 1) / sqrt(x + 1)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arccosh().data, 6)
            nan
        """
        return _unary(28, self)

    def atanh(self) -> Value:
        """Inverse hyperbolic tangent.

        d/dx = 1 / ((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).atanh().data, 6)
            0.549306
        """
        return _unary(29, self)

    def arctanh(self) -> Value:
        """Inverse hyperbolic tangent.

        d/dx = 1 / ((1 - x) · (1 + x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arctanh().data, 6)
            0.549306
        """
        return _unary(29, self)

    def sinc(self) -> Value:
        """sin(π · x) / (π · x), and 1 at 0.

        d/dx = (cos(π · (x - 2 · rint(x / 2))) - out) / x

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).sinc().data, 6)
            0.63662
        """
        return _unary(30, self)

    def sigmoid(self) -> Value:
        """1 / (1 + exp(-x)).

        d/dx = out · (1 - out)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).sigmoid().data, 6)
            0.622459
        """
        return _unary(31, self)

    def expit(self) -> Value:
        """1 / (1 + exp(-x)).

        d/dx = out · (1 - out)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).expit().data, 6)
            0.622459
        """
        return _unary(31, self)

    def relu(self) -> Value:
        """x where it is positive, else 0.

        d/dx = 0 if x <= 0, else 1

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).relu().data
            0.5
        """
        return _unary(32, self)

    def softplus(self) -> Value:
        """log(1 + exp(x)).

        d/dx = (exp(-fabs(x)) if x < 0, else 1) / (1 + exp(-fabs(x)))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).softplus().data, 6)
            0.974077
        """
        return _unary(33, self)

    def silu(self) -> Value:
        """x · sigmoid(x), also known as swish.

        d/dx = (1 + x / (1 + exp(x))) / (1 + exp(-x))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).silu().data, 6)
            0.31123
        """
        return _unary(34, self)

    def gelu(self) -> Value:
        """x · norm_cdf(x), exact and not by tanh.

        d/dx = norm_cdf(x) + x · norm_pdf(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).gelu().data, 6)
            0.345731
        """
        return _unary(35, self)

    def erf(self) -> Value:
        """Error function.

        d/dx = 2 / sqrt(π) · exp(-(x²))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).erf().data, 6)
            0.5205
        """
        return _unary(36, self)

    def erfc(self) -> Value:
        """1 - erf(x), accurate for large x.

        d/dx = -(2 / sqrt(π) · exp(-(x²)))

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).erfc().data, 6)
            0.4795
        """
        return _unary(37, self)

    def erfcx(self) -> Value:
        """exp(x²) · erfc(x), which does not underflow.

        d/dx = 2 · x · out - 2 / sqrt(π)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).erfcx().data, 6)
            0.61569
        """
        return _unary(38, self)

    def norm_pdf(self) -> Value:
        """Density of the normal distribution.

        d/dx = -x · out

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).norm_pdf().data, 6)
            0.352065
        """
        return _unary(39, self)

    def norm_cdf(self) -> Value:
        """Normal distribution function.

        d/dx = norm_pdf(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).norm_cdf().data, 6)
            0.691462
        """
        return _unary(40, self)

    def ndtr(self) -> Value:
        """Normal distribution function.

        d/dx = norm_pdf(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).ndtr().data, 6)
            0.691462
        """
        return _unary(40, self)

    def norm_ppf(self) -> Value:
        """Quantile of the normal distribution: the inverse of norm_cdf.

        d/dx = 1 / norm_pdf(out)

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).norm_ppf().data
            0.0
        """
        return _unary(41, self)

    def ndtri(self) -> Value:
        """Quantile of the normal distribution: the inverse of norm_cdf.

        d/dx = 1 / norm_pdf(out)

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).ndtri().data
            0.0
        """
        return _unary(41, self)

    def gamma(self) -> Value:
        """Gamma function.

        d/dx = out · digamma(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).gamma().data, 6)
            1.772454
        """
        return _unary(42, self)

    def lgamma(self) -> Value:
        """Logarithm of the absolute value of the gamma function.

        d/dx = digamma(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).lgamma().data, 6)
            0.572365
        """
        return _unary(43, self)

    def gammaln(self) -> Value:
        """Logarithm of the absolute value of the gamma function.

        d/dx = digamma(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).gammaln().data, 6)
            0.572365
        """
        return _unary(43, self)

    def digamma(self) -> Value:
        """Derivative of lgamma.

        d/dx = trigamma(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).digamma().data, 6)
            -1.96351
        """
        return _unary(44, self)

    def psi(self) -> Value:
        """Derivative of lgamma.

        d/dx = trigamma(x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).psi().data, 6)
            -1.96351
        """
        return _unary(44, self)

    def trigamma(self) -> Value:
        """Derivative of digamma.

        d/dx = polygamma(2, x)

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).trigamma().data, 6)
            4.934802
        """
        return _unary(45, self)

    def atan2(self, y: Value | float) -> Value:
        """Angle of the point with ordinate x and abscissa y, in radians.

        d/dx = y / (x² + y²)
        d/dy = -x / (x² + y²)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).atan2(2.0).data, 6)
            0.244979
        """
        result: Value = apply(46, self, y)
        return result

    def arctan2(self, y: Value | float) -> Value:
        """Angle of the point with ordinate x and abscissa y, in radians.

        d/dx = y / (x² + y²)
        d/dy = -x / (x² + y²)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).arctan2(2.0).data, 6)
            0.244979
        """
        result: Value = apply(46, self, y)
        return result

    def hypot(self, y: Value | float) -> Value:
        """Length of the vector (x, y).

        d/dx = x / out
        d/dy = y / out

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).hypot(2.0).data, 6)
            2.061553
        """
        result: Value = apply(47, self, y)
        return result

    def maximum(self, y: Value | float) -> Value:
        """Larger of two; nan if either is.

        d/dx = 0.5 if x = y, else 0 if x < y, else 1
        d/dy = 0.5 if x = y, else 0 if y < x, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).maximum(2.0).data
            2.0
        """
        result: Value = apply(48, self, y)
        return result

    def minimum(self, y: Value | float) -> Value:
        """Smaller of two; nan if either is.

        d/dx = 0.5 if x = y, else 0 if y < x, else 1
        d/dy = 0.5 if x = y, else 0 if x < y, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).minimum(2.0).data
            0.5
        """
        result: Value = apply(49, self, y)
        return result

    def where(self, y: Value | float, z: Value | float) -> Value:
        """y where x is not zero, else z.

        d/dx = 0
        d/dy = 1 if x, else 0
        d/dz = 0 if x, else 1

        Args:
            y: A `Value` or a real number.
            z: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).where(2.0, 3.0).data
            2.0
        """
        result: Value = apply(50, self, y, z)
        return result

    def sign(self) -> Value:
        """-1, 0 or 1 by the sign of x.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).sign().data
            1.0
        """
        return _unary(51, self)

    def __floor__(self) -> Value:
        return _unary(52, self)

    def floor(self) -> Value:
        """Largest integer up to x.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).floor().data
            0.0
        """
        return _unary(52, self)

    def __ceil__(self) -> Value:
        return _unary(53, self)

    def ceil(self) -> Value:
        """Smallest integer from x on.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).ceil().data
            1.0
        """
        return _unary(53, self)

    def __trunc__(self) -> Value:
        return _unary(54, self)

    def trunc(self) -> Value:
        """x without its fraction.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).trunc().data
            0.0
        """
        return _unary(54, self)

    def rint(self) -> Value:
        """Nearest integer; the even one of two.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).rint().data
            0.0
        """
        return _unary(55, self)

    def less(self, y: Value | float) -> Value:
        """1 where x < y, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).less(2.0).data
            1.0
        """
        result: Value = apply(56, self, y)
        return result

    def less_equal(self, y: Value | float) -> Value:
        """1 where x <= y, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).less_equal(2.0).data
            1.0
        """
        result: Value = apply(57, self, y)
        return result

    def equal(self, y: Value | float) -> Value:
        """1 where x and y are equal, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).equal(2.0).data
            0.0
        """
        result: Value = apply(58, self, y)
        return result

    def __floordiv__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = ieee.floor_divide(x, y)
            return _node(59, self, other, out, 0.0, 0.0)
        return _binary(59, self, other)

    def __rfloordiv__(self, other: Value | float) -> Value:
        return _binary(59, other, self)

    def floor_divide(self, y: Value | float) -> Value:
        """Quotient rounded down.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).floor_divide(2.0).data
            0.0
        """
        result: Value = apply(59, self, y)
        return result

    def __mod__(self, other: Value | float) -> Value:
        if isinstance(other, Value):
            x: cython.double = self._primal
            y: cython.double = cython.cast(Value, other)._primal
            out: cython.double = ieee.mod(x, y)
            return _node(60, self, other, out, 1.0, -ieee.floor_divide(x, y))
        return _binary(60, self, other)

    def __rmod__(self, other: Value | float) -> Value:
        return _binary(60, other, self)

    def mod(self, y: Value | float) -> Value:
        """What remains of x / y rounded down, with the sign of y.

        d/dx = 1
        d/dy = -floor_divide(x, y)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).mod(2.0).data
            0.5
        """
        result: Value = apply(60, self, y)
        return result

    def fmod(self, y: Value | float) -> Value:
        """What remains of x / y rounded towards 0, with the sign of x.

        d/dx = 1
        d/dy = -copysign(floor_divide(fabs(x), fabs(y)), x / y)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).fmod(2.0).data
            0.5
        """
        result: Value = apply(61, self, y)
        return result

    def remainder(self, y: Value | float) -> Value:
        """What remains of x / y rounded to the nearest integer (the even one of two).

        d/dx = 1
        d/dy = -(floor_divide(x, y) + (1 if sign(out) · sign(y) < 0, else 0))

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).remainder(2.0).data
            0.5
        """
        result: Value = apply(62, self, y)
        return result

    def fmax(self, y: Value | float) -> Value:
        """Larger of two; the other one if one is nan.

        d/dx = 0.5 if x = y, else 0 if x < y, else 1 if x = x, else 0
        d/dy = 0.5 if x = y, else 1 if x < y, else 0 if x = x, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).fmax(2.0).data
            2.0
        """
        result: Value = apply(63, self, y)
        return result

    def fmin(self, y: Value | float) -> Value:
        """Smaller of two; the other one if one is nan.

        d/dx = 0.5 if x = y, else 0 if y < x, else 1 if x = x, else 0
        d/dy = 0.5 if x = y, else 1 if y < x, else 0 if x = x, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).fmin(2.0).data
            0.5
        """
        result: Value = apply(64, self, y)
        return result

    def copysign(self, y: Value | float) -> Value:
        """Absolute value of x with the sign of y.

        d/dx = sign(x) · copysign(1, y)
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).copysign(2.0).data
            0.5
        """
        result: Value = apply(65, self, y)
        return result

    def logaddexp(self, y: Value | float) -> Value:
        """log(exp(x) + exp(y)).

        d/dx = 1 / (1 + exp(y - x))
        d/dy = 1 / (1 + exp(x - y))

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.

        Example:
            >>> round(Value(0.5).logaddexp(2.0).data, 6)
            2.201413
        """
        result: Value = apply(66, self, y)
        return result

    def stop_gradient(self) -> Value:
        """x itself, and no gradient passes.

        d/dx = 0

        Returns:
            A new `Value`.

        Example:
            >>> Value(0.5).stop_gradient().data
            0.5
        """
        return _unary(67, self)

    # --- end of generated code ---


@cython.cfunc
def _has_constant_exponent(node: Value) -> cython.bint:
    """Whether it is a power whose exponent is part of its symbol, as micrograd has it."""
    return node.op == "**" and node._a is not None and node._b is None


@cython.cfunc
@cython.cfunc
def _set_partials(node: Value, partials: Any) -> object:
    """Give a hand-made node its partials, one for each operand."""
    i: cython.Py_ssize_t = 0
    if len(partials) != len(node._details.arguments):
        raise ValueError(
            "a Value made by hand takes a derivative for each child: "
            f"it has {len(node._details.arguments)}, and there are {len(partials)} derivatives"
        )
    for local in partials:
        node._details.partials[i] = convert.real(local, "a derivative")
        i += 1
    return None


@cython.cfunc
def _attributes(node: object, made: cython.int) -> object:
    """The attributes that a user gave to a node, as in `parameter.momentum = 0.0`; None where there are none."""
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
    """What `Value(data)` is, by the shortest way."""
    number: cython.double = convert.real(data, "Value(data)")
    level: cython.int = 0 if modes.recordings == 0 else modes.depth()
    out: Value = cython.cast(Value, node_memory.make_node(Value, 0, level, None, None, number, 0.0, 0.0))
    if modes.open_switches != 0 and modes.remembers_lines():
        nodes.details_of(out).source = named_line(modes.scope_path())
    return out


@cython.cfunc
def _with_partials(data: Any, children: Any, local_grads: Any) -> object:
    """What `Value(data, children, local_grads)` is, by the shortest way; None for other arguments."""
    if type(local_grads) is not tuple or type(children) is not tuple or len(children) == 0:
        return None
    out: Value = Value.__new__(Value)
    nodes.set_leaf(out, convert.real(data, "Value(data)"), 0 if modes.recordings == 0 else modes.depth())
    nodes.set_operands_and_level(out, nodes.as_children(children))
    _set_partials(out, local_grads)
    if modes.recordings != 0:
        nodes.details_of(out).source = users_line()
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


node_memory.manage_nodes(Value)
c_compat.open_to_assignment(Value, _attributes)
c_compat.construct_by(Value, _leaf, _with_partials)


# Making nodes


@cython.cfunc
@cython.inline
def _node(
    opcode: cython.int,
    a: ValueNode | None,
    b: ValueNode | None,
    data: cython.double,
    pa: cython.double,
    pb: cython.double,
) -> Value:
    """The result of an operation on one or two operands; a constant stands in `pa` or `pb` where `a` or `b` is None."""
    level: cython.int = a._level if a is not None else 0
    if b is not None and b._level > level:
        level = b._level
    out: Value = cython.cast(Value, node_memory.make_node(Value, opcode, level, a, b, data, pa, pb))
    if modes.open_switches != 0 or level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
def _unary(opcode: cython.int, a: Value) -> Value:
    out: cython.double = evaluate.value(opcode, a._primal, 0.0, 0.0)
    return _node(opcode, a, None, out, evaluate.partial(opcode, 0, a._primal, 0.0, 0.0, out), 0.0)


@cython.cfunc
def _binary(opcode: cython.int, left: Any, right: Any) -> Any:
    """The operation on two operands, at least one of them a Value; NotImplemented where one is not a number."""
    a: Value
    b: Value
    x: cython.double
    y: cython.double
    out: cython.double
    if isinstance(left, Value) and isinstance(right, Value):
        a, b = left, right
        x, y = a._primal, b._primal
        out = evaluate.value(opcode, x, y, 0.0)
        return _node(
            opcode, a, b, out, evaluate.partial(opcode, 0, x, y, 0.0, out), evaluate.partial(opcode, 1, x, y, 0.0, out)
        )
    if not (_is_operand(left) and _is_operand(right)):
        return NotImplemented
    x, y = _number(left), _number(right)
    out = evaluate.value(opcode, x, y, 0.0)
    if isinstance(left, Value):
        return _node(opcode, left, None, out, evaluate.partial(opcode, 0, x, y, 0.0, out), y)
    return _node(opcode, None, right, out, x, evaluate.partial(opcode, 1, x, y, 0.0, out))


@cython.cfunc
@cython.inline
def _is_operand(x: object) -> cython.bint:
    """Whether x is a Value or a real number, with the common cases in line."""
    return isinstance(x, (Value, float)) or convert.is_real(x)


@cython.cfunc
@cython.inline
@cython.exceptval(-1.0, check=True)
def _number(x: Any) -> cython.double:
    """The number of an operand, with the common cases in line."""
    if isinstance(x, Value):
        return cython.cast(Value, x)._primal
    if isinstance(x, float):
        return cython.cast(cython.double, x)
    return convert.to_double(x)


@cython.cfunc
def _ternary(opcode: cython.int, arguments: list) -> Value:
    """The operation on three operands, which do not fit into the node itself."""
    x: cython.double = _number(arguments[0])
    y: cython.double = _number(arguments[1])
    z: cython.double = _number(arguments[2])
    position: cython.int
    out: Value = _new(opcode, evaluate.value(opcode, x, y, z))
    nodes.set_operands_and_level(out, arguments)
    for position in range(3):
        out._details.partials[position] = evaluate.partial(opcode, position, x, y, z, out._primal)
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
@cython.inline
def _variadic(opcode: cython.int, arguments: list) -> object:
    """A variadic row of Values and numbers, or its number if no Value is among them."""
    out: Value = _new(opcode, 0.0)
    nodes.hold(out, arguments)
    if not variadic.compute(out):
        return out._primal
    if modes.open_switches != 0 or out._level < modes.staging:
        modes.inspect(out)
    return out


@cython.cfunc
@cython.inline
def _listed(operands: Any) -> Any:
    """The operands as a list or tuple, whose length is known."""
    return operands if type(operands) is list or type(operands) is tuple else tuple(operands)


# --- generated by tools/generate.py from ops/table.py: reductions ---
def sumprod(p: Iterable[Any], q: Iterable[Any], start: Any = 0.0) -> Any:
    """Return start + p[0]·q[0] + p[1]·q[1] + ..., added up in that order, as one node.

    d/dp[i] = q[i]
    d/dq[i] = p[i]
    d/dstart = 1

    Args:
        p: `Value`s and real numbers.
        q: `Value`s and real numbers.
        start: A `Value` or a real number.

    Returns:
        A new `Value`, or a float if no operand is a `Value`.

    Raises:
        TypeError: If an operand is neither a `Value` nor a real number.
        ValueError: If the sequences differ in length.

    Example:
        >>> sumprod([1.0, 2.0], [3.0, 4.0])
        11.0
    """
    all_p = _listed(p)
    all_q = _listed(q)
    if len(all_p) != len(all_q):
        raise variadic.unequal("sumprod", [all_p, all_q])
    return _variadic(68, [start, *all_p, *all_q])


# --- end of generated code ---


@cython.cfunc
@cython.inline
def _new(opcode: cython.int, data: cython.double) -> Value:
    """A node without operands, which its details are to hold."""
    return cython.cast(Value, node_memory.make_node(Value, opcode, 0, None, None, data, 0.0, 0.0))


def apply_variadic(opcode: int, operands: list) -> Any:
    """Apply a row that takes any number of operands to Values and numbers.

    Args:
        opcode: The row.
        operands: As many Values and numbers as the row accepts, in a list that nobody else changes.

    Returns:
        A Value if any operand is one, else a float.

    Raises:
        TypeError: If an operand is neither.
    """
    return _variadic(opcode, operands)


def apply(opcode: int, *operands: Any) -> Any:
    """Apply an operation to Values and numbers, or to each of those in arrays.

    Args:
        opcode: The operation, counted from 1 in the table's order. It takes a fixed number of operands.
        *operands: As many Values and numbers as the operation takes, or arrays and lists of these.

    Returns:
        A Value if any operand is one, else a float. Where an operand is an array or a list, an array of these.

    Raises:
        TypeError: If an operand is none of these.
    """
    if len(operands) == 1 and isinstance(operands[0], Value):
        return _unary(opcode, operands[0])
    return _applied(opcode, operands) if convert.are_operands(operands) else _of_arrays(opcode, operands)


@cython.cfunc
def _of_arrays(opcode: cython.int, operands: tuple) -> object:
    """An operation on each element of arrays, if there are any among the operands."""
    if arrays.are_there(operands):
        return arrays.elementwise(partial(apply, opcode), operands)
    scalars = [arrays.without_dimensions(operand) for operand in operands]
    if convert.are_operands(tuple(scalars)):
        return _applied(opcode, tuple(scalars))
    given = ", ".join([type(operand).__name__ for operand in operands])
    raise TypeError(f"{NAMES[opcode]}() takes Values and real numbers, not ({given})")


@cython.cfunc
def _applied(opcode: cython.int, operands: tuple) -> object:
    connected: cython.bint = False
    for operand in operands:
        connected = connected or isinstance(operand, Value)
    if not connected:
        x, y, z = [float(operand) for operand in operands] + [0.0] * (3 - len(operands))
        return evaluate.value(opcode, x, y, z)
    if len(operands) == 1:
        return _unary(opcode, operands[0])
    if len(operands) == 2:
        return _binary(opcode, operands[0], operands[1])
    return _ternary(opcode, [x if isinstance(x, Value) else _number(x) for x in operands])


# Recorded functions


def with_rule(data: float, operands: tuple[Value, ...], symbol: str, rule: Any) -> Value:
    """Make a node whose rule is called with the node itself.

    Args:
        data: Its number.
        operands: The Values that it was made from.
        symbol: What displays call its operation.
        rule: A function of the node, which adds to the operands' gradients in a backward sweep.

    Returns:
        The node; under `no_grad()` a leaf, which has no use for a rule.
    """
    out: Value = Value(data, operands, symbol)
    if out._opcode != nodes.UNCONNECTED:
        out._details.closure = rule
    return out


def _number_refused(node: Value, what: str) -> TypeError:
    """Build the error for a Value where Python needs a plain number."""
    modes.refuse_if_staging(node, f"needs the plain number for {what} of")
    return modes.refused(
        f"{users_line()}: {what} needs a plain number, got a Value. Use v.data, which has no gradient", node
    )


@cython.cfunc
def _joined(operator: str, left: Value, right: Any) -> object:
    """Join two conditions while a function is staged. An operand other than 0 and 1, such as a count, gives nan."""
    if not conditions.are_joined(left, right):
        return NotImplemented
    if not isinstance(right, Value):
        right = _number(right)
    whens = {"&": (right, 0.0), "|": (1.0, right), "^": (1.0 - right, right)}
    out: Value = _ternary(_where, [left, *whens[operator]])
    for operand in (left, right):
        if isinstance(operand, Value) and not conditions.is_condition(operand):
            out = _ternary(_where, [_binary(_equal, operand * (1.0 - operand), 0.0), out, math.nan])
    return out


@cython.cfunc
def _compared(opcode: cython.int, left: object, right: object) -> object:
    """Whether a comparison holds; while a function is staged, that as a Value."""
    if modes.staging != 0:
        if modes.is_staging():
            return _binary(opcode, left, right)
        for operand in (left, right):
            if isinstance(operand, Value):
                modes.refuse_if_staging(operand, "branches on")
    return evaluate.value(opcode, _number(left), _number(right), 0.0) != 0.0
