"""`Code`: the parts of a program as immutable data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.program.code.opcodes import ARITIES, CALL, TAKE, ProgramError

# Opcode -> number of operands stored in the instruction itself. The operands of a call and the table of a `take` are
# stored in lists of the program.
_ARITIES = numpy.zeros(max(*ARITIES, CALL, TAKE) + 1, numpy.int32)
_ARITIES[[*ARITIES, TAKE]] = [*ARITIES.values(), 1]

_set = object.__setattr__  # sets attributes of a frozen dataclass


@dataclasses.dataclass(frozen=True, slots=True, eq=False, init=False)
class Code:
    """The parts of a program.

    An index refers to a number of the program: the inputs come first, then the constants, then the results of the
    instructions. Sequences are stored as tuples. The instructions are copied to read-only memory.

    Attributes:
        inputs: The number of inputs.
        constants: Floats.
        instructions: An int32 array with four numbers per instruction: the opcode and up to three operand indices. Each
            result of a call has its own instruction, with the position of the call in `calls` and the position of the
            result among the call's results as operands. The operands of a `take` are the index of its subscript and the
            position of its table in `tables`.
        calls: For each call, the `Call` and the indices of its operands.
        outputs: The indices of the outputs.
        input_names: The name of each input, or () if the inputs are unnamed.
        output_names: The name of each output, or () if the outputs are unnamed.
        tables: For each table that `take` indexes, the indices of its entries.
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
        """Return the number of instructions."""
        return len(self.instructions) // 4

    @property
    def first(self) -> int:
        """Index of the first instruction's result."""
        return self.inputs + len(self.constants)

    @property
    def count(self) -> int:
        """Total number of inputs, constants and instructions."""
        return self.first + len(self)

    @property
    def rows(self) -> list[list[int]]:
        """The instructions as lists of four numbers."""
        rows: list[list[int]] = self.instructions.reshape(-1, 4).tolist()
        return rows

    def used(self, row: Sequence[int]) -> Sequence[int]:
        """Return an instruction's operand indices. For `take` these are the subscript and the table's entries."""
        opcode, x, y, _ = row
        if opcode == CALL:
            return self.calls[x][1]
        if opcode == TAKE:
            return (x, *self.tables[y])
        return row[1 : 1 + ARITIES[opcode]]

    def depending(self, inputs: Sequence[bool]) -> list[bool]:
        """Return a flag per index: whether its number depends on an input whose flag in `inputs` is set."""
        depends = [*inputs, *[False] * len(self.constants)]
        calls: dict[int, bool] = {}  # position of a call -> flag of its results
        for row in self.rows:
            if row[0] != CALL:
                depends.append(any(depends[index] for index in self.used(row)))
                continue
            if row[1] not in calls:
                calls[row[1]] = any(depends[index] for index in self.used(row))
            depends.append(calls[row[1]])
        return depends

    def refuse_calls(self, reason: str) -> None:
        """Raise `ProgramError` if the program, or a loop or switch in it, calls a Python function.

        `reason` is a relative clause for the error message, such as "which C does not have".
        """
        waiting = [self]
        known: set[int] = set()  # ids of the calls that have been checked
        while waiting:
            for function, _ in waiting.pop().calls:
                if id(function) in known:
                    continue
                known.add(id(function))
                if not function.kind and function.weight == math.inf:
                    raise ProgramError(
                        f"the program calls {function.name}, a Python function, {reason}. {function.remedy}"
                    )
                waiting += [part.code for part in function.parts]


def arities_of(instructions: Any) -> NDArray[numpy.int32]:
    """Return an int32 array: the number of operands that each instruction of a `Code` stores."""
    arities: NDArray[numpy.int32] = _ARITIES.take(instructions[::4])
    return arities


def moved_rows(instructions: Any, moved: NDArray[Any]) -> NDArray[numpy.int32]:
    """Return instructions as a new array of rows, with each operand replaced by its new index in `moved`."""
    rows: NDArray[numpy.int32] = numpy.array(instructions, numpy.int32).reshape(-1, 4)
    arities = arities_of(rows.ravel())
    for position in (1, 2, 3):
        has_operand = arities >= position
        rows[has_operand, position] = moved[rows[has_operand, position]]
    return rows


def _read_only(array: Any) -> Any:
    """Return a read-only copy that cannot be made writable again; return the array itself if it is such a copy."""
    if not isinstance(array, numpy.ndarray) or isinstance(array.base, bytes):  # `validate` rejects other types
        return array
    return numpy.ndarray(array.shape, array.dtype, array.tobytes())
