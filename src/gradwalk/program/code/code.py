"""`Code`: what a program consists of, as plain data that does not change."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy

from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, TAKE, ProgramError

_set = object.__setattr__  # which a frozen class has to call itself


@dataclasses.dataclass(frozen=True, slots=True, eq=False, init=False)
class Code:
    """The parts of a program. Sequences become tuples, and the instructions are copied into memory that is read-only.

    An index counts the inputs first, then the constants, then the results of the instructions.

    Attributes:
        inputs: How many inputs there are.
        constants: Floats.
        instructions: An array of int32, four numbers an instruction: the opcode and the indices of up to three
            operands. Those of a call are an index in `calls`, and the number of a result; those of `take` are the
            index of its index, and one in `tables`.
        calls: For each call, what it calls (a `Call`) and the indices of its operands.
        outputs: The indices of the outputs.
        input_names: The name of each input, or nothing.
        output_names: The name of each output, or nothing.
        tables: For each table that `take` takes from, the indices of its operands.
    """

    inputs: int
    constants: tuple[float, ...]
    instructions: Any
    calls: tuple[tuple[Any, tuple[int, ...]], ...]
    outputs: tuple[int, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    tables: tuple[tuple[int, ...], ...]

    def __init__(
        self,
        inputs: int,
        constants: Sequence[float],
        instructions: Any,
        calls: Sequence[tuple[Any, Sequence[int]]],
        outputs: Sequence[int],
        input_names: Sequence[str] = (),
        output_names: Sequence[str] = (),
        tables: Sequence[Sequence[int]] = (),
    ) -> None:
        _set(self, "inputs", inputs)
        _set(self, "constants", tuple(constants))
        _set(self, "instructions", _read_only(instructions))
        _set(self, "calls", tuple([(function, tuple(operands)) for function, operands in calls]))
        _set(self, "outputs", tuple(outputs))
        _set(self, "input_names", tuple(input_names))
        _set(self, "output_names", tuple(output_names))
        _set(self, "tables", tuple([tuple(table) for table in tables]))

    def __len__(self) -> int:
        """The number of instructions."""
        return len(self.instructions) // 4

    @property
    def first(self) -> int:
        """The index of the first instruction's result."""
        return self.inputs + len(self.constants)

    @property
    def count(self) -> int:
        """The number of inputs, constants and instructions together."""
        return self.first + len(self)

    @property
    def rows(self) -> list[list[int]]:
        """The instructions as lists of four numbers."""
        rows: list[list[int]] = self.instructions.reshape(-1, 4).tolist()
        return rows

    def used(self, row: Sequence[int]) -> Sequence[int]:
        """Return the indices of an instruction's operands.

        Args:
            row: The instruction, as four numbers.

        Returns:
            The indices: of a call all of its operands, and of `take` the index before the table.
        """
        opcode, x, y, _ = row
        if opcode == CALL:
            return self.calls[x][1]
        if opcode == TAKE:
            return (x, *self.tables[y])
        return row[1 : 1 + INSTRUCTIONS[opcode].arity]

    def depending(self, inputs: Sequence[bool]) -> list[bool]:
        """Return of each index whether what stands there depends on one of some inputs.

        Args:
            inputs: For each input, whether it is one of them.

        Returns:
            A list with an entry for each input, constant and instruction.
        """
        depends = [*inputs, *[False] * len(self.constants)]
        calls: dict[int, bool] = {}  # looked at once, as one may have many operands and many results
        for row in self.rows:
            if row[0] != CALL:
                depends.append(any(depends[index] for index in self.used(row)))
                continue
            if row[1] not in calls:
                calls[row[1]] = any(depends[index] for index in self.used(row))
            depends.append(calls[row[1]])
        return depends

    def refuse_calls(self, reason: str) -> None:
        """Raise `ProgramError` if the program, or a loop or a choice in it, calls a function of Python.

        Args:
            reason: What is wrong with that, as a relative clause for the message.
        """
        waiting = [self]
        known: set[int] = set()  # the calls that have been looked at, by their `id`
        while waiting:
            for function, _ in waiting.pop().calls:
                if id(function) in known:
                    continue
                known.add(id(function))
                if not function.kind and function.weight == math.inf:
                    raise ProgramError(
                        f"the program calls {function.name}, a function of Python, {reason}. {function.remedy}"
                    )
                waiting += [part.code for part in function.parts]


def _read_only(array: Any) -> Any:
    """An array whose memory nobody can make writable again: a copy, unless it is such an array."""
    if not isinstance(array, numpy.ndarray) or isinstance(array.base, bytes):  # what is no array is refused by validate
        return array
    return numpy.ndarray(array.shape, array.dtype, array.tobytes())
