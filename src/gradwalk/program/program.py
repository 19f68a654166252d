"""`Program`: instructions in the order in which they are run, for numbers or for Values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend import c_abi
from gradwalk.ops import c_compat, evaluate, ieee
from gradwalk.ops.evaluate import fused
from gradwalk.program import listing, program_json, validate
from gradwalk.program.c_source import c_source
from gradwalk.program.opcodes import CALL, MULADD, MULSUB, NAMES, OPCODES, SUBMUL, ProgramError, refuse_calls
from gradwalk.value.modes import refuses_nans
from gradwalk.value.value import apply

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

__all__ = ["CALL", "MULADD", "MULSUB", "SUBMUL", "Program", "ProgramError"]

_nan = cython.declare(cython.double, numpy.nan)

_float64 = numpy.dtype(numpy.float64)


@cython.cclass
class Program:
    """What computes some outputs from some inputs: what `jit` records, without Python. It does not change.

    `inputs`: how many there are. `constants`: floats. `instructions`: int32, four numbers each, an opcode and the
    places of up to three operands. Places count the inputs first, then the constants, then the instructions.
    `calls`: (function, places of its operands) for the calls among the instructions, whose operands are a place in this
    list and the number of a result. `outputs`: places. `input_names`, `output_names`: what they are, or empty.

    `str` shows it an instruction a line. Whoever makes one from outside data has to `validate` it before it is run, as
    `from_json`, `load` and unpickling do.

    >>> from gradwalk import jit, math
    >>> area = jit(lambda width, height: width * math.sin(height) + 0.5)
    >>> area(2.0, 0.0)
    0.5
    >>> print(area.program)
    program(width, height):
      v3 = sin(height)
      v4 = width * v3 + 0.5
      out = v4
    >>> area.program.run([2.0, 0.0])
    array([0.5])
    """

    inputs = cython.declare(cython.int, visibility="readonly")
    outputs = cython.declare(list, visibility="readonly")
    calls = cython.declare(list, visibility="readonly")
    constants = cython.declare(list, visibility="readonly")
    instructions = cython.declare(object, visibility="readonly")
    input_names = cython.declare(list, visibility="readonly")
    output_names = cython.declare(list, visibility="readonly")
    _code: cython.p_int  # the instructions
    _length: cython.int  # four times how many there are
    _first: cython.int  # the place of the first one
    _room: cython.int  # how many numbers a run needs
    _values: cython.p_double  # the numbers by place
    _result: cython.p_int  # the places of all outputs
    _results: cython.int  # how many there are
    _arrays: Any  # the numbers by place, and another array that a pointer points to
    _places: Any

    def __init__(
        self,
        inputs: cython.int,
        constants: list,
        instructions: Any,
        calls: list,
        outputs: list,
        input_names: list | None = None,
        output_names: list | None = None,
    ) -> None:
        self.inputs = inputs
        self.constants = constants
        self.instructions = instructions
        self.calls = calls
        self.outputs = outputs
        self.input_names = input_names or []
        self.output_names = output_names or []
        instructions.flags.writeable = False
        self._code = c_compat.integers(instructions)
        self._length = len(instructions)
        self._first = inputs + len(constants)
        # The fields of a call are read as if they were places: the number of the call, and that of its result.
        results = max([call.outputs for call, _ in calls], default=0)
        self._room = max(self._first + self._length // 4, 1 + len(calls), 1 + results)
        values = numpy.empty(self._room)
        values[inputs : self._first] = constants
        self._arrays = values
        self._values = c_compat.doubles(values)
        self._places = numpy.array(outputs, numpy.int32)
        self._result = c_compat.integers(self._places)
        self._results = len(outputs)

    def __len__(self) -> int:
        """How many instructions there are."""
        return self._length // 4

    def __str__(self) -> str:
        return listing.listing(self)

    def __repr__(self) -> str:
        return (
            f"<Program of {_counted(len(self), 'instruction')} "
            f"from {_counted(self.inputs, 'input')} to {_counted(self._results, 'output')}>"
        )

    def __reduce__(self) -> Any:
        # by name, so that an opcode may mean another operation where it is read
        opcodes, which = numpy.unique(self.instructions[::4], return_inverse=True)
        code = self.instructions.copy()
        code[::4] = which
        names = [NAMES[opcode] for opcode in opcodes.tolist()]
        parts = (self.inputs, self.constants, self.calls, self.outputs, self.input_names, self.output_names)
        return _unpickled, (names, code, *parts)

    def named(self, inputs: list, outputs: list) -> Program:
        """The same program with names for its inputs and outputs."""
        return Program(self.inputs, self.constants, self.instructions, self.calls, self.outputs, inputs, outputs)

    def validate(self) -> None:
        """Raise `ProgramError` where the program is not well formed, naming the instruction.

        It is when its instructions are known, and have as many operands as they take; every operand is an input, a
        constant or an earlier instruction; calls fit the functions that they call; and outputs are places there are.
        """
        validate.validate(self)

    # In other languages

    def to_json(self) -> str:
        """The program as JSON, by the schema in docs/program.schema.json.

        Raises `ProgramError` where it calls a function of Python.

        >>> from gradwalk import jit
        >>> double = jit(lambda x: 2 * x)
        >>> double(3.0)
        6.0
        >>> print(double.program.to_json())
        {"gradwalk": "program", "version": 1, "inputs": ["x"], "constants": [2.0], "outputs": [["out", 2]],
        "instructions": [
        ["mul", 1, 0]
        ]}
        """
        return program_json.written(self)

    @classmethod
    def from_json(cls, text: str) -> Program:
        """The program that `to_json` wrote. Nothing in the text is ever run as Python.

        Raises `ProgramError` for anything else, saying where it stops making sense.
        """
        return _validated(Program(**program_json.read(text)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, as JSON. Raises `ProgramError` where it calls a function of Python."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Program:
        """The program in a file that `save` wrote. Raises `ProgramError` for any other content."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProgramError(f"{os.fspath(path)} is no text in UTF-8: {error}") from None
        return cls.from_json(text)

    def to_c(self, name: str = "f") -> str:
        """The program as a file of C99 that needs nothing but <math.h>: `void f(const double *, double *)`.

        It reads the inputs from the first array and writes the outputs to the second. For derivatives, take the program
        of a derivative: `jit(value_and_grad(f)).program`, after a call.

        Raises `ProgramError` where it calls a function of Python, `ValueError` where C could have no function of that
        name.

        >>> from gradwalk import grad, jit, math
        >>> slope = jit(grad(math.sin))
        >>> slope(0.0)
        1.0
        >>> print("void slope" + slope.program.to_c("slope").split("void slope")[-1].strip())
        void slope(const double *inputs, double *outputs)
        {
            const double v1 = cos(inputs[0]);
            outputs[0] = v1;
        }
        """
        return c_source(self, name)

    @property
    def handle(self) -> int:
        """What C functions take that run this program. The program has to be kept alive for as long as they do."""
        return id(self)

    @property
    def address(self) -> int:
        """The address of `void run(void *handle, const double *inputs, double *outputs)`, the same for all programs.

        It needs no interpreter lock, and any number of threads may call it at once. From Numba's functions, too:

            run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(program.address)
            run(handle, inputs.ctypes.data, outputs.ctypes.data)  # in a function compiled by numba.njit

        Raises `ProgramError` where the program calls a function of Python.
        """
        refuse_calls(self, "which nothing but Python can run")
        return ADDRESSES[0]

    # Running

    def run(self, numbers: Any) -> Any:
        """The outputs for numbers, one an input: a row of float64, as the outputs are.

        Raises `ValueError` where there are more or fewer numbers than inputs.
        """
        is_array = type(numbers) is numpy.ndarray and numbers.dtype is _float64
        if not is_array or numbers.ndim != 1 or not numbers.flags.c_contiguous:
            numbers = _row(numbers)
        outputs = numpy.empty(self._results)
        given: cython.p_double = c_compat.doubles(numbers)
        output: cython.p_double = c_compat.doubles(outputs)
        i: cython.int
        if len(numbers) != self.inputs:
            raise ValueError(
                f"a program with {_counted(self.inputs, 'input')} takes as many numbers, not {len(numbers)}"
            )
        # a call may come back here, and uncompiled, another thread
        own = self._arrays.copy() if self.calls or not cython.compiled else self._arrays
        value: cython.p_double = c_compat.doubles(own)
        for i in range(self.inputs):
            value[i] = given[i]
        _run(self, value)
        for i in range(self._results):
            output[i] = value[self._result[i]]
        if refuses_nans():
            self._refuse_nans(own)
        return outputs

    def on_floats(self, numbers: tuple) -> Any:
        """The outputs, as a list, for a tuple of floats, one an input, by the shortest way.

        None where they are something else or another number of them, and where the program calls functions.
        """
        i: cython.int
        if len(numbers) != self.inputs or self.calls or refuses_nans():
            return None
        for i in range(self.inputs):
            if type(numbers[i]) is not float:
                return None
        if not cython.compiled:  # another thread may come in between
            return self.run(numpy.array(numbers)).tolist()
        for i in range(self.inputs):
            self._values[i] = numbers[i]
        _run(self, self._values)
        return [self._values[self._result[i]] for i in range(self._results)]

    def _refuse_nans(self, values: Any) -> None:
        """Raise `FloatingPointError` where some instruction has given nan or inf."""
        results = values[self._first : self._first + len(self)]
        wrong = numpy.flatnonzero(~numpy.isfinite(results))
        if len(wrong):
            i = int(wrong[0])
            raise FloatingPointError(f"a recorded function computed {listing.line(self, i)}, which gave {results[i]}")

    def __call__(self, operands: list[Any]) -> list[Any]:
        """The outputs for Values and floats, one an input: what depends on a Value is one."""
        if len(operands) != self.inputs:
            raise ValueError(
                f"a program with {_counted(self.inputs, 'input')} takes as many operands, not {len(operands)}"
            )
        results = _apply_all(self, [*operands, *self.constants])
        return [results[place] for place in self.outputs]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"


