"""Print loops and switches as C functions: `static void name(const double *operands, double *results)`.

These functions run the same steps in the same order as `LoopRunner` and `BackwardPass`, so the results are bitwise
equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gradwalk.program.code.checkpoint_plan import slots_for

PARAMETERS = ["const double *operands", "double *results"]

# `CheckpointPlan` in C. The algorithm is described in checkpoint_plan.py.
PLAN = """\
/* The plan of the backward pass through a loop. A state is the carry before a step: `carry` numbers.
   Each action starts from the state before step `begin`, which is in a slot:
   PLAN_ADVANCE: run the steps before `end` and keep the state before step `end` in the next slot;
   PLAN_REPLAY: run the steps before `end`, then the backward pass of step `end`;
   PLAN_SWEEP: run the steps before `end`, keep all states in the next slots, then run the backward pass of the steps
   `end` to `begin`;
   PLAN_BACK: run the backward pass of the steps `end` to `begin`; their states are in consecutive slots. */
enum { PLAN_ADVANCE, PLAN_REPLAY, PLAN_SWEEP, PLAN_BACK };
struct checkpoint_plan {
    double *states; /* in all slots */
    long *kept;     /* per slot in use: the step whose state it holds */
    long carry, room, slots, used, last, kind, slot, begin, end;
    long limit, stride, full, next; /* while steps are counted */
};

static void plan_begin(struct checkpoint_plan *plan, long carry, long limit, long stride)
{
    plan->states = NULL;
    plan->kept = NULL;
    plan->carry = carry;
    plan->limit = plan->full = limit;
    plan->stride = stride;
    plan->room = plan->used = plan->next = 0;
}

static void plan_free(struct checkpoint_plan *plan)
{
    free(plan->states);
    free(plan->kept);
}

static int plan_reserve(struct checkpoint_plan *plan, long slots)
{
    double *states;
    if (slots <= plan->room) return 1;
    states = (double *)realloc(plan->states, (size_t)slots * (size_t)(plan->carry + 1) * sizeof(double));
    if (!states) return 0;
    plan->states = states;
    plan->room = slots;
    return 1;
}

/* Start the backward pass from the states that are kept; return 0 if out of memory. */
static int plan_start(struct checkpoint_plan *plan, long steps, long slots)
{
    long i;
    plan->kept = (long *)malloc((size_t)(slots < steps ? slots : 1) * sizeof(long));
    if (!plan->kept || !plan_reserve(plan, slots)) return 0;
    if (plan->stride < 2) plan->used = 1;
    for (i = 0; i < plan->used; ++i) plan->kept[i] = i * plan->stride;
    plan->slots = slots;
    plan->last = steps - 1;
    return 1;
}

/* The distance from a kept state to the next one, with `free` slots for `length` steps. */
static long plan_distance(long length, long free)
{
    double runs = 1.0, distance = 1.0, reached = (double)free + 2.0, most;
    if (free == 0) return length - 1;
    while (reached < (double)length) {
        runs += 1.0;
        distance = reached;
        reached = reached * ((double)free + 1.0 + runs) / runs;
    }
    most = (double)length - distance * ((double)free + 1.0) / ((double)free + runs);
    return (long)(distance < most ? distance : most);
}

/* Advance to the next action; return 0 if there is none. */
static int plan_next(struct checkpoint_plan *plan)
{
    long free;
    if (plan->last < 0) return 0;
    plan->end = plan->last;
    if (plan->stride == 1) {
        plan->kind = PLAN_BACK;
        plan->slot = plan->begin = 0;
        plan->last = -1;
        return 1;
    }
    while (plan->kept[plan->used - 1] > plan->last) --plan->used;
    plan->slot = plan->used - 1;
    plan->begin = plan->kept[plan->slot];
    free = plan->slots - plan->used;
    if (free >= plan->last - plan->begin - 1) {
        plan->kind = PLAN_SWEEP;
        plan->last = plan->begin - 1;
        return 1;
    }
    plan->end = plan->begin + plan_distance(plan->last - plan->begin + 1, free);
    if (plan->end < plan->last) {
        plan->kind = PLAN_ADVANCE;
        plan->kept[plan->used++] = plan->end;
    } else {
        plan->kind = PLAN_REPLAY;
        --plan->last;
    }
    return 1;
}"""

COUNTING = """\
/* Double the stride between kept states, or keep only the first state. */
static void plan_thin(struct checkpoint_plan *plan)
{
    long slot, i;
    plan->stride = 2 * plan->stride;
    if (4 * plan->stride > plan->limit) {
        plan->stride = 0;
        plan->full = plan->next = -1;
        return;
    }
    plan->full = plan->stride * (plan->limit - plan->stride + 2);
    plan->used = (plan->used + 1) / 2;
    plan->next = plan->used * plan->stride;
    for (slot = 1; slot < plan->used; ++slot)
        for (i = 0; i < plan->carry; ++i)
            plan->states[slot * plan->carry + i] = plan->states[2 * slot * plan->carry + i];
}

