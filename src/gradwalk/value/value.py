"""`Value`, a number that remembers how it was made, and the sweep that turns what it remembers into gradients.

A node stores the local derivative with respect to each operand when it is made. So the backward sweep knows no
operation: it is `operand.grad += partial * grad`, from the root to the leaves.

The file is Cython in pure-Python mode: it runs as it stands, and fast when compiled. Everything particular to an
operation is generated from the table in `ops.py`: values and partials in `rules.py`, methods in the marked block below.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate, ieee
from gradwalk.ops.evaluate import ARITIES, NAMES, SUMPROD, SYMBOLS, UFUNCS
from gradwalk.value.expr_repr import spelled
from gradwalk.value.hand_made import Closure
from gradwalk.value.source_line import SourceLine, users_line

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

ENDED = 255  # the level of the inputs of recordings that have ended
CONSTANT = -1  # in a record, the place of an operand that is no Value
_constant = cython.declare(cython.int, CONSTANT)  # the same in C
UNCONNECTED = cython.declare(cython.int, -1)  # the opcode of leaves made by detach() or under no_grad()
_equal = cython.declare(cython.int, NAMES.index("equal"))
_less = cython.declare(cython.int, NAMES.index("less"))
_less_equal = cython.declare(cython.int, NAMES.index("less_equal"))
_stop_gradient = cython.declare(cython.int, NAMES.index("stop_gradient"))

# How far a traversal has come with a node. Outside of traversals every node is NEW.
NEW = cython.declare(cython.int, 0)
OPEN = cython.declare(cython.int, 1)  # its operands are being visited
DONE = cython.declare(cython.int, 2)

_REAL_TYPES = (float, int, numpy.floating, numpy.integer, numpy.bool_)
_COMMON_TYPES = frozenset([float, int, bool, numpy.bool_, *(numpy.dtype(code).type for code in "bBhHiIlLqQefdg")])

# Traversals mark nodes, and a closure may run any code between two steps of a sweep: one thread at a time.
_traversing = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child has none of the parent's other threads: nobody there would open the lock
    os.register_at_fork(
        before=_traversing.acquire, after_in_parent=_traversing.release, after_in_child=_traversing.release
    )
_sweeps: list = []  # the orders being swept now: more than one when a closure calls backward()

# How many no_grad(), debug_nans() and source_lines() contexts are open in all threads. While it is 0, a new node is not
# looked at, unless a strict recording goes on of a higher level than the node's.
_open_switches = cython.declare(cython.int, 0)
_without_gradient: ContextVar[bool] = ContextVar("without_gradient", default=False)
_refusing_nans: ContextVar[bool] = ContextVar("refusing_nans", default=False)
_remembering_lines: ContextVar[bool] = ContextVar("remembering_lines", default=False)
# The level of the recording that goes on, if its numbers are not to be asked for; else 0.
_recording: ContextVar[int] = ContextVar("recording", default=0)
_refusals: ContextVar[Any] = ContextVar("refusals", default=None)  # the errors raised in it
_strict_levels: list[int] = []  # of all such recordings, in all threads
_strict = cython.declare(cython.int, 0)  # the highest of them, or 0
# How many recordings go on, in all threads, and the level of the innermost one here.
_recordings = cython.declare(cython.int, 0)
_depth: ContextVar[int] = ContextVar("depth", default=0)
# In a traversal, the lowest level of nodes whose operands it goes on to.
_floor = cython.declare(cython.int, 0)

# Freeing a node frees the operands that nobody else uses, and so on: a recursion as deep as the graph. So operands wait
# here from the 100th level on, and are freed when the recursion has come back up.
_freeing = cython.declare(cython.int, 0)
_waiting = cython.declare(list, [])


@cython.no_gc
@cython.freelist(4096)
@cython.cclass
class Details:
    """What only some nodes have: a label, a hand-made rule, more than two operands, a line in the user's program."""

    __slots__ = ("arguments", "attributes", "closure", "label", "partials", "source", "symbol")

    label: str
    symbol: str
    arguments: list
    partials: cython.p_double  # d self / d argument, zeros for hand-made nodes; NULL where there are no arguments
    closure: Any
    source: Any
    attributes: Any

    def __dealloc__(self) -> None:
        c_compat.release(self.partials)


