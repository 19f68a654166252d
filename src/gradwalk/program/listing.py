"""Programs as readers see them: one instruction a line."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk.program.code import Code
from gradwalk.program.opcodes import CALL, INSTRUCTIONS, TAKE

_NO_BREAK = "\0"  # stands for spaces within names while lines are wrapped
_MOST = 12  # operands of a loop that are shown
_NOTHING: Mapping[int, str] = {}
_WIDTH = 100  # of the lines that name inputs or outputs


def listing(code: Code) -> str:
    """Show a program: its inputs by name, one instruction a line, its outputs.

    The programs that loops and choices consist of are shown below it. Constants stand where they are used. Operands
    have the names of the inputs where there are any; otherwise they are called v and the index.

    Args:
        code: The parts of the program.

    Returns:
        The text.
    """
    inner: dict[int, tuple[str, Any]] = {}
    lines = _program_lines("program", code, inner)
    shown = 0
    while shown < len(inner):  # which grows while loops in loops are shown
        name, function = [*inner.values()][shown]
        lines += ["", f"{name}: {function.described}"]
        for title, part in function.shown_parts:
            lines += [f"  {line}" for line in _program_lines(title, part.code, inner)]
        shown += 1
    return "\n".join(lines)


def _program_lines(title: str, code: Code, inner: dict[int, tuple[str, Any]]) -> list[str]:
    """Show a program; the calls that consist of programs are added to `inner`, by name, to be shown below it."""
    for function, _ in code.calls:
        if function.kind and id(function) not in inner:
            number = 1 + sum(other.kind == function.kind for _, other in inner.values())
            inner[id(function)] = f"{function.name}{number}", function
    names = operand_names(code)
    head = _wrapped(f"{title}(", names[: code.inputs], "):")
    called = {which: name for which, (name, _) in inner.items()}
    return [*head, *_instruction_lines(code, names, called), *_output_lines(code, names)]


def instruction_lines(code: Code, names: Sequence[str]) -> list[str]:
    """Show each instruction on a line.

    Args:
        code: The parts of the program.
        names: What each index is called, as `operand_names` returns it.

    Returns:
        The lines, aligned.
    """
    return _instruction_lines(code, names, {})


def _instruction_lines(code: Code, names: Sequence[str], called: Mapping[int, str]) -> list[str]:
    width = len(names[-1]) if len(code) else 0
    own = names[len(names) - len(code) :]
    return [
        f"  {name:<{width}} = {_expression(code, row, names, called)}" for name, row in zip(own, code.rows, strict=True)
    ]


def instruction_line(code: Code, i: int) -> str:
    """Show one instruction, without alignment.

    Args:
        code: The parts of the program.
        i: Which instruction.

    Returns:
        The line.
    """
    names = operand_names(code)
    row = code.instructions[4 * i : 4 * i + 4].tolist()
    return f"{names[code.first + i]} = {_expression(code, row, names)}"


def operand_names(code: Code) -> list[str]:
    """Name what instructions may use.

    Args:
        code: The parts of the program.

    Returns:
        What each index is called: inputs by their names where these mean nothing else here, constants as numbers, and
        anything else v and its index.
    """
    count = Counter(code.input_names)
    names = [
        _on_one_line(name) if name and count[name] == 1 and not re.fullmatch(r"v\d+", name) else f"v{index}"
        for index, name in enumerate(code.input_names or [""] * code.inputs)
    ]
    names += map(repr, code.constants)
    return [*names, *(f"v{index}" for index in range(code.first, code.count))]


def _expression(code: Code, row: Sequence[int], names: Sequence[str], called: Mapping[int, str] = _NOTHING) -> str:
    opcode, *operands = row
    if opcode == CALL:
        which, position, _ = operands
        function, used = code.calls[which]
        given = [names[index] for index in used]
        if function.kind and len(given) > _MOST:
            given[_MOST // 2 : -_MOST // 2] = ["…"]
        text = f"{called.get(id(function), function.name)}({', '.join(given)})"
        return text if function.outputs == 1 else f"{text}[{position}]"
    if opcode == TAKE:
        index, which, _ = operands
        return f"take([{', '.join([names[entry] for entry in code.tables[which]])}], {names[index]})"
    return INSTRUCTIONS[opcode].text.format(*[names[index] for index in operands])


def _output_lines(code: Code, names: Sequence[str]) -> list[str]:
    """Show the outputs: on one line or, if they have names, on a line each."""
    results = [names[index] for index in code.outputs]
    if not code.output_names:
        return _wrapped("  return ", results, "")
    outputs = [_on_one_line(name) for name in code.output_names]
    width = max(map(len, outputs))
    return [f"  {name:<{width}} = {text}" for name, text in zip(outputs, results, strict=True)]


def _on_one_line(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _wrapped(before: str, items: Sequence[str], after: str) -> list[str]:
    """Separate items by commas, on as many lines as they need."""
    text = ", ".join([item.replace(" ", _NO_BREAK) for item in items])
    lines = textwrap.wrap(
        f"{before}{text}{after}",
        _WIDTH,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
