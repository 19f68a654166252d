"""`CheckpointPlan`: decide which states of a loop the backward pass keeps and which steps it runs again.

The backward pass through a loop needs the state (the carry) before each step, from the last step to the first. A policy
limits the number of states kept in slots; all other states are recomputed. Five modules execute this plan:
loop_runner.py for single samples, backend/loops/loop_lanes.py for batches, array_loop.py for whole arrays,
lower_loops.py in machine code, where plan_ir.py has the functions of the plan, and c_calls.py in C.

Each action of a plan starts from the state in a slot:

- ADVANCE: run steps `begin` to `end - 1` and keep the state before step `end` in the next slot;
- REPLAY: run steps `begin` to `end - 1` and then the backward pass of step `end`;
- SWEEP: run steps `begin` to `end - 1`, keep every state in the next slots, and then run the backward pass of steps
  `end` to `begin`;
- BACK: run only the backward pass of steps `end` to `begin`, whose states are in consecutive slots.

The algorithm decides which states to keep as in Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26 (2000). With
k slots and n steps, no step is run more than r times, where r is the smallest number with comb(k + r, r) >= n.

If the number of steps is unknown, a first pass counts the steps. This pass keeps every state until the slots are full,
then only every second state, then every fourth, and so on. The backward pass starts from these states if it then has to
run each step at most once more; otherwise only the first state is kept.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from gradwalk.base import _cython as cython

if not TYPE_CHECKING and cython.compiled:
    import cython

Policy = str | int | None

ADVANCE, REPLAY, SWEEP, BACK = range(4)

_ENDLESS = sys.maxsize


def slots_for(policy: Policy, steps: cython.Py_ssize_t) -> int:
    """Return the number of slots: the maximum number of states that the backward pass keeps at the same time.

    The result is between 1 and `steps`, or 1 if there are no steps. `policy` is one of:

    - None: one slot per step;
    - "sqrt": about sqrt(2 * steps) slots, so that no step runs more than twice;
    - "binomial": the smallest number k of slots such that no step runs more than k times;
    - an int: the number of slots.
    """
    slots: cython.Py_ssize_t
    if policy is None:
        slots = steps
    elif policy == "sqrt":
        slots = math.isqrt(2 * steps) + 1
    elif policy == "binomial":
        slots = next(count for count in range(1, 64) if math.comb(2 * count, count) >= steps)
    else:
        slots = min(int(policy), steps)
    return max(1, min(slots, steps))


@cython.final
@cython.cclass
class CheckpointPlan:
    """The sequence of actions of a backward pass.

    Args:
        policy: The policy for the number of states to keep; see `slots_for`.
        steps: The number of steps, or -1 if a first pass counts them. The state before step 0 must be in slot 0 when
            the first action is executed.

    Attributes:
        slots: The number of slots. It is set once the number of steps is known.
        limit: The maximum number of states that the counting pass keeps.
        stride: The counting pass keeps the state before step `i * stride` in slot `i`. If `stride` is 0, it keeps only
            the state before step 0.
        full: The number of steps after which the counting pass has filled all slots and must call `thin`.
        kind: The kind of the current action.
        slot: The slot that the current action starts from.
        begin: The state in slot `slot` is the state before step `begin`.
        end: The `end` of the current action; see the list of actions in the module docstring.
    """

    # The types of the fields are declared in checkpoint_plan.pxd.

    def __init__(self, policy: Policy, steps: int = -1) -> None:
        self._policy = policy
        self.limit = _ENDLESS if policy is None else 1 if isinstance(policy, str) else min(policy, _ENDLESS)
        self.stride, self.full = 1, self.limit
        if steps >= 0:
            self.stride = 0
            self.start(steps)

    def thin(self) -> int:
        """Double the stride between kept states, or keep only the first state if the stride would be too large.

        Returns the number of states that are still kept. The caller must move the state in slot 2 * i to slot i for
        each i below the returned number.
        """
        kept: cython.Py_ssize_t = self.full // self.stride
        self.stride = 2 * self.stride
        if 4 * self.stride > self.limit:
            self.stride, self.full = 0, _ENDLESS
            return 1
        # The free slots must have room for all states between two kept states.
        self.full = self.stride * (self.limit - self.stride + 2)
        return (kept + 1) // 2

    def start(self, steps: cython.Py_ssize_t) -> None:
        """Start the backward pass over `steps` steps from the states that are kept now."""
        self.slots = slots_for(self._policy, steps)
        self._last = steps - 1
        self._kept = list(range(0, steps, self.stride)) if self.stride > 1 else [0]

    def next(self) -> bool:
        """Advance to the next action; return whether there is one."""
        if self._last < 0:
            return False
        if self.stride == 1:
            self._set(BACK, 0, 0, self._last)
            self._last = -1
            return True
        while self._kept[-1] > self._last:
            self._kept.pop()
        slot: cython.Py_ssize_t = len(self._kept) - 1
        begin: cython.Py_ssize_t = self._kept[slot]
        free: cython.Py_ssize_t = self.slots - slot - 1
        if free >= self._last - begin - 1:
            self._set(SWEEP, slot, begin, self._last)
            self._last = begin - 1
            return True
        end: cython.Py_ssize_t = begin + _distance(self._last - begin + 1, free)
        if end < self._last:
            self._set(ADVANCE, slot, begin, end)
            self._kept.append(end)
            return True
        self._set(REPLAY, slot, begin, end)
        self._last -= 1
        return True

    @cython.cfunc
    @cython.inline
    def _set(
        self, kind: cython.int, slot: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> object:
        self.kind = kind
        self.slot = slot
        self.begin = begin
        self.end = end
        return None


@cython.cfunc
@cython.exceptval(check=False)
def _distance(length: cython.Py_ssize_t, free: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the distance in steps from a kept state to the next state to keep.

    There are `length` steps left and `free` free slots. Let `runs` be the smallest number with
    comb(free + 1 + runs, runs) >= length. The distance is large enough that the steps after the next kept state, which
    have one slot fewer, run at most `runs` times. It is at most comb(free + runs, free + 1), so that the steps before
    that state run at most `runs` times, too.
    """
    if free == 0:
        return length - 1
    runs: cython.Py_ssize_t = 1
    distance: cython.Py_ssize_t = 1
    reached: cython.Py_ssize_t = free + 2
    while reached < length:
        runs += 1
        distance = reached
        reached = reached * (free + 1 + runs) // runs
    return min(distance, length - distance * (free + 1) // (free + runs))