@cython.no_gc  # operands only point backward: no cycles to look for, and 16 bytes less a node
@cython.freelist(65536)
@cython.cclass
class Value:
    """A real number, how it was made, and (after `backward`) the derivative of the root with respect to it.

    `data`: the number, kept as float64. `_children` and `_op`: operands and symbol of a hand-made node, whose
    `_backward` is then to be set to a function that adds to its operands' `grad`. `label`: a name for displays.
    Raises `TypeError` where `data` is not a real number or a child is not a Value.

    >>> a, b = Value(2.0), Value(-3.0)
    >>> c = a * b
    >>> c.backward()
    >>> a
    Value(data=2.0, grad=-3.0)
    """

    __slots__ = (
        *("__dict__", "_a", "_b", "_details", "_grad", "_level", "_mark", "_opcode", "_pa", "_pb", "_place"),
        *("_primal", "_special"),
    )

    _primal: cython.double
    _grad: cython.double
    _a: Value | None  # the operands of a native node; None where a constant stands, or nothing
    _b: Value | None
    _pa: cython.double  # d self / d _a; where _a is None, the constant that stands in its place
    _pb: cython.double
    _details: Details | None
    _opcode: cython.schar  # 0 for leaves and hand-made nodes, UNCONNECTED for leaves that come out of a graph
    _level: cython.uchar  # of the innermost recorded function whose arguments it depends on; 0 outside of all
    _mark: cython.uchar
    _special: cython.uchar  # whether operands and rule are in the details
    _place: cython.int  # in the latest order that a traversal has found

    @cython.annotation_typing(False)  # the arguments are checked here, not turned into C types on the way in
    def __init__(self, data: float, _children: Iterable[Value] = (), _op: str = "", label: str = "") -> None:
        number: cython.double = _real(data, "Value(data)")
        children = None if type(_children) is tuple and not _children else _as_children(_children)
        symbol = _as_text(_op, "the symbol of an operation")
        name = _as_text(label, ".label")
        self._primal = number
        self._grad = 0.0
        self._a = None
        self._b = None
        self._pa = 0.0
        self._pb = 0.0
        self._details = None
        self._opcode = 0
        self._level = 0 if _recordings == 0 else _depth.get()
        self._mark = NEW
        self._special = False
        if children or symbol:
            _set_by_hand(self, children or [], symbol)
            if _recordings != 0:
                _detailed(self).source = users_line()
            if _open_switches != 0 or self._level < _strict:
                _inspected(self)
        elif _open_switches != 0 and _remembering_lines.get():
            _detailed(self).source = users_line()
        if name:
            _detailed(self).label = name

    def __dealloc__(self) -> None:
        # Compiled code only; for ordinary classes CPython does the like by itself.
        global _freeing
        _freeing += 1
        if _freeing > 100:
            _waiting.extend((self._a, self._b, self._details))
        self._a = self._b = self._details = None  # may free them, one level further down
        while _freeing == 1 and _waiting:  # still counted, so that nothing freed here begins this loop once more
            _waiting.pop()
        _freeing -= 1

    # What it is

    @property
    def data(self) -> float:
        """The number. Setting it changes this node alone; `refresh(root)` recomputes what depends on it."""
        if _strict != 0:
            _refuse_if_recording(self, "reads .data of")
        return self._primal

    @data.setter
    def data(self, value: Any) -> None:
        if _strict != 0:
            _refuse_if_recording(self, "sets .data of")
        self._primal = _real(value, ".data")

    @property
    def grad(self) -> float:
        """d root / d self, summed over all calls of `backward` since it was last zero."""
        if _strict != 0:
            _refuse_if_recording(self, "reads .grad of")
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if _strict != 0:
            _refuse_if_recording(self, "sets .grad of")
        self._grad = _real(value, ".grad")

    @property
    def label(self) -> str:
        """A name for displays, `""` at first."""
        return self._details.label if self._details is not None else ""

    @label.setter
    def label(self, value: Any) -> None:
        _detailed(self).label = _as_text(value, ".label")

    @property
    def op(self) -> str:
        """The symbol of the operation that made it, `""` for a leaf."""
        if self._opcode > 0:
            return SYMBOLS[self._opcode]
        return self._details.symbol if self._details is not None else ""

    @property
    def arguments(self) -> tuple[Value | float, ...]:
        """What the operation was applied to, in order: Values, and plain numbers where constants stood."""
        if self._special:
            return tuple(self._details.arguments)
        if self._opcode <= 0:
            return ()
        left = self._a if self._a is not None else self._pa
        right = self._b if self._b is not None else self._pb
        return (left, right) if ARITIES[self._opcode] == 2 else (left,)

    @property
    def operands(self) -> tuple[Value, ...]:
        """The Values that it was made from, in order, repeats kept; constants are not among them."""
        return tuple([argument for argument in self.arguments if isinstance(argument, Value)])

    @property
    def partials(self) -> tuple[float, ...]:
        """d self / d operand for every operand, in the order of `operands`, as of when it was made.

        For a hand-made node they are found by running its `_backward` with gradient 1. The total for an operand that
        stands there more than once is given at its first place, for the function does not tell the places apart.
        """
        if _strict != 0:
            _refuse_if_recording(self, "reads .partials of")
        if not self._special:
            return tuple([p for operand, p in ((self._a, self._pa), (self._b, self._pb)) if operand is not None])
        if self._details.closure is not None:
            return _probed_partials(self)
        arguments = self._details.arguments
        return tuple([self._details.partials[i] for i in range(len(arguments)) if isinstance(arguments[i], Value)])

    @property
    def source(self) -> SourceLine | None:
        """The line of the user's program that made it, known if that was under `source_lines()` or `debug_nans()`."""
        return self._details.source if self._details is not None else None

    def __repr__(self) -> str:
        label = f", label={self.label!r}" if self.label else ""
        return f"Value(data={self._primal}, grad={self._grad}{label})"

    def __format__(self, specification: str) -> str:
        return format(self._primal, specification) if specification else repr(self)

    def __bool__(self) -> bool:
        if _strict != 0:
            _refuse_if_recording(self, "branches on")
        return _recordings == 0 or self._level == 0 or self._primal != 0.0

    def __int__(self) -> int:
        raise _number_refused(self, "int()")

    def __index__(self) -> int:
        raise _number_refused(self, "an index or a count")

    def __round__(self, digits: int | None = None) -> float:
        raise _number_refused(self, "round()")

    def __trunc__(self) -> int:
        raise _number_refused(self, "trunc()")

    def __floor__(self) -> int:
        raise _number_refused(self, "floor()")

    def __ceil__(self) -> int:
        raise _number_refused(self, "ceil()")

    def __float__(self) -> float:
        _refuse_if_recording(self, "turns into a float")
        if _recordings != 0:
            raise TypeError(
                f"{users_line()}: a Value does not turn into a float, for its gradient would be lost: use "
                "gradwalk.math.sin and its kin for math.sin, and arrays of dtype=object to hold Values"
            )
        raise TypeError(
            "a Value does not turn into a float by itself, for its gradient would be lost without a word: "
            "use v.data for the number, v.tanh() or gradwalk.math.tanh(v) for a function of it"
        )

    # micrograd's names

    @property
    def _prev(self) -> set[Value]:
        """The operands as a set. Can be set on hand-made nodes."""
        return set(self.operands)

    @_prev.setter
    def _prev(self, children: Iterable[Value]) -> None:
        _set_by_hand(self, _as_children(children), self.op)

    @property
    def _op(self) -> str:
        """The symbol as micrograd writes it: a constant exponent is part of it. Can be set on hand-made nodes."""
        if self.op == "**" and self._a is not None and self._b is None:
            return f"**{self._pb:g}"
        return self.op

    @_op.setter
    def _op(self, symbol: Any) -> None:
        _set_by_hand(self, list(self.arguments), _as_text(symbol, "the symbol of an operation"))

    @property
    def _backward(self) -> Callable[[], None]:
        """A function of no arguments that adds this node's contributions to its operands' `grad`.

        Set it to give a hand-made node its rule. The function may close over the node itself.
        """
        closure = self._details.closure if self._special else None
        return self._push_native if closure is None else partial(_call, closure, self)

    @_backward.setter
    def _backward(self, function: Callable[[], object]) -> None:
        if not callable(function):
            raise TypeError(f"._backward takes a function of no arguments, not {type(function).__name__}")
        if self._opcode != UNCONNECTED:
            _set_closure(self, Closure(function, self))

    def _push(self) -> None:
        """Add this node's contributions to its operands' `grad`, by the rule set for it or by its own."""
        if self._special and self._details.closure is not None:
            _call(self._details.closure, self)
        else:
            self._push_native()

    def _push_native(self) -> None:
        """The same by its own rule: partials times gradient."""
        _push_partials(self)

    # Order is that of the numbers. Equality is identity, so that Values live in sets and dicts; but what is computed
    # from the arguments of a function that is being recorded stands for a number, and is compared as one.

    def __lt__(self, other: Value | float) -> Any:
        return _compared(_less, self, other) if _is_operand(other) else NotImplemented

    def __le__(self, other: Value | float) -> Any:
        return _compared(_less_equal, self, other) if _is_operand(other) else NotImplemented

    def __gt__(self, other: Value | float) -> Any:
        return _compared(_less, other, self) if _is_operand(other) else NotImplemented

    def __ge__(self, other: Value | float) -> Any:
        return _compared(_less_equal, other, self) if _is_operand(other) else NotImplemented

    def __eq__(self, other: object) -> Any:
        if _recordings != 0 and _is_operand(other) and _stands_for_a_number(self, other):
            return _compared(_equal, self, other)
        return self is other

    def __ne__(self, other: object) -> Any:
        if _recordings != 0 and _is_operand(other) and _stands_for_a_number(self, other):
            same = _compared(_equal, self, other)
            return 1.0 - same if isinstance(same, Value) else not same
        return self is not other

    def __hash__(self) -> int:
        return object.__hash__(self)

    # What one does with it

    def backward(self) -> None:
        """Add d self / d v to `v.grad` for every Value v that self was made from, self (with 1.0) included.

        Earlier gradients are kept: a second call adds exactly the same again. `zero_grad(root)` clears them.

        Raises `ValueError` where hand-edited nodes form a cycle, `RuntimeError` where self was computed under
        `no_grad()` or inside a sweep over the same nodes, `FloatingPointError` under `debug_nans()`, and whatever a
        hand-made `_backward` raises. Every gradient is then as it was before.
        """
        _refuse_if_recording(self, "calls backward() on")
        if self._opcode == UNCONNECTED or (_without_gradient.get() and not self.operands):
            raise RuntimeError(
                "this Value is connected to nothing: it was computed under no_grad() or made by detach(); "
                "compute it outside of no_grad() to differentiate it"
            )
        with _traversing:
            _sweep(self)

    def detach(self) -> Value:
        """A new leaf with the same number: gradients stop there."""
        if _recording.get():
            return _unary(_stop_gradient, self)
        out: Value = _node(UNCONNECTED, None, None, self._primal, 0.0, 0.0)
        out._level = self._level
        return out

    def conjugate(self) -> Value:
        """Itself, for it is real. NumPy's `var` and `vdot` ask for it."""
        return self

    def __pos__(self) -> Value:
        return self

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's functions on Values: a row of the table on scalars, else an object array of Values."""
        opcode = UFUNCS.get(ufunc.__name__, 0)
        if opcode and method == "__call__" and not kwargs and _are_operands(inputs):
            return _applied(opcode, inputs)
        return getattr(ufunc, method)(*[_as_array(operand) for operand in inputs], **kwargs)

    # Copies. All without recursion, for graphs of any depth

    def __copy__(self) -> Value:
        """Another node made the same way, with the same operands. While it is recorded, the node itself."""
        if _is_being_recorded(self):
            return self
        copy: Value = _restored(self._state(), self.arguments)
        copy.__setstate__(_attributes(self))
        if self._special and self._details.closure is not None:
            _set_closure(copy, self._details.closure)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        """A copy of the whole graph. Nodes that the memo holds already are shared, and those being recorded."""
        if _is_being_recorded(self):
            return self
        node: Value
        copy: Value
        for node in topological_order(self):
            if id(node) not in memo:
                arguments = [memo[id(x)] if isinstance(x, Value) else x for x in node.arguments]
                memo[id(node)] = copy = _restored(node._state(), tuple(arguments))
                copy.__setstate__(deepcopy(_attributes(node), memo))
                if node._special and node._details.closure is not None:
                    _set_closure(copy, node._details.closure.replaced(memo))
        twin: Value = memo[id(self)]
        return twin

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Pickle: the node, preceded by all that it was made from, unless a list of those is being pickled now."""
        if _is_being_recorded(self):
            raise RecordingError(f"{users_line()}: a Value cannot be pickled while the function is being recorded")
        if self._special and self._details.closure is not None:
            raise TypeError(
                f"cannot pickle the hand-made node {self!r} (operation {self.op!r}): its _backward is a closure"
            )
        is_listed = id(self) in getattr(_pickling, "listed", ())
        ancestors = None if is_listed or not self.operands else _Ancestors(self)
        # one flat tuple: the pickler keeps all that it is given, and the garbage collector goes through it
        return _unpickled, (ancestors, *self._state(), *self.arguments), _attributes(self) or None

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def _set_attribute(self, name: str, value: object) -> None:
        """What setting an unknown attribute comes to, as in `parameter.momentum = 0.0` (compiled: see native.py)."""
        details: Details = _detailed(self)
        if details.attributes is None:
            details.attributes = {}
        details.attributes[name] = value
        if not hasattr(Value, name):
            setattr(Value, name, _Attribute(name))

    def _state(self) -> tuple[Any, ...]:
        """All about the node but its operands and closure, by names that another version of the table knows."""
        name = NAMES[self._opcode] if self._opcode > 0 else ""
        partials: tuple[float, ...] = (self._pa, self._pb)
        if self._special:
            partials = tuple([self._details.partials[i] for i in range(len(self._details.arguments))])
        symbol = self._details.symbol if self._details is not None else ""
        kind = "unconnected" if self._opcode == UNCONNECTED else "wide" if self._special else ""
        return type(self), name, self._primal, self._grad, self.label, symbol, kind, len(partials), *partials

    # --- generated by tools/generate.py from ops.py: methods ---
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
        """
        return _unary(7, self)

    def exp(self) -> Value:
        """Exponential.

        d/dx = out

        Returns:
            A new `Value`.
        """
        return _unary(8, self)

    def expm1(self) -> Value:
        """exp(x) - 1, accurate near 0.

        d/dx = exp(x)

        Returns:
            A new `Value`.
        """
        return _unary(9, self)

    def log(self) -> Value:
        """Natural logarithm.

        d/dx = 1 / x

        Returns:
            A new `Value`.
        """
        return _unary(10, self)

    def log2(self) -> Value:
        """Logarithm to base 2.

        d/dx = 1 / (x · log(2))

        Returns:
            A new `Value`.
        """
        return _unary(11, self)

    def log10(self) -> Value:
        """Logarithm to base 10.

        d/dx = 1 / (x · log(10))

        Returns:
            A new `Value`.
        """
        return _unary(12, self)

    def log1p(self) -> Value:
        """log(1 + x), accurate near 0.

        d/dx = 1 / (1 + x)

        Returns:
            A new `Value`.
        """
        return _unary(13, self)

    def sqrt(self) -> Value:
        """Square root.

        d/dx = 0.5 / out

        Returns:
            A new `Value`.
        """
        return _unary(14, self)

    def sin(self) -> Value:
        """Sine of an angle in radians.

        d/dx = cos(x)

        Returns:
            A new `Value`.
        """
        return _unary(15, self)

    def cos(self) -> Value:
        """Cosine of an angle in radians.

        d/dx = -sin(x)

        Returns:
            A new `Value`.
        """
        return _unary(16, self)

    def tan(self) -> Value:
        """Tangent of an angle in radians.

        d/dx = 1 + out²

        Returns:
            A new `Value`.
        """
        return _unary(17, self)

    def asin(self) -> Value:
        """Inverse sine, in radians.

        d/dx = 1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.
        """
        return _unary(18, self)

    def arcsin(self) -> Value:
        """Inverse sine, in radians.

        d/dx = 1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.
        """
        return _unary(18, self)

    def acos(self) -> Value:
        """Inverse cosine, in radians.

        d/dx = -1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.
        """
        return _unary(19, self)

    def arccos(self) -> Value:
        """Inverse cosine, in radians.

        d/dx = -1 / sqrt((1 - x) · (1 + x))

        Returns:
            A new `Value`.
        """
        return _unary(19, self)

    def atan(self) -> Value:
        """Inverse tangent, in radians.

        d/dx = 1 / (1 + x²)

        Returns:
            A new `Value`.
        """
        return _unary(20, self)

    def arctan(self) -> Value:
        """Inverse tangent, in radians.

        d/dx = 1 / (1 + x²)

        Returns:
            A new `Value`.
        """
        return _unary(20, self)

    def sinh(self) -> Value:
        """Hyperbolic sine.

        d/dx = cosh(x)

        Returns:
            A new `Value`.
        """
        return _unary(21, self)

    def cosh(self) -> Value:
        """Hyperbolic cosine.

        d/dx = sinh(x)

        Returns:
            A new `Value`.
        """
        return _unary(22, self)

    def tanh(self) -> Value:
        """Hyperbolic tangent.

        d/dx = 1 - out²

        Returns:
            A new `Value`.
        """
        return _unary(23, self)

    def sigmoid(self) -> Value:
        """1 / (1 + exp(-x)).

        d/dx = out · (1 - out)

        Returns:
            A new `Value`.
        """
        return _unary(24, self)

    def expit(self) -> Value:
        """1 / (1 + exp(-x)).

        d/dx = out · (1 - out)

        Returns:
            A new `Value`.
        """
        return _unary(24, self)

    def relu(self) -> Value:
        """x where it is positive, else 0.

        d/dx = 0 if x <= 0, else 1

        Returns:
            A new `Value`.
        """
        return _unary(25, self)

    def softplus(self) -> Value:
        """log(1 + exp(x)).

        d/dx = (exp(-fabs(x)) if x < 0, else 1) / (1 + exp(-fabs(x)))

        Returns:
            A new `Value`.
        """
        return _unary(26, self)

    def erf(self) -> Value:
        """Error function.

        d/dx = 2 / sqrt(π) · exp(-(x²))

        Returns:
            A new `Value`.
        """
        return _unary(27, self)

    def atan2(self, y: Value | float) -> Value:
        """Angle of the point with ordinate x and abscissa y, in radians.

        d/dx = 0 if hypot(x, y) = 0, else y / hypot(x, y) / hypot(x, y)
        d/dy = 0 if hypot(x, y) = 0, else -x / hypot(x, y) / hypot(x, y)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(28, self, y)
        return result

    def arctan2(self, y: Value | float) -> Value:
        """Angle of the point with ordinate x and abscissa y, in radians.

        d/dx = 0 if hypot(x, y) = 0, else y / hypot(x, y) / hypot(x, y)
        d/dy = 0 if hypot(x, y) = 0, else -x / hypot(x, y) / hypot(x, y)

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(28, self, y)
        return result

    def hypot(self, y: Value | float) -> Value:
        """Length of the vector (x, y).

        d/dx = x / out
        d/dy = y / out

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(29, self, y)
        return result

    def maximum(self, y: Value | float) -> Value:
        """Larger of two; nan if either is.

        d/dx = 0.5 if x = y, else 0 if x < y, else 1
        d/dy = 0.5 if x = y, else 0 if y < x, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(30, self, y)
        return result

    def minimum(self, y: Value | float) -> Value:
        """Smaller of two; nan if either is.

        d/dx = 0.5 if x = y, else 0 if y < x, else 1
        d/dy = 0.5 if x = y, else 0 if x < y, else 1

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(31, self, y)
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
        """
        result: Value = apply(32, self, y, z)
        return result

    def sign(self) -> Value:
        """-1, 0 or 1 by the sign of x.

        d/dx = 0

        Returns:
            A new `Value`.
        """
        return _unary(33, self)

    def less(self, y: Value | float) -> Value:
        """1 where x < y, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(34, self, y)
        return result

    def less_equal(self, y: Value | float) -> Value:
        """1 where x <= y, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(35, self, y)
        return result

    def equal(self, y: Value | float) -> Value:
        """1 where x and y are equal, else 0.

        d/dx = 0
        d/dy = 0

        Args:
            y: A `Value` or a real number.

        Returns:
            A new `Value`.
        """
        result: Value = apply(36, self, y)
        return result

    def stop_gradient(self) -> Value:
        """x itself, and no gradient passes.

        d/dx = 0

        Returns:
            A new `Value`.
        """
        return _unary(37, self)

    # --- end of generated code ---


