"""Checkpoint plans reverse every step once, within the limits on memory and recomputation."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import subprocess
from collections import Counter
from typing import NamedTuple

import pytest
from c_compiler import STRICT, installed

from gradwalk.program.code.checkpoint_plan import ADVANCE, BACK, REPLAY, SWEEP, CheckpointPlan, slots_for
from gradwalk.program.formats.c.c_calls import COUNTING, PLAN

POLICIES = [None, "sqrt", "binomial", 1, 2, 4, 7, 50, 300, 10**18]
STEPS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 16, 17, 33, 57, 100, 257, 1000]


class Execution(NamedTuple):
    """Record of an executed plan.

    Attributes:
        runs: Number of runs of each step.
        peak: Largest number of states in slots at once.
        actions: The kind, slot, begin and end of each action.
    """

    runs: Counter[int]
    peak: int
    actions: list[tuple[int, int, int, int]]


class Slots(list[int]):
    """The step whose state is in each used slot, and the largest number of used slots so far."""

    peak = 0

    def append(self, step: int) -> None:
        super().append(step)
        self.peak = max(self.peak, len(self))


def count(plan: CheckpointPlan, steps: int, slots: Slots, runs: Counter[int]) -> None:
    """Run the first pass of a loop, which counts the steps and keeps states."""
    for step in range(steps):
        if step == plan.full:
            slots[:] = slots[::2][: plan.thin()]
        if plan.stride and step % plan.stride == 0:
            assert len(slots) == step // plan.stride
            slots.append(step)
        runs[step] += 1
    plan.start(steps)


def execute(policy: str | int | None, steps: int, *, counted: bool) -> Execution:
    """Execute a plan with step numbers as states, and check that it reverses every step once."""
    runs: Counter[int] = Counter()
    slots = Slots()
    plan = CheckpointPlan(policy, -1 if counted else steps)
    if counted:
        count(plan, steps, slots, runs)
    else:
        slots.append(0)
    actions, reversed_steps = [], []
    while plan.next():
        actions.append((plan.kind, plan.slot, plan.begin, plan.end))
        if plan.kind == BACK:
            reversed_steps += [slots.pop() for _ in range(plan.end, plan.begin - 1, -1)]
            continue
        del slots[plan.slot + 1 :]
        assert slots[plan.slot] == plan.begin
        for step in range(plan.begin, plan.end):
            if plan.kind == SWEEP and step > plan.begin:
                slots.append(step)
            runs[step] += 1
        if plan.kind == ADVANCE:
            slots.append(plan.end)
            continue
        reversed_steps.append(plan.end)
        if plan.kind == SWEEP:
            reversed_steps += [slots.pop() for _ in range(plan.begin, plan.end)]
    assert reversed_steps == list(range(steps))[::-1]
    assert len(actions) <= max(3 * steps, 1)
    assert {REPLAY, ADVANCE, SWEEP, BACK}.issuperset(kind for kind, *_ in actions)
    return Execution(runs, slots.peak, actions)


@pytest.mark.parametrize("counted", [False, True], ids=["known", "counted"])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_every_step_is_reversed_within_the_limits(policy, counted):
    for steps in (*STEPS, 30_000) if policy not in (1, 2, 4, 7) else STEPS:
        execution = execute(policy, steps, counted=counted)
        slots = slots_for(policy, steps)
        assert execution.peak <= max(1, slots)
        most = max(execution.runs.values(), default=0)
        again = next(runs for runs in itertools.count() if math.comb(slots + runs, runs) >= steps)
        assert most <= again + counted
        if policy is None or policy == 10**18:
            assert execution.peak <= max(1, steps)
            assert most <= 1
        elif policy == "sqrt":
            assert execution.peak <= math.sqrt(2 * steps) + 1
            assert most <= 2 + counted
        elif policy == "binomial":
            assert execution.peak <= math.log2(max(steps, 1)) / 2 + 3
            assert most <= slots + counted
        else:
            assert execution.peak <= policy


@functools.cache
def fewest_runs(steps: int, slots: int) -> int:
    """Return the fewest step runs of a backward pass, by trying every position of the next kept state."""
    if slots == 1 or steps < 2:
        return steps * (steps - 1) // 2
    return min(far + fewest_runs(steps - far, slots - 1) + fewest_runs(far, slots) for far in range(1, steps))


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 6, 9])
def test_plans_for_known_lengths_run_the_fewest_steps(slots):
    for steps in range(1, 60):
        assert execute(slots, steps, counted=False).runs.total() == fewest_runs(steps, slots)


@pytest.mark.parametrize("slots", [8, 9, 16, 37, 64])
def test_states_kept_while_counting_are_reused(slots):
    # After counting, each step runs at most once more, and not at all if all states fit in the slots.
    assert execute(slots, slots, counted=True).runs.total() == slots
    for steps in range(slots + 1, slots * slots // 10):
        execution = execute(slots, steps, counted=True)
        assert execution.peak <= slots
        assert max(execution.runs.values()) <= 2


DRIVER = """
#include <stdlib.h>
{plan}
{counting}
/* Write kind, slot, begin and end of each action. Return the number of actions, or -1 if a slot has the wrong state. */
long actions_of(long policy, long steps, int counted, long slots, long limit, long *actions)
{{
    struct checkpoint_plan plan;
    long step = 0, found = 0, i;
    plan_begin(&plan, 1, counted ? limit : slots, counted ? 1 : 0);
    if (counted) {{
        for (; step < steps; ++step)
            if (plan_keeps(&plan, step)) plan.states[plan.used - 1] = (double)step;
        slots = plan_slots(policy, steps);
        for (i = 0; i < plan.used && (i == 0 || plan.stride > 0); ++i)
            if (plan.states[i] != (double)(i * plan.stride)) return -1;
    }}
    if (!plan_start(&plan, steps, slots)) return -2;
    while (plan_next(&plan)) {{
        actions[4 * found] = plan.kind;
        actions[4 * found + 1] = plan.slot;
        actions[4 * found + 2] = plan.begin;
        actions[4 * found++ + 3] = plan.end;
    }}
    plan_free(&plan);
    return found;
}}
"""


def test_plans_in_c_have_the_same_actions(tmp_path):
    (tmp_path / "plan.c").write_text(DRIVER.format(plan=PLAN, counting=COUNTING), encoding="ascii")
    library = tmp_path / "plan.so"
    subprocess.run([installed("cc"), *STRICT, "-shared", "-fPIC", tmp_path / "plan.c", "-o", library], check=True)
    actions_of = ctypes.CDLL(str(library)).actions_of
    actions_of.restype = ctypes.c_long
    numbers = (ctypes.c_long * 100_000)()
    codes = {None: 2**31 - 1, "sqrt": -1, "binomial": 0}
    for policy, steps, counted in itertools.product(POLICIES, STEPS, [False, True]):
        code = codes[policy] if policy in codes else min(policy, 2**31 - 1)
        given = [ctypes.c_long(x) for x in (code, steps)]
        more = [ctypes.c_long(x) for x in (slots_for(policy, steps), max(code, 1))]
        found = actions_of(*given, ctypes.c_int(counted), *more, numbers)
        expected = execute(policy, steps, counted=counted).actions
        assert found == len(expected), (policy, steps, counted)
        assert list(numbers[: 4 * found]) == list(itertools.chain.from_iterable(expected)), (policy, steps, counted)
