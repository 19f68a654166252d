"""`Tape`: a list of instructions on which functions are recorded, and which is lowered to programs.

Instructions are simplified when they are appended. The tape can then be differentiated and lowered to a `Program`. Each
of these passes is a separate compiled module and takes time linear in the number of instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.autodiff import differentiate
from gradwalk.program.instructions import copied, load, lower, simplify
from gradwalk.program.instructions.instruction_store import NO_INDEX, InstructionStore
from gradwalk.program.instructions.shared_loops import without_repeated_loops
from gradwalk.program.program import Program, trusted

if not TYPE_CHECKING and cython.compiled:
    import cython

__all__ = ["NO_INDEX", "Indices", "Tape"]

Indices = list[int]  # of instructions on a tape


@cython.final
@cython.cclass
class Tape(InstructionStore):
    """A list of instructions that can be differentiated and lowered to programs.

    Methods that append an instruction first simplify it, and return the index of its result. If an equal instruction
    exists already, they return the index of that instruction.

    Attributes:
        inputs: Number of inputs.
        calls: For each call, the `Call`, the indices of its operands, and the index of its first result.

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
        """Append an operation, given by its name in the operation table; return the index of its result."""
        return simplify.emit(self, NAMES.index(name), x, y, z)

    def take(self, index: cython.int, table: list[int]) -> int:
        """Append a lookup in a table of operand indices; if `index` is a constant, return the entry that it selects."""
        return simplify.emit_take(self, index, tuple(table))

    def load(self, opcodes: Any, offsets: Any, operands: Any, constants: Any, indices: Any, functions: dict) -> None:
        """Append a recorded graph, given as arrays.

        Args:
            opcodes: Opcode of each node; 0 for the result of a call.
            offsets: Start of each node's operands in `operands` and `constants`.
            operands: Node number of each operand; negative if the operand is a constant.
            constants: The constant for each negative entry of `operands`, at the same position.
            indices: Tape index of each leaf, and `NO_INDEX` for all other nodes. Each `NO_INDEX` is replaced by the
                tape index of the node.
            functions: Maps the number of each node that is the result of a call to the rule of this node.
        """
        load.load_graph(self, opcodes, offsets, operands, constants, indices, functions)

    def inline(self, program: Program, operands: list, replaced: Any = None) -> list:
        """Append a program's instructions with `operands` as its inputs; return the indices of its outputs.

        `replaced`, if given, is a function that takes a call and returns the program that replaces it, or None to keep
        the call.
        """
        return load.inline_program(self, program, operands, False, replaced)

    def copy(self, source: Tape, outputs: list[int], operands: list) -> list:
        """Append the instructions of another tape that `outputs` depend on, with `operands` as the inputs of `source`.

        Arrays stay arrays. Returns the indices of the outputs.
        """
        known = dict(zip(source.input_indices, operands, strict=True))
        copied.copy_instructions(source, self, outputs, known, whole=True)
        return [known[index] for index in outputs]

    def reverse(self, seeds: list[tuple[int, int]], wrt: list[int]) -> list[int]:
        """Compute the cotangents of the instructions `wrt` in reverse mode; return the indices of the cotangents.

        A seed is a pair (index of an instruction, index of its cotangent).
        """
        return differentiate.reverse(self, seeds, wrt)

    def forward(self, seeds: list[tuple[int, int]], outputs: list[int]) -> list[int]:
        """Compute the tangents of the instructions `outputs` in forward mode; return the indices of the tangents.

        A seed is a pair (index of an instruction, index of its tangent).
        """
        return differentiate.forward(self, seeds, outputs)

    @property
    def has_arrays(self) -> bool:
        """Whether there are whole arrays on the tape, or in the calls on it."""
        return len(self.arrays) > 0 or any(call.kinds for call, _, _ in self.calls)

    @property
    def input_indices(self) -> list[int]:
        """The index of each input."""
        return copied.inputs_of(self)

    def stages(self, outputs: list[int]) -> tuple[list[int], list[tuple[list[int], list[int]]]]:
        """Split the instructions that `outputs` depend on at calls of arrays: see `copied.split_at_arrays`."""
        return copied.split_at_arrays(self, outputs)

    def stage_program(self, given: list[int], found: list[int]) -> Program:
        """Return the program that computes the instructions `found` from the instructions `given`."""
        target = Tape()
        known = {index: target.input() for index in given}
        copied.copy_instructions(self, target, found, known)
        return target.program([known[index] for index in found])

    def program(self, outputs: list[int]) -> Program:
        """Lower the instructions that `outputs` depend on to a program.

        Each call that has an expansion is replaced by it. This is possible because all derivatives have been appended.
        Each array is replaced by its numbers.
        """
        if self.has_arrays:
            of_numbers = Tape()
            return of_numbers.program(copied.expand_arrays(self, of_numbers, outputs))
        program = lower.lower(self, outputs)
        if any(function.expansion is not None for function, _ in program.calls):
            expanded = Tape()
            inputs = [expanded.input() for _ in range(program.inputs)]
            program = lower.lower(expanded, load.inline_program(expanded, program, inputs, True))
        code = without_repeated_loops(program.code) if program.calls else program.code
        return program if code is program.code else trusted(code)