class _Attribute:
    """A descriptor for an attribute that users gave to some node: kept in its details, so that others need no room."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, node: Value | None, owner: type) -> Any:
        if node is None:
            return self
        try:
            return _attributes(node)[self._name]
        except KeyError:
            raise AttributeError(f"'Value' object has no attribute {self._name!r}", name=self._name, obj=node) from None

    def __set__(self, node: Value, value: object) -> None:
        if hasattr(node, "__dict__"):
            node.__dict__[self._name] = value
        else:
            node._set_attribute(self._name, value)

    def __delete__(self, node: Value) -> None:
        self.__get__(node, type(node))
        del _attributes(node)[self._name]


def _attributes(node: Value) -> dict[str, Any]:
    """The attributes that users gave to a node."""
    if hasattr(node, "__dict__"):
        return node.__dict__
    return (node._details.attributes if node._details is not None else None) or {}


c_compat.open_to_assignment(Value)


# Making nodes


@cython.cfunc
@cython.inline
def _node(
    opcode: cython.int, a: Value | None, b: Value | None, data: cython.double, pa: cython.double, pb: cython.double
) -> Value:
    """The result of an operation on one or two operands; a constant stands in `pa` or `pb` where `a` or `b` is None."""
    out: Value = Value.__new__(Value)
    out._primal = data
    out._grad = 0.0
    out._a = a
    out._b = b
    out._pa = pa
    out._pb = pb
    out._details = None
    out._opcode = opcode
    out._level = a._level if a is not None else 0
    if b is not None and b._level > out._level:
        out._level = b._level
    out._mark = NEW
    out._special = False
    return out if _open_switches == 0 and out._level >= _strict else _inspected(out)


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
def _ternary(opcode: cython.int, arguments: list) -> Value:
    """The operation on three operands, which do not fit into the node itself."""
    x: cython.double = _number(arguments[0])
    y: cython.double = _number(arguments[1])
    z: cython.double = _number(arguments[2])
    position: cython.int
    out: Value = _wide(opcode, arguments, evaluate.value(opcode, x, y, z))
    for position in range(3):
        out._details.partials[position] = evaluate.partial(opcode, position, x, y, z, out._primal)
    return out if _open_switches == 0 and out._level >= _strict else _inspected(out)


def sumprod(p: Iterable[Any], q: Iterable[Any], start: Any = 0.0) -> Any:
    """start + p[0]*q[0] + p[1]*q[1] + ..., added up in that order: a Value if any of the numbers is one, else a float.

    The same as the loop bit for bit, but one node however long it is, and several times faster: `math.sumprod` for
    Values. Raises `ValueError` where p and q differ in length, `TypeError` where one of the numbers is neither a Value
    nor a real number.

    >>> w, x = [Value(2.0), Value(3.0)], [10.0, 100.0]
    >>> sumprod(w, x)
    Value(data=320.0, grad=0.0)
    """
    left = p if type(p) is list or type(p) is tuple else tuple(p)
    right = q if type(q) is list or type(q) is tuple else tuple(q)
    if len(left) != len(right):
        raise ValueError(f"sumprod() takes two sequences of one length, not {len(left)} and {len(right)} numbers")
    out: Value = _wide(SUMPROD, [start, *left, *right], 0.0)
    if _sum_products(out):
        return out if _open_switches == 0 and out._level >= _strict else _inspected(out)
    return out._primal


@cython.cfunc
def _sum_products(node: Value) -> cython.bint:
    """Compute a sum of products and its partials from its arguments: start, first factors, second factors.

    Whether a Value is among them. The partial of a factor is the other factor, so every number goes straight there.
    """
    partials: cython.p_double = node._details.partials
    arguments: list = node._details.arguments
    n: cython.Py_ssize_t = len(arguments) // 2
    i: cython.Py_ssize_t = -1
    number: cython.double
    total: cython.double = 0.0
    connected: cython.bint = False
    for argument in arguments:
        i += 1
        if isinstance(argument, Value):
            number = cython.cast(Value, argument)._primal
            connected = True
        elif _is_operand(argument):
            arguments[i] = number = _number(argument)  # a plain float, so that no code of the user's runs on refresh
        else:
            raise TypeError(f"sumprod() takes Values and real numbers, not {type(argument).__name__}")
        if i == 0:
            total = number
        elif i <= n:
            partials[i + n] = number
        else:
            partials[i - n] = number
            total += partials[i] * number
    partials[0] = 1.0
    node._primal = total
    return connected


@cython.cfunc
@cython.inline
def _wide(opcode: cython.int, arguments: list, data: cython.double) -> Value:
    """A node with any number of operands; the partials are to be filled in."""
    out: Value = Value.__new__(Value)
    out._primal = data
    out._grad = 0.0
    out._a = None
    out._b = None
    out._pa = 0.0
    out._pb = 0.0
    out._details = None
    out._opcode = opcode
    out._level = 0
    out._mark = NEW
    _widen(out, arguments)
    return out


@cython.cfunc
def _widen(node: Value, arguments: list) -> object:
    """Keep the node's operands in its details, their partials zero."""
    details: Details = _detailed(node)
    c_compat.untrack(arguments)
    partials = c_compat.allocate(len(arguments))
    c_compat.release(details.partials)
    details.partials = partials
    details.arguments = arguments
    node._special = True
    for argument in arguments:
        if isinstance(argument, Value) and cython.cast(Value, argument)._level > node._level:
            node._level = cython.cast(Value, argument)._level
    return None


