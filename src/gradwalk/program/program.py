"""`Program`: a recorded function as a list of instructions. It can be run, printed, saved and translated to C."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.program.code import call_registry
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import NAMES, OPCODES, ProgramError
from gradwalk.program.code.validate import validate
from gradwalk.program.formats import program_json
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Repeat
from gradwalk.program.run import c_abi
from gradwalk.program.run.interpreter import Interpreter, counted

if not TYPE_CHECKING and cython.compiled:
    import cython

__all__ = ["Program", "ProgramError"]


@cython.cclass
class Program:
    """An immutable list of instructions that computes a recorded function without Python.

    Every number in a program has an index. The inputs come first, then the constants, then the results of the
    instructions. `str` lists the instructions of a program, one per line. Several threads may run the same program at
    once.

    Args:
        inputs: Number of inputs.
        constants: The constants, as floats.
        instructions: Int32 array with four entries per instruction: the opcode and the indices of up to three operands.
            Each result of a call has its own instruction, with the position of the call in `calls` and the position of
            the result among the call's results as operands. The operands of a `take` are the index of its subscript and
            the position of its table in `tables`.
        calls: A pair per call: the function that is called and the indices of its operands.
        outputs: Indices of the outputs.
        input_names: Name of each input, or None if the inputs are unnamed.
        output_names: Name of each output, or None if the outputs are unnamed.
        tables: The indices of the entries of each table that `take` reads from.

    Raises:
        ProgramError: The program is not well formed; see `validate`.

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
    _repeats: dict  # the cached result of `repeats`, under the key ""

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

    # Contents

    @property
    def code(self) -> Code:
        """The contents of the program as an immutable `Code`."""
        return self._code

    @property
    def inputs(self) -> int:
        """The number of inputs."""
        return self._code.inputs

    @property
    def constants(self) -> tuple[float, ...]:
        """The constants, as a tuple of floats."""
        return self._code.constants

    @property
    def instructions(self) -> Any:
        """The instructions as a read-only int32 array, four entries each: the opcode and three operand indices."""
        return self._code.instructions

    @property
    def calls(self) -> tuple[tuple[Any, tuple[int, ...]], ...]:
        """The calls. Each is a pair: the function that is called, and a tuple of the indices of its operands."""
        return self._code.calls

    @property
    def outputs(self) -> tuple[int, ...]:
        """The indices of the outputs, as a tuple."""
        return self._code.outputs

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the inputs as a tuple, or () for unnamed inputs."""
        return self._code.input_names

    @property
    def output_names(self) -> tuple[str, ...]:
        """The names of the outputs as a tuple, or () for unnamed outputs."""
        return self._code.output_names

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The tables that `take` reads from. Each is a tuple of the indices of its entries."""
        return self._code.tables

    @property
    def repeats(self) -> tuple[Repeat, ...]:
        """The loops that are found in the instructions; see `Repeat`. `str` and `to_c` write them as loops."""
        if not self._repeats:  # if two threads compute this at once, the results are equal
            self._repeats.setdefault("", fold(self._code))
        return self._repeats[""]

    def __len__(self) -> int:
        """Return the number of instructions."""
        return len(self._code)

    def __bool__(self) -> bool:
        """Return True, also for a program without instructions: `if program` tests whether there is a program."""
        return True

    def __str__(self) -> str:
        from gradwalk.program.formats.listing import listing  # loaded on demand: programs run without it

        return listing(self._code)

    def __repr__(self) -> str:
        return (
            f"<Program of {counted(len(self), 'instruction')} "
            f"from {counted(self.inputs, 'input')} to {counted(len(self.outputs), 'output')}>"
        )

    def __reduce__(self) -> Any:
        # Operations are pickled by name, because opcodes may differ between versions.
        opcodes, which = numpy.unique(self.instructions[::4], return_inverse=True)
        rows = self.instructions.copy()
        rows[::4] = which
        names = [NAMES[opcode] for opcode in opcodes.tolist()]
        named = (self.input_names, self.output_names)
        return _unpickled, (names, rows, self.inputs, self.constants, self.calls, self.outputs, *named, self.tables)

    def named(self, inputs: Sequence[str], outputs: Sequence[str]) -> Program:
        """Return a program with the same instructions and other names of inputs and outputs.

        Args:
            inputs: Name of each input, or an empty sequence for no names.
            outputs: Name of each output, or an empty sequence for no names.

        Returns:
            The renamed program.

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
        """Check that the program is well formed. The constructor runs the same check.

        Each opcode must be known and have the right number of operands. Each operand and output must be the index of an
        input, a constant or a result. An operand must precede the instruction that uses it. The operands and results of
        a call must match the function that is called. A table that `take` uses must exist and must not be empty.

        Raises:
            ProgramError: The program is not well formed; the message names the instruction.
        """
        validate(self._code)

    # Other formats

    def to_json(self) -> str:
        """Return the program as JSON text that follows the schema docs/program.schema.json.

        Returns:
            The JSON text, which `from_json` reads.

        Raises:
            ProgramError: The program calls a Python function.

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
        """Read a program from the JSON text that `to_json` wrote. No part of the text is executed as Python.

        Args:
            text: The JSON text.

        Returns:
            The validated program.

        Raises:
            ProgramError: The text is not a valid program; the message says where.

        Example:
            >>> from gradwalk import jit
            >>> double = jit(lambda x: 2 * x)
            >>> double(3.0)
            6.0
            >>> Program.from_json(double.program.to_json())
            <Program of 1 instruction from 1 input to 1 output>
        """
        return read_document(program_json.parse(text))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the program to a file as JSON.

        Args:
            path: Path of the file. An existing file is replaced atomically.

        Raises:
            ProgramError: The program calls a Python function.
            OSError: The file cannot be written. An existing file is left unchanged.
        """
        program_json.replace_file(os.fspath(path), self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Program:
        """Read a program from a file that `save` wrote.

        Args:
            path: Path of the file.

        Returns:
            The validated program.

        Raises:
            ProgramError: The file does not hold a valid program.
        """
        return cls.from_json(program_json.read_file(path))

    def to_c(self, name: str = "f") -> str:
        """Return the program as C99 source code of `void f(const double *inputs, double *outputs)`.

        The code needs only the standard library of C. For C code of a derivative, make a program of the derivative:
        call `g = jit(value_and_grad(f))` once with arguments, and use `g.program`.

        Args:
            name: Name of the C function.

        Returns:
            The text of the source file.

        Raises:
            ProgramError: The program calls a Python function.
            ValueError: `name` is not a valid name for a C function.

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
        from gradwalk.program.formats.c.c_program import c_source  # loaded on demand: programs run without it

        return c_source(call_registry.for_files(self._code), name)

    @property
    def handle(self) -> int:
        """The handle of this program for the C functions that run it. Valid as long as the program exists."""
        return id(self._interpreter)

    @property
    def address(self) -> int:
        """The address of the C function `void run(void *handle, const double *inputs, double *outputs)`.

        All programs have the same address; `handle` selects the program. The function does not need the GIL, and
        several threads may call it at once. It can also be called from functions compiled by Numba:

            run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(program.address)
            run(handle, inputs.ctypes.data, outputs.ctypes.data)  # in a function compiled by numba.njit

        Raises:
            ProgramError: The program calls a Python function.
        """
        self._code.refuse_calls("which only Python can run")
        return c_abi.ADDRESSES.run

    # Running

    @property
    def interpreter(self) -> Interpreter:
        """The interpreter that runs the program on one sample."""
        return self._interpreter

    @property
    def backends(self) -> dict[str, str]:
        """A dict with the backend of the program under the key "" and the backend of each call under its name."""
        return self._interpreter.backends

    def run(self, numbers: Any) -> Any:
        """Run the program on numbers, one per input.

        Args:
            numbers: 1-D array-like of floats, one per input.

        Returns:
            The outputs, a new 1-D float64 array.

        Raises:
            ValueError: `numbers` is not one-dimensional, or its length is not the number of inputs.

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
        """Run the program on Values and floats, one per input.

        Args:
            operands: Values or floats, one per input.

        Returns:
            The outputs: a Value for each output that depends on a Value, else a float.

        Raises:
            ValueError: The number of operands is not the number of inputs.
        """
        return self._interpreter.on_values(operands)


def _unpickled(names: list[str], rows: Any, inputs: int, constants: Sequence[float], *others: Any) -> Program:
    """Build a program from its pickled parts. Raises `ProgramError` for unknown operations or invalid programs."""
    unknown = [name for name in names if name not in OPCODES]
    if unknown:
        raise ProgramError(f"the program was pickled by another version of gradwalk: {unknown[0]!r} is unknown here")
    instructions = numpy.array(rows, numpy.int32)
    instructions[::4] = numpy.array([OPCODES[name] for name in names], numpy.int32)[instructions[::4]]
    return Program(inputs, constants, instructions, *others)


def read_document(document: Any) -> Program:
    """Build a program from parsed JSON: see `Program.from_json`."""
    code = program_json.read_document(document)
    validate(code)
    return trusted(code)


def trusted(code: Code) -> Program:
    """Build a program from a `Code` without validating it. Call this only if the code is known to be well formed.

    Running a program that is not well formed would read and write memory out of bounds.
    """
    program: Program = Program.__new__(Program)
    program._code = code
    program._interpreter = Interpreter(code)
    program._repeats = {}
    return program
