"""Programs as readers see them: an instruction a line."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwalk.program.opcodes import CALL, INSTRUCTIONS

if TYPE_CHECKING:
    from gradwalk.program.program import Program

_NO_BREAK = "\0"  # in place of spaces within names
_WIDTH = 100  # of the lines that name inputs or outputs


def listing(program: Program) -> str:
    """The program as text: its inputs by name, an instruction a line, its outputs. Constants stand where they are used.

    Names are those of the program where it has them; otherwise v and the place.
    """
    names = spelled(program)
    head = _wrapped("program(", names[: program.inputs], "):")
    return "\n".join([*head, *instructions(program, names), *_returned(program, names)])


def instructions(program: Program, names: Sequence[str]) -> list[str]:
    """A line for each instruction. `names`: of all places, as `spelled` gives them."""
    width = len(names[-1]) if len(program) else 0
    rows = program.instructions.reshape(-1, 4).tolist()
    own = names[len(names) - len(program) :]
    return [f"  {name:<{width}} = {_text(program, row, names)}" for name, row in zip(own, rows, strict=True)]


def line(program: Program, index: int) -> str:
    """One instruction, as `listing` has it but for its alignment."""
    names = spelled(program)
    row = program.instructions[4 * index : 4 * index + 4].tolist()
    return f"{names[index - len(program)]} = {_text(program, row, names)}"


def _text(program: Program, row: list[int], names: Sequence[str]) -> str:
    opcode, *places = row
    if opcode == CALL:
        function, operands = program.calls[places[0]]
        called = f"{function.name}({', '.join([names[place] for place in operands])})"
        return called if function.outputs == 1 else f"{called}[{places[1]}]"
    return INSTRUCTIONS[opcode].text.format(*[names[place] for place in places])


def _returned(program: Program, names: Sequence[str]) -> list[str]:
    """The last lines: one for all outputs or, where they have names, one for each."""
    results = [names[place] for place in program.outputs]
    if not program.output_names:
        return _wrapped("  return ", results, "")
    outputs = [_on_one_line(name) for name in program.output_names]
    width = max(map(len, outputs))
    return [f"  {name:<{width}} = {text}" for name, text in zip(outputs, results, strict=True)]


def _on_one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _wrapped(before: str, items: Sequence[str], after: str) -> list[str]:
    """Items with commas between them, on as many lines as they need."""
    text = ", ".join([item.replace(" ", _NO_BREAK) for item in items])
    lines = textwrap.wrap(
        f"{before}{text}{after}",
        _WIDTH,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]


def spelled(program: Program) -> list[str]:
    """What every place is called: inputs by names that mean nothing else here, constants as numbers."""
    count = Counter(program.input_names)
    names = [
        _on_one_line(name) if name and count[name] == 1 and not re.fullmatch(r"v\d+", name) else f"v{place}"
        for place, name in enumerate(program.input_names or [""] * program.inputs)
    ]
    names += map(repr, program.constants)
    return [*names, *(f"v{place}" for place in range(len(names), len(names) + len(program)))]
