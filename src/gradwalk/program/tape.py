"""`Tape`: a graph under construction. Functions are recorded on a tape, and programs are lowered from it.

Instructions are simplified as they are appended, then differentiated and lowered to a `Program`. Each of these passes
is a separate module; all are compiled and take time linear in the number of instructions.
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
    """A list of instructions, simplified as they are appended, that can be differentiated and lowered to programs.

    Methods that append an instruction return the index of its result; an equal earlier instruction is reused.

    Attributes:
        inputs: Number of inputs.
        calls: For each call its rule, the indices of its operands, and the index of its first result.

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
        """Append the operation with this name in the table, simplified, and return the index of its result."""
        return simplify.emit(self, NAMES.index(name), x, y, z)

    def take(self, index: cython.int, table: list[int]) -> int:
        """Append a lookup in a table of operand indices; return an operand's own index if `index` is a constant."""
        return simplify.emit_take(self, index, tuple(table))

    def load(self, opcodes: Any, offsets: Any, operands: Any, constants: Any, indices: Any, functions: dict) -> None:
        """Append a recorded graph, given as arrays.

        Args:
            opcodes: Opcode of each node; 0 for the result of a call.
            offsets: Start of each node's operands in `operands` and `constants`.
            operands: Node numbers of the operands; negative for a constant operand.
            constants: Values of the constant operands.
            indices: Tape index of each leaf and `NO_INDEX` for the other nodes; the indices of these are written here.
            functions: Maps the number of each node that is the result of a call to the call's rule.
        """
        load.load_graph(self, opcodes, offsets, operands, constants, indices, functions)

    def inline(self, program: Program, operands: list, replaced: Any = None) -> list:
        """Append a program's instructions with `operands` as its inputs; return the indices of its outputs.

        If `replaced` is given, it is called with each call and returns a program to inline instead, or None to keep the
        call.
        """
        return load.inline_program(self, program, operands, False, replaced)

    def reverse(self, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
        """Append the cotangents of `wrt` by reverse mode; return their indices. Seeds are pairs (output, cotangent)."""
        return differentiate.reverse(self, seeds, wrt)

    def forward(self, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
        """Append the tangents of `outputs` by forward mode; return their indices. Seeds are pairs (index, tangent)."""
        return differentiate.forward(self, seeds, outputs)

    def program(self, outputs: list[int]) -> Program:
        """Lower the instructions that `outputs` depend on to a program.

        Calls that have an expansion are replaced by it, which is safe once differentiation is done.
        """
        program = lower.lower(self, outputs)
        if all(function.expansion is None for function, _ in program.calls):
            return program
        expanded = Tape()
        inputs = [expanded.input() for _ in range(program.inputs)]
        return lower.lower(expanded, load.inline_program(expanded, program, inputs, True))