@cython.cfunc
def _set_closure(node: Value, closure: Any) -> object:
    """Give a node a rule of its own. A native one keeps its partials, for a rule that calls the one before it."""
    if not node._special:
        _widen(node, list(node.arguments))
        if node._opcode > 0:
            node._details.partials[0] = node._pa
        if len(node._details.arguments) > 1:
            node._details.partials[1] = node._pb
    node._details.closure = closure
    return None


def _call(closure: Closure, node: Value) -> None:
    with _traversing:  # the closure's own cell is filled for one thread at a time
        closure(node)


@cython.cfunc
def _set_by_hand(node: Value, children: list, symbol: Any) -> object:
    """Give a leaf or hand-made node operands and a symbol."""
    if node._opcode > 0:
        raise ValueError(
            f"the operands and the symbol of a native node ({node.op}) cannot be edited; "
            "make a node by hand instead: Value(data, (operand, ...), 'name')"
        )
    _widen(node, children)
    node._details.symbol = symbol
    node._opcode = 0
    return None


def _as_children(children: Any) -> list[Any]:
    """The children given for a hand-made node. Raises `TypeError` where they are not Values."""
    if isinstance(children, Value):
        raise TypeError("the children of a Value are a tuple of Values, not one Value: write (child,)")
    try:
        found = list(children)
    except TypeError:
        raise TypeError(f"the children of a Value are a tuple of Values, not {type(children).__name__}") from None
    for child in found:
        if not isinstance(child, Value):
            raise TypeError(f"the children of a Value are Values, not {type(child).__name__}")
    return found


