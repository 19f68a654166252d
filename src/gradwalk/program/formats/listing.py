"""Print a program as a listing for people: one instruction per line."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, TAKE
from gradwalk.program.formats.operand_text import OperandText, named_runs, on_one_line, operand_names, shortened
from gradwalk.program.reroll.find_loops import fold
from gradwalk.program.reroll.repeats import Repeat, operand, result, traversed

_NO_BREAK = "\0"  # replaces spaces within names while lines are wrapped
_MOST = 12  # maximum number of operands that are shown for a loop or switch
_MOST_INPUTS = 20  # a longer run of inputs whose names differ only in subscripts is abbreviated
_FEWEST = 3  # a loop must save more than this many lines
_NOTHING: Mapping[int, str] = {}
_WIDTH = 100  # maximum width in characters of lines that list inputs or outputs


def listing(code: Code) -> str:
    """Return the listing of a program: its inputs, one line per instruction, and its outputs.

    Repeated instructions are printed as loops. The programs inside calls (loops and switches) are printed after the
    program. Constants are printed as numbers in the instructions that use them. A named input is shown by its name, and
    any other operand as "v" and its index. In a loop, "v[7]" means v7.
    """
    inner: dict[int, tuple[str, Any]] = {}
    lines = _program_lines("program", code, inner)
    shown = 0
    while shown < len(inner):  # `inner` grows while nested loops are printed
        name, function = [*inner.values()][shown]
        lines += ["", f"{name}: {function.described}"]
        for title, part in function.shown_parts:
            lines += [f"  {line}" for line in _program_lines(title, part.code, inner)]
        shown += 1
    return "\n".join(lines)


def _program_lines(title: str, code: Code, inner: dict[int, tuple[str, Any]]) -> list[str]:
    """Return the lines of a program. Calls that contain programs are added to `inner`, to be printed later."""
    for function, _ in code.calls:
        if function.kind and id(function) not in inner:
            number = 1 + sum(other.kind == function.kind for _, other in inner.values())
            inner[id(function)] = f"{function.name}{number}", function
    called = {which: name for which, (name, _) in inner.items()}
    repeats = [repeat for repeat in fold(code) if _is_shorter(repeat)]
    text = OperandText(code)
    names = text.names
    lines = _wrapped(f"{title}(", shortened(names[: code.inputs], _MOST_INPUTS), "):")
    width = len(names[-1]) if len(code) else 0
    for part, around in traversed(range(len(code)), repeats):
        indent = "  " * (1 + len(around))
        if isinstance(part, Repeat):
            lines.append(f"{indent}for {text.counters[len(around)]} in range({part.times}):")
        elif part is not None:
            lines += [f"{indent}{line}" for line in _part_lines(code, part, around, text, width, called)]
    return [*lines, *_output_lines(code, text)]


def _is_shorter(repeat: Repeat) -> bool:
    """Return whether printing the instructions as a loop saves enough lines."""
    return repeat.period * (repeat.times - 1) > _FEWEST


def _part_lines(
    code: Code, part: range, around: Sequence[Repeat], text: OperandText, width: int, called: Mapping[int, str]
) -> list[str]:
    """Return the lines of consecutive instructions. `around` lists the loops that enclose the instructions."""
    rows = code.instructions.reshape(-1, 4)[part.start : part.stop].tolist()
    if not around:
        own = text.names[code.first + part.start : code.first + part.stop]
        return [
            f"{name:<{width}} = {_expression(code, row, text.names, called)}"
            for name, row in zip(own, rows, strict=True)
        ]
    moving = [text(result(code, i, around), around) for i in part]
    width = max(map(len, moving))
    return [
        f"{name:<{width}} = {_moving_expression(code, i, row, around, text)}"
        for name, i, row in zip(moving, part, rows, strict=True)
    ]


def _moving_expression(code: Code, i: int, row: Sequence[int], around: Sequence[Repeat], text: OperandText) -> str:
    """Return the text of an instruction in a loop, without the name of its result. Loops never contain calls."""
    opcode = row[0]
    if opcode == TAKE:
        return f"take([{_entries(code, row[2], text.names)}], {text(operand(code, i, 1, around), around)})"
    given = [text(operand(code, i, column, around), around) for column in range(1, 1 + INSTRUCTIONS[opcode].arity)]
    return INSTRUCTIONS[opcode].text.format(*given)


def instruction_lines(code: Code, names: Sequence[str]) -> list[str]:
    """Return one aligned line per instruction; `names` is the result of `operand_names`."""
    width = len(names[-1]) if len(code) else 0
    own = names[len(names) - len(code) :]
    return [f"  {name:<{width}} = {_expression(code, row, names)}" for name, row in zip(own, code.rows, strict=True)]


def instruction_line(code: Code, i: int) -> str:
    """Return the line of instruction `i`, without alignment."""
    names = operand_names(code)
    row = code.instructions[4 * i : 4 * i + 4].tolist()
    return f"{names[code.first + i]} = {_expression(code, row, names)}"


def _expression(code: Code, row: Sequence[int], names: Sequence[str], called: Mapping[int, str] = _NOTHING) -> str:
    opcode, *operands = row
    if opcode == CALL:
        which, position, _ = operands
        function, used = code.calls[which]
        half = _MOST // 2 if function.kind and len(used) > _MOST else len(used)
        given = [names[index] for index in used[:half]]
        if half < len(used):
            given += ["…", *(names[index] for index in used[-half:])]
        text = f"{called.get(id(function), function.name)}({', '.join(given)})"
        return text if function.outputs == 1 else f"{text}[{position}]"
    if opcode == TAKE:
        index, which, _ = operands
        return f"take([{_entries(code, which, names)}], {names[index]})"
    return INSTRUCTIONS[opcode].text.format(*[names[index] for index in operands])


def _entries(code: Code, table: int, names: Sequence[str]) -> str:
    return ", ".join([names[entry] for entry in code.tables[table]])


def _output_lines(code: Code, text: OperandText) -> list[str]:
    """Return the lines of the outputs: one list of unnamed outputs, or a line per named output.

    Named outputs whose subscripts and indices are equally spaced are printed as loops.
    """
    if not code.output_names:
        return _wrapped("  return ", [text.names[index] for index in code.outputs], "")
    names = [on_one_line(name) for name in code.output_names]
    runs = named_runs(names, code.outputs)
    width = max([len(names[start]) for start, count in runs if count == 1], default=0)
    lines = []
    for start, count in runs:
        if count == 1:
            lines.append(f"  {names[start]:<{width}} = {text.names[code.outputs[start]]}")
        else:
            name, index = text.output(names, code.outputs, start, count)
            lines += [f"  for {text.counters[0]} in range({count}):", f"    {name} = {index}"]
    return lines


def _wrapped(before: str, items: Sequence[str], after: str) -> list[str]:
    """Join items with commas and wrap the lines."""
    text = ", ".join([item.replace(" ", _NO_BREAK) for item in items])
    lines = textwrap.wrap(
        f"{before}{text}{after}",
        _WIDTH,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
