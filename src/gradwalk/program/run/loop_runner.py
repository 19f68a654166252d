"""`LoopRunner` runs a loop on numbers, and `BackwardPass` runs the backward pass through a loop.

The backward pass needs the carries in reverse order. checkpoint_plan.py decides which carries are stored; all other
carries are recomputed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.base.yield_gil import pause
from gradwalk.program.code.checkpoint_plan import ADVANCE, BACK, SWEEP, CheckpointPlan
from gradwalk.program.run.interpreter import Interpreter, Rows
from gradwalk.value.modes import refuses_nans

if not TYPE_CHECKING and cython.compiled:
    import cython

# Number of instructions, times 4, between two pauses, approximately. Signal handlers and other threads run in a pause.
_busy = cython.declare(cython.Py_ssize_t, 4 * 20_000)
_longest = cython.declare(cython.Py_ssize_t, 4096)  # maximum number of steps between two pauses
_room = cython.declare(cython.Py_ssize_t, 256)  # number of slots that the counting pass allocates first
_NOTHING = numpy.empty(0)
_ADVANCE = cython.declare(cython.int, ADVANCE)
_SWEEP = cython.declare(cython.int, SWEEP)
_BACK = cython.declare(cython.int, BACK)


class TooManyStepsError(ValueError):
    """Raised if the condition of a loop still holds after the maximum number of steps."""


@cython.final
@cython.cclass
class Frame:
    """Memory in which a program runs repeatedly. The program runs in rows if its interpreter has a row plan.

    Attributes:
        value: The number for each index of the program. The caller writes the inputs here before a run.
    """

    # The types of the fields are declared in loop_runner.pxd.

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._refuses_nans = refuses_nans()
        rows: Rows | None = None if self._refuses_nans else interpreter._plan  # rows do not store all results
        self._rows = rows
        self._output = interpreter._output if rows is None else rows._output
        self._held = interpreter._room + (0 if rows is None else rows.copies)
        self._array = numpy.zeros(self._held + interpreter._outputs)
        self.value = c_compat.doubles(self._array)
        interpreter._write_constants(self.value)

    @cython.cfunc
    @cython.inline
    def run(self) -> object:
        """Run the program on the inputs in `value`."""
        interpreter: Interpreter = self._interpreter
        if self._rows is not None:
            interpreter._run_rows(self._rows, self.value)
            return None
        # The check for nan needs all results, but machine code writes only the outputs.
        checks: cython.bint = self._refuses_nans
        k: cython.int = interpreter._interpret(0, self.value) if checks else interpreter._run_code(self.value)
        if k < interpreter._length:
            interpreter._run_calls(self.value)
        if checks:
            interpreter._refuse_nans(self.value)
        return None

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def output(self, position: cython.int) -> cython.double:
        """Return the output of the last run at a position among the outputs."""
        return self.value[self._output[position]]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def move(self, position: cython.int, count: cython.int, to: cython.int) -> cython.void:
        """Copy outputs of the last run to inputs of the next run.

        The same number may be both an output and an input, so all outputs are read before the first input is written.
        """
        value: cython.p_double = self.value
        held: cython.int = self._held
        i: cython.int
        for i in range(count):
            value[held + i] = value[self._output[position + i]]
        for i in range(count):
            value[to + i] = value[held + i]


@cython.final
@cython.cclass
class LoopRunner:
    """Runs a loop on numbers. Each run has its own memory, so several threads may run one loop.

    Args:
        body: The interpreter of a step. The inputs of a step are the counter, the carry, the consts and the step's x.
            The outputs are the next carry and the step's y.
        condition: The interpreter of a program that maps the carry and the consts to a number, which is nonzero if
            there is another step. None if the number of steps is fixed.
        sizes: The number of floats in the carry, in the consts, in the x of a step and in the y of a step.
        first: The counter of the first step.
        steps: The number of steps. If there is a condition, the maximum number of steps, or -1 for no maximum.

    Attributes:
        body: The interpreter of a step.
        condition: The interpreter of the condition, or None.
    """

    # The types of the fields are declared in loop_runner.pxd.

    def __init__(
        self, body: Interpreter, condition: Interpreter | None, sizes: tuple[int, ...], first: int, steps: int
    ) -> None:
        self.body = body
        self.condition = condition
        self._carry, self._fixed, self._row, self._out = sizes
        self._rows = self._carry + self._fixed  # start of xs in the operands
        self._first = first
        self._steps = steps
        self._chunk = 1
        while self._chunk * body._executes < _busy and self._chunk < _longest:
            self._chunk *= 2

    # Forward

    def forward(self, operands: Any) -> Any:
        """Run the loop.

        Args:
            operands: Float64 array of the initial carry, the consts and xs, concatenated.

        Returns:
            Float64 array of the final carry and ys, concatenated.

        Raises:
            TooManyStepsError: The condition still holds after the maximum number of steps.
        """
        self._warm()
        given: cython.p_double = c_compat.doubles(operands)
        frame: Frame = self._entered(given)
        guard: Frame | None = self._guard(given)
        found = numpy.empty(self._carry + (self._steps * self._out if self._out else 0))
        result: cython.p_double = c_compat.doubles(found)
        step: cython.Py_ssize_t = 0
        i: cython.int
        while self._goes_on(step, frame, guard):
            self._step(step, frame, given)
            for i in range(self._out):
                result[self._carry + step * self._out + i] = frame.output(self._carry + i)
            frame.move(0, self._carry, 1)
            step += 1
        for i in range(self._carry):
            result[i] = frame.value[1 + i]
        return found

    @cython.cfunc
    def _pause(self) -> object:
        """Compile hot programs. Let signal handlers and other threads run, because the steps may hold the GIL."""
        pause()
        return self._warm()

    @cython.cfunc
    def _warm(self) -> object:
        self.body.warm()
        if self.condition is not None:
            self.condition.warm()
        return None

    @cython.cfunc
    def _entered(self, given: cython.p_double) -> Frame:
        """Return a new frame for the body, filled with the initial carry and the consts."""
        frame: Frame = Frame(self.body)
        i: cython.int
        for i in range(self._rows):
            frame.value[1 + i] = given[i]
        return frame

    @cython.cfunc
    def _guard(self, given: cython.p_double) -> Frame | None:
        """Return a new frame for the condition, filled with the consts, or None if there is no condition."""
        if self.condition is None:
            return None
        guard: Frame = Frame(self.condition)
        i: cython.int
        for i in range(self._carry, self._rows):
            guard.value[i] = given[i]
        return guard

    @cython.cfunc
    @cython.inline
    @cython.exceptval(-1)
    def _goes_on(self, step: cython.Py_ssize_t, frame: Frame, guard: Frame | None) -> cython.int:
        """Return whether there is another step."""
        if step & (self._chunk - 1) == 0:
            self._pause()
        if guard is None:
            return step < self._steps
        i: cython.int
        for i in range(self._carry):
            guard.value[i] = frame.value[1 + i]
        guard.run()
        if guard.output(0) == 0.0:
            return False
        if step == self._steps:
            raise TooManyStepsError(f"while_loop: the condition still holds after max_steps={step} steps")
        return True

    @cython.cfunc
    def _advance(
        self,
        frame: Frame,
        given: cython.p_double,
        step: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        kept: cython.p_double,
        slot: cython.Py_ssize_t,
    ) -> object:
        """Run the steps from `step` to `end - 1` and ignore their ys.

        Unless `kept` is NULL, the carry before each step is stored in `kept`, in consecutive slots that begin with
        `slot`.
        """
        while step < end:
            if step & (self._chunk - 1) == 0:
                self._pause()
            if kept:
                self._keep(frame, kept, slot)
                slot += 1
            self._step(step, frame, given)
            frame.move(0, self._carry, 1)
            step += 1
        return None

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _keep(self, frame: Frame, kept: cython.p_double, slot: cython.Py_ssize_t) -> cython.void:
        """Store the carry of a frame in a slot."""
        i: cython.int
        for i in range(self._carry):
            kept[slot * self._carry + i] = frame.value[1 + i]

    @cython.cfunc
    @cython.inline
    def _step(self, step: cython.Py_ssize_t, frame: Frame, given: cython.p_double) -> object:
        """Run the body once."""
        i: cython.int
        frame.value[0] = self._first + step
        for i in range(self._row):
            frame.value[1 + self._rows + i] = given[self._rows + step * self._row + i]
        return frame.run()

    def backward(self, body: Interpreter, operands: Any, seeds: Any, memory: Any) -> Any:
        """Run the loop, and then the backward pass through the loop.

        Args:
            body: The interpreter of a step of the backward pass. The inputs of such a step are the inputs of the loop's
                body, the cotangent of the next carry, the accumulated cotangent of the consts, and the cotangent of the
                step's y. The outputs are the cotangent of the carry, the accumulated cotangent of the consts, and the
                cotangent of the step's x.
            operands: The operands of the loop.
            seeds: Float64 array of the cotangents of the loop's results.
            memory: The policy for the number of carries to store; see `checkpoint_plan.slots_for`.

        Returns:
            Float64 array of the cotangents of the operands.
        """
        self._warm()
        body.warm()
        found = numpy.zeros(len(operands))
        plan: CheckpointPlan = CheckpointPlan(memory, self._steps if self.condition is None else -1)
        backward: BackwardPass = BackwardPass(self, body, operands, seeds, found)
        backward.run(plan)
        return found


@cython.final
@cython.cclass
class BackwardPass:
    """A backward pass through a loop: the memory of the pass, and the execution of its plan.

    For `body`, `operands` and `seeds`, see `LoopRunner.backward`. The cotangents of the operands are written to
    `found`. The arrays must stay alive during the pass, which has pointers to their memory.
    """

    # The types of the fields are declared in loop_runner.pxd.

    def __init__(self, loop: LoopRunner, body: Interpreter, operands: Any, seeds: Any, found: Any) -> None:
        self._loop = loop
        self._given = c_compat.doubles(operands)
        self._seed = c_compat.doubles(seeds)
        self._result = c_compat.doubles(found)
        self._room = self._unpaused = 0
        self._states = _NOTHING
        frame: Frame = loop._entered(self._given)
        back: Frame = Frame(body)
        self._frame = frame
        self._back = back
        self._inputs = 1 + loop._rows + loop._row
        i: cython.int
        for i in range(loop._rows):
            back.value[1 + i] = self._given[i]
        for i in range(loop._carry):
            back.value[self._inputs + i] = self._seed[i]

    @cython.cfunc
    def run(self, plan: CheckpointPlan) -> object:
        """Run the whole backward pass."""
        if self._loop.condition is not None:
            plan.start(self._count(plan))
        self._reserve(plan.slots)
        if plan.stride == 0:
            i: cython.int
            for i in range(self._loop._carry):
                self._kept[i] = self._given[i]
        while plan.next():
            self._execute(plan)
        for i in range(self._loop._rows):
            self._result[i] = self._back.value[self._inputs + i]
        return None

    @cython.cfunc
    @cython.exceptval(-1)
    def _count(self, plan: CheckpointPlan) -> cython.Py_ssize_t:
        """Run the loop and store carries according to the plan; return the number of steps."""
        loop: LoopRunner = self._loop
        frame: Frame = self._frame
        guard: Frame | None = loop._guard(self._given)
        assert guard is not None
        step: cython.Py_ssize_t = 0
        self._reserve(min(_room, plan.limit))
        while loop._goes_on(step, frame, guard):
            if step == plan.full:
                self._thin(plan)
            elif plan.stride and step == plan.stride * self._room:
                self._reserve(min(2 * self._room, plan.limit))
            if plan.stride and step % plan.stride == 0:
                loop._keep(frame, self._kept, step // plan.stride)
            loop._step(step, frame, self._given)
            frame.move(0, loop._carry, 1)
            step += 1
        return step

    @cython.cfunc
    def _thin(self, plan: CheckpointPlan) -> object:
        """Keep only every second stored carry, or only the first if the plan says so."""
        carry: cython.Py_ssize_t = self._loop._carry
        kept: cython.Py_ssize_t = plan.thin()
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for slot in range(1, kept):
            for i in range(carry):
                self._kept[slot * carry + i] = self._kept[2 * slot * carry + i]
        return None

    @cython.cfunc
    def _reserve(self, slots: cython.Py_ssize_t) -> object:
        """Make sure that there are at least `slots` slots. Stored carries are preserved."""
        if slots > self._room:
            states = numpy.empty(slots * self._loop._carry)
            if self._room:
                states[: len(self._states)] = self._states
            self._room = slots
            self._states = states
            self._kept = c_compat.doubles(states)
        return None

    @cython.cfunc
    def _execute(self, plan: CheckpointPlan) -> object:
        """Execute the current action of the plan."""
        loop: LoopRunner = self._loop
        frame: Frame = self._frame
        carry: cython.Py_ssize_t = loop._carry
        kept: cython.p_double = self._kept if plan.kind == _SWEEP else c_compat.NO_FLOATS
        i: cython.Py_ssize_t
        if plan.kind == _BACK:
            return self._go_back(plan.end + 1, plan.begin, plan.slot)
        for i in range(carry):
            frame.value[1 + i] = self._kept[plan.slot * carry + i]
        loop._advance(frame, self._given, plan.begin, plan.end, kept, plan.slot)
        if plan.kind == _ADVANCE:
            loop._keep(frame, self._kept, plan.slot + 1)
            return None
        for i in range(carry):
            self._back.value[1 + i] = frame.value[1 + i]
        self._step_back(plan.end)
        if plan.kind == _SWEEP:
            self._go_back(plan.end, plan.begin, plan.slot)
        self._unpaused += plan.end - plan.begin + 1
        if self._unpaused >= loop._chunk:
            self._pause()
        return None

    @cython.cfunc
    def _pause(self) -> object:
        """Let signal handlers and other threads run: see `LoopRunner._pause`."""
        self._unpaused = 0
        self._loop._pause()
        return self._back._interpreter.warm()

    @cython.cfunc
    def _go_back(self, step: cython.Py_ssize_t, begin: cython.Py_ssize_t, slot: cython.Py_ssize_t) -> object:
        """Run the backward pass of the steps from `step - 1` down to `begin`.

        The carries before these steps are in consecutive slots. The carry before step `begin` is in slot `slot`.
        """
        while step > begin:
            step -= 1
            self._take_up(self._loop, self._back, slot + step - begin)
            self._step_back(step)
            if step & (self._loop._chunk - 1) == 0:
                self._pause()
        return None

    @cython.cfunc
    def _step_back(self, step: cython.Py_ssize_t) -> object:
        """Run one step of the backward pass. The carry before this step must already have been loaded."""
        self._take_seeds(self._loop, self._back, step)
        self._loop._step(step, self._back, self._given)
        self._pass_on(self._loop, self._back, step)
        return None

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _take_up(self, loop: LoopRunner, back: Frame, slot: cython.Py_ssize_t) -> cython.void:
        """Load the carry from a slot into the inputs of a step of the backward pass."""
        i: cython.int
        for i in range(loop._carry):
            back.value[1 + i] = self._kept[slot * loop._carry + i]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _take_seeds(self, loop: LoopRunner, back: Frame, step: cython.Py_ssize_t) -> cython.void:
        """Load the cotangents of a step's y into the inputs of a step of the backward pass."""
        i: cython.int
        for i in range(loop._out):
            back.value[self._inputs + loop._rows + i] = self._seed[loop._carry + step * loop._out + i]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _pass_on(self, loop: LoopRunner, back: Frame, step: cython.Py_ssize_t) -> cython.void:
        """Store the cotangents of a step's x, and pass the cotangents of carry and consts to the step before it."""
        i: cython.int
        for i in range(loop._row):
            self._result[loop._rows + step * loop._row + i] = back.output(loop._rows + i)
        back.move(0, loop._rows, self._inputs)
