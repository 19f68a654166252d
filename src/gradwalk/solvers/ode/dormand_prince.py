"""`Stepper`: the Dormand-Prince method of orders 5 and 4, applied to a program that computes the right-hand side.

Steps, error estimates and step lengths are the same as in SciPy's RK45. The dense output is also the same: one
polynomial of degree 4 per step (Shampine, "Some practical Runge-Kutta formulas", 1986). A step runs no Python code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat, ieee
from gradwalk.base.yield_gil import pause
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.run.loop_runner import Frame
from gradwalk.solvers.ode import tableau

if not TYPE_CHECKING and cython.compiled:
    import cython

_chunk = cython.declare(cython.Py_ssize_t, 4096)  # number of steps between two checks for an interrupt


@cython.final
@cython.cclass
class Path:
    """A solution that can be evaluated at any time (dense output). The state has `size` components."""

    # The types of the fields are declared in dormand_prince.pxd.

    def __init__(self, size: int) -> None:
        self._size = size
        self._width = 2 + 5 * size  # per step: start time, length, y, and four coefficients per component
        self._array = numpy.empty(64 * self._width)
        self._cells = c_compat.doubles(self._array)
        self._steps = 0
        self._latest = 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _next(self) -> cython.Py_ssize_t:
        """Append space for a step to the array, and return the position of this space."""
        begin: cython.Py_ssize_t = self._steps * self._width
        if begin == len(self._array):
            grown = numpy.empty(2 * begin)
            grown[:begin] = self._array
            self._array, self._cells = grown, c_compat.doubles(grown)
        self._steps += 1
        return begin

    @cython.cfunc
    def _write(self, t: cython.double, to: cython.p_double) -> object:
        """Write the solution at time t to `to`. The search for the step around t begins at the step used last."""
        cell: cython.p_double = self._cells
        i: cython.int
        at: cython.Py_ssize_t = self._latest * self._width
        while self._latest > 0 and (t - cell[at]) * cell[at + 1] < 0.0:
            self._latest -= 1
            at -= self._width
        while self._latest + 1 < self._steps and (t - cell[at + self._width]) * cell[at + 1] > 0.0:
            self._latest += 1
            at += self._width
        x: cython.double = (t - cell[at]) / cell[at + 1]
        for i in range(self._size):
            to[i] = _value(cell, at + 2 + i, self._size, x, cell[at + 1])
        return None


@cython.cfunc
@cython.exceptval(check=False)
def _value(
    cell: cython.p_double, at: cython.Py_ssize_t, size: cython.int, x: cython.double, h: cython.double
) -> cython.double:
    """Evaluate the polynomial of one component in a step of length h, at x between 0 (start) and 1 (end).

    `cell[at]` is the component at the start of the step. The four coefficients are `cell[at + k * size]`, k = 1 to 4.
    """
    total: cython.double = cell[at + 4 * size]
    k: cython.int
    for k in range(3, 0, -1):
        total = total * x + cell[at + k * size]
    return cell[at] + h * (total * x)


@cython.final
@cython.cclass
class Stepper:
    """An integrator of a differential equation, for use by one thread.

    Args:
        field: Interpreter of the program that computes the derivative of the state.
        row: Inputs of the program. Each evaluation overwrites the state, the time and the values of `along`.
        places: Index of the first state input, number of state inputs, and index of the time input.
        size: Number of components of the state.
        tolerances: Relative tolerance, absolute tolerance, and maximum step length.
        along: A solution whose value at the current time is written to the first inputs, or None.
    """

    # The types of the fields are declared in dormand_prince.pxd.

    def __init__(
        self,
        field: Interpreter,
        row: Any,
        places: tuple[int, ...],
        size: int,
        tolerances: tuple[float, ...],
        along: Path | None = None,
    ) -> None:
        self._frame = Frame(field)
        self._field = field
        given: cython.p_double = c_compat.doubles(row)
        i: cython.int
        for i in range(len(row)):
            self._frame.value[i] = given[i]
        self._begin, self._fed, self._time = places
        self._size = size
        self._rtol, self._atol, self._longest = tolerances
        self._along = along
        self._place, self._weight = c_compat.doubles(tableau.PLACES), c_compat.doubles(tableau.WEIGHTS)
        self._error, self._between = c_compat.doubles(tableau.ERROR), c_compat.doubles(tableau.BETWEEN)
        self._arrays = [numpy.zeros(count * size) for count in (7, 1, 1)]
        self._slope = c_compat.doubles(self._arrays[0])
        self._now = c_compat.doubles(self._arrays[1])
        self._new = c_compat.doubles(self._arrays[2])

    def rows(self, start: Any, times: Any, path: Path | None = None, advance: Any = None) -> Any:
        """Return the state at strictly monotonic times, an array of shape (times, size). Append the steps to `path`.

        `advance` is None, or is called now and then with the length of the time integrated since its last call.

        Raises `ArithmeticError` with the time as its argument if the steps become too small.
        """
        self._field.warm()
        found = numpy.empty((len(times), self._size))
        result: cython.p_double = c_compat.doubles(found.ravel())
        time: cython.p_double = c_compat.doubles(times)
        begin: cython.p_double = c_compat.doubles(start)
        i: cython.int
        for i in range(self._size):
            result[i] = self._now[i] = begin[i]
        count: cython.Py_ssize_t = len(times)
        following: cython.Py_ssize_t = 1
        t: cython.double = time[0]
        end: cython.double = time[count - 1]
        self._direction = 1.0 if end > t else -1.0
        self._change(t, self._now, 0)
        self._length = self._first_length(t, end)
        last: Path = Path(self._size) if path is None else path
        taken: cython.Py_ssize_t = 0
        shown: cython.double = t
        while t != end:
            if path is None:
                last._steps = 0
            t = self._step(t, end, last)
            while following < count and self._direction * (t - time[following]) >= 0.0:
                self._at(time[following], last, result, following * self._size)
                following += 1
            taken += 1
            if taken % _chunk == 0:
                pause()
            if advance is not None and (taken % _chunk == 0 or t == end):
                advance(self._direction * (t - shown))
                shown = t
        return found

    @cython.cfunc
    def _at(self, t: cython.double, last: Path, result: cython.p_double, to: cython.Py_ssize_t) -> object:
        """Write the state at time t, which is within the last step, to `result`."""
        i: cython.int
        at: cython.Py_ssize_t = (last._steps - 1) * last._width
        cell: cython.p_double = last._cells
        x: cython.double = (t - cell[at]) / cell[at + 1]
        for i in range(self._size):
            result[to + i] = _value(cell, at + 2 + i, self._size, x, cell[at + 1])
        return None

    @cython.cfunc
    def _change(self, t: cython.double, state: cython.p_double, stage: cython.int) -> object:
        """Compute the derivative of `state` at time t, and store it as the slope of a stage."""
        i: cython.int
        value: cython.p_double = self._frame.value
        along: Path | None = self._along
        if along is not None:
            along._write(t, value)
        value[self._time] = t
        for i in range(self._fed):
            value[self._begin + i] = state[i]
        self._frame.run()
        for i in range(self._size):
            self._slope[stage * self._size + i] = self._frame.output(i)
        return None

    @cython.cfunc
    @cython.exceptval(check=False)
    def _norm(self, numbers: cython.p_double, at: cython.Py_ssize_t, less: cython.Py_ssize_t) -> cython.double:
        """Return the root mean square of the numbers from `at` on, each divided by its tolerance.

        If `less` >= 0, the numbers from `less` on are subtracted first.
        """
        total: cython.double = 0.0
        number: cython.double
        i: cython.int
        for i in range(self._size):
            number = numbers[at + i] - (numbers[less + i] if less >= 0 else 0.0)
            number = number / (self._atol + abs(self._now[i]) * self._rtol)
            total += number * number
        return ieee.sqrt(total / self._size)

    @cython.cfunc
    @cython.exceptval(-1.0, check=True)
    def _first_length(self, t: cython.double, end: cython.double) -> cython.double:
        """Return the length to try for the first step (Hairer, Norsett and Wanner, section II.4)."""
        most: cython.double = abs(end - t)
        level: cython.double = self._norm(self._now, 0, -1)
        speed: cython.double = self._norm(self._slope, 0, -1)
        h: cython.double = 1e-6 if level < 1e-5 or speed < 1e-5 else 0.01 * level / speed
        h = min(h, most)
        i: cython.int
        for i in range(self._size):
            self._new[i] = self._now[i] + h * self._direction * self._slope[i]
        self._change(t + h * self._direction, self._new, 1)
        bend: cython.double = self._norm(self._slope, self._size, 0) / h
        steepest: cython.double = max(speed, bend)
        by_bend: cython.double = max(1e-6, h * 1e-3) if steepest <= 1e-15 else ieee.pow(0.01 / steepest, 0.2)
        return min(100.0 * h, by_bend, most, self._longest)

    @cython.cfunc
    @cython.exceptval(-1.0, check=True)
    def _step(self, t: cython.double, end: cython.double, path: Path) -> cython.double:
        """Take a step whose error is within the tolerance, and return the time at its end."""
        least: cython.double = 10.0 * abs(math.nextafter(t, self._direction * math.inf) - t)
        length: cython.double = min(max(self._length, least), self._longest)
        most: cython.double = 10.0  # maximum growth factor of the step length
        new: cython.double
        error: cython.double
        factor: cython.double
        i: cython.int
        while True:
            if not length >= least:  # also if length is nan
                raise ArithmeticError(t)
            new = t + length * self._direction
            if self._direction * (new - end) > 0.0:
                new = end
            length = abs(new - t)
            error = self._tried(t, new - t)
            if error < 1.0:
                break
            factor = 0.9 * ieee.pow(error, -0.2)
            length *= factor if factor > 0.2 else 0.2  # a nan error also shortens the step
            most = 1.0
        self._length = length * (min(most, 0.9 * ieee.pow(error, -0.2)) if error > 0.0 else most)
        self._remember(t, new - t, path)
        for i in range(self._size):
            self._now[i] = self._new[i]
            self._slope[i] = self._slope[6 * self._size + i]
        return new

    @cython.cfunc
    @cython.exceptval(-1.0, check=True)
    def _tried(self, t: cython.double, h: cython.double) -> cython.double:
        """Try a step and return its error in units of the tolerance."""
        i: cython.int
        k: cython.int
        stage: cython.int
        size: cython.int = self._size
        slope: cython.p_double = self._slope
        moved: cython.double
        error: cython.double
        for stage in range(1, 7):
            for i in range(size):
                moved = 0.0
                for k in range(stage):
                    moved += self._weight[6 * (stage - 1) + k] * slope[k * size + i]
                self._new[i] = self._now[i] + h * moved
            self._change(t + self._place[stage - 1] * h, self._new, stage)
        total: cython.double = 0.0
        for i in range(size):
            error = 0.0
            for k in range(7):
                error += self._error[k] * slope[k * size + i]
            error *= h / (self._atol + max(abs(self._now[i]), abs(self._new[i])) * self._rtol)
            total += error * error
        return ieee.sqrt(total / size)

    @cython.cfunc
    def _remember(self, t: cython.double, h: cython.double, path: Path) -> object:
        """Append the step just taken to a path."""
        at: cython.Py_ssize_t = path._next()
        cell: cython.p_double = path._cells
        i: cython.int
        j: cython.int
        k: cython.int
        total: cython.double
        cell[at], cell[at + 1] = t, h
        for i in range(self._size):
            cell[at + 2 + i] = self._now[i]
            for j in range(4):
                total = 0.0
                for k in range(7):
                    total += self._between[4 * k + j] * self._slope[k * self._size + i]
                cell[at + 2 + (1 + j) * self._size + i] = total
        return None
