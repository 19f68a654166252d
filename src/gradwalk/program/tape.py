"""`Tape`: a graph while it is worked on, to which functions are recorded and from which programs are made.

Instructions are simplified as they are appended, differentiated, and lowered to a `Program`. Each of these passes is a
module of its own; all are compiled and take time linear in the number of instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.autodiff import differentiate
from gradwalk.program.instructions import load, lower, simplify
from gradwalk.program.instructions.instruction_store import NO_INDEX, InstructionStore
from gradwalk.program.program import Program

if not TYPE_CHECKING and cython.compiled:
    import cython

__all__ = ["NO_INDEX", "Tape"]


@cython.final
@cython.cclass
class Tape(InstructionStore):
    """Instructions that are simplified as they are appended, and can be differentiated and lowered to programs.

    Every method that appends returns the index of the result, which is that of an earlier instruction if it is equal.

    Attributes:
        inputs: How many inputs there are.
        calls: For each call of a Python function its rule, the indices of its operands, and that of its first result.

    Example:
        >>> tape = Tape()
        >>> x = tape.input()
        >>> y = tape.append("mul", x, x)
        >>> tape.append("mul", x, x) == y
        True
        >>> [gradient] = tape.reverse([(y, tape.constant(1.0))], [x])
        >>> print(tape.program([gradient]))
        program(v0):
          v1 = v0 + v0
          return v1
    """

    def append(self, name: str, x: cython.int, y: cython.int = 0, z: cython.int = 0) -> int:
        """Append an operation.

        Args:
            name: The operation's name in the table.
            x: The index of its first operand.
            y: The index of its second operand, if it has one.
            z: The index of its third operand, if it has one.

        Returns:
            The index of the simplest instruction that gives the same number.
        """
        return simplify.emit(self, NAMES.index(name), x, y, z)

    def take(self, index: cython.int, table: list[int]) -> int:
        """Append what an index picks in a table.

        Args:
            index: The index of the index: counted from 0 or, if negative, from the end.
            table: The indices of the operands, at least one.

        Returns:
            The index of the instruction, or of the operand where the index is a constant.
        """
        return simplify.emit_take(self, index, tuple(table))

    def load(self, opcodes: Any, offsets: Any, operands: Any, constants: Any, indices: Any, functions: dict) -> None:
        """Append a recorded graph, which is given as arrays.

        Args:
            opcodes: The opcode of each node; 0 for the result of a call.
            offsets: Where each node's operands begin in `operands` and `constants`.
            operands: The nodes that are operands; negative where the operand is a constant.
            constants: These constants.
            indices: The index on the tape of each leaf, and `NO_INDEX` for every other node, whose index is written
                here.
            functions: For each node that is the result of a call, by its number, the rule of the call.
        """
        load.load_graph(self, opcodes, offsets, operands, constants, indices, functions)

    def inline(self, program: Program, operands: list, replaced: Any = None) -> list:
        """Append a program's instructions, with operands for its inputs, and return the indices of its outputs.

        Args:
            program: The program.
            operands: The indices of the operands.
            replaced: Called with a call, returns the program that takes its place, or None; None to replace nothing.

        Returns:
            The indices of the outputs.
        """
        return load.inline_program(self, program, operands, False, replaced)

    def reverse(self, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
        """Append adjoints of results by reverse mode.

        Args:
            seeds: Pairs of indices, of a result and of its adjoint.
            wrt: The indices of the instructions whose adjoints are asked for.

        Returns:
            The indices of these adjoints.
        """
        return differentiate.reverse(self, seeds, wrt)

    def forward(self, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
        """Append tangents of results by forward mode.

        Args:
            seeds: Pairs of indices, of an instruction and of its tangent.
            outputs: The indices of the results whose tangents are asked for.

        Returns:
            The indices of these tangents.
        """
        return differentiate.forward(self, seeds, outputs)

    def program(self, outputs: list[int]) -> Program:
        """Return a program of what some outputs need, and no more.

        Args:
            outputs: The indices of the outputs.

        Returns:
            The program. Calls that have an expansion are replaced by it: by now they have been differentiated.
        """
        program = lower.lower(self, outputs)
        if all(function.expansion is None for function, _ in program.calls):
            return program
        expanded = Tape()
        inputs = [expanded.input() for _ in range(program.inputs)]
        return lower.lower(expanded, load.inline_program(expanded, program, inputs, True))
