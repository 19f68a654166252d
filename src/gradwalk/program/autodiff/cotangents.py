"""Cotangents (reverse mode) or tangents (forward mode) of the instructions on a tape, masked by branch.

The gradient of `where(x > 0, sqrt(x), 0)` at x = 0 should be 0, but the unselected branch contributes 0 * inf = nan. To
avoid this, each derivative (cotangent or tangent) is stored with the branch that it flows through. A branch, called a
choice in the code, is one operand of a `where`, `maximum` or `take`. Inside one branch derivatives accumulate
unchanged. A derivative that leaves its branch and may be nan is masked: `where(branch taken, derivative, 0)`. Other
libraries leave this to the user (the "double where" trick).

Inputs are assumed to be finite: a derivative that can be nan only for infinite inputs is not masked. Products of finite
numbers count as finite, so a network of `relu` needs no masks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.autodiff import derivative_templates, finiteness
from gradwalk.program.autodiff.derivative_templates import Templates
from gradwalk.program.code.opcodes import CALL, TAKE
from gradwalk.program.instructions import simplify
from gradwalk.program.instructions.instruction_store import NO_INDEX, InstructionStore

if not TYPE_CHECKING and cython.compiled:
    import cython

_NO_CHOICE = -1  # the derivative flows through no branch: it is never masked
_MOST_CLIMBED = 100  # maximum number of steps of `_common`, the search for a common enclosing choice

_call = cython.declare(cython.int, CALL)
_take = cython.declare(cython.int, TAKE)
_none = cython.declare(cython.int, NO_INDEX)
_no_choice = cython.declare(cython.int, _NO_CHOICE)
_most_climbed = cython.declare(cython.int, _MOST_CLIMBED)
_add = cython.declare(cython.int, NAMES.index("add"))
_less = cython.declare(cython.int, NAMES.index("less"))
_equal = cython.declare(cython.int, NAMES.index("equal"))
_where = cython.declare(cython.int, NAMES.index("where"))


@cython.final
@cython.cclass
class Cotangents:
    """Cotangents or tangents ("derivatives") of the instructions on a tape, accumulated during a pass."""

    _store: InstructionStore
    _templates: Templates
    _is_forward: cython.bint
    _derivative: cython.p_int  # per instruction: index of its cotangent or tangent, or NO_INDEX
    _choice: cython.p_int  # per instruction: the choice that its derivative flows through
    _is_vague: cython.p_int  # per instruction: whether its derivative may be nan if its choice is not taken
    _is_tame: cython.p_int  # per instruction: see `finiteness.mark_tame`
    _is_risky: cython.p_int  # per instruction: whether an out-of-range index makes it nan; reverse mode only
    _is_calm: cython.p_int  # per instruction: whether the rest of the pass cannot turn its zero derivative into nan
    _knows_tame: cython.bint
    _arrays: Any  # the arrays that own the memory behind the pointers above
    # Per choice: the selected operand as (instruction, operand position), or the two choices of a union; the enclosing
    # choice; the nesting depth; and the condition, which is the index of a number that is nonzero if the choice and all
    # enclosing choices are taken (NO_INDEX until it is needed).
    _selected: list
    _either: list
    _outer: list
    _depth: list
    _condition: list
    _zeros: dict  # by index and length of a table: see `_zero_in_range`

    def __init__(self, store: InstructionStore, is_forward: bool) -> None:
        """Start with zero derivatives. The store must be a `Tape` if it contains calls."""
        arrays = [numpy.full(store.length, start, numpy.int32) for start in (NO_INDEX, _NO_CHOICE, 0, 0, 0)]
        self._store = store
        self._templates = Templates()
        self._is_forward = is_forward
        self._arrays = arrays
        self._derivative, self._choice = c_compat.integers(arrays[0]), c_compat.integers(arrays[1])
        self._is_vague, self._is_tame = c_compat.integers(arrays[2]), c_compat.integers(arrays[3])
        self._is_risky = c_compat.integers(arrays[4])
        self._is_calm = self._is_tame  # reverse mode: what a tame instruction depends on is tame, too
        self._knows_tame = False
        self._selected, self._either, self._outer, self._depth, self._condition = [], [], [], [], []
        self._zeros = {}

    @cython.cfunc
    @cython.exceptval(check=False)
    def has_one(self, i: cython.int) -> cython.bint:
        """Return whether a derivative has been stored for an instruction; if not, its derivative is 0."""
        return self._derivative[i] != _none

    @cython.cfunc
    def seed(self, i: cython.int, derivative: cython.int) -> object:
        """Add an initial cotangent or tangent, which the caller gives, to the derivative of an instruction."""
        return self._accumulate(i, derivative, _no_choice, False)

    @cython.cfunc
    @cython.exceptval(-1)
    def total(self, i: cython.int) -> cython.int:
        """Return the index of an instruction's masked derivative, or the index of the constant 0 if it has none."""
        if self._derivative[i] == _none:
            return self._zero_like(i)
        return self._settled(self._derivative[i], self._choice[i], self._is_vague[i] != 0)

    # Reverse mode

    @cython.cfunc
    def pull_back(self, i: cython.int, active: cython.p_int) -> object:
        """Add the contributions of an instruction to the cotangents of its active operands."""
        store: InstructionStore = self._store
        arity: cython.int = evaluate.arity(store.opcode[i])
        if active[store.x[i]]:
            self._contribute(i, 0, i, store.x[i])
        if arity > 1 and active[store.y[i]]:
            self._contribute(i, 1, i, store.y[i])
        if arity > 2 and active[store.z[i]]:
            self._contribute(i, 2, i, store.z[i])
        return None

    @cython.cfunc
    def pull_back_take(self, i: cython.int, active: cython.p_int) -> object:
        """Add the cotangent of a `take` to the selected entry of the table.

        The other entries get exactly 0. An out-of-range index gives nan for all entries, unless the `take` itself is in
        a branch that was not taken.
        """
        store: InstructionStore = self._store
        table: tuple = store.tables[store.y[i]]
        length: cython.int = len(table)
        adjoint: cython.int = self._settled(self._derivative[i], self._choice[i], True)
        index: cython.int = self._settled(store.x[i], self._choice[i], True)  # 0 is in range
        zero: cython.int = self._zero_in_range(index, length)
        k: cython.int
        entry: cython.int
        found: cython.int
        for k in range(length):
            entry = table[k]
            if active[entry]:
                found = simplify.emit(store, _where, _picks(store, index, length, k), adjoint, zero)
                self._accumulate(entry, found, self._chosen(i, k + 1, i, entry), False)
        return None

    @cython.cfunc
    def pull_back_call(self, i: cython.int, active: cython.p_int) -> object:
        """Add a call's contributions to the cotangents of its operands, once per call.

        Does nothing unless `i` is the first result of the call. A reverse pass visits the first result last.
        """
        store: InstructionStore = self._store
        function, operands, base = store.calls[store.x[i]]
        if i != base:
            return None
        results = list(range(base, base + function.outputs))
        if not self._with_one(results):
            return None
        choice: cython.int = self._either_of_all(self._with_one(results))
        seeds = [self.total(result) if self.has_one(result) else NO_INDEX for result in results]
        wanted = [active[cython.cast(cython.int, operand)] != 0 for operand in operands]
        for operand, found in zip(operands, function.vjp_needed(store, operands, base, seeds, wanted), strict=True):
            if active[cython.cast(cython.int, operand)]:
                self._accumulate(operand, found, choice, choice != _no_choice)
        return None

    # Forward mode

    @cython.cfunc
    def push_forward(self, i: cython.int) -> object:
        """Compute the tangent of an instruction from the tangents of its operands."""
        store: InstructionStore = self._store
        arity: cython.int = evaluate.arity(store.opcode[i])
        if self.has_one(store.x[i]):
            self._contribute(i, 0, store.x[i], i)
        if arity > 1 and self.has_one(store.y[i]):
            self._contribute(i, 1, store.y[i], i)
        if arity > 2 and self.has_one(store.z[i]):
            self._contribute(i, 2, store.z[i], i)
        return None

    @cython.cfunc
    def push_forward_take(self, i: cython.int) -> object:
        """Compute the tangent of a `take`: the tangent of the selected table entry."""
        store: InstructionStore = self._store
        table: tuple = store.tables[store.y[i]]
        if not self._with_one(table):
            return None
        found: cython.int = simplify.emit_take(store, store.x[i], tuple([self.total(entry) for entry in table]))
        return self._accumulate(i, found, self._choice_of_take(i, table), False)

    @cython.cfunc
    def push_forward_call(self, i: cython.int) -> object:
        """Compute the tangents of all results of a call; do nothing unless `i` is the first result of the call."""
        store: InstructionStore = self._store
        function, operands, base = store.calls[store.x[i]]
        if i != base:
            return None
        given = self._with_one(operands)
        if not given:
            return None
        choice: cython.int = self._either_of_all(given)
        seeds = [self.total(operand) if self.has_one(operand) else NO_INDEX for operand in operands]
        for k, found in enumerate(function.jvp(store, operands, base, seeds)):
            self._accumulate(base + k, found, choice, choice != _no_choice)
        return None

    @cython.cfunc
    @cython.exceptval(-2)
    def _choice_of_take(self, i: cython.int, table: tuple) -> cython.int:
        """Return the choice of the tangent of a `take`: the union of the choices of entries with nonzero tangents."""
        choice: cython.int = _no_choice
        other: cython.int
        is_always_one: cython.bint = len(self._with_one(table)) == len(table)
        for k, entry in enumerate(table):
            if self.has_one(entry):
                other = self._chosen(i, k + 1, entry, i)
                choice = other if choice == _no_choice else self._either_of(choice, other)
                is_always_one = is_always_one and self._choice[cython.cast(cython.int, entry)] == _no_choice
        return _no_choice if is_always_one else choice

    # Both modes

    @cython.cfunc
    @cython.inline
    def _contribute(self, i: cython.int, position: cython.int, source: cython.int, target: cython.int) -> object:
        """Multiply the derivative of `source` by a partial of `i`; add the product to the derivative of `target`."""
        choice: cython.int = self._choice[source]
        is_vague: cython.bint = self._is_vague[source] != 0
        found: cython.int = derivative_templates.instantiate(
            self._store, self._templates, i, position, self._derivative[source]
        )
        if found == _none:
            return None
        if evaluate.selects(self._store.opcode[i]):
            choice = self._chosen(i, position, source, target)
        elif choice != _no_choice and self._is_wild(i) and not self._has_tame_partial(i, position):
            is_vague = True
        return self._accumulate(target, found, choice, is_vague)

    @cython.cfunc
    def _accumulate(self, i: cython.int, found: cython.int, choice: cython.int, is_vague: cython.bint) -> object:
        """Add the contribution `found` to the derivative of an instruction. If `found` is NO_INDEX, add nothing."""
        if found == _none:
            return None
        if self._derivative[i] == _none:
            self._derivative[i], self._choice[i], self._is_vague[i] = found, choice, is_vague
            return None
        before: cython.int = self._derivative[i]
        common: cython.int
        if self._is_other_branch(self._choice[i], choice) and (is_vague or self._is_vague[i]):
            return self._merge_branches(i, found, choice)
        if self._choice[i] != choice:
            common = self._common(self._choice[i], choice)
            if choice != common:
                found, is_vague = self._settled(found, choice, is_vague), False
            if self._choice[i] != common:
                before = self._settled(before, self._choice[i], self._is_vague[i] != 0)
                self._is_vague[i] = False
                self._choice[i] = common if self._is_calm[i] else self._either_of(self._choice[i], choice)
        self._derivative[i] = self._sum(before, found)
        self._is_vague[i] |= is_vague
        return None

    @cython.cfunc
    def _merge_branches(self, i: cython.int, found: cython.int, choice: cython.int) -> object:
        """Combine the contributions from both branches of a `where` into one `where` with the same condition."""
        selecting, position = self._selected[choice]
        first: cython.int = found if position == 1 else self._derivative[i]
        second: cython.int = self._derivative[i] if position == 1 else found
        condition: cython.int = self._store.x[cython.cast(cython.int, selecting)]
        self._derivative[i] = self._select(condition, first, second)
        self._choice[i] = self._outer[choice]
        self._is_vague[i] = self._choice[i] != _no_choice
        return None

    @cython.cfunc
    @cython.exceptval(-1)
    def _settled(self, derivative: cython.int, choice: cython.int, is_vague: cython.bint) -> cython.int:
        """Mask a derivative so that it is 0 if its choice is not taken; return the index of the masked derivative."""
        if choice == _no_choice or not is_vague:
            return derivative
        return self._select(self._condition_of(choice), derivative, self._zero_like(derivative))

    # Derivatives that are numbers or arrays

    @cython.cfunc
    @cython.exceptval(-1)
    def _zero_like(self, i: cython.int) -> cython.int:
        """Return the index of the constant 0, or of an array of zeros if `i` is an array."""
        kind = self._store.arrays.get(i)
        if kind is None:
            return self._store.intern_constant(0.0)
        zeros: cython.int = kind.zeros(self._store)
        return zeros

    @cython.cfunc
    @cython.exceptval(-1)
    def _sum(self, first: cython.int, second: cython.int) -> cython.int:
        """Append the sum of two numbers or of two arrays."""
        if len(self._store.arrays) == 0 or first not in self._store.arrays:
            return simplify.emit(self._store, _add, first, second, 0)
        total: cython.int = self._store.arrays[first].add(self._store, first, second)
        return total

    @cython.cfunc
    @cython.exceptval(-1)
    def _select(self, condition: cython.int, first: cython.int, second: cython.int) -> cython.int:
        """Append `where(condition, first, second)` for two numbers or two arrays. The condition is a number."""
        if len(self._store.arrays) == 0 or first not in self._store.arrays:
            return simplify.emit(self._store, _where, condition, first, second)
        found: cython.int = self._store.arrays[first].where(self._store, condition, first, second)
        return found

    # Choices

    @cython.cfunc
    @cython.exceptval(-2)
    def _chosen(self, i: cython.int, position: cython.int, source: cython.int, target: cython.int) -> cython.int:
        """Return the choice of a derivative that has passed through instruction `i`, which selects an operand."""
        if not self._knows_tame:
            finiteness.mark_tame(self._store, self._arrays[3])
            if self._is_forward:
                self._find_calm()
            else:
                finiteness.mark_risky(self._store, self._arrays[4])
            self._knows_tame = True
        # `maximum` and similar operations select by the values of their operands: nan operands give nan results.
        is_by_data: cython.bint = self._store.opcode[i] in (_where, _take)
        if self._is_calm[target] and not (is_by_data and self._is_risky[target]):
            return self._choice[source]
        return self._new_choice((i, position), None, self._choice[source])

    @cython.cfunc
    @cython.exceptval(-2)
    def _new_choice(self, selected: object, either: object, outer: cython.int) -> cython.int:
        """Append a choice and return its index. The choice is a selected operand, or the union of two choices."""
        self._selected.append(selected)
        self._either.append(either)
        self._outer.append(outer)
        self._depth.append(0 if outer == _no_choice else self._depth[outer] + 1)
        self._condition.append(NO_INDEX)
        return len(self._outer) - 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_other_branch(self, a: cython.int, b: cython.int) -> cython.bint:
        """Return whether two choices are the two branches of one `where`."""
        if _no_choice in (a, b) or a == b or self._outer[a] != self._outer[b]:
            return False
        if self._selected[a] is None or self._selected[b] is None or self._selected[a] == self._selected[b]:
            return False
        selecting: cython.int = self._selected[a][0]
        return selecting == self._selected[b][0] and self._store.opcode[selecting] == _where

    @cython.cfunc
    @cython.exceptval(-2)
    def _common(self, a: cython.int, b: cython.int) -> cython.int:
        """Return the innermost choice that encloses both, or `_NO_CHOICE` if none is found in `_MOST_CLIMBED` steps."""
        for _ in range(_most_climbed):
            if a == b:
                return a
            if a == _no_choice or b == _no_choice:
                return _no_choice
            if self._depth[a] >= self._depth[b]:
                a = self._outer[a]
            else:
                b = self._outer[b]
        return _no_choice

    @cython.cfunc
    @cython.exceptval(-2)
    def _either_of_all(self, instructions: list) -> cython.int:
        """Return the union of the choices of these instructions' derivatives."""
        choice: cython.int = self._choice[cython.cast(cython.int, instructions[0])]
        for i in instructions:
            choice = self._either_of(choice, self._choice[cython.cast(cython.int, i)])
        return choice

    @cython.cfunc
    @cython.exceptval(-2)
    def _either_of(self, a: cython.int, b: cython.int) -> cython.int:
        """Return the union of two choices. The union is taken if at least one of the two choices is taken."""
        common: cython.int = self._common(a, b)
        if common in (a, b) or self._is_other_branch(a, b):
            return common
        return self._new_choice(None, (a, b), common)

    @cython.cfunc
    def _with_one(self, instructions: Any) -> list:
        """Return the instructions that have a nonzero derivative."""
        return [i for i in instructions if self.has_one(i)]

    @cython.cfunc
    @cython.exceptval(-1)
    def _condition_of(self, choice: cython.int) -> cython.int:
        """Return the index of the condition of a choice. If the choice has no condition yet, append it first."""
        waiting: list = [choice]
        while waiting:
            latest = waiting[-1]
            missing = [other for other in self._conditions_before(latest) if self._condition[other] == _none]
            if missing:
                waiting += missing
            else:
                self._condition[latest] = self._new_condition(latest)
                waiting.pop()
        return self._condition[choice]

    def _conditions_before(self, choice: int) -> tuple[int, ...]:
        """Return the choices whose conditions must be appended before the condition of this choice."""
        either: tuple[int, ...] | None = self._either[choice]
        if either is not None:
            return either
        return () if self._outer[choice] == _no_choice else (self._outer[choice],)

    @cython.cfunc
    @cython.exceptval(-1)
    def _new_condition(self, choice: cython.int) -> cython.int:
        """Append the condition of a choice: a number that is nonzero if the choice and its enclosing choices are taken.

        If the choice is a selected operand, its condition is the partial of the selecting instruction with respect to
        the operand. This partial is 0 if the operand is not selected. For a `take` with an out-of-range index the
        condition is nan.
        """
        store: InstructionStore = self._store
        own: cython.int
        if self._either[choice] is not None:
            first, second = self._either[choice]
            own = self._condition[first]
            return simplify.emit(store, _where, own, own, self._condition[second])
        i, position = self._selected[choice]
        if store.opcode[i] == _take:
            own = self._condition_of_take(i, position - 1)
        else:
            own = derivative_templates.instantiate(store, self._templates, i, position, store.intern_constant(1.0))
        if self._outer[choice] == _no_choice:
            return own
        return simplify.emit(store, _where, self._condition[self._outer[choice]], own, store.intern_constant(0.0))

    @cython.cfunc
    @cython.exceptval(-1)
    def _condition_of_take(self, i: cython.int, k: cython.int) -> cython.int:
        """Append the condition of table entry k: 1 if it is selected, 0 if not, nan if the index is out of range."""
        store: InstructionStore = self._store
        length: cython.int = len(store.tables[store.y[i]])
        is_picked: cython.int = _picks(store, store.x[i], length, k)
        zero: cython.int = self._zero_in_range(store.x[i], length)
        return simplify.emit(store, _where, is_picked, store.intern_constant(1.0), zero)

    @cython.cfunc
    @cython.exceptval(-1)
    def _zero_in_range(self, index: cython.int, length: cython.int) -> cython.int:
        """Append a number that is 0 if an index is in the range of a table, and nan otherwise."""
        found: cython.int
        known = self._zeros.get((index, length))
        if known is not None:
            return cython.cast(cython.int, known)
        found = simplify.emit_take(self._store, index, (self._store.intern_constant(0.0),) * length)
        self._zeros[index, length] = found
        return found

    # Instructions that can turn a zero derivative into nan

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_wild(self, i: cython.int) -> cython.bint:
        """Return whether an instruction may have an infinite partial, which turns a zero derivative into nan."""
        return not self._is_settled(i) and not evaluate.has_constant_partials(self._store.opcode[i])

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _has_tame_partial(self, i: cython.int, position: cython.int) -> cython.bint:
        """Return whether a partial is finite because it reads only finite operands.

        For example, the partial of x * y with respect to x reads only y.
        """
        store: InstructionStore = self._store
        reads: cython.int = self._templates.reads[3 * store.opcode[i] + position]
        if reads & 8 or not evaluate.is_tame(store.opcode[i]):
            return False
        return (
            (not reads & 1 or self._is_settled(store.x[i]))
            and (not reads & 2 or self._is_settled(store.y[i]))
            and (not reads & 4 or self._is_settled(store.z[i]))
        )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_settled(self, i: cython.int) -> cython.bint:
        """Return whether the value of an instruction is finite for finite inputs, even if an index is out of range."""
        return self._is_tame[i] != 0 and not self._is_risky[i]

    @cython.cfunc
    def _find_calm(self) -> object:
        """Mark the instructions on which no instruction with an infinite partial depends. Used in forward mode only."""
        store: InstructionStore = self._store
        calm = numpy.ones(len(self._arrays[3]), numpy.int32)
        self._arrays.append(calm)
        self._is_calm = c_compat.integers(calm)
        i: cython.int
        opcode: cython.int
        latest: cython.int = -1  # the call whose operands were marked last; the results of a call are adjacent
        for i in range(len(calm) - 1, -1, -1):
            opcode = store.opcode[i]
            if opcode <= 0 or (self._is_calm[i] and not self._is_wild(i)):
                continue
            if opcode == _call:
                operands = store.calls[store.x[i]][1] if store.x[i] != latest else []
                latest = store.x[i]
            elif opcode == _take:
                operands = store.tables[store.y[i]]
            else:
                operands = [store.x[i], store.y[i], store.z[i]][: evaluate.arity(opcode)]
            for operand in operands:
                self._is_calm[cython.cast(cython.int, operand)] = False
        return None


@cython.cfunc
@cython.exceptval(-1)
def _picks(store: InstructionStore, index: cython.int, length: cython.int, k: cython.int) -> cython.int:
    """Append a number that is 1 if an index selects table entry k, else 0. Negative indices count from the end."""
    is_negative: cython.int = simplify.emit(store, _less, index, store.intern_constant(0.0), 0)
    from_end: cython.int = simplify.emit(store, _add, index, store.intern_constant(length), 0)
    position: cython.int = simplify.emit(store, _where, is_negative, from_end, index)
    return simplify.emit(store, _equal, position, store.intern_constant(k), 0)