@cython.cfunc
@cython.inline
def _as_text(text: Any, what: str) -> str:
    if type(text) is str:
        return text
    if not isinstance(text, str):
        raise TypeError(f"{what} takes a str, not {type(text).__name__}")
    return str(text)  # a plain one, of a subclass


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _contribution(node: Value, local: cython.double) -> cython.double:
    """What a node adds to the gradient of an operand whose partial is `local`."""
    if local == 0.0 and evaluate.selects(node._opcode):
        return 0.0
    return local * node._grad


@cython.cfunc
@cython.inline
def _push_partials(node: Value) -> object:
    """operand.grad += partial * grad, for every operand of a native node."""
    if node._special:
        return _push_wide(node)
    if node._a is not None:
        node._a._grad += _contribution(node, node._pa)
    if node._b is not None:
        node._b._grad += _contribution(node, node._pb)
    return None


@cython.cfunc
def _push_wide(node: Value) -> object:
    """The same for a node with its operands in the details."""
    partials: cython.p_double = node._details.partials
    gradient: cython.double = node._grad
    selecting: cython.bint = evaluate.selects(node._opcode)
    i: cython.Py_ssize_t = 0
    for argument in node._details.arguments:
        if isinstance(argument, Value) and not (selecting and partials[i] == 0.0):
            cython.cast(Value, argument)._grad += partials[i] * gradient
        i += 1
    return None


def apply(opcode: int, *operands: Any) -> Any:
    """The operation on Values and numbers: a Value if any operand is one, else a float.

    Raises `TypeError` for an operand that is neither.
    """
    if len(operands) == 1 and isinstance(operands[0], Value):
        return _unary(opcode, operands[0])
    if not _are_operands(operands):
        given = ", ".join([type(operand).__name__ for operand in operands])
        hint = "; of an array, take it of each number: numpy.array([f(x) for x in a])" if "ndarray" in given else ""
        raise TypeError(f"{NAMES[opcode]}() takes Values and real numbers, not ({given}){hint}")
    return _applied(opcode, operands)


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


@cython.cfunc
def _are_operands(operands: tuple) -> cython.bint:
    for operand in operands:
        if not _is_operand(operand):
            return False
    return True


@cython.cfunc
@cython.inline
def _is_operand(x: object) -> cython.bint:
    return isinstance(x, (Value, float)) or _is_real(x)


@cython.cfunc
def _is_real(x: object) -> cython.bint:
    """Whether x is a real number. NumPy counts durations among its integers."""
    return type(x) in _COMMON_TYPES or (isinstance(x, _REAL_TYPES) and not isinstance(x, numpy.timedelta64))


@cython.cfunc
@cython.inline
@cython.exceptval(-1.0, check=True)
def _number(x: Any) -> cython.double:
    """The number of an operand."""
    if isinstance(x, Value):
        return cython.cast(Value, x)._primal
    if isinstance(x, float):
        return cython.cast(cython.double, x)
    return _as_float(x)


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def _real(x: Any, what: str) -> cython.double:
    """x as a float. Raises `TypeError` where it is not a real number."""
    if isinstance(x, float) or _is_real(x):
        return _as_float(x)
    hint = "; take its number with .data" if isinstance(x, Value) else ""
    raise TypeError(f"{what} takes a real number (int, float, bool or NumPy scalar), not {type(x).__name__}{hint}")


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def _as_float(x: Any) -> cython.double:
    try:
        return float(x)
    except OverflowError:
        raise OverflowError(
            f"an integer of {x.bit_length()} bits is too large for a float (at most 1024 bits)"
        ) from None


@cython.cfunc
def _detailed(node: Value) -> Details:
    """The node's details, made at the first call."""
    details: Details
    if node._details is None:
        details = Details.__new__(Details)
        details.label = ""
        details.symbol = ""
        details.arguments = []
        details.partials = c_compat.NO_FLOATS
        details.closure = None
        details.source = None
        details.attributes = None
        node._details = details
    return node._details


def _as_array(x: object) -> Any:
    """A Value as an object array without dimensions, anything else as it is."""
    if not isinstance(x, Value):
        return x
    array = numpy.empty((), dtype=object)
    array[()] = x
    return array


def is_number(x: object) -> bool:
    """Whether x is a real number: int, float, bool or a NumPy scalar."""
    return _is_real(x)


def as_float(x: Any) -> float:
    """A real number as a float. Raises `OverflowError` for an integer that is too large."""
    return _as_float(x)


# Recorded functions


def inputs(numbers: Iterable[float], level: int) -> list[Value]:
    """New leaves for a function that is recorded at this level: 1 for the outermost, 2 for one inside it, and so on."""
    if level >= ENDED:
        raise RecursionError("more than 254 recorded or differentiated functions call each other")
    leaves: list = [Value(number) for number in numbers]
    for leaf in leaves:
        cython.cast(Value, leaf)._level = level
    return leaves


def close_inputs(leaves: list[Value]) -> None:
    """Mark the inputs of a recording that has ended, so that they are known where they turn up later."""
    for leaf in leaves:
        cython.cast(Value, leaf)._level = ENDED


def refuses_nans() -> bool:
    """Whether `debug_nans()` is on."""
    return _open_switches != 0 and _refusing_nans.get()


def is_without_gradient() -> bool:
    """Whether `no_grad()` is on."""
    return _open_switches != 0 and _without_gradient.get()


def level(node: Value) -> int:
    """The level of the innermost recorded function whose arguments a Value depends on; 0 outside of all."""
    return node._level


def number(node: Value) -> float:
    """The number of a Value, for the library's own use: recorded functions may not ask for it by `.data`."""
    return node._primal


def parameter(node: Value) -> Any:
    """What a node is as a parameter: a leaf's number, the node itself in a recording; None where it was computed."""
    if node._level > 0:
        return node
    return None if node._opcode > 0 or (node._special and node.operands) else node._primal


def rule(node: Value) -> Any:
    """The rule that was set for a node by hand, or None."""
    return node._details.closure if node._special else None


def depth() -> int:
    """How many recordings go on here, each of a function that the one before calls."""
    return _depth.get()


def with_rule(data: float, operands: tuple[Value, ...], symbol: str, rule: Any) -> Value:
    """A node whose rule is called with the node itself: it adds to the operands' gradients."""
    out: Value = Value(data, operands, symbol)
    out._details.closure = rule
    return out


@contextmanager
def recording(level: int, *, strict: bool) -> Iterator[None]:
    """Within it, leaves have this level, as what is made from the inputs of the recording has.

    If it is strict, that holds for every node, comparisons are Values, and asking for a number raises.
    """
    global _recordings
    tokens = _depth.set(level), _without_gradient.set(False)
    _recordings += 1
    try:
        if strict:
            with _recording_strictly(level):
                yield
        else:
            yield
    finally:
        _recordings -= 1
        _depth.reset(tokens[0])
        _without_gradient.reset(tokens[1])


@contextmanager
def _recording_strictly(level: int) -> Iterator[None]:
    global _strict
    refusals: list[RecordingError] = []
    tokens = _recording.set(level), _refusals.set(refusals)
    _strict_levels.append(level)
    _strict = max(_strict_levels)
    try:
        yield
    finally:
        _strict_levels.remove(level)
        _strict = max(_strict_levels, default=0)
        _recording.reset(tokens[0])
        _refusals.reset(tokens[1])
    if refusals:  # the function has caught it, and gone on as for a number that there is not
        raise refusals[0]


