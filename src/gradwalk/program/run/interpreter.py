"""`Interpreter`: runs a program on one sample, which consists of numbers or of Values.

Each run has its own scratch memory and shares no state with other runs. So several threads may run one program at once,
even without the GIL. Python code that is called during a run, such as a finalizer, may run the same program, too.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.ops.compiled import evaluate
from gradwalk.ops.compiled.evaluate import fused
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, OPCODES, TAKE
from gradwalk.program.native.compile_queue import submit
from gradwalk.program.native.policy import compiling, current_policy, prefix_keys, why_not_compilable
from gradwalk.program.native.status import DONE, INTERRUPTED
from gradwalk.program.run import instruction_loop, scratch
from gradwalk.program.run.rows import row_loops
from gradwalk.program.run.rows.row_plan import RowPlan, row_plan
from gradwalk.value.apply import apply, apply_variadic
from gradwalk.value.modes import refuses_nans

if not TYPE_CHECKING and cython.compiled:
    import cython

# A program is compiled after 1,000,000 executed instructions. Counts of instructions are stored multiplied by 4,
# because an instruction has 4 ints. Compiling takes about as long as interpreting a few million instructions.
_hot = cython.declare(cython.Py_ssize_t, 4 * 1_000_000)
# The step of a loop is compiled later than a whole program, because it is usually compiled as a part of the program.
_hot_part = cython.declare(cython.Py_ssize_t, 4 * 4_000_000)
# Number of instructions that are counted for a call if the number is unknown. The call may be long.
_unknown = cython.declare(cython.Py_ssize_t, 20_000)
# A program with calls is compiled after this number of further instructions for each instruction and operand of a call.
_patience = cython.declare(cython.Py_ssize_t, 50)
# The GIL is released while machine code runs a program that executes at least this many instructions.
_long = cython.declare(cython.Py_ssize_t, 4 * 20_000)
# A program is reordered into rows if it has at least _fewest_in_rows instructions and has run _runs_before_rows times.
# The rows are used if they have at least _least_share instructions on average.
_fewest_in_rows = cython.declare(cython.int, 500)
_runs_before_rows = cython.declare(cython.int, 20)
_least_share = cython.declare(cython.int, 3)
_never = cython.declare(cython.Py_ssize_t, -(2**62))
_nan = cython.declare(cython.double, numpy.nan)
_where = cython.declare(cython.int, OPCODES["where"])

_done = cython.declare(cython.int, DONE)
_interrupted = cython.declare(cython.int, INTERRUPTED)

_float64 = numpy.dtype(numpy.float64)


@cython.final
@cython.cclass
class Rows:
    """A `RowPlan`, and C pointers to its arrays.

    Attributes:
        plan: The plan.
        copies: Number of extra slots that a run needs; see `RowPlan.copies`.
    """

    # The types of the fields are declared in interpreter.pxd.

    def __init__(self, plan: RowPlan) -> None:
        self.plan = plan
        self.copies = len(plan.copies)
        self._count = plan.length
        self._segment = c_compat.integers(plan.segments)
        self._instruction = c_compat.integers(plan.instructions)
        self._link = c_compat.integers(plan.links)
        self._table = c_compat.integers(plan.tables)
        self._copied = c_compat.integers(plan.copies)
        self._output = c_compat.integers(plan.outputs)


@cython.final
@cython.cclass
class Interpreter:
    """Runs a `Code`. The code must be well formed, because nothing is checked at run time.

    Args:
        code: The program.
        is_part: Whether the program is the step of a loop.

    Attributes:
        code: The program.
        inputs: Number of inputs.
        policy: The policy that says when and how the program is compiled to machine code.
        machine_code: The `MachineCode` that runs instead of the instructions, or None.
        failure: The reason why compilation failed, or "" if it did not fail.
    """

    # The types of the fields are declared in interpreter.pxd.

    def __init__(self, code: Code, *, is_part: bool = False) -> None:
        self.code = code
        self.inputs = code.inputs
        self._first = code.inputs + len(code.constants)
        self._length = len(code.instructions) // 4 * 4
        self._outputs = len(code.outputs)
        self._has_calls = len(code.calls) > 0
        # All three operands of an instruction are read before its opcode is tested. So the operand fields of calls and
        # of `take`, which hold positions of calls, results and tables, must also be valid indices in the scratch
        # memory.
        results = max([call.outputs for call, _ in code.calls], default=0)
        self._room = max(self._first + self._length // 4, 1 + len(code.calls), 1 + results, 1 + len(code.tables))
        self._operands = [_stretches(operands) for _, operands in code.calls]
        self._results = _result_stretches(code)
        starts = [0, *itertools.accumulate(map(len, code.tables))]
        tables = array("i", itertools.chain.from_iterable(code.tables))
        self._arrays = (
            code.instructions,
            array("d", code.constants),
            array("i", code.outputs),
            array("i", starts),
            tables or array("i", [0]),
        )
        self.policy = current_policy()
        self._may_have_rows = not self._has_calls and self._length >= 4 * _fewest_in_rows
        self._hot = _hot_part if is_part else _hot
        self._due = min(self._hot, _runs_before_rows * self._length) if self._may_have_rows else self._hot
        self._executed = self._hot if self.policy.backend == "llvm" else 0
        self._executes = self._length + 4 * sum([_weight(call) for call, _ in code.calls])
        if self._has_calls and self.policy.backend != "llvm":
            size = self._length + 4 * sum([len(operands) for _, operands in code.calls])
            # A long program is compiled during its first run. Lowering many operands takes long, so that the steps of
            # the loops are compiled first.
            self._due = max(0, self._due + _patience * size - self._executes)
        self.machine_code = None
        self.failure = ""
        self._machine_run = c_compat.NO_RUN
        self._plan: Rows | None = None
        self._adopted: list[Rows] = []
        self._instruction = c_compat.integers(self._arrays[0])
        self._constant = c_compat.doubles(self._arrays[1])
        self._output = c_compat.integers(self._arrays[2])
        self._start = c_compat.integers(self._arrays[3])
        self._table = c_compat.integers(self._arrays[4])

    def run(self, numbers: Any) -> Any:
        """Run the program on a 1-D array of numbers, one per input, and return the outputs as a new float64 array.

        Raises:
            ValueError: `numbers` is not one-dimensional, or its length is not the number of inputs.
            TypeError: `numbers` does not hold numbers.
            FloatingPointError: Under `debug_nans`, an instruction that the outputs depend on gave nan or inf.
        """
        is_array = type(numbers) is numpy.ndarray and numbers.dtype is _float64
        if not is_array or numbers.ndim != 1 or not numbers.flags.c_contiguous:
            numbers = _row(numbers)
        if len(numbers) != self.inputs:
            raise ValueError(
                f"a program with {counted(self.inputs, 'input')} takes one number per input, got {len(numbers)}"
            )
        outputs = numpy.empty(self._outputs)
        self._run(c_compat.doubles(numbers), c_compat.doubles(outputs))
        return outputs

    def on_values(self, operands: list) -> list:
        """Run the program on Values and floats, one per input. An output is a Value if it depends on a Value."""
        if len(operands) != self.inputs:
            raise ValueError(
                f"a program with {counted(self.inputs, 'input')} takes one operand per input, got {len(operands)}"
            )
        results = self._apply_all([*operands, *self.code.constants])
        return [results[index] for index in self.code.outputs]

    def compute(self, inputs: cython.p_double, outputs: cython.p_double) -> cython.void:
        """Compute the outputs from the inputs.

        The caller need not hold the GIL: `compute` acquires the GIL if the program has calls. The outputs are nan if
        memory runs out or a call raises an error.
        """
        i: cython.int
        if self._has_calls:
            with cython.gil:
                self._compute_with_calls(inputs, outputs)
            return
        few = cython.declare(scratch.few_doubles)
        value: cython.p_double = scratch.acquire(self._room, few)
        if value:
            c_compat.copy(value, 0, inputs, 0, self.inputs)
            self._write_constants(value)
            self._execute(value)
        for i in range(self._outputs):
            outputs[i] = value[self._output[i]] if value else _nan
        scratch.release(value, few)

    def _compute_with_calls(self, inputs: cython.p_double, outputs: cython.p_double) -> cython.void:
        """Compute the outputs of a program that contains calls. The outputs are nan if a call raises an error."""
        i: cython.int
        try:
            self._run(inputs, outputs)
        except Exception:
            for i in range(self._outputs):
                outputs[i] = _nan

    def _run(self, inputs: cython.p_double, outputs: cython.p_double) -> object:
        """Compute the outputs of a program that may have calls."""
        few = cython.declare(scratch.few_doubles)
        rows: Rows | None = self._plan
        value: cython.p_double = scratch.acquire(self._room + (0 if rows is None else rows.copies), few)
        if not value:
            raise MemoryError
        try:
            c_compat.copy(value, 0, inputs, 0, self.inputs)
            self._write_constants(value)
            self.warm()
            if rows is not None and not refuses_nans():
                self._run_rows(rows, value)
                self._write_outputs(rows._output, value, outputs)
            else:
                self._run_in_order(value, outputs)
        finally:
            scratch.release(value, few)
        return None

    def _run_in_order(self, value: cython.p_double, outputs: cython.p_double) -> object:
        """Run the instructions in program order and write the outputs."""
        checks: cython.bint = refuses_nans()
        k: cython.int = self._interpret(0, value) if checks else self._run_code(value)
        if k < self._length and self.policy is current_policy():
            self._run_calls(value)
        elif k < self._length:
            with compiling(self.policy):  # the policy also applies to parts that are compiled on their first run
                self._run_calls(value)
        self._write_outputs(self._output, value, outputs)
        if checks:
            self._refuse_nans(value)
        return None

    def _run_rows(self, rows: Rows, value: cython.p_double) -> cython.void:
        """Run the instructions in the order of a row plan."""
        self._executed += self._length
        segment: cython.p_int = rows._segment
        code: cython.p_int = rows._instruction
        i: cython.int
        begin: cython.int
        end: cython.int
        for i in range(rows.copies):
            value[self._first + self._length // 4 + i] = value[rows._copied[i]]
        at: cython.int = row_loops.run_rows(segment, 0, rows._count, code, rows._link, value)
        while at < rows._count:
            begin = 4 * segment[row_loops.ROW_WIDTH * at + 3]
            end = begin + 4 * segment[row_loops.ROW_WIDTH * at + 1]
            instruction_loop.run_until_call(code, begin, end, value, self._first, self._start, rows._table)
            at = row_loops.run_rows(segment, at + 1, rows._count, code, rows._link, value)

    def _write_outputs(self, index: cython.p_int, value: cython.p_double, outputs: cython.p_double) -> cython.void:
        """Copy the numbers at the indices `index` to the outputs."""
        i: cython.int
        for i in range(self._outputs):
            outputs[i] = value[index[i]]

    def install(self, machine_code: Any) -> None:
        """Run this `MachineCode` instead of the instructions from now on."""
        self.machine_code = machine_code
        self._plan = None
        if cython.compiled:  # machine code runs on C memory, which uncompiled gradwalk does not have
            c_compat.adopt_run(cython.address(self._machine_run), machine_code.address)

    def warm(self) -> object:
        """Request a row plan, and later machine code, if the program has run often enough. Each is requested once."""
        if not cython.compiled or not c_compat.is_due(cython.address(self._executed), self._due, _never):
            return None
        is_wanted: cython.bint = not why_not_compilable(self.code, self.policy)
        if self._may_have_rows and self.policy.backend != "llvm":
            self._may_have_rows = False
            self._executed, self._due = self._due, self._hot
            submit(self._order_in_rows)
        elif is_wanted:
            from gradwalk.program.native.machine_code import compile_for  # loaded on demand: few programs are compiled

            compile_for(self)
        elif self._may_have_rows:
            self._order_in_rows()
        return None

    def _order_in_rows(self) -> object:
        """Reorder the instructions into rows, unless the rows would be too short or there is machine code already."""
        plan = row_plan(self.code)
        if self.machine_code is None and _least_share * plan.length <= self._length // 4:
            self.install_rows(plan)
        return None

    def install_rows(self, plan: RowPlan) -> None:
        """Run the instructions in the rows of this plan from now on."""
        rows = Rows(plan)
        self._adopted.append(rows)
        self._plan = rows

    @property
    def backends(self) -> dict[str, str]:
        """A dict with the backend of the program under the key "" and the backend of each call under its name.

        A call that several programs share is listed once.
        """
        return self.backends_beside(set())

    def backends_beside(self, known: set[int]) -> dict[str, str]:
        """Return `backends` without the calls whose ids are in `known`; add the ids of the other calls to `known`."""
        found = {"": self._backend()}
        if self.machine_code is not None:  # which includes the calls
            return found
        for number, (call, _) in enumerate(self.code.calls):
            if id(call) not in known:
                known.add(id(call))
                found |= prefix_keys(f"{call.name} {number}", call.backends(known))
        return found

    def _backend(self) -> str:
        """Return "llvm", or "interpreter" followed by the reason why there is no machine code."""
        if self.machine_code is not None:
            return "llvm"
        why = why_not_compilable(self.code, self.policy)
        if not why and not cython.compiled:
            why = "gradwalk runs uncompiled"
        if not why and self._executed < 0:
            why = self.failure or "the compilation has not finished"
        if not why and self.policy.backend == "llvm":
            why = "the program has not run yet"
        if not why:
            hot = self._due if self._has_calls else self._hot
            why = f"{self._executed // 4:,} instructions run; machine code is compiled after {hot // 4:,}"
        return f"interpreter{'' if self._plan is None else f', in {self._plan.plan.length:,} rows'}: {why}"

    def _run_code(self, value: cython.p_double) -> cython.int:
        """Run the program up to its first call or the end; return the position reached.

        Machine code runs calls, too. If it is interrupted, the exception of the signal handler is raised. If it fails,
        the instructions are interpreted, which raises the error.
        """
        status: cython.int = 1
        if not self._has_calls:
            return self._execute(value)
        if cython.compiled:
            cell, executed = cython.address(self._machine_run), cython.address(self._executed)
            # A thread that waits for the GIL rarely wakes up in time if the GIL is released for a moment only.
            if self.machine_code is not None and self._executes >= _long:
                with cython.nogil:
                    status = c_compat.run_code(cell, executed, self._executes, value)
            else:
                status = c_compat.run_code(cell, executed, self._executes, value)
        if status == _interrupted:
            return -1
        return self._length if status == _done else self._interpret(0, value)

    def _execute(self, value: cython.p_double) -> cython.int:
        """Run a program without calls; return the position of its end.

        If there is machine code, only the results that are outputs are written to `value`.
        """
        if cython.compiled:
            cell, executed = cython.address(self._machine_run), cython.address(self._executed)
            if c_compat.run_code(cell, executed, self._length, value) == _done:
                return self._length
        return self._interpret(0, value)

    def _interpret(self, start: cython.int, value: cython.p_double) -> cython.int:
        """Interpret the instructions from `start` up to the next call or the end; return the position reached."""
        return instruction_loop.run_until_call(
            self._instruction, start, self._length, value, self._first, self._start, self._table
        )

    def _write_constants(self, value: cython.p_double) -> cython.void:
        """Write the constants to `value`, after the inputs."""
        i: cython.int
        for i in range(self._first - self.inputs):
            value[self.inputs + i] = self._constant[i]

    def _run_calls(self, value: cython.p_double) -> object:
        """Run the first call and all instructions after it."""
        stretch: cython.p_int = c_compat.integers(self._results)
        called: dict = {}  # maps the position of a call to its results
        which: cython.int = -1
        result: cython.p_double = c_compat.NO_FLOATS
        at: cython.int
        for at in range(0, len(self._results), 4):
            if stretch[at + 2] != which:
                which = stretch[at + 2]
                if which not in called:
                    called[which] = self._called(which, value)
                result = c_compat.doubles(called[which])
            c_compat.copy(value, self._first + stretch[at], result, stretch[at + 3], stretch[at + 1])
            self._interpret(4 * (stretch[at] + stretch[at + 1]), value)
        return None

    def _called(self, which: cython.int, value: cython.p_double) -> Any:
        """Run a call; return its results as a 1-D float64 array."""
        stretches = self._operands[which]
        stretch: cython.p_int = c_compat.integers(stretches)
        call, operands = self.code.calls[which]
        numbers = numpy.empty(len(operands))
        number: cython.p_double = c_compat.doubles(numbers)
        done: cython.int = 0
        at: cython.int
        for at in range(0, len(stretches), 2):
            c_compat.copy(number, done, value, stretch[at], stretch[at + 1])
            done += stretch[at + 1]
        return _row(call.numbers(numbers))

    def _refuse_nans(self, value: cython.p_double) -> object:
        """Raise `FloatingPointError` if an instruction that the outputs depend on gave nan or inf."""
        i: cython.int
        numbers: list = [value[i] for i in range(self._first + self._length // 4)]
        if all(map(math.isfinite, numbers[self._first :])):
            return None
        from gradwalk.program.formats.listing import instruction_line  # loaded on demand: only messages need it

        used = _used(self.code, numbers)
        for i in range(self._length // 4):
            if self._first + i in used and not math.isfinite(numbers[self._first + i]):
                text = instruction_line(self.code, i)
                raise FloatingPointError(f"a recorded function computed {text}, which gave {numbers[self._first + i]}")
        return None

    def _apply_all(self, results: list) -> list:
        """Run all instructions on Values and floats. Append each result to `results`; return `results`."""
        code: cython.p_int = self._instruction
        opcode: cython.int
        k: cython.int
        called: dict = {}
        for k in range(0, self._length, 4):
            opcode = code[k]
            if not evaluate.is_scalar(opcode):
                results.append(_applied_specially(self.code, k, results, called))
                continue
            x = results[code[k + 1]]
            if evaluate.arity(opcode) == 1:
                results.append(apply(opcode, x))
            elif evaluate.arity(opcode) == 2:
                results.append(apply(opcode, x, results[code[k + 2]]))
            else:
                results.append(apply(opcode, x, results[code[k + 2]], results[code[k + 3]]))
        return results


def _weight(call: Any) -> int:
    """Return the number of instructions that a call executes, approximately."""
    return int(min(call.weight, _hot)) if math.isfinite(call.weight) else _unknown


def counted(count: int, noun: str) -> str:
    """Return a count and a noun, such as "1 input" or "2 inputs"."""
    return f"{count} {noun}{'s' if count != 1 else ''}"


def _row(numbers: Any) -> Any:
    """Convert numbers to a 1-D float64 array. Raises `ValueError` for other dimensions, `TypeError` for non-numbers."""
    row = numpy.ascontiguousarray(numbers, numpy.float64)
    if row.ndim != 1:
        raise ValueError(f"the inputs of a program must be a 1-D array, got an array of shape {row.shape}")
    return row


def _stretches(indices: Sequence[int]) -> array[int]:
    """Split indices into ranges of consecutive indices. The result has two ints per range: first index and length."""
    found = numpy.array(indices, numpy.int32)
    begins = numpy.flatnonzero(numpy.diff(found, prepend=-2) != 1)
    return array("i", numpy.stack([found[begins], numpy.diff(begins, append=len(found))], axis=1).ravel().tolist())


def _result_stretches(code: Code) -> array[int]:
    """Split the instructions that are results of calls into ranges of consecutive results of one call.

    The result has four ints per range: the position of its first instruction, the length, the position of the call, and
    the position of its first result among the results of the call.
    """
    if not code.calls:
        return array("i")
    rows = numpy.array(code.instructions, numpy.int32).reshape(-1, 4)
    places = numpy.flatnonzero(rows[:, 0] == CALL)
    numbers = numpy.stack([places, rows[places, 1], rows[places, 2]])
    goes_on = (numpy.diff(numbers) == [[1], [0], [1]]).all(axis=0)
    begins = numpy.flatnonzero(numpy.append(True, ~goes_on))[: len(places)]
    place, call, first = numbers[:, begins]
    return array(
        "i", numpy.stack([place, numpy.diff(begins, append=len(places)), call, first], axis=1).ravel().tolist()
    )


def _used(code: Code, numbers: list[float]) -> set[int]:
    """Return the indices that the outputs depend on, without unselected operands of `where` and `take`."""
    used = set(code.outputs)
    for index, row in zip(range(code.count - 1, code.first - 1, -1), reversed(code.rows), strict=True):
        if index in used:
            used.update(_picked(code, row, numbers))
    return used


def _picked(code: Code, row: list[int], numbers: list[float]) -> Sequence[int]:
    """Return the operands of an instruction, without unselected operands of `where` and `take`."""
    opcode, x, y, z = row
    if opcode == _where:
        return (x, y if numbers[x] != 0.0 else z)
    if opcode == TAKE:
        position = evaluate.position_of(numbers[x], len(code.tables[y]))
        return (x, code.tables[y][position]) if position >= 0 else (x,)
    return code.used(row)


def _applied_specially(code: Code, k: int, results: list[Any], called: dict[int, Any]) -> Any:
    """Return the result of a `take`, a call or a fused instruction. `called` caches the results of calls."""
    opcode, *operands = code.instructions[k : k + 4].tolist()
    if opcode == CALL:
        which, position, _ = operands
        if which not in called:
            function, used = code.calls[which]
            called[which] = function.values([results[index] for index in used])
        return called[which][position]
    if opcode == TAKE:
        return apply_variadic(opcode, [results[operands[0]], *[results[index] for index in code.tables[operands[1]]]])
    return fused(opcode, *[results[index] for index in operands])
