"""Find the instructions whose value and partials are finite whenever the inputs are finite ("tame").

Most operations are tame for finite operands. `log`, `sqrt`, division and powers with a constant exponent >= -1 are tame
if their operand (the divisor, the base) is bounded away from 0. Examples are a sum of squares plus a positive constant,
and a sum of exponentials that contains exp(0). An exponential is tame if its operand is <= 0, such as x minus the
maximum of several numbers that include x. So RMS normalization, `softmax` and `log_softmax` are tame.

Overflow caused only by large inputs is ignored: products, sums and powers of finite numbers count as finite.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions.instruction_store import CONSTANT, InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

# Flags (bits) for known properties of a value.
_TAME = cython.declare(cython.int, 1)
_NOT_NEGATIVE = cython.declare(cython.int, 2)
_ABOVE_0 = cython.declare(cython.int, 4)  # at least _LEAST
_AT_LEAST_1 = cython.declare(cython.int, 8)
_NOT_POSITIVE = cython.declare(cython.int, 16)
_LOOKED_AT = cython.declare(cython.int, 32)  # `_has_exponential_of_0` has been called for the value
_BOUNDS = cython.declare(cython.int, 30)  # all flags except _TAME and _LOOKED_AT

# The reciprocal of this number is finite even in float32, and so are the powers of it that occur in derivatives.
_LEAST = cython.declare(cython.double, 1e-9)

_MOST_LOOKS = cython.declare(cython.int, 8)  # maximum number of visits by `_leaves`, per instruction of the tape

_constant = cython.declare(cython.int, CONSTANT)
_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)
_add = cython.declare(cython.int, NAMES.index("add"))
_sub = cython.declare(cython.int, NAMES.index("sub"))
_mul = cython.declare(cython.int, NAMES.index("mul"))
_div = cython.declare(cython.int, NAMES.index("div"))
_pow = cython.declare(cython.int, NAMES.index("pow"))
_exp = cython.declare(cython.int, NAMES.index("exp"))
_log = cython.declare(cython.int, NAMES.index("log"))
_sqrt = cython.declare(cython.int, NAMES.index("sqrt"))
_abs = cython.declare(cython.int, NAMES.index("abs"))
_neg = cython.declare(cython.int, NAMES.index("neg"))
_maximum = cython.declare(cython.int, NAMES.index("maximum"))
_where = cython.declare(cython.int, NAMES.index("where"))
_less = cython.declare(cython.int, NAMES.index("less"))
_less_equal = cython.declare(cython.int, NAMES.index("less_equal"))
_equal = cython.declare(cython.int, NAMES.index("equal"))
_stop_gradient = cython.declare(cython.int, NAMES.index("stop_gradient"))


@cython.cfunc
def mark_tame(store: InstructionStore, marks: Any) -> object:
    """Set `marks[i]` to 1 if instruction i is tame and depends only on tame instructions, else to 0."""
    known: _Known = _Known(store, marks)
    i: cython.int
    for i in range(len(marks)):
        known.bits[i] = known.of(i)
    for i in range(len(marks)):
        known.bits[i] &= _TAME
    return None


@cython.cfunc
def mark_risky(store: InstructionStore, marks: Any) -> object:
    """Set `marks[i]` to 1 for each instruction i that may be nan because a table index is out of range.

    All marks must be 0 before. Calls are not marked, because they never count as tame.
    """
    risky: cython.p_int = c_compat.integers(marks)
    i: cython.int
    arity: cython.int
    for i in range(len(marks)):
        if store.opcode[i] == _take:
            risky[i] = True
        elif store.opcode[i] > 0 and store.opcode[i] != _call:
            arity = evaluate.arity(store.opcode[i])
            risky[i] = (
                risky[store.x[i]] or (arity > 1 and risky[store.y[i]] != 0) or (arity > 2 and risky[store.z[i]] != 0)
            )
    return None


@cython.final
@cython.cclass
class _Known:
    """The flags of the known properties of each value of a tape."""

    _store: InstructionStore
    bits: cython.p_int  # per instruction: its flags
    _largest_of: dict  # maps the index of a maximum to the result of `_among`
    _left: cython.Py_ssize_t  # number of visits that `_leaves` may still make; the limit keeps the time linear

    def __init__(self, store: InstructionStore, marks: Any) -> None:
        self._store = store
        self.bits = c_compat.integers(marks)
        self._largest_of = {}
        self._left = _MOST_LOOKS * len(marks)

    @cython.cfunc
    @cython.exceptval(-1)
    def of(self, i: cython.int) -> cython.int:
        """Return the flags of an instruction. The flags of all earlier instructions must be known."""
        store: InstructionStore = self._store
        opcode: cython.int = store.opcode[i]
        if opcode == _constant:
            return _of_constant(store.number(i))
        if opcode == _take:
            return self._of_table(i)
        if opcode <= 0:
            return _TAME
        if opcode == _call:
            return 0
        if opcode in (_less, _less_equal, _equal):  # the result is 1 or 0 for any operands, and all partials are 0
            return _TAME | _NOT_NEGATIVE
        x: cython.int = self.bits[store.x[i]]
        y: cython.int = self.bits[store.y[i]] if evaluate.arity(opcode) > 1 else _TAME
        z: cython.int = self.bits[store.z[i]] if evaluate.arity(opcode) > 2 else _TAME
        tame: cython.int = x & y & z & _TAME
        if evaluate.is_tame(opcode):
            return tame | self._bounds(i, x, y, z)
        return self._of_wild(i, x, y, tame)

    @cython.cfunc
    @cython.exceptval(-1)
    def _bounds(self, i: cython.int, x: cython.int, y: cython.int, z: cython.int) -> cython.int:
        """Return the flags, without `_TAME`, of an instruction whose operation is tame for all finite operands.

        `x`, `y` and `z` are the flags of its operands.
        """
        store: InstructionStore = self._store
        opcode: cython.int = store.opcode[i]
        if opcode == _add:
            return _of_sum(x, y)
        if opcode == _sub:
            return self._of_difference(i)
        if opcode == _mul:
            return _NOT_NEGATIVE if store.x[i] == store.y[i] else _of_product(x, y)
        if opcode == _neg:
            return _of_product(x, _NOT_POSITIVE)
        if opcode == _maximum:
            return x & y & _NOT_POSITIVE | (x | y) & (_NOT_NEGATIVE | _ABOVE_0 | _AT_LEAST_1)
        if opcode == _where:
            return y & z & _BOUNDS
        if opcode == _stop_gradient:
            return x & _BOUNDS
        return _NOT_NEGATIVE if opcode == _abs else 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _of_wild(self, i: cython.int, x: cython.int, y: cython.int, tame: cython.int) -> cython.int:
        """Return the flags of an instruction whose operation is tame only for some finite operands.

        `tame` is `_TAME` if all operands are tame, else 0.
        """
        store: InstructionStore = self._store
        opcode: cython.int = store.opcode[i]
        if opcode == _exp:
            return _NOT_NEGATIVE | (tame if x & _NOT_POSITIVE else 0)
        if opcode == _sqrt:
            return _NOT_NEGATIVE | (tame | _ABOVE_0 if x & _ABOVE_0 else 0)
        if opcode == _div:
            return tame | x & _NOT_NEGATIVE if self._is_above_0(store.y[i]) else 0
        if opcode == _pow and self._is_at_least_minus_1(store.y[i]) and self._is_above_0(store.x[i]):
            return tame | _NOT_NEGATIVE
        if opcode == _log and self._is_above_0(store.x[i]):
            return tame | (_NOT_NEGATIVE if self.bits[store.x[i]] & _AT_LEAST_1 else 0)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _of_table(self, i: cython.int) -> cython.int:
        """Return the flags of a `take` if its index is in range: the flags that all table entries share.

        The `take` is tame only if its index is tame, too.
        """
        found: cython.int = self.bits[self._store.x[i]] & _TAME | _BOUNDS
        for entry in self._store.tables[self._store.y[i]]:
            found &= self.bits[cython.cast(cython.int, entry)]
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _of_difference(self, i: cython.int) -> cython.int:
        """Return `_NOT_POSITIVE` if a difference is known to be <= 0, else 0.

        An example is x minus the maximum of several numbers that include x.
        """
        x: cython.int = self._store.x[i]
        y: cython.int = self._store.y[i]
        if self.bits[x] & _NOT_POSITIVE and self.bits[y] & _NOT_NEGATIVE:
            return _NOT_POSITIVE
        if not self.bits[x] & self.bits[y] & _TAME:
            return 0
        store: InstructionStore = self._store
        if store.opcode[y] == _add:  # skip a nonnegative number that is added to the maximum
            if self.bits[store.x[y]] & _NOT_NEGATIVE:
                y = store.y[y]
            elif self.bits[store.y[y]] & _NOT_NEGATIVE:
                y = store.x[y]
        y = self._bare(y)
        return _NOT_POSITIVE if x == y or (store.opcode[y] == _maximum and x in self._among(y)) else 0

    def _among(self, root: int) -> set[int]:
        """Return the indices of a, b and c if the number at `root` is maximum(a, maximum(b, c))."""
        found: set[int] | None = self._largest_of.get(root)
        if found is None:
            found = self._largest_of[root] = self._leaves(root, _maximum)
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _bare(self, i: cython.int) -> cython.int:
        """Strip `stop_gradient(x)` and `where(abs(x) < inf, x, ...)` from number `i`; return the index of x."""
        store: InstructionStore = self._store
        while True:
            if store.opcode[i] == _where and self._guards(store.x[i], store.y[i]):
                i = store.y[i]
            elif store.opcode[i] == _stop_gradient:
                i = store.x[i]
            else:
                return i

    @cython.cfunc
    @cython.exceptval(check=False)
    def _guards(self, condition: cython.int, i: cython.int) -> cython.bint:
        """Return whether number `i` is tame and the condition is `abs(i) < inf`."""
        store: InstructionStore = self._store
        if store.opcode[condition] != _less or not self.bits[i] & _TAME:
            return False
        size: cython.int = store.x[condition]
        limit: cython.int = store.y[condition]
        if store.opcode[limit] != _constant or store.number(limit) != math.inf:
            return False
        return store.opcode[size] == _abs and store.x[size] == i

    def _leaves(self, root: cython.int, opcode: cython.int) -> set[int]:
        """Return the indices of a, b and c if the number at `root` is a + (b + c) and `opcode` is the opcode of +.

        Returns an empty set if the limit on visits is exceeded.
        """
        store: InstructionStore = self._store
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [root]
        while waiting:
            self._left -= 1
            if self._left < 0:
                return set()
            latest = waiting.pop()
            i: cython.int = latest
            if store.opcode[i] != opcode:
                found.add(latest)
            elif latest not in seen:
                seen.add(latest)
                waiting += [store.x[i], store.y[i]]
        return found

    @cython.cfunc
    @cython.exceptval(check=False)
    def _is_at_least_minus_1(self, i: cython.int) -> cython.bint:
        """Return whether an exponent is a constant >= -1."""
        return self._store.opcode[i] == _constant and self._store.number(i) >= -1.0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_above_0(self, i: cython.int) -> cython.bint:
        """Return whether a number is bounded away from 0."""
        if not self.bits[i] & (_ABOVE_0 | _LOOKED_AT) and self.bits[i] & _NOT_NEGATIVE:
            self.bits[i] |= _LOOKED_AT
            if self._has_exponential_of_0(i):
                self.bits[i] |= _ABOVE_0 | _AT_LEAST_1
        return self.bits[i] & _ABOVE_0 != 0

    def _has_exponential_of_0(self, total: cython.int) -> bool:
        """Return whether a sum contains exp(x - m) for each operand x of a maximum m, so that one term is exp(0).

        The terms of the sum must be nonnegative.
        """
        store: InstructionStore = self._store
        minuends: dict[int, set[int]] = {}
        for leaf in self._leaves(total, _add):
            i: cython.int = leaf
            if store.opcode[i] == _exp and store.opcode[store.x[i]] == _sub:
                difference: cython.int = store.x[i]
                minuends.setdefault(self._bare(store.y[difference]), set()).add(store.x[difference])
        for largest, found in minuends.items():
            among = self._among(largest)
            if among and among <= found:
                return True
        return False


@cython.cfunc
@cython.exceptval(check=False)
def _of_constant(number: cython.double) -> cython.int:
    """Return the flags of a constant."""
    if not math.isfinite(number):
        return 0
    if number <= 0.0:
        return _TAME | _NOT_POSITIVE | (_NOT_NEGATIVE if number == 0.0 else 0)
    found: cython.int = _TAME | _NOT_NEGATIVE
    if number >= _LEAST:
        found |= _ABOVE_0
    return found | _AT_LEAST_1 if number >= 1.0 else found


@cython.cfunc
@cython.exceptval(check=False)
def _of_sum(x: cython.int, y: cython.int) -> cython.int:
    """Return the flags, without `_TAME`, of the sum of two numbers that have the flags `x` and `y`."""
    if x & y & _NOT_NEGATIVE:
        return _NOT_NEGATIVE | (x | y) & (_ABOVE_0 | _AT_LEAST_1)
    return x & y & _NOT_POSITIVE


@cython.cfunc
@cython.exceptval(check=False)
def _of_product(x: cython.int, y: cython.int) -> cython.int:
    """Return the sign flags of the product of two numbers that have the flags `x` and `y`."""
    found: cython.int = 0
    if x & y & (_NOT_NEGATIVE | _NOT_POSITIVE):
        found |= _NOT_NEGATIVE
    if (x & _NOT_NEGATIVE and y & _NOT_POSITIVE) or (x & _NOT_POSITIVE and y & _NOT_NEGATIVE):
        found |= _NOT_POSITIVE
    return found
