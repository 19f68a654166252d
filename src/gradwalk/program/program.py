"""`Program`: a recorded function as instructions, to be run, read, saved and translated."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.program.code import call_registry
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import NAMES, OPCODES, ProgramError
from gradwalk.program.code.validate import validate
from gradwalk.program.formats import listing, program_json
from gradwalk.program.formats.c import c_program
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Repeat
from gradwalk.program.run import c_abi
from gradwalk.program.run.interpreter import Interpreter, counted

if not TYPE_CHECKING and cython.compiled:
    import cython

__all__ = ["Program", "ProgramError"]


@cython.cclass
class Program:
    """A recorded function as instructions that run without Python. It does not change.

    An index counts the inputs first, then the constants, then the results of the instructions. `str` shows a program,
    one instruction a line. Any number of threads may run the same program at once.

    Args:
        inputs: How many inputs there are.
        constants: Floats.
        instructions: An array of int32, four numbers an instruction: the opcode and the indices of up to three
            operands. Those of a call are an index in `calls`, and the number of a result; those of `take` are the
            index of its index, and one in `tables`.
        calls: For each call, what it calls and the indices of its operands.
        outputs: The indices of the outputs.
        input_names: The name of each input, or nothing.
        output_names: The name of each output, or nothing.
        tables: For each table that `take` takes from, the indices of its operands.

    Raises:
        ProgramError: It is not well formed: see `validate`.

    Example:
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

    __slots__ = ("_code", "_interpreter", "_repeats")

    _code: Code
    _interpreter: Interpreter
    _repeats: dict  # what `repeats` has found, by ""

    def __init__(
        self,
        inputs: int,
        constants: Sequence[float],
        instructions: Any,
        calls: Sequence[tuple[Any, Sequence[int]]],
        outputs: Sequence[int],
        input_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        tables: Sequence[Sequence[int]] = (),
    ) -> None:
        code = Code(inputs, constants, instructions, calls, outputs, input_names or (), output_names or (), tables)
        validate(code)
        self._code = code
        self._interpreter = Interpreter(code)
        self._repeats = {}

    # What it is made of

    @property
    def code(self) -> Code:
        """The parts of the program as plain data."""
        return self._code

    @property
    def inputs(self) -> int:
        """How many inputs there are."""
        return self._code.inputs

    @property
    def constants(self) -> tuple[float, ...]:
        """The constants, as a tuple of floats."""
        return self._code.constants

    @property
    def instructions(self) -> Any:
        """The instructions, as a read-only array of int32: for each, its opcode and the indices of three operands."""
        return self._code.instructions

    @property
    def calls(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """The calls of Python functions: for each, what it calls and the indices of its operands."""
        return self._code.calls

    @property
    def outputs(self) -> tuple[int, ...]:
        """The indices of the outputs, as a tuple."""
        return self._code.outputs

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs, as a tuple: empty if they have none."""
        return self._code.input_names

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs, as a tuple: empty if they have none."""
        return self._code.output_names

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The tables that `take` takes from: for each, the indices of its operands."""
        return self._code.tables

    @property
    def repeats(self) -> tuple[Repeat, ...]:
        """The loops among the instructions, which `str` and `to_c` write as such: see `Repeat`."""
        if not self._repeats:  # two threads may find them, and either result is right
            self._repeats.setdefault("", fold(self._code))
        return self._repeats[""]

    def __len__(self) -> int:
        """The number of instructions."""
        return len(self._code)

    def __str__(self) -> str:
        return listing.listing(self._code)

    def __repr__(self) -> str:
        return (
            f"<Program of {counted(len(self), 'instruction')} "
            f"from {counted(self.inputs, 'input')} to {counted(len(self.outputs), 'output')}>"
        )

    def __reduce__(self) -> Any:
        # Operations are pickled by name, as another version may give their opcodes to other operations.
        opcodes, which = numpy.unique(self.instructions[::4], return_inverse=True)
        rows = self.instructions.copy()
        rows[::4] = which
        names = [NAMES[opcode] for opcode in opcodes.tolist()]
        named = (self.input_names, self.output_names)
        return _unpickled, (names, rows, self.inputs, self.constants, self.calls, self.outputs, *named, self.tables)

    def named(self, inputs: Sequence[str], outputs: Sequence[str]) -> Program:
        """Name the inputs and outputs.

        Args:
            inputs: A name for each input, or nothing.
            outputs: A name for each output, or nothing.

        Returns:
            A program with these names and the same instructions.

        Example:
            >>> from gradwalk import jit
            >>> double = jit(lambda x: 2 * x)
            >>> double(3.0)
            6.0
            >>> print(double.program.named(["length"], ["doubled"]))
            program(length):
              v2 = 2.0 * length
              doubled = v2
        """
        return trusted(dataclasses.replace(self._code, input_names=tuple(inputs), output_names=tuple(outputs)))

    def validate(self) -> None:
        """Check that the program is well formed, as is done when it is made.

        It is if its instructions are known and have as many operands as they take; every operand is an input, a
        constant or the result of an earlier instruction; calls fit the functions that they call, and tables are there
        and not empty; and every output is one of these, too.

        Raises:
            ProgramError: If it is not, naming the instruction.
        """
        validate(self._code)

    # In other languages

    def to_json(self) -> str:
        """Write the program as JSON, by the schema in docs/program.schema.json.

        Returns:
            The text, for `from_json`.

        Raises:
            ProgramError: If the program calls a function of Python.

        Example:
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
        return program_json.written(call_registry.for_files(self._code))

    @classmethod
    def from_json(cls, text: str) -> Program:
        """Read a program that `to_json` wrote. Nothing in the text is ever run as Python.

        Args:
            text: What `to_json` returned.

        Returns:
            The program, which has been validated.

        Raises:
            ProgramError: If the text is anything else, saying where it stops making sense.

        Example:
            >>> from gradwalk import jit
            >>> double = jit(lambda x: 2 * x)
            >>> double(3.0)
            6.0
            >>> Program.from_json(double.program.to_json())
            <Program of 1 instruction from 1 input to 1 output>
        """
        code = program_json.read(text)
        validate(code)
        return trusted(code)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file, as JSON. The file is replaced as a whole, or not at all.

        Args:
            path: The file, which is replaced if there is one.

        Raises:
            ProgramError: If the program calls a function of Python.
            OSError: If the file cannot be written. What was there before is there still.
        """
        program_json.replace_file(os.fspath(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Program:
        """Read a program from a file that `save` wrote.

        Args:
            path: The file.

        Returns:
            The program, which has been validated.

        Raises:
            ProgramError: If the file holds anything else.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ProgramError(f"{os.fspath(path)} is no text in UTF-8: {error}") from None
        return cls.from_json(text)

    def to_c(self, name: str = "f") -> str:
        """Write the program as a file of C99 that needs nothing but <math.h>: `void f(const double *, double *)`.

        The function reads the inputs from the first array and writes the outputs to the second. For derivatives, take
        the program of a derivative: `jit(value_and_grad(f)).program`, after a call.

        Args:
            name: The name of the function.

        Returns:
            The text of the file.

        Raises:
            ProgramError: If the program calls a function of Python.
            ValueError: If C could have no function of that name.

        Example:
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
        return c_program.c_source(call_registry.for_files(self._code), name)

    @property
    def handle(self) -> int:
        """The handle that C functions take to run this program, valid for as long as the program is kept alive."""
        return id(self._interpreter)

    @property
    def address(self) -> int:
        """The address of `void run(void *handle, const double *inputs, double *outputs)`, the same for all programs.

        It needs no interpreter lock, and any number of threads may call it at once. From Numba's functions, too:

            run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(program.address)
            run(handle, inputs.ctypes.data, outputs.ctypes.data)  # in a function compiled by numba.njit

        Raises:
            ProgramError: If the program calls a function of Python.
        """
        self._code.refuse_calls("which nothing but Python can run")
        return c_abi.ADDRESSES.run

    # Running

    @property
    def interpreter(self) -> Interpreter:
        """What runs the program on single numbers."""
        return self._interpreter

    @property
    def backends(self) -> dict[str, str]:
        """What runs the program on single numbers, by "", and the parts of its calls, by their names."""
        return self._interpreter.backends

    def run(self, numbers: Any) -> Any:
        """Run the program on numbers.

        Args:
            numbers: A row of numbers, one for each input.

        Returns:
            The outputs, a new array of float64.

        Raises:
            ValueError: If there are more or fewer numbers than inputs, or they are no row.

        Example:
            >>> from gradwalk import jit
            >>> double = jit(lambda x: 2 * x)
            >>> double(3.0)
            6.0
            >>> double.program.run([4.5])
            array([9.])
        """
        return self._interpreter.run(numbers)

    def __call__(self, operands: list[Any]) -> list[Any]:
        """Run the program on Values and floats.

        Args:
            operands: Values or floats, one for each input.

        Returns:
            The outputs: Values where they depend on a Value, else floats.

        Raises:
            ValueError: If there are more or fewer operands than inputs.
        """
        return self._interpreter.on_values(operands)


def _unpickled(names: list[str], rows: Any, inputs: int, constants: Sequence[float], *others: Any) -> Program:
    """Make a program from what was pickled.

    Raises `ProgramError` if it is not well formed, or has unknown operations.
    """
    unknown = [name for name in names if name not in OPCODES]
    if unknown:
        raise ProgramError(f"the program was pickled by another version of gradwalk: it uses {unknown[0]!r}")
    instructions = numpy.array(rows, numpy.int32)
    instructions[::4] = numpy.array([OPCODES[name] for name in names], numpy.int32)[instructions[::4]]
    return Program(inputs, constants, instructions, *others)


def trusted(code: Code) -> Program:
    """Make a program without checking it: for code that this library has made itself.

    Args:
        code: The parts of the program. If they are not well formed, running it reads and writes beyond its memory.

    Returns:
        The program.
    """
    program: Program = Program.__new__(Program)
    program._code = code
    program._interpreter = Interpreter(code)
    program._repeats = {}
    return program