def record_from(roots: list[Value], level: int) -> tuple[Any, ...]:
    """What computed the roots from Values below a level, as flat arrays: operations, offsets, operands, constants.

    They are those of `Graph`, with the constants alone among the partials. Then come all leaves by place (the Values
    below that level, and those made from nothing or by hand) and the places of the roots. Raises `ValueError` where
    hand-edited nodes form a cycle.
    """
    global _floor
    order: list[Value] = []
    with _traversing:
        _floor = level
        try:
            for root in roots:
                _visit(root, None, order, None)
            return (*_flattened_from(order, level), _places(roots))
        except BaseException:
            _unmark(order)
            raise
        finally:
            _floor = 0


@cython.cfunc
def _flattened_from(order: list, level: cython.int) -> tuple:
    """The arrays and leaves of a record; the nodes' marks are cleared in the same pass."""
    node: Value
    i: cython.int = 0
    k: cython.int = 0
    room: cython.int = 2 * len(order)  # enough while no node has more than two operands
    opcodes = numpy.empty(len(order), numpy.int32)
    offsets = numpy.zeros(len(order) + 1, numpy.int32)
    operands = numpy.empty(room, numpy.int32)
    constants = numpy.empty(room)
    opcode: cython.p_int = c_compat.integers(opcodes)
    offset: cython.p_int = c_compat.integers(offsets)
    operand: cython.p_int = c_compat.integers(operands)
    constant: cython.p_double = c_compat.doubles(constants)
    leaves: dict = {}
    i = 0
    for node in order:
        node._mark = NEW
        opcode[i] = max(node._opcode, 0)
        if node._level < level or (node._opcode <= 0 and not node._special):
            opcode[i] = 0
            leaves[i] = node
        elif node._special:
            if node._details.closure is not None:
                leaves[i] = node
            if k + 2 * (len(order) - i) + len(node._details.arguments) > room:
                room = 2 * room + len(node._details.arguments)
                operands, constants = numpy.resize(operands, room), numpy.resize(constants, room)
                operand, constant = c_compat.integers(operands), c_compat.doubles(constants)
            k = _flatten_wide(node, k, operand, constant)
            if node._opcode <= 0:
                leaves[i] = node
        else:
            operand[k] = node._a._place if node._a is not None else _constant
            constant[k] = node._pa
            k += 1
            if evaluate.arity(node._opcode) == 2:
                operand[k] = node._b._place if node._b is not None else _constant
                constant[k] = node._pb
                k += 1
        i += 1
        offset[i] = k
    return opcodes, offsets, operands, constants, leaves


# Traversals


@cython.annotation_typing(False)
def topological_order(root: Value, key: Callable[[Value], Any] | None = None) -> list[Value]:
    """All Values that root was made from, and root, operands before results.

    Operands are visited from first to last or, with a `key`, in the order of `key(operand)`. The same program gives the
    same order in every run. Raises `TypeError` where root is not a Value, `ValueError` where hand-edited nodes form a
    cycle.

    >>> a = Value(2.0, label="a")
    >>> b = a + 1
    >>> [v.data for v in topological_order(a * b)]
    [2.0, 3.0, 6.0]
    """
    with _traversing:
        order: list[Value] = _ordered(_checked(root), None)
        if key is None:
            return order
        keys = {id(node): key(node) for node in order}
        return _ordered(root, keys)


@cython.annotation_typing(False)
def zero_grad(root: Value) -> None:
    """Set the gradient of every Value that root was made from, and of root, to zero."""
    _refuse_if_recording(_checked(root), "sets .grad of what made")
    _clear_gradients(topological_order(root))


@cython.cfunc
def _clear_gradients(order: list) -> object:
    for node in order:
        cython.cast(Value, node)._grad = 0.0
    return None


@cython.annotation_typing(False)
def refresh(root: Value) -> None:
    """Compute root, and all between it and the leaves, again from the leaves' numbers. Gradients stay as they are.

    Raises `ValueError`, before anything is changed, where a hand-made node stands in between: there is no rule to
    compute it by.

    >>> a = Value(2.0)
    >>> b = a * a
    >>> a.data = 3.0
    >>> refresh(b)
    >>> b.data
    9.0
    """
    _refuse_if_recording(_checked(root), "sets .data of")
    _recompute_all(topological_order(root))


@cython.cfunc
def _recompute_all(order: list) -> object:
    node: Value
    for node in order:
        if node._opcode <= 0 and node._special and node._details.arguments and not _is_recomputable(node):
            raise ValueError(
                f"cannot recompute the hand-made node {node!r} (operation {node.op!r}): it has no forward rule"
            )
    for node in order:
        if node._opcode > 0:
            _recompute(node)
        elif node._special and _is_recomputable(node):
            node._primal = node._details.closure.recomputed()
    return None


def _is_recomputable(node: Value) -> bool:
    """Whether a node's rule, set by hand, also knows how to compute it."""
    return hasattr(rule(node), "recomputed")


@cython.cfunc
def _recompute(node: Value) -> object:
    """Compute a native node's number and partials from its operands' numbers."""
    if node._opcode == SUMPROD:
        _sum_products(node)
        return None
    arguments = [_number(argument) for argument in node.arguments]
    x, y, z = arguments + [0.0] * (3 - len(arguments))
    node._primal = evaluate.value(node._opcode, x, y, z)
    if node._a is not None:
        node._pa = evaluate.partial(node._opcode, 0, x, y, z, node._primal)
    if node._b is not None:
        node._pb = evaluate.partial(node._opcode, 1, x, y, z, node._primal)
    if node._special:
        for position in range(len(arguments)):
            node._details.partials[position] = evaluate.partial(node._opcode, position, x, y, z, node._primal)
    return None


# Recording


@cython.annotation_typing(False)
def record(roots: list[Value]) -> tuple[Any, ...]:
    """The graph that the roots were made by, as flat arrays: the fields of a `Graph`, which says what they mean.

    Raises `TypeError` where a root is not a Value, `ValueError` where hand-edited nodes form a cycle, and whatever a
    hand-made `_backward` raises when it is asked for its partials.
    """
    order: list[Value] = []
    for root in roots:
        _refuse_if_recording(_checked(root), "looks at the graph of")
    with _traversing:
        try:
            for root in roots:
                _visit(root, None, order, None)
        finally:
            _unmark(order)
        fields: tuple = (*_flattened(order), _places(roots))
        _probe_rules_by_hand(order, fields)
        return fields


@cython.cfunc
def _flattened(order: list) -> tuple:
    """The nodes of an order as arrays, and what only some of them have as dictionaries by place."""
    node: Value
    edges: cython.int = 0
    for node in order:
        edges += len(node._details.arguments) if node._special else evaluate.arity(node._opcode)
    opcodes = numpy.empty(len(order), numpy.int32)
    offsets = numpy.zeros(len(order) + 1, numpy.int32)
    operands = numpy.empty(edges, numpy.int32)
    partials = numpy.empty(edges)
    data = numpy.empty(len(order))
    grad = numpy.empty(len(order))
    labels: dict = {}
    symbols: dict = {}
    sources: dict = {}
    by_hand: set = set()

    opcode: cython.p_int = c_compat.integers(opcodes)
    offset: cython.p_int = c_compat.integers(offsets)
    operand: cython.p_int = c_compat.integers(operands)
    local: cython.p_double = c_compat.doubles(partials)
    primal: cython.p_double = c_compat.doubles(data)
    adjoint: cython.p_double = c_compat.doubles(grad)
    k: cython.int = 0
    i: cython.int = 0
    for node in order:
        opcode[i] = max(node._opcode, 0)
        primal[i] = node._primal
        adjoint[i] = node._grad
        if node._special:
            k = _flatten_wide(node, k, operand, local)
        elif node._opcode > 0:
            operand[k] = node._a._place if node._a is not None else _constant
            local[k] = node._pa
            k += 1
            if evaluate.arity(node._opcode) == 2:
                operand[k] = node._b._place if node._b is not None else _constant
                local[k] = node._pb
                k += 1
        if node._details is not None:
            _gather(node, i, labels, symbols, sources, by_hand)
        i += 1
        offset[i] = k
    return opcodes, offsets, operands, partials, data, grad, labels, symbols, sources, frozenset(by_hand)


