"""Build derivative programs, inline calls, and replace calls that cannot be saved or have side effects."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradwalk.program.code.call_registry import maker
from gradwalk.program.code.code import Code
from gradwalk.program.program import Program, trusted
from gradwalk.program.tape import Indices, Tape


def vjp_program(program: Program) -> Program:
    """Return the program that maps (inputs, cotangents of outputs) to cotangents of inputs."""
    tape, inputs, outputs = to_tape(program)
    return tape.program(tape.reverse([(output, tape.input()) for output in outputs], inputs))


def jvp_program(program: Program) -> Program:
    """Return the program that maps (inputs, tangents of inputs) to tangents of outputs."""
    tape, inputs, outputs = to_tape(program)
    return tape.program(tape.forward([(index, tape.input()) for index in inputs], outputs))


MOST_UNROLLED = 2_000_000  # instructions


def weight(program: Program) -> float:
    """Return the number of instructions after all calls are inlined; infinite if a call cannot be inlined."""
    return len(program) + sum(function.weight for function, _ in program.calls)


def inline_calls(program: Program) -> Program:
    """Return the program with loops and switches inlined, unless that adds more than MOST_UNROLLED instructions."""
    weights = [function.weight for function, _ in program.calls if _is_inlined(function)]
    if not weights or sum(weights) > MOST_UNROLLED:
        return program
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    outputs = tape.inline(program, inputs, lambda function: function.flat() if _is_inlined(function) else None)
    return tape.program(outputs).named(list(program.input_names), list(program.output_names))


def _is_inlined(function: Any) -> bool:
    """Return whether a call can be inlined without losing derivatives that the user defined."""
    return bool(function.weight < math.inf and not function.has_rules)


def portable(code: Code) -> Code:
    """Replace the calls that cannot be saved, where possible; return `code` itself if nothing is replaced."""
    return _Portable().program(code)


class _Portable:
    """Replaces calls that cannot be saved, using one replacement for all occurrences of a program or call."""

    def __init__(self) -> None:
        self._programs: dict[int, tuple[Code, Code]] = {}  # id -> (program, replacement)
        self._calls: dict[int, Program | None] = {}  # id of a call -> its replacement

    def program(self, code: Code) -> Code:
        """Return the replacement of a program: the program itself if none of its calls is replaced."""
        if id(code) not in self._programs:
            self._programs[id(code)] = code, self._replaced(code)
        return self._programs[id(code)][1]

    def _replaced(self, code: Code) -> Code:
        replaced = {id(call): program for call, _ in code.calls if (program := self._call(call)) is not None}
        if not replaced:
            return code
        tape = Tape()
        inputs = [tape.input() for _ in range(code.inputs)]
        program = tape.program(tape.inline(trusted(code), inputs, lambda call: replaced.get(id(call))))
        return program.named(list(code.input_names), list(code.output_names)).code

    def _call(self, call: Any) -> Program | None:
        """Return the program that replaces a call, or None to keep the call."""
        if id(call) not in self._calls:
            self._calls[id(call)] = self._of_known_calls(call)
        return self._calls[id(call)]

    def _of_known_calls(self, call: Any) -> Program | None:
        program = call.portable
        if program is not None:
            return trusted(self.program(program.code))
        codes = [part.code for part in call.parts]
        written = [self.program(code) for code in codes]
        if all(one is other for one, other in zip(written, codes, strict=True)):
            return None
        made = maker(call.kind)(written, call.settings)
        tape = Tape()
        base = tape.call(made, [tape.input() for _ in range(made.inputs)])
        return tape.program(list(range(base, base + made.outputs)))


def has_effects(program: Program) -> bool:
    """Return whether a program makes calls for their side effects."""
    return any(call.has_effects for call, _ in program.calls)


def without_effects(program: Program) -> Program:
    """Return a program without side effects; the program itself if it has none."""
    return replacing(program, lambda call, operands: call.effectless(operands))


def replacing(program: Program, replacement: Callable[[Any, int], Program | None]) -> Program:
    """Return a program in which a program replaces each call for which `replacement(call, operands)` is not None.

    `operands` is the number of operands of the call.
    """
    replaced = {id(call): replacement(call, len(operands)) for call, operands in program.calls}
    if not any(replaced.values()):
        return program
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    return tape.program(tape.inline(program, inputs, lambda call: replaced.get(id(call))))


def calling(call: Any, operands: int) -> Program:
    """Return a program that calls `call` with its inputs as operands."""
    tape = Tape()
    base = tape.call(call, [tape.input() for _ in range(operands)])
    return tape.program(list(range(base, base + call.outputs)))


def to_tape(program: Program) -> tuple[Tape, Indices, Indices]:
    """Append a program to a new tape; return the tape and the indices of the program's inputs and outputs."""
    tape = Tape()
    inputs = [tape.input() for _ in range(program.inputs)]
    return tape, inputs, tape.inline(program, inputs)