def _row(numbers: Any) -> Any:
    """Numbers as a row of float64. Raises `ValueError` where they are no row, `TypeError` where they are no numbers."""
    row = numpy.ascontiguousarray(numbers, numpy.float64)
    if row.ndim != 1:
        raise ValueError(f"a program takes a row of numbers, not an array of shape {row.shape}")
    return row


def _unpickled(names: list[str], code: Any, inputs: int, constants: list[float], *others: Any) -> Program:
    """The program that was pickled. Raises `ProgramError` where it is not well formed, or has unknown operations."""
    unknown = [name for name in names if name not in OPCODES]
    if unknown:
        raise ProgramError(f"the program was pickled by another version of gradwalk: it uses {unknown[0]!r}")
    instructions = numpy.array(code, numpy.int32)
    instructions[::4] = numpy.array([OPCODES[name] for name in names], numpy.int32)[instructions[::4]]
    return _validated(Program(inputs, constants, instructions, *others))


def _validated(program: Program) -> Program:
    program.validate()
    return program


@cython.cfunc
def _apply_all(program: Program, results: list) -> list:
    """Run all instructions on the Values and floats in `results`, where each appends its own."""
    code: cython.p_int = program._code
    opcode: cython.int
    k: cython.int
    called: dict = {}
    for k in range(0, program._length, 4):
        opcode = code[k]
        if opcode >= CALL:
            results.append(_applied_specially(program, k, results, called))
            continue
        x = results[code[k + 1]]
        if evaluate.arity(opcode) == 1:
            results.append(apply(opcode, x))
        elif evaluate.arity(opcode) == 2:
            results.append(apply(opcode, x, results[code[k + 2]]))
        else:
            results.append(apply(opcode, x, results[code[k + 2]], results[code[k + 3]]))
    return results