/* While counting: whether to keep the state before a step, in the last slot in use; -1 if out of memory. */
static int plan_keeps(struct checkpoint_plan *plan, long step)
{
    if (step == plan->full) plan_thin(plan);
    if (step != plan->next) return 0;
    if (plan->used == plan->room) {
        const long room = plan->room < 32 ? 64 : 2 * plan->room;
        if (!plan_reserve(plan, room < plan->limit ? room : plan->limit)) return -1;
    }
    ++plan->used;
    plan->next += plan->stride;
    return 1;
}

/* The number of states to keep. A policy > 0 is that number; -1: each step runs at most twice; 0: no step runs more
   often than there are states. */
static long plan_slots(long policy, long steps)
{
    double reached = 2.0;
    long slots = 1;
    if (policy > 0) slots = policy;
    else if (policy < 0) while (slots <= 2 * steps / slots) ++slots;
    else while (reached < (double)steps) {
        ++slots;
        reached = reached * 2.0 * (double)(2 * slots - 1) / (double)slots;
    }
    return slots < steps ? slots : steps > 1 ? steps : 1;
}"""

# The names at file scope in the definitions above.
NAMES = sorted({*re.findall(r"\bplan_\w+|PLAN_[A-Z]+|checkpoint_plan", PLAN + COUNTING)})

_POLICIES: Mapping[str | int | None, int] = {"sqrt": -1, "binomial": 0, None: 2**31 - 1}


def helpers(text: str) -> list[str]:
    """Return the definitions of the C helpers that the C code `text` uses."""
    return [*([PLAN] if "plan_next(" in text else []), *([COUNTING] if "plan_keeps(" in text else [])]


def function(call: Any, name: str, parts: Mapping[int, str]) -> list[str]:
    """Return the lines of the C function for a call: a loop, the reverse pass of a loop, or a switch.

    `parts` maps the id of each program's code to the name of the program's C function.
    """
    body = {"loop": _loop, "loop_back": _loop_back, "switch": _switch}[call.kind](call, parts)
    head = f"static void {name}({', '.join(PARAMETERS)})"
    return [head, "{", *_indented(body), "}", ""]


def programs_of(call: Any) -> Sequence[Any]:
    """Return the programs that the C function of a call runs."""
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
    return [*_declarations(call, "i, step = 0"), *_entered(call), *_steps(call, parts, done, lost), last]


def _loop_back(call: Any, parts: Mapping[int, str]) -> list[str]:
    loop = call.loop
    carry, fixed, row, out = loop.sizes
    rows = carry + fixed
    given = 1 + rows + row
    lost = [f"for (i = 0; i < {call.outputs}; ++i) results[i] = NAN;", "plan_free(&plan);", "return;"]
    return [
        *_declarations(loop, "i, at" if loop.condition is None else "i, at, step = 0"),
        f"double back[{given + rows + out}], found[{max(rows + row, 1)}];",
        "struct checkpoint_plan plan;",
        f"const double *seeds = operands + {loop.inputs};",
        *_entered(loop),
        f"for (i = 0; i < {rows}; ++i) back[1 + i] = operands[i];",
        f"for (i = 0; i < {carry}; ++i) back[{given} + i] = seeds[i];",
        f"for (i = {carry}; i < {rows}; ++i) back[{given} + i] = 0.0;",
        *(_started(loop, lost) if loop.condition is None else _counted(loop, parts, lost)),
        "while (plan_next(&plan)) {",
        *_indented(_action(loop, parts, _step_back(call, parts))),
        "}",
        f"for (i = 0; i < {rows}; ++i) results[i] = back[{given} + i];",
        "plan_free(&plan);",
    ]


def _started(loop: Any, lost: list[str]) -> list[str]:
    """Return C code that starts a plan for a loop whose number of steps is known.

    The lines `lost` are executed if memory runs out.
    """
    carry, slots = loop.sizes.carry, slots_for(loop.memory, loop.steps)
    return [
        f"plan_begin(&plan, {carry}, {slots}, 0);",
        f"if (!plan_start(&plan, {loop.steps}, {slots})) {{",
        *_indented(lost),
        "}",
        f"for (i = 0; i < {carry}; ++i) plan.states[i] = operands[i];",
    ]


def _counted(loop: Any, parts: Mapping[int, str], lost: list[str]) -> list[str]:
    """Return C code that runs the loop to count its steps and then starts a plan.

    The lines `lost` are executed if memory runs out or there are too many steps.
    """
    policy = _POLICIES[loop.memory] if loop.memory in _POLICIES else min(loop.memory, _POLICIES[None])
    return [
        f"plan_begin(&plan, {loop.sizes.carry}, {max(policy, 1)}, 1);",
        *_steps(
            loop,
            parts,
            [
                "at = plan_keeps(&plan, step);",
                "if (at < 0) {",
                *_indented(lost),
                "}",
                f"if (at) {_kept(loop, 'plan.used - 1')}",
                *_step(loop, parts, "step"),
                *_moved(loop),
            ],
            lost,
        ),
        f"if (!plan_start(&plan, step, plan_slots({policy}, step))) {{",
        *_indented(lost),
        "}",
    ]


def _action(loop: Any, parts: Mapping[int, str], step_back: list[str]) -> list[str]:
    """Return C code that executes an action of a plan."""
    carry = loop.sizes.carry
    return [
        "if (plan.kind != PLAN_BACK) {",
        f"    for (i = 0; i < {carry}; ++i) inputs[1 + i] = plan.states[plan.slot * {carry} + i];",
        "    for (at = plan.begin; at < plan.end; ++at) {",
        f"        if (plan.kind == PLAN_SWEEP) {_kept(loop, 'plan.slot + at - plan.begin')}",
        *_indented([*_step(loop, parts, "at"), *_moved(loop)], 2),
        "    }",
        "    if (plan.kind == PLAN_ADVANCE) {",
        f"        {_kept(loop, 'plan.slot + 1')}",
        "        continue;",
        "    }",
        "}",
        "for (at = plan.end; at >= (plan.kind == PLAN_REPLAY ? plan.end : plan.begin); --at) {",
        "    const double *state = inputs + 1;",
        "    if (plan.kind == PLAN_BACK || at < plan.end)",
        f"        state = plan.states + (plan.slot + at - plan.begin) * {carry};",
        f"    for (i = 0; i < {carry}; ++i) back[1 + i] = state[i];",
        *_indented(step_back),
        "}",
    ]


def _kept(loop: Any, slot: str) -> str:
    carry = loop.sizes.carry
    return f"for (i = 0; i < {carry}; ++i) plan.states[({slot}) * {carry} + i] = inputs[1 + i];"


def _step_back(call: Any, parts: Mapping[int, str]) -> list[str]:
    """Return C code that runs a step of the backward pass. The code expects the carry in the C array `back`."""
    loop = call.loop
    carry, fixed, row, out = loop.sizes
    rows = carry + fixed
    given = 1 + rows + row
    read_row = f"for (i = 0; i < {row}; ++i) back[{1 + rows} + i] = operands[{rows} + at * {row} + i];"
    read_seeds = f"for (i = 0; i < {out}; ++i) back[{given + rows} + i] = seeds[{carry} + at * {out} + i];"
    write_row = f"for (i = 0; i < {row}; ++i) results[{rows} + at * {row} + i] = found[{rows} + i];"
    return [
        f"back[0] = (double)({loop.first} + at);",
        *([read_row] if row else []),
        *([read_seeds] if out else []),
        f"{parts[id(call.body.code)]}(back, found);",
        *([write_row] if row else []),
        f"for (i = 0; i < {rows}; ++i) back[{given} + i] = found[i];",
    ]


def _indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    return [f"{4 * depth * ' '}{line}" for line in lines]


def _declarations(loop: Any, numbers: str) -> list[str]:
    carry, fixed, row, out = loop.sizes
    return [
        f"double inputs[{1 + carry + fixed + row}], outputs[{max(carry + out, 1)}];",
        *(["double holds;"] if loop.condition else []),
        f"long {numbers};",
    ]


def _entered(loop: Any) -> list[str]:
    return [f"for (i = 0; i < {loop.sizes.carry + loop.sizes.fixed}; ++i) inputs[1 + i] = operands[i];"]


def _steps(loop: Any, parts: Mapping[int, str], lines: Sequence[str], lost: Sequence[str]) -> list[str]:
    """Return C code that runs `lines` for each step. Afterwards the C variable `step` is the number of steps.

    The lines `lost` are executed if the condition still holds after the maximum number of steps.
    """
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