@cython.cfunc
def _places(nodes: list) -> tuple:
    return tuple([cython.cast(Value, node)._place for node in nodes])


@cython.cfunc
@cython.exceptval(-1)
def _flatten_wide(node: Value, k: cython.int, operand: cython.p_int, local: cython.p_double) -> cython.int:
    """Write the operands and partials of a node that has them in its details from k on; the next k."""
    i: cython.Py_ssize_t = 0
    for argument in node._details.arguments:
        if isinstance(argument, Value):
            operand[k] = cython.cast(Value, argument)._place
            local[k] = node._details.partials[i]
        else:
            operand[k] = _constant
            local[k] = argument
        k += 1
        i += 1
    return k


@cython.cfunc
def _gather(node: Value, place: cython.int, labels: dict, symbols: dict, sources: dict, by_hand: set) -> object:
    """What a node has in its details, by its place."""
    if node._details.label:
        labels[place] = node._details.label
    if node._opcode <= 0 and node._special:
        symbols[place] = node._details.symbol
    if node._details.source is not None:
        sources[place] = node._details.source
    if node._details.closure is not None:
        by_hand.add(place)
    return None


def _probe_rules_by_hand(order: list[Value], fields: tuple[Any, ...]) -> None:
    """Fill in the partials of nodes whose rule was set by hand. They may run any code, so all else is done by then."""
    _, offsets, operands, partials, *_, by_hand, _ = fields
    for place in by_hand:
        first, last = offsets[place], offsets[place + 1]
        partials[first:last][operands[first:last] != CONSTANT] = _probed_partials(order[place])


@cython.cfunc
def _ordered(root: Value, keys: dict | None) -> list:
    """The topological order."""
    order: list = []
    try:
        _visit(root, keys, order, None)
    finally:
        _unmark(order)
    return order


@cython.cfunc
@cython.exceptval(-1)
def _visit(root: Value, keys: dict | None, order: list, earlier: list | None) -> cython.int:
    """Fill `order` with the topological order, by depth-first search without recursion; its nodes stay marked.

    With `earlier`, put the nodes' gradients there and clear them. Whether there are hand-made rules among the nodes.
    """
    node: Value
    by_hand: cython.bint = False
    stack: list = [root]
    try:
        while stack:
            node = cython.cast(Value, stack[len(stack) - 1])
            if node._mark == NEW and node._level >= _floor:
                node._mark = OPEN
                by_hand = by_hand or (node._special != 0 and node._details.closure is not None)
                _push_operands(stack, order, earlier, node, keys)
            else:
                stack.pop()
                if node._mark != DONE:
                    _close(node, order, earlier)
    except BaseException:
        _unmark(stack)
        raise
    return by_hand


@cython.cfunc
@cython.inline
def _close(node: Value, order: list, earlier: list | None) -> object:
    """A node whose operands have all been visited takes its place in the order."""
    node._mark = DONE
    node._place = len(order)
    order.append(node)
    if earlier is not None and node._grad != 0.0:
        earlier.append((node, node._grad))
        node._grad = 0.0
    return None


@cython.cfunc
def _unmark(nodes: list) -> object:
    for node in nodes:
        cython.cast(Value, node)._mark = NEW
    return None


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _push_two(stack: list, order: list, earlier: list | None, node: Value) -> cython.int:
    """The same for a node whose operands are in itself."""
    if not _is_settled(node._a, order, earlier):
        if node._b is not None:
            _push_operand(stack, node._b)
        _push_operand(stack, node._a)
    elif not _is_settled(node._b, order, earlier):
        _push_operand(stack, node._b)
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _push_operands(stack: list, order: list, earlier: list | None, node: Value, keys: dict | None) -> cython.int:
    """Put the operands that are still to be visited onto the stack, the one to be visited first on top."""
    if keys is None and not node._special:
        is_inert = (
            earlier is not None
            and (node._pa == 0.0 or node._pb == 0.0)
            and evaluate.non_differentiable(node._opcode) != 0
        )
        return 0 if is_inert else _push_two(stack, order, earlier, node)
    arguments: list = node._details.arguments if keys is None else _sorted(node.operands, keys)
    if earlier is not None and evaluate.non_differentiable(node._opcode) != 0:
        arguments = _without_inert(arguments, evaluate.non_differentiable(node._opcode))
    for argument in arguments:
        if isinstance(argument, Value) and not _is_settled(cython.cast(Value, argument), order, earlier):
            break
    else:
        return 0
    for argument in reversed(arguments):
        if isinstance(argument, Value):
            _push_operand(stack, cython.cast(Value, argument))
    return 0


def _without_inert(arguments: list[Value | float], inert: int) -> list[Value | float]:
    """The arguments that a sweep goes on to. To the others it would bring 0, and 0 times an infinite partial is nan."""
    return [argument for position, argument in enumerate(arguments) if not inert >> position & 1]


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_settled(operand: Value | None, order: list, earlier: list | None) -> cython.bint:
    """Whether an operand whose turn it is needs no visit: it is none, has had one, or gets it now, being a leaf."""
    if operand is None or operand._mark == DONE:
        return True
    if (operand._opcode <= 0 and not operand._special) or operand._level < _floor:
        _close(operand, order, earlier)
        return True
    return False


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def _push_operand(stack: list, operand: Value | None) -> cython.int:
    if operand._mark == OPEN:
        raise ValueError(f"these Values are made from each other, in a cycle: {_cycle(stack, operand)}")
    if operand._mark == NEW:
        stack.append(operand)
    return 0


def _sorted(operands: tuple[Value, ...], keys: dict[int, Any]) -> list[Value]:
    return sorted(operands, key=lambda operand: keys[id(operand)])


def _cycle(stack: list, first: Value | None) -> str:
    """The open nodes from `first` on, which form a cycle, for an error message."""
    nodes = [node for node in stack if cython.cast(Value, node)._mark == OPEN]
    start = [node is first for node in nodes].index(True)
    return " -> ".join([node.label or repr(node) for node in [*reversed(nodes[start:]), nodes[-1]]])


@cython.cfunc
def _sweep(root: Value) -> object:
    """Add to the gradient of every node that root was made from, and of root, that of root with respect to it."""
    node: Value
    order: list = []
    earlier: list = []  # gradients from before: set aside, so that only this sweep's own are passed on
    try:
        by_hand = _visit(root, None, order, earlier)
        root._grad = 1.0
        if by_hand or _refusing_nans.get():
            _pass_back_with_care(order)
        else:
            _pass_back(order)
    except BaseException:
        _unmark(order)
        for node in order:
            node._grad = 0.0
        for node, gradient in earlier:
            node._grad = gradient
        raise
    for node, gradient in earlier:
        node._grad += gradient
    return None


@cython.cfunc
def _pass_back(order: list) -> object:
    """From the root to the leaves: operand.grad += partial * grad. For native nodes: no other code runs meanwhile."""
    node: Value
    _refuse_if_being_swept(order)
    for item in reversed(order):
        node = cython.cast(Value, item)
        node._mark = NEW
        _push_partials(node)
    return None


def _pass_back_with_care(order: list) -> None:
    """The same where hand-made rules may run any code in between, or where every gradient is looked at."""
    node: Value
    _refuse_if_being_swept(order)
    _unmark(order)
    _sweeps.append(order)
    try:
        for node in reversed(order):
            node._push()
            if _refusing_nans.get():
                _refuse_nans_from(node)
    finally:
        _sweeps.pop()


@cython.cfunc
def _refuse_if_being_swept(order: list) -> object:
    """A closure may call backward(), but not on nodes that the sweep around it is still passing gradients through."""
    for outer in _sweeps:
        nodes = {id(node) for node in outer}
        for node in order:
            if id(node) in nodes:
                raise RuntimeError(
                    f"backward() on {node!r} inside a _backward function that is part of a sweep over it"
                )
    return None


