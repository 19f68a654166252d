"""Programs as readers see them: an instruction a line."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradwalk.instructions import CALL, INSTRUCTIONS

if TYPE_CHECKING:
    from gradwalk.program import Program

_NO_BREAK = "\0"  # in place of spaces within names
_WIDTH = 100  # of the lines that name inputs or outputs


def listing(program: Program) -> str:
    """The program as text: its inputs by name, an instruction a line, its outputs. Constants stand where they are used.

    Names are those of the program where it has them; otherwise v and the place.
    """
    spelled = _spelled(program)
    first = len(spelled) - len(program)
    width = len(spelled[-1]) if len(program) else 0
    lines = _wrapped("program(", spelled[: program.inputs], "):")
    rows = program.instructions.reshape(-1, 4).tolist()
    for name, row in zip(spelled[first:], rows, strict=True):
        lines.append(f"  {name:<{width}} = {_text(program, row, spelled)}")
    return "\n".join([*lines, *_returned(program, spelled)])


def line(program: Program, index: int) -> str:
    """One instruction, as `listing` has it but for its alignment."""
    spelled = _spelled(program)
    row = program.instructions[4 * index : 4 * index + 4].tolist()
    return f"{spelled[index - len(program)]} = {_text(program, row, spelled)}"


def _text(program: Program, row: list[int], spelled: Sequence[str]) -> str:
    opcode, *places = row
    if opcode == CALL:
        function, operands = program.calls[places[0]]
        called = f"{function.name}({', '.join([spelled[place] for place in operands])})"
        return called if function.outputs == 1 else f"{called}[{places[1]}]"
    return INSTRUCTIONS[opcode].text.format(*[spelled[place] for place in places])


def _returned(program: Program, spelled: Sequence[str]) -> list[str]:
    """The last lines: one for all outputs or, where they have names, one for each."""
    results = [spelled[place] for place in program.outputs]
    if not program.output_names:
        return _wrapped("  return ", results, "")
    names = [_on_one_line(name) for name in program.output_names]
    width = max(map(len, names))
    return [f"  {name:<{width}} = {text}" for name, text in zip(names, results, strict=True)]


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


def _spelled(program: Program) -> list[str]:
    """What every place is called: inputs by names that mean nothing else here, constants as numbers."""
    count = Counter(program.input_names)
    names = [
        _on_one_line(name) if name and count[name] == 1 and not re.fullmatch(r"v\d+", name) else f"v{place}"
        for place, name in enumerate(program.input_names or [""] * program.inputs)
    ]
    names += map(repr, program.constants)
    return [*names, *(f"v{place}" for place in range(len(names), len(names) + len(program)))]
