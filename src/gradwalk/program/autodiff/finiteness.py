"""What has finite numbers and finite partials wherever the inputs are finite.

Most operations have them for finite operands, and are called tame. A logarithm, a root, a quotient and a power to a
constant, -1 or more, have them where their operand is kept away from 0: by a constant that is added to squares, say, or
in a sum of exponentials of which one is that of 0. An exponential has them where its operand is no more than 0, as that
of a number minus the largest of several. So the parts of a network are tame: vectors scaled to a root mean square of 1,
`softmax` and `log_softmax`.

Numbers are taken for tame that are huge only because others are: products, sums and powers of finite numbers.
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

# What is known of a number, as bits.
_TAME = cython.declare(cython.int, 1)
_NOT_NEGATIVE = cython.declare(cython.int, 2)
_ABOVE_0 = cython.declare(cython.int, 4)  # no less than the least constant below
_AT_LEAST_1 = cython.declare(cython.int, 8)
_NOT_POSITIVE = cython.declare(cython.int, 16)
_LOOKED_AT = cython.declare(cython.int, 32)  # as a sum of exponentials
_BOUNDS = cython.declare(cython.int, 30)  # all but the first and the last

# A number whose inverse is finite in float32, too, as are the powers of it that derivatives have.
_LEAST = cython.declare(cython.double, 1e-9)

_MOST_LOOKS = cython.declare(cython.int, 8)  # at an instruction, on average

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
    """Mark the instructions of a tape that are tame, and so is all that they depend on.

    Args:
        store: The tape.
        marks: An array of int32 for its first instructions, where 1 is written for those, and 0 for others.
    """
    known: _Known = _Known(store, marks)
    i: cython.int
    for i in range(len(marks)):
        known.bits[i] = known.of(i)
    for i in range(len(marks)):
        known.bits[i] &= _TAME
    return None


@cython.cfunc
def mark_risky(store: InstructionStore, marks: Any) -> object:
    """Mark the instructions of a tape that are nan if an index is out of range. Calls are not tame, and not marked.

    Args:
        store: The tape.
        marks: An array of int32 for its first instructions, zeros, where 1 is written for those.
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
    """What is known of the numbers of a tape."""

    _store: InstructionStore
    bits: cython.p_int  # by index
    _largest_of: dict  # by index of a maximum, the indices that it is the largest of
    _left: cython.Py_ssize_t  # how many instructions may still be looked at in trees, so that the time stays linear

    def __init__(self, store: InstructionStore, marks: Any) -> None:
        self._store = store
        self.bits = c_compat.integers(marks)
        self._largest_of = {}
        self._left = _MOST_LOOKS * len(marks)

    @cython.cfunc
    @cython.exceptval(-1)
    def of(self, i: cython.int) -> cython.int:
        """Return what is known of an instruction, given what is known of those before it."""
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
        if opcode in (_less, _less_equal, _equal):  # 1 or 0, whatever their operands are, and no partials
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
        """Return the bounds of an instruction that is tame for finite operands, of which this is known."""
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
        """Return what is known of an instruction that is not tame for all finite operands. `tame`: if these are."""
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
        """Return what is known of all entries of a table and of the index, if that is in range."""
        found: cython.int = self.bits[self._store.x[i]] & _TAME | _BOUNDS
        for entry in self._store.tables[self._store.y[i]]:
            found &= self.bits[cython.cast(cython.int, entry)]
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _of_difference(self, i: cython.int) -> cython.int:
        """Return whether a difference is no more than 0: a number minus the largest of some, and it among them."""
        x: cython.int = self._store.x[i]
        y: cython.int = self._store.y[i]
        if self.bits[x] & _NOT_POSITIVE and self.bits[y] & _NOT_NEGATIVE:
            return _NOT_POSITIVE
        if not self.bits[x] & self.bits[y] & _TAME:
            return 0
        store: InstructionStore = self._store
        if store.opcode[y] == _add:  # of the largest and something that is not negative
            if self.bits[store.x[y]] & _NOT_NEGATIVE:
                y = store.y[y]
            elif self.bits[store.y[y]] & _NOT_NEGATIVE:
                y = store.x[y]
        y = self._bare(y)
        return _NOT_POSITIVE if x == y or (store.opcode[y] == _maximum and x in self._among(y)) else 0

    def _among(self, root: int) -> set[int]:
        """The indices of the numbers that one is the largest of."""
        found: set[int] | None = self._largest_of.get(root)
        if found is None:
            found = self._largest_of[root] = self._leaves(root, _maximum)
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _bare(self, i: cython.int) -> cython.int:
        """Return the number that one is equal to, where all are finite: without what guards against infinity."""
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
        """Return whether a condition is that a number, which is tame, is not infinite."""
        store: InstructionStore = self._store
        if store.opcode[condition] != _less or not self.bits[i] & _TAME:
            return False
        size: cython.int = store.x[condition]
        limit: cython.int = store.y[condition]
        if store.opcode[limit] != _constant or store.number(limit) != math.inf:
            return False
        return store.opcode[size] == _abs and store.x[size] == i

    def _leaves(self, root: cython.int, opcode: cython.int) -> set[int]:
        """The indices of what is added up, or compared, by a tree of such instructions; none after too many looks."""
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
        """Return whether an exponent is a constant for which powers are no larger than a quotient."""
        return self._store.opcode[i] == _constant and self._store.number(i) >= -1.0

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_above_0(self, i: cython.int) -> cython.bint:
        """Return whether a number is kept away from 0."""
        if not self.bits[i] & (_ABOVE_0 | _LOOKED_AT) and self.bits[i] & _NOT_NEGATIVE:
            self.bits[i] |= _LOOKED_AT
            if self._has_exponential_of_0(i):
                self.bits[i] |= _ABOVE_0 | _AT_LEAST_1
        return self.bits[i] & _ABOVE_0 != 0

    def _has_exponential_of_0(self, total: cython.int) -> bool:
        """Whether a sum of what is not negative has, for all numbers of which one is the largest, exp(x - largest)."""
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
    """Return what is known of a constant."""
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
    """Return the bounds of a sum of numbers of which this is known."""
    if x & y & _NOT_NEGATIVE:
        return _NOT_NEGATIVE | (x | y) & (_ABOVE_0 | _AT_LEAST_1)
    return x & y & _NOT_POSITIVE


@cython.cfunc
@cython.exceptval(check=False)
def _of_product(x: cython.int, y: cython.int) -> cython.int:
    """Return the sign of a product of numbers of which this is known."""
    found: cython.int = 0
    if x & y & (_NOT_NEGATIVE | _NOT_POSITIVE):
        found |= _NOT_NEGATIVE
    if (x & _NOT_NEGATIVE and y & _NOT_POSITIVE) or (x & _NOT_POSITIVE and y & _NOT_NEGATIVE):
        found |= _NOT_POSITIVE
    return found
