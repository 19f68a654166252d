"""Loops and choices as functions in C: `static void name(const double *operands, double *results)`.

What is written follows `LoopRunner` step by step, and gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

PARAMETERS = ["const double *operands", "double *results"]

HELPERS = {
    "snapshots_for": """\
/* How many carries are kept for the way back through `steps` steps: for the least memory (most = 0), as many as a step
   is run again at most; else `most` of them, or for most = -1 as many as let each step be run at most twice more. */
static long snapshots_for(long most, long steps)
{
    long kept = 1;
    if (most > 0) return most < steps ? most : steps > 1 ? steps : 1;
    if (most < 0) {
        while (kept * kept <= 2 * steps) ++kept;
        return kept;
    }
    while (ways(2 * kept, kept, steps) < steps) ++kept;
    return kept;
}""",
    "ahead_of": """\
/* How far from a kept carry the next one is kept, or the last of `length` steps reached; `room` more can be kept. */
static long ahead_of(long length, long room)
{
    long times = 1, ahead;
    if (room >= length - 2) return 1;
    if (room == 0) return length - 1;
    while (ways(room + 1 + times, times, length) < length) ++times;
    ahead = ways(room + times, room + 1, length);
    return ahead < length - 1 ? ahead : length - 1;
}""",
    "ways": """\