def _applied_specially(program: Program, k: int, results: list[Any], called: dict[int, Any]) -> Any:
    """A result of a call, or of a product fused with a sum. `called`: the results of calls so far."""
    opcode, *places = program.instructions[k : k + 4].tolist()
    if opcode == CALL:
        which, position, _ = places
        if which not in called:
            function, operands = program.calls[which]
            called[which] = function.values([results[place] for place in operands])
        return called[which][position]
    return fused(opcode, *[results[place] for place in places])


@cython.cfunc
def _run(program: Program, value: cython.p_double) -> object:
    """Run all instructions on the numbers that stand in the places of the inputs and constants."""
    code: cython.p_int = program._code
    k: cython.int = _computed(code, 0, program._length, value, program._first)
    called: dict = {}  # not before: to make it may run the garbage collector, and that other programs
    while k < program._length:
        value[program._first + k // 4] = _called(program, code[k + 1], code[k + 2], value, called)
        k = _computed(code, k + 4, program._length, value, program._first)
    return None


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _computed(
    code: cython.p_int, start: cython.int, length: cython.int, value: cython.p_double, first: cython.int
) -> cython.int:
    """Run the instructions from `start` up to a call, or the end: where that is. `first`: the first one's place."""
    opcode: cython.int
    k: cython.int
    place: cython.int = first + start // 4
    x: cython.double
    y: cython.double
    z: cython.double
    out: cython.double
    for k in range(start, length, 4):
        opcode = code[k]
        # --- generated by tools/generate.py from ops/table.py: run ---
        # The commonest instruction comes before the switch: the processor then predicts branches better.
        if opcode == 40:  # muladd
            value[place] = value[code[k + 1]] * value[code[k + 2]] + value[code[k + 3]]
            place += 1
            continue
        x = value[code[k + 1]]
        y = value[code[k + 2]]
        z = value[code[k + 3]]
        if opcode == 1:  # add
            out = x + y
        elif opcode == 2:  # sub
            out = x - y
        elif opcode == 3:  # mul
            out = x * y
        elif opcode == 4:  # div
            out = ieee.div(x, y)
        elif opcode == 5:  # pow
            out = ieee.pow(x, y)
        elif opcode == 6:  # neg
            out = -x
        elif opcode == 7:  # abs
            out = ieee.fabs(x)
        elif opcode == 8:  # exp
            out = ieee.exp(x)
        elif opcode == 9:  # expm1
            out = ieee.expm1(x)
        elif opcode == 10:  # log
            out = ieee.log(x)
        elif opcode == 11:  # log2
            out = ieee.log2(x)
        elif opcode == 12:  # log10
            out = ieee.log10(x)
        elif opcode == 13:  # log1p
            out = ieee.log1p(x)
        elif opcode == 14:  # sqrt
            out = ieee.sqrt(x)
        elif opcode == 15:  # sin
            out = ieee.sin(x)
        elif opcode == 16:  # cos
            out = ieee.cos(x)
        elif opcode == 17:  # tan
            out = ieee.tan(x)
        elif opcode == 18:  # asin
            out = ieee.asin(x)
        elif opcode == 19:  # acos
            out = ieee.acos(x)
        elif opcode == 20:  # atan
            out = ieee.atan(x)
        elif opcode == 21:  # sinh
            out = ieee.sinh(x)
        elif opcode == 22:  # cosh
            out = ieee.cosh(x)
        elif opcode == 23:  # tanh
            out = ieee.tanh(x)
        elif opcode == 24:  # sigmoid
            out = ieee.div(ieee.exp(-ieee.fabs(x)) if x < 0.0 else 1.0, 1.0 + ieee.exp(-ieee.fabs(x)))
        elif opcode == 25:  # relu
            out = 0.0 if x < 0.0 else x
        elif opcode == 26:  # softplus
            out = (x if x > 0.0 else 0.0) + ieee.log1p(ieee.exp(-ieee.fabs(x)))
        elif opcode == 27:  # erf
            out = ieee.erf(x)
        elif opcode == 28:  # atan2
            out = ieee.atan2(x, y)
        elif opcode == 29:  # hypot
            out = ieee.hypot(x, y)
        elif opcode == 30:  # maximum
            out = y if x < y else (x if y == y else y)
        elif opcode == 31:  # minimum
            out = y if y < x else (x if y == y else y)
        elif opcode == 32:  # where
            out = y if x != 0.0 else z
        elif opcode == 33:  # sign
            out = ieee.sign(x)
        elif opcode == 34:  # less
            out = 1.0 if x < y else 0.0
        elif opcode == 35:  # less_equal
            out = 1.0 if x <= y else 0.0
        elif opcode == 36:  # equal
            out = 1.0 if x == y else 0.0
        elif opcode == 37:  # stop_gradient
            out = x
        elif opcode == 41:  # mulsub
            out = x * y - z
        elif opcode == 42:  # submul
            out = z - x * y
        # --- end of generated code ---
        else:
            return k
        value[place] = out
        place += 1
    return length


@cython.cfunc
@cython.exceptval(-1.0, check=True)
def _called(program: Program, which: int, position: int, value: cython.p_double, called: dict) -> cython.double:
    """A result of a call. `called`: the results of calls so far."""
    if which not in called:
        function, places = program.calls[which]
        called[which] = function.numbers([value[place] for place in places])
    return called[which][position]


# What C calls, without the interpreter lock and from any thread. A handle is the address of a Program without calls,
# which is run in memory of its own; where there is no memory, results are nan.


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _computed_apart(program: Program, inputs: cython.p_double) -> cython.p_double:
    """The numbers by place, to be given back; NULL without memory."""
    i: cython.int
    value: cython.p_double = c_compat.borrowed(program._room)
    if value:
        for i in range(program.inputs):
            value[i] = inputs[i]
        for i in range(program.inputs, program._first):
            value[i] = program._values[i]
        _computed(program._code, 0, program._length, value, program._first)
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run_by_c(handle: cython.p_void, inputs: cython.p_double, outputs: cython.p_double) -> cython.void:
    i: cython.int
    value: cython.p_double = _computed_apart(cython.cast(Program, handle), inputs)
    for i in range(cython.cast(Program, handle)._results):
        outputs[i] = value[cython.cast(Program, handle)._result[i]] if value else _nan
    c_compat.give_back(value)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _of_several(count: cython.int, numbers: cython.p_double, handle: cython.p_void) -> cython.double:
    if count != cython.cast(Program, handle).inputs:
        return _nan
    value: cython.p_double = _computed_apart(cython.cast(Program, handle), numbers)
    result: cython.double = value[cython.cast(Program, handle)._result[0]] if value else _nan
    c_compat.give_back(value)
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _of_one(number: cython.double, handle: cython.p_void) -> cython.double:
    return _of_several(1, cython.address(number), handle)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _filter(
    numbers: cython.p_double, count: cython.Py_ssize_t, result: cython.p_double, handle: cython.p_void
) -> cython.int:
    if count != cython.cast(Program, handle).inputs:
        return 0
    result[0] = _of_several(cython.cast(Program, handle).inputs, numbers, handle)
    return 1


# Where these are, in the order of the types in callbacks.py.
if cython.compiled:
    ADDRESSES = (
        cython.cast(cython.size_t, cython.cast(cython.p_void, _run_by_c)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _of_one)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _of_several)),
        cython.cast(cython.size_t, cython.cast(cython.p_void, _filter)),
    )
else:
    ADDRESSES = c_abi.addresses()
