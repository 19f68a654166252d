"""Machine code follows the checkpoint plan that the interpreter follows, and gives the same bits."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy
import pytest
from checkout import IS_COMPILED

from gradwalk import grad, jit, loops, vmap
from gradwalk import math as gm
from gradwalk.program.code.checkpoint_plan import ADVANCE, REPLAY, CheckpointPlan, slots_for
from gradwalk.program.native import machine_code
from gradwalk.program.native.plan_ir import ACTION, PLAN
from gradwalk.program.routine.lower_calls import routine

pytest.importorskip("llvmlite")

POLICIES = ["sqrt", "binomial", 1, 2, 3, 10, 1000]
MODULE = f"""
declare i64 @llvm.smin.i64(i64, i64)
{PLAN}
define i32 @run(ptr %values) {{
  %last = load i64, ptr %values
  %p1 = getelementptr i64, ptr %values, i64 1
  %begin = load i64, ptr %p1
  %p2 = getelementptr i64, ptr %values, i64 2
  %row = load i64, ptr %p2
  %p3 = getelementptr i64, ptr %values, i64 3
  %slots = load i64, ptr %p3
  %found = call {ACTION} @action(i64 %last, i64 %begin, i64 %row, i64 %slots)
  store {ACTION} %found, ptr %values
  %binomial = call i64 @binomial_slots(i64 %slots)
  %p8 = getelementptr i64, ptr %values, i64 8
  store i64 %binomial, ptr %p8
  ret i32 0
}}
"""


def compiled_plan():
    """Return a function that maps (last, begin, row, slots) to the fields of an action, and `binomial_slots(slots)`."""
    code = machine_code.assembled(MODULE, {})
    run = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address)

    def action(*given: int) -> list[int]:
        values = numpy.array([*given, 0, 0, 0, 0, 0], numpy.int64)
        run(values.ctypes.data)
        assert code is not None  # keeps the machine code alive
        return values.tolist()

    return action


def actions(action, slots: int, steps: int) -> Iterator[tuple[int, ...]]:
    """Yield the actions of machine code: the first step, the number of steps, and the steps that run backward."""
    starts, last, top = {1: 0}, steps - 1, 1
    while last >= 0:
        while starts[top] > last:
            top -= 1
        begin = starts[top]
        count, keeps, base, after, backs, back_begin, last, next_top, _ = action(last, begin, top, slots)
        assert (keeps, base) in ((1, top), (0, 0))
        assert max(after, base + backs - 1) <= slots + 1
        starts[after] = begin + count
        top = next_top
        yield begin, count, back_begin, backs


def expected_actions(policy, steps: int) -> Iterator[tuple[int, ...]]:
    plan = CheckpointPlan(policy, steps)
    while plan.next():
        count = plan.end - plan.begin
        backs = 0 if plan.kind == ADVANCE else 1 if plan.kind == REPLAY else count + 1
        yield plan.begin, count, plan.end if plan.kind in (ADVANCE, REPLAY) else plan.begin, backs


def test_actions_are_those_of_the_plan():
    action = compiled_plan()
    for policy in POLICIES:
        for steps in [*range(1, 70), 200, 1000]:
            found = list(actions(action, slots_for(policy, steps), steps))
            expected = [x if x[3] else (*x[:2], x[0] + x[1], 0) for x in expected_actions(policy, steps)]
            assert found == expected, (policy, steps)


def test_slots_of_the_binomial_policy():
    action = compiled_plan()
    for steps in [*range(1, 300), 10**6, 2**31, 2**53]:
        assert action(0, 0, 1, steps)[8] == slots_for("binomial", steps)


def pendulum(steps, policy):
    def step(i, state):
        angle, speed = state
        return angle + 0.1 * speed, speed - 0.1 * gm.sin(angle) * (1.0 + 0.01 * i)

    return lambda x: loops.fori_loop(0, steps, step, (x, 1.0), checkpoint=policy)[0]


def decay(policy):
    def step(state):
        return 0.9 * state[0] + 0.01 * gm.sin(state[0]), state[1] + 1.0

    return lambda x: loops.while_loop(lambda s: s[0] > 0.01, step, (x, 0.0), checkpoint=policy)[0]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("of", [grad, lambda f: grad(grad(f))], ids=["grad", "grad of grad"])
def test_all_policies_give_the_same_bits(policy, of):
    batch = numpy.linspace(0.005, 3.0, 21)
    for f in (pendulum(1, policy), pendulum(2, policy), pendulum(40, policy), decay(policy)):
        compiled, reference = (jit(of(f), backend=backend) for backend in ("llvm", "lanes"))
        assert [compiled(x) for x in batch.tolist()] == [reference(x) for x in batch.tolist()]
        assert compiled.statistics.backends[""] == "llvm" or not IS_COMPILED
        compiled, reference = (jit(vmap(of(f)), backend=backend) for backend in ("llvm", "lanes"))
        assert compiled(batch).tolist() == reference(batch).tolist()


def test_memory_is_what_the_policy_says():
    for policy, rows in (("binomial", 7), (4, 4)):
        code = jit(grad(pendulum(1000, policy))).recorded(0.1).program.code
        assert sorted(routine(code).arrays.values()) == [rows + 2, 2 * (rows + 2)]
    code = jit(grad(decay("sqrt"))).recorded(0.1).program.code
    assert len(routine(code).growing) == 2