def _probed_partials(node: Value) -> tuple[float, ...]:
    """What a hand-made node's closure adds to each operand's gradient for a gradient of 1."""
    operand: Value
    with _traversing:
        involved = [node, *node.operands]
        gradients = [v.grad for v in involved]
        try:
            for operand in involved:
                operand._grad = 0.0
            node._grad = 1.0
            node._push()
            totals = {id(v): v.grad for v in node.operands}
        finally:
            for v, gradient in zip(involved, gradients, strict=True):
                v.grad = gradient
        return tuple([totals.pop(id(v), 0.0) for v in node.operands])


def _checked(root: object) -> Value:
    if not isinstance(root, Value):
        raise TypeError(
            f"the root of a graph is a Value, not {type(root).__name__}; for several roots, call once for each"
        )
    return root


# Switches


@contextmanager
def no_grad() -> Iterator[None]:
    """Within it, results of operations remember nothing: they are leaves, and `backward` on them is refused.

    >>> a = Value(2.0)
    >>> with no_grad():
    ...     b = a * a
    >>> b.operands
    ()
    """
    with _switched_on(_without_gradient):
        yield


@contextmanager
def debug_nans() -> Iterator[None]:
    """Within it, the first operation whose value or gradient is nan or inf raises `FloatingPointError`.

    The message names the operation, its operands and the line of the program that made it. Costs nothing when off.
    """
    if _recording.get():
        raise RecordingError(
            f"{users_line()}: debug_nans() belongs around the call of a recorded function, not into it"
        )
    with _switched_on(_refusing_nans):
        yield


@contextmanager
def source_lines() -> Iterator[None]:
    """Within it, every new node remembers the line of the program that made it, as its `source`.

    Walks, checks and drawings of such nodes name the line. Nodes are slower and larger; it costs nothing when off.

    >>> with source_lines():
    ...     a = Value(2.0)
    >>> a.source.number
    2
    """
    with _switched_on(_remembering_lines):
        yield


@contextmanager
def _switched_on(switch: ContextVar[bool]) -> Iterator[None]:
    global _open_switches
    token = switch.set(True)
    _open_switches += 1
    try:
        yield
    finally:
        _open_switches -= 1
        switch.reset(token)


@cython.cfunc
def _inspected(out: Value) -> Value:
    """A new node, while some switch is on in some thread."""
    if _refusing_nans.get() or _remembering_lines.get():
        _detailed(out).source = users_line()
    if _refusing_nans.get() and not math.isfinite(out._primal) and out._opcode != UNCONNECTED:
        raise FloatingPointError(f"{_made(out)} gave {out._primal}, {_where(out)}")
    if _recording.get() > out._level:
        out._level = _recording.get()
    if _without_gradient.get():
        if _recording.get():
            _refuse_if_recording(out, "computes under no_grad()")
        out._a = out._b = out._details = None
        out._opcode = UNCONNECTED
        out._special = False
    return out


class RecordingError(TypeError):
    """A function that is being recorded asks for a number, which would be frozen in the recording."""


def _refuse_if_recording(node: Value, what: str) -> None:
    """Raise `RecordingError` where this happens in a function that `jit` records."""
    if _recording.get():
        error = RecordingError(
            f"{users_line()}\n  {what} `{spelled(node)}` while the function is being recorded: the answer would be "
            f"that for these arguments, frozen for all others.\n  {_cure(what)}"
        )
        _refusals.get().append(error)
        raise error


@cython.cfunc
def _stands_for_a_number(node: Value, other: object) -> cython.bint:
    """Whether one of two is computed from the arguments of a function that is being recorded, or all is recorded."""
    if node._level > 0 or (isinstance(other, Value) and cython.cast(Value, other)._level > 0):
        return True
    return _recording.get() != 0


def _is_being_recorded(node: Value) -> bool:
    """Whether a node belongs to a recording that goes on here, or any node would be frozen in one."""
    return _recordings != 0 and (_recording.get() != 0 or 0 < node._level <= _depth.get())


def _cure(what: str) -> str:
    if "backward" in what or ".grad" in what:
        return "Inside a recorded function derivatives come from gradwalk.grad and value_and_grad."
    if "graph" in what or "partials" in what:
        return "Return what is to be looked at, and look at it outside; a jitted function has .graph and .walk(...)."
    if "no_grad" in what:
        return "Use gradwalk.stop_gradient(x), which can be recorded."
    if "float" in what:
        return (
            "Use gradwalk.math.sin and its kin in place of math.sin, and arrays of dtype=object to hold Values. For a "
            "number that is to stay as it is, give a static argument: jit(f, static_argnums=...)."
        )
    if "sets" in what:
        return "Return the new number instead, and set it outside."
    return (
        "Choose with gradwalk.math.where(condition, a, b), maximum or minimum, which are recorded (NumPy's own branch "
        "on arrays of Values; numpy.array([maximum(x, 0.0) for x in a]) is recorded); or give what decides as a static "
        "argument: jit(f, static_argnums=...)."
    )


def _number_refused(node: Value, what: str) -> TypeError:
    """The error for a Value where Python wants a number."""
    _refuse_if_recording(node, f"takes for {what} the number of")
    return TypeError(f"{what} needs a number, not a Value: use v.data, whose gradient ends there")


@cython.cfunc
def _compared(opcode: cython.int, left: object, right: object) -> object:
    """Whether a comparison holds; while a function is recorded, that as a Value."""
    if _strict != 0 and _recording.get():
        return _binary(opcode, left, right)
    return evaluate.value(opcode, _number(left), _number(right), 0.0) != 0.0


def _refuse_nans_from(node: Value) -> None:
    for operand in node.operands:
        if not math.isfinite(operand.grad):
            raise FloatingPointError(
                f"the gradient of {operand!r} became {operand.grad} when {_made(node)} passed back its gradient"
                f" {node._grad} times {node.partials}, {_where(node)}"
            )


def _made(node: Value) -> str:
    """The operation of a node and its operands, for a message."""
    operands = ", ".join([f"{getattr(x, 'label', '')}={x:g}".removeprefix("=") for x in node.arguments])
    return f"{NAMES[node._opcode] if node._opcode > 0 else node.op}({operands})"


def _where(node: Value) -> str:
    return f"at {node.source}" if node.source is not None else "made outside of debug_nans(), so its line is not known"


# Copying and pickling

_pickling = threading.local()  # in `listed`, the ids of the nodes that an _Ancestors is listing to a pickler now


class _Ancestors:
    """All that a node was made from, for a pickler, which then finds every operand in its memo: no recursion."""

    def __init__(self, node: Value) -> None:
        self._node = node

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (), None, self._nodes()

    def _nodes(self) -> Iterator[Value]:
        ancestors = topological_order(self._node)[:-1]
        listed: frozenset[int] = getattr(_pickling, "listed", frozenset())
        _pickling.listed = listed.union([id(node) for node in ancestors])
        try:
            yield from ancestors
        finally:
            _pickling.listed = listed


def _unpickled(ancestors: list[Value] | None, *state: Any) -> Value:
    """What pickles call. `ancestors` only had to be there before the operands."""
    partials = state[7]
    return _restored(state[: 8 + partials], state[8 + partials :])


@cython.cfunc
def _restored(state: tuple, arguments: tuple) -> Value:
    """A node from its `_state` and what it is to be made from."""
    cls, name, data, grad, label, symbol, kind, _, *partials = state
    out: Value = Value.__new__(cls)  # past what a subclass does with its arguments
    Value.__init__(out, data, (), "", label)
    out._grad = grad
    out._opcode = NAMES.index(name) if name else UNCONNECTED if kind == "unconnected" else 0
    if kind == "wide":
        _widen(out, list(arguments))
        out._details.symbol = symbol
        for i in range(len(arguments)):
            out._details.partials[i] = partials[i]
    elif arguments:
        out._level = max([cython.cast(Value, x)._level for x in arguments if isinstance(x, Value)])
        out._pa, out._pb = partials
        if isinstance(arguments[0], Value):
            out._a = arguments[0]
        if len(arguments) == 2 and isinstance(arguments[1], Value):
            out._b = arguments[1]
    return out