/* How many ways there are to choose `few` of `many`; `enough` where there are more than that. */
static long ways(long many, long few, long enough)
{
    double found = 1.0;
    long i;
    if (few > many - few) few = many - few;
    for (i = 1; i <= few; ++i) {
        found = found * (double)(many - few + i) / (double)i;
        if (found > 2.0 * (double)enough) return enough;
    }
    return found + 0.5 < (double)enough ? (long)(found + 0.5) : enough;
}""",
}


def function(call: Any, name: str, parts: Mapping[int, str]) -> list[str]:
    """Write a call as a function.

    Args:
        call: The loop, the way back through one, or the choice.
        name: The name of the function.
        parts: The names of the functions of the programs that it consists of, by the `id` of their code.

    Returns:
        Lines of C.
    """
    body = {"loop": _loop, "loop_back": _loop_back, "switch": _switch}[call.kind](call, parts)
    head = f"static void {name}({', '.join(PARAMETERS)})"
    return [head, "{", *_indented(body), "}", ""]


def programs_of(call: Any) -> Sequence[Any]:
    """Return the programs that the function of a call runs.

    Args:
        call: The loop, the way back through one, or the choice.

    Returns:
        The programs.
    """
    return [part for _, part in call.shown_parts]


def _switch(call: Any, parts: Mapping[int, str]) -> list[str]:
    last = len(call.branches) - 1
    cases = [
        f"{f'if (operands[0] < {i + 1})' if i < last else 'if (operands[0] == operands[0])'} "
        f"{{ {parts[id(branch.code)]}(operands + 1, results); return; }}"
        for i, branch in enumerate(call.branches)
    ]
    return ["long i;", *cases, f"for (i = 0; i < {call.outputs}; ++i) results[i] = NAN;"]


def _loop(call: Any, parts: Mapping[int, str]) -> list[str]:
    carry, _, _, out = call.sizes
    write = f"for (i = 0; i < {out}; ++i) results[{carry} + step * {out} + i] = outputs[{carry} + i];"
    done = [*_step(call, parts, "step"), *([write] if out else []), *_moved(call)]
    lost = [f"for (i = 0; i < {call.outputs}; ++i) results[i] = NAN;", "return;"]
    last = f"for (i = 0; i < {carry}; ++i) results[i] = inputs[1 + i];"
    return [*_declarations(call), *_entered(call), *_steps(call, parts, done, lost), last]


def _loop_back(call: Any, parts: Mapping[int, str]) -> list[str]:
    loop = call.loop
    carry, fixed, row, out = loop.sizes
    rows = carry + fixed
    given = 1 + rows + row
    read_row = f"for (i = 0; i < {row}; ++i) back[{1 + rows} + i] = operands[{rows} + step * {row} + i];"
    read_seeds = f"for (i = 0; i < {out}; ++i) back[{given + rows} + i] = seeds[{carry} + step * {out} + i];"
    write_row = f"for (i = 0; i < {row}; ++i) results[{rows} + step * {row} + i] = found[{rows} + i];"
    step_back = [
        f"back[0] = (double)({loop.first} + step);",
        *([read_row] if row else []),
        *([read_seeds] if out else []),
        f"{parts[id(call.body.code)]}(back, found);",
        *([write_row] if row else []),
        f"for (i = 0; i < {rows}; ++i) back[{given} + i] = found[i];",
    ]
    lost = [f"for (i = 0; i < {call.outputs}; ++i) results[i] = NAN;", "free(kept);", "return;"]
    back = _back_from_all if loop.memory is None else _back_from_snapshots
    return [
        *_declarations(loop),
        f"double back[{given + rows + out}], found[{max(rows + row, 1)}];",
        "double *kept = NULL;",
        f"const double *seeds = operands + {loop.inputs};",
        *_entered(loop),
        f"for (i = 0; i < {rows}; ++i) back[1 + i] = operands[i];",
        f"for (i = 0; i < {carry}; ++i) back[{given} + i] = seeds[i];",
        f"for (i = {carry}; i < {rows}; ++i) back[{given} + i] = 0.0;",
        *back(loop, parts, step_back, lost),
        f"for (i = 0; i < {rows}; ++i) results[i] = back[{given} + i];",
        "free(kept);",
    ]


def _back_from_all(loop: Any, parts: Mapping[int, str], step_back: list[str], lost: list[str]) -> list[str]:
    carry = loop.sizes.carry
    keep = [
        "if (step == room) {",
        f"    double *larger = (double *)realloc(kept, (size_t)(room = 2 * room) * {max(carry, 1)} * sizeof(double));",
        "    if (!larger) {",
        *_indented(lost, 2),
        "    }",
        "    kept = larger;",
        "}",
        f"for (i = 0; i < {carry}; ++i) kept[step * {carry} + i] = inputs[1 + i];",
    ]
    return [
        "long room = 64;",
        f"kept = (double *)malloc((size_t)room * {max(carry, 1)} * sizeof(double));",
        "if (!kept) {",
        *_indented(lost),
        "}",
        *_steps(loop, parts, [*keep, *_step(loop, parts, "step"), *_moved(loop)], lost),
        "while (step-- > 0) {",
        f"    for (i = 0; i < {carry}; ++i) back[1 + i] = kept[step * {carry} + i];",
        *_indented(step_back),
        "}",
    ]


def _back_from_snapshots(loop: Any, parts: Mapping[int, str], step_back: list[str], lost: list[str]) -> list[str]:
    carry = loop.sizes.carry
    most = {"sqrt": -1, "binomial": 0}.get(loop.memory, loop.memory)
    step = [*_step(loop, parts, "at"), *_moved(loop)]
    counting = [*_step(loop, parts, "step"), *_moved(loop)]
    return [
        "long most, used = 1, at, target, *places;",
        *(_steps(loop, parts, counting, lost) if loop.condition else [f"step = {loop.steps};"]),
        f"most = snapshots_for({most}, step);",
        f"kept = (double *)malloc((size_t)most * {max(carry, 1)} * sizeof(double));",
        "places = (long *)malloc((size_t)most * sizeof(long));",
        "if (!kept || !places) {",
        "    free(places);",
        *_indented(lost),
        "}",
        f"for (i = 0; i < {carry}; ++i) kept[i] = operands[i];",
        "places[0] = 0;",
        "while (step-- > 0) {",
        "    while (places[used - 1] > step) --used;",
        "    at = places[used - 1];",
        f"    for (i = 0; i < {carry}; ++i) inputs[1 + i] = kept[(used - 1) * {carry} + i];",
        "    while (at < step) {",
        "        target = at + ahead_of(step - at + 1, most - used);",
        "        for (; at < target; ++at) {",
        *_indented(step, 3),
        "        }",
        "        if (at < step) {",
        f"            for (i = 0; i < {carry}; ++i) kept[used * {carry} + i] = inputs[1 + i];",
        "            places[used++] = at;",
        "        }",
        "    }",
        f"    for (i = 0; i < {carry}; ++i) back[1 + i] = inputs[1 + i];",
        *_indented(step_back),
        "}",
        "free(places);",
    ]


def _indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    return [f"{4 * depth * ' '}{line}" for line in lines]


def _declarations(loop: Any) -> list[str]:
    carry, fixed, row, out = loop.sizes
    return [
        f"double inputs[{1 + carry + fixed + row}], outputs[{max(carry + out, 1)}];",
        *(["double holds;"] if loop.condition else []),
        "long i, step = 0;",
    ]


def _entered(loop: Any) -> list[str]:
    return [f"for (i = 0; i < {loop.sizes.carry + loop.sizes.fixed}; ++i) inputs[1 + i] = operands[i];"]


def _steps(loop: Any, parts: Mapping[int, str], lines: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Write what is done in each step; `step` is their number after it. `lost` follows where there are too many."""
    if loop.condition is None:
        return [f"for (; step < {loop.steps}; ++step) {{", *_indented(lines), "}"]
    limit = [f"if (step == {loop.steps}) {{", *_indented(lost), "}"] if loop.steps is not None else []
    asked = [f"{parts[id(loop.condition.code)]}(inputs + 1, &holds);", "if (holds == 0.0) break;", *limit]
    return ["for (;; ++step) {", *_indented([*asked, *lines]), "}"]


def _step(loop: Any, parts: Mapping[int, str], count: str) -> list[str]:
    carry, fixed, row, _ = loop.sizes
    rows = carry + fixed
    read_row = f"for (i = 0; i < {row}; ++i) inputs[{1 + rows} + i] = operands[{rows} + {count} * {row} + i];"
    return [
        f"inputs[0] = (double)({loop.first} + {count});",
        *([read_row] if row else []),
        f"{parts[id(loop.body.code)]}(inputs, outputs);",
    ]


def _moved(loop: Any) -> list[str]:
    return [f"for (i = 0; i < {loop.sizes.carry}; ++i) inputs[1 + i] = outputs[i];"]
