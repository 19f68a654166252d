"""`LoopRunner`: runs a loop, and its way back, on numbers.

On the way back the carries are needed again, from the last to the first. They are all kept, or some of them are, as
snapshots from which the others are computed once more.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import _cython as cython
from gradwalk.ops import c_compat
from gradwalk.program.interpreter import Interpreter, Rows
from gradwalk.program.pause import pause
from gradwalk.value.modes import refuses_nans

if not TYPE_CHECKING and cython.compiled:
    import cython

_chunk = cython.declare(cython.Py_ssize_t, 4096)  # steps between two looks for an interrupt
_few = cython.declare(cython.Py_ssize_t, 64)  # steps that are not worth letting the interpreter's lock go


@cython.final
@cython.cclass
class Frame:
    """Memory in which a program is run again and again; in rows, if it was ordered in rows before.

    Attributes:
        value: The numbers by index: the inputs are written here before a run.
    """

    # The types of its fields stand in loop_runner.pxd.

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._refuses_nans = refuses_nans()
        rows: Rows | None = None if self._refuses_nans else interpreter._plan  # those do not keep every result
        self._rows = rows
        self._output = interpreter._output if rows is None else rows._output
        self._held = interpreter._room + (0 if rows is None else rows.copies)
        self._array = numpy.zeros(self._held + interpreter._outputs)
        self.value = c_compat.doubles(self._array)
        interpreter._write_constants(self.value)

    @cython.cfunc
    @cython.inline
    def run(self) -> object:
        """Run the program on the inputs that have been written."""
        interpreter: Interpreter = self._interpreter
        # Machine code writes nothing but outputs, and every result is looked at where nan is refused.
        checks: cython.bint = self._refuses_nans
        k: cython.int = interpreter._interpret(0, self.value) if checks else self.execute()
        if k < interpreter._length:
            interpreter._run_calls(self.value)
        if self._refuses_nans:
            interpreter._refuse_nans(self.value)
        return None

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def execute(self) -> cython.int:
        """Run the program up to a call, or to the end, and return where that is."""
        if self._rows is not None:
            self._interpreter._run_rows(self._rows, self.value)
            return self._interpreter._length
        return self._interpreter._execute(0, self.value)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def output(self, position: cython.int) -> cython.double:
        """Return an output of the last run."""
        return self.value[self._output[position]]

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def move(self, position: cython.int, count: cython.int, to: cython.int) -> cython.void:
        """Make some outputs of the last run inputs of the next; an output may be an input, so all are read first."""
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
    """Runs a loop on numbers. What runs goes on has memory of its own, so that any number of threads may run it.

    Args:
        body: Runs a step. Its inputs are the count, the carry, what is fixed, and the row of the step; its outputs the
            next carry, and the step's results.
        condition: Tells from the carry and what is fixed whether there is another step; None where the count says.
        sizes: How many numbers the carry has, what is fixed, a row, and a step's results.
        first: The count of the first step.
        steps: How many steps there are or, with a condition, may be; -1 for any number.

    Attributes:
        body: What runs a step.
        condition: What tells whether there is another one, or None.
    """

    # The types of its fields stand in loop_runner.pxd.

    def __init__(
        self, body: Interpreter, condition: Interpreter | None, sizes: tuple[int, ...], first: int, steps: int
    ) -> None:
        self.body = body
        self.condition = condition
        self._carry, self._fixed, self._row, self._out = sizes
        self._rows = self._carry + self._fixed  # where the rows begin among the operands
        self._first = first
        self._steps = steps

    # Forward

    def forward(self, operands: Any) -> Any:
        """Run the loop.

        Args:
            operands: An array of float64: the first carry, what is fixed, and the rows, one after the other.

        Returns:
            An array of float64: the last carry, and the results of all steps, one step after the other.

        Raises:
            ValueError: If the condition still holds after as many steps as there may be.
        """
        self._warm()
        given: cython.p_double = c_compat.doubles(operands)
        frame: Frame = self._entered(given)
        guard: Frame | None = self._guard(given)
        found = numpy.empty(self._carry + (self._steps * self._out if self._out else 0))
        result: cython.p_double = c_compat.doubles(found)
        step: cython.Py_ssize_t = 0
        i: cython.int
        if self._out == 0 and guard is None:
            self._advance(frame, given, 0, self._steps)
            step = self._steps
        elif guard is not None:
            step = self._advance_while(frame, guard, 0, -1, c_compat.NO_FLOATS)
        while self._goes_on(step, frame, guard):
            self._step(step, frame, given)
            for i in range(self._out):
                result[self._carry + step * self._out + i] = frame.output(self._carry + i)
            frame.move(0, self._carry, 1)
            step += 1
        for i in range(self._carry):
            result[i] = frame.value[1 + i]
        return found

    def count(self, operands: Any) -> int:
        """Return how many steps the loop takes.

        Args:
            operands: Those of the loop.

        Returns:
            The number.
        """
        if self.condition is None:
            return self._steps
        given: cython.p_double = c_compat.doubles(operands)
        frame: Frame = self._entered(given)
        guard: Frame | None = self._guard(given)
        assert guard is not None
        step: cython.Py_ssize_t = self._advance_while(frame, guard, 0, -1, c_compat.NO_FLOATS)
        while self._goes_on(step, frame, guard):
            self._step(step, frame, given)
            frame.move(0, self._carry, 1)
            step += 1
        return step

    @cython.cfunc
    def _pause(self) -> object:
        """Let an interrupt through, and other threads: steps hold the interpreter's lock. Long loops are compiled."""
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
        """Return the memory of the body, with the first carry and what is fixed."""
        frame: Frame = Frame(self.body)
        i: cython.int
        for i in range(self._rows):
            frame.value[1 + i] = given[i]
        return frame

    @cython.cfunc
    def _guard(self, given: cython.p_double) -> Frame | None:
        """Return the memory of the condition, with what is fixed; None where there is none."""
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
        if step & (_chunk - 1) == 0:
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
            raise ValueError(f"while_loop: the condition still holds after max_steps={step} steps")
        return True

    @cython.cfunc
    def _advance(self, frame: Frame, given: cython.p_double, step: cython.Py_ssize_t, end: cython.Py_ssize_t) -> object:
        """Run the steps up to `end`, of which nothing is asked for but the last carry."""
        is_plain: cython.bint = not self.body._has_calls and not frame._refuses_nans
        until: cython.Py_ssize_t
        while step < end:
            until = min(end, step + _chunk) if is_plain else step + 1
            if not is_plain or until - step >= _few:
                self._pause()
            if is_plain and until - step < _few:
                self._run_steps(frame, given, step, until)
            elif is_plain:
                with cython.nogil:
                    self._run_steps(frame, given, step, until)
            else:
                self._step(step, frame, given)
                frame.move(0, self._carry, 1)
            step = until
        return None

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run_steps(
        self, frame: Frame, given: cython.p_double, step: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Run the steps up to `end` of a body that calls nothing, without the interpreter's lock."""
        value: cython.p_double = frame.value
        i: cython.int
        while step < end:
            value[0] = self._first + step
            for i in range(self._row):
                value[1 + self._rows + i] = given[self._rows + step * self._row + i]
            frame.execute()
            frame.move(0, self._carry, 1)
            step += 1

    @cython.cfunc
    @cython.exceptval(-1)
    def _advance_while(
        self,
        frame: Frame,
        guard: Frame,
        step: cython.Py_ssize_t,
        most: cython.Py_ssize_t,
        carries: cython.p_double,
    ) -> cython.Py_ssize_t:
        """Run steps for as long as the condition holds, and return how many have been run then.

        It ends before that where there would be more than `most` steps, and at once where steps call anything. Carries
        are kept, if there is room for them.
        """
        if self.body._has_calls or self.condition._has_calls or self._row or self._out or frame._refuses_nans:
            return step
        end: cython.Py_ssize_t = step
        while step == end:
            end = step + _chunk
            if most >= 0:
                end = min(end, most)
            if self._steps >= 0:
                end = min(end, self._steps)
            if step == end:
                break
            with cython.nogil:
                step = self._run_while(frame, guard, step, end, carries)
            self._pause()
        return step

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run_while(
        self,
        frame: Frame,
        guard: Frame,
        step: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        carries: cython.p_double,
    ) -> cython.Py_ssize_t:
        """Run the steps up to `end` for as long as the condition holds; return how many have been run."""
        value: cython.p_double = frame.value
        i: cython.int
        while step < end:
            for i in range(self._carry):
                guard.value[i] = value[1 + i]
            guard.execute()
            if guard.output(0) == 0.0:
                return step
            if carries:
                for i in range(self._carry):
                    carries[step * self._carry + i] = value[1 + i]
            self._run_steps(frame, c_compat.NO_FLOATS, step, step + 1)  # there are no rows
            step += 1
        return step

    @cython.cfunc
    @cython.inline
    def _step(self, step: cython.Py_ssize_t, frame: Frame, given: cython.p_double) -> object:
        """Run the body once."""
        i: cython.int
        frame.value[0] = self._first + step
        for i in range(self._row):
            frame.value[1 + self._rows + i] = given[self._rows + step * self._row + i]
        return frame.run()

    # Backward

    def backward(self, body: Interpreter, operands: Any, seeds: Any, memory: Any) -> Any:
        """Run the loop, and then its way back.

        Args:
            body: Runs a step of the way back. Its inputs are those of the loop's body, then the adjoints of the
                next carry, the totals so far of the adjoints of what is fixed, and the adjoints of the step's results;
                its outputs are the adjoints of the carry, the new totals, and the adjoints of the row.
            operands: Those of the loop.
            seeds: An array of float64: the adjoints of the loop's results.
            memory: How many carries are kept: None for all, "sqrt", "binomial", or a number.

        Returns:
            An array of float64: the adjoints of the operands.
        """
        self._warm()
        body.warm()
        given: cython.p_double = c_compat.doubles(operands)
        seed: cython.p_double = c_compat.doubles(seeds)
        frame: Frame = self._entered(given)
        back: Frame = Frame(body)
        found = numpy.zeros(len(operands))
        result: cython.p_double = c_compat.doubles(found)
        inputs: cython.int = 1 + self._rows + self._row
        i: cython.int
        for i in range(self._rows):
            back.value[1 + i] = given[i]
        for i in range(self._carry):
            back.value[inputs + i] = seed[i]
        if memory is None:
            self._back_from_all(frame, back, given, seed, result)
        else:
            steps = self.count(operands)
            self._back_from_snapshots(steps, snapshots(memory, steps), frame, back, given, seed, result)
        for i in range(self._rows):
            result[i] = back.value[inputs + i]
        return found

    @cython.cfunc
    def _back_from_all(
        self,
        frame: Frame,
        back: Frame,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> object:
        """Keep the carries of all steps, and go back."""
        guard: Frame | None = self._guard(given)
        room: cython.Py_ssize_t = max(self._steps, 0) if guard is None else 256
        kept = numpy.empty(room * self._carry)
        carries: cython.p_double = c_compat.doubles(kept)
        step: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t
        is_plain: cython.bint = self._is_plain(frame, back)
        while True:
            if guard is not None:
                step = self._advance_while(frame, guard, step, room, carries)
            elif is_plain and step < self._steps:
                end = min(self._steps, step + _chunk)
                with cython.nogil:
                    self._run_keeping(frame, given, step, end, carries, 0)
                step = end
            if not self._goes_on(step, frame, guard):
                break
            if step == room:
                room = 2 * room
                kept = numpy.concatenate([kept, kept])
                carries = c_compat.doubles(kept)
            self._keep(frame, carries, step)
            self._step(step, frame, given)
            frame.move(0, self._carry, 1)
            step += 1
        while step > 0:
            end = max(step - _chunk, 0)
            if is_plain:
                with cython.nogil:
                    self._run_back(back, step, end, carries, 0, given, seed, result)
                step = end
            while step > end:
                step -= 1
                self._take_up(back, carries, step)
                self._step_back(step, back, given, seed, result)
            self._pause()
            back._interpreter.warm()
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _is_plain(self, frame: Frame, back: Frame) -> cython.bint:
        """Return whether steps and steps back call nothing, and no result is looked at, so that none needs the lock."""
        return not (self.body._has_calls or back._interpreter._has_calls or frame._refuses_nans)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run_keeping(
        self,
        frame: Frame,
        given: cython.p_double,
        step: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        carries: cython.p_double,
        skipped: cython.Py_ssize_t,
    ) -> cython.void:
        """Run the steps up to `end`, and keep the carries before each; those of the first steps have no place."""
        i: cython.int
        while step < end:
            for i in range(self._carry):
                carries[(step - skipped) * self._carry + i] = frame.value[1 + i]
            self._run_steps(frame, given, step, step + 1)
            step += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run_back(
        self,
        back: Frame,
        step: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        carries: cython.p_double,
        skipped: cython.Py_ssize_t,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> cython.void:
        """Run the steps of the way back from `step` down to `end`, without the interpreter's lock."""
        i: cython.int
        while step > end:
            step -= 1
            for i in range(self._carry):
                back.value[1 + i] = carries[(step - skipped) * self._carry + i]
            self._run_step_back(back, step, given, seed, result)

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def _run_step_back(
        self,
        back: Frame,
        step: cython.Py_ssize_t,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> cython.void:
        """Run a step of the way back, from the carry that stands among its inputs, without the interpreter's lock."""
        i: cython.int
        value: cython.p_double = back.value
        inputs: cython.int = 1 + self._rows + self._row
        value[0] = self._first + step
        for i in range(self._row):
            value[1 + self._rows + i] = given[self._rows + step * self._row + i]
        for i in range(self._out):
            value[inputs + self._rows + i] = seed[self._carry + step * self._out + i]
        back.execute()
        for i in range(self._row):
            result[self._rows + step * self._row + i] = back.output(self._rows + i)
        back.move(0, self._rows, inputs)

    @cython.cfunc
    def _back_from_snapshots(
        self,
        steps: cython.Py_ssize_t,
        most: cython.Py_ssize_t,
        frame: Frame,
        back: Frame,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> object:
        """Go back with at most so many carries kept, where that runs the fewest steps again.

        Source: Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26 (2000).
        """
        kept = numpy.empty(most * self._carry)
        carries: cython.p_double = c_compat.doubles(kept)
        steps_before = numpy.zeros(most)  # the steps before which a carry has been kept
        before: cython.p_double = c_compat.doubles(steps_before)
        used: cython.Py_ssize_t = 1
        self._keep(frame, carries, 0)
        last: cython.Py_ssize_t = steps - 1
        at: cython.Py_ssize_t
        target: cython.Py_ssize_t
        free: cython.Py_ssize_t
        i: cython.int
        is_plain: cython.bint = self._is_plain(frame, back)
        while last >= 0:
            while before[used - 1] > last:
                used -= 1
            at = cython.cast(cython.Py_ssize_t, before[used - 1])
            self._take_up(frame, carries, used - 1)
            if is_plain and most - used >= last - at - 1:
                with cython.nogil:
                    self._run_stretch(frame, back, at, last, carries, used - 1, given, seed, result)
                last = at - 1
                self._pause()
                continue
            while at < last:
                free = most - used
                target = at + 1 if free >= last - at - 1 else at + _ahead(last - at + 1, free)
                self._advance(frame, given, at, target)
                at = target
                if at < last:
                    self._keep(frame, carries, used)
                    before[used] = at
                    used += 1
            for i in range(self._carry):
                back.value[1 + i] = frame.value[1 + i]
            self._step_back(last, back, given, seed, result)
            if last & (_chunk - 1) == 0:
                self._pause()
            last -= 1
        return None

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _run_stretch(
        self,
        frame: Frame,
        back: Frame,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        carries: cython.p_double,
        place: cython.Py_ssize_t,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> cython.void:
        """Run the steps from `first` up to `last` again, and go back to `first`. Carries are kept from `place` on."""
        i: cython.int
        skipped: cython.Py_ssize_t = first - place  # steps whose carries have no place
        self._run_keeping(frame, given, first, last, carries, skipped)
        for i in range(self._carry):
            back.value[1 + i] = frame.value[1 + i]
        self._run_step_back(back, last, given, seed, result)
        self._run_back(back, last, first, carries, skipped, given, seed, result)

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _keep(self, frame: Frame, carries: cython.p_double, place: cython.Py_ssize_t) -> cython.void:
        """Write the carry to a place among those that are kept."""
        i: cython.int
        for i in range(self._carry):
            carries[place * self._carry + i] = frame.value[1 + i]

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _take_up(self, frame: Frame, carries: cython.p_double, place: cython.Py_ssize_t) -> cython.void:
        """Read the carry from a place among those that are kept."""
        i: cython.int
        for i in range(self._carry):
            frame.value[1 + i] = carries[place * self._carry + i]

    @cython.cfunc
    @cython.inline
    def _step_back(
        self,
        step: cython.Py_ssize_t,
        back: Frame,
        given: cython.p_double,
        seed: cython.p_double,
        result: cython.p_double,
    ) -> object:
        """Run a step of the way back, from the carry that stands among its inputs."""
        i: cython.int
        inputs: cython.int = 1 + self._rows + self._row
        for i in range(self._out):
            back.value[inputs + self._rows + i] = seed[self._carry + step * self._out + i]
        self._step(step, back, given)
        for i in range(self._row):
            result[self._rows + step * self._row + i] = back.output(self._rows + i)
        back.move(0, self._rows, inputs)
        return None


def snapshots(memory: Any, steps: int) -> int:
    """Return how many carries are kept on the way back through a loop.

    Args:
        memory: "sqrt" for as many as let every step be run at most twice more, about the square root of 2 steps;
            "binomial" for as many as a step is run again at most, which grows as the logarithm does; or the number.
        steps: How many steps the loop takes.

    Returns:
        The number, at least 1.
    """
    if memory == "sqrt":
        return math.isqrt(2 * steps) + 1
    if memory == "binomial":
        return next(count for count in range(1, 64) if math.comb(2 * count, count) >= steps)
    return int(max(1, min(memory, steps)))


def _ahead(length: int, free: int) -> int:
    """Return how far from a kept carry the next one is kept, or the last of `length` steps reached."""
    if free == 0:
        return length - 1
    times = 1
    while math.comb(free + 1 + times, times) < length:
        times += 1
    return min(length - 1, math.comb(free + times, free + 1))
