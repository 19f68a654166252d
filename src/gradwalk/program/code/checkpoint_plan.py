"""`CheckpointPlan`: which states of a loop are kept for its backward pass, and which steps are run again.

The backward pass through a loop needs the state before each step, that is the carry, from the last step to the first. A
policy says how many states are kept in slots; all other states are computed again from these. Single samples
(loop_runner.py), batches (backend/loops/loop_lanes.py) and C (c_calls.py) all execute this plan.

Each action of a plan starts from the state in a slot:

- ADVANCE: run steps `begin` to `end - 1`, and keep the state before step `end` in the next slot;
- REPLAY: run steps `begin` to `end - 1`, and go back over step `end`;
- SWEEP: the same, but keep the states on the way in the next slots, and go back over all steps from `end` to `begin`;
- BACK: run nothing; go back over all steps from `end` to `begin`, whose states are in consecutive slots.

States are placed as in Griewank and Walther, Algorithm 799: revolve, ACM TOMS 26 (2000). With k slots and n steps, no
step is run more than r times, for the smallest r with comb(k + r, r) >= n.

If the number of steps is not known, a first pass counts them. It keeps every state as long as there are slots, then
every second state, then every fourth. The backward pass begins with these states if it needs at most one more run of
each step; otherwise only the first state is kept.
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
    """Return how many states are kept at once in the backward pass through a loop.

    Args:
        policy: None for the states before all steps; "sqrt" for about sqrt(2 * steps), with which no step is run more
            than twice; "binomial" for the smallest number with which no step is run more often than there are slots; or
            the number.
        steps: The number of steps of the loop.

    Returns:
        The number, at least 1 and at most `steps` where there are steps.
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
    """The actions of a backward pass, one after the other.

    Args:
        policy: The number of states that are kept: see `slots_for`.
        steps: The number of steps, or -1 if they are still to be counted. Before the first action, the state before
            step 0 must be in slot 0.

    Attributes:
        slots: The number of slots, once the number of steps is known.
        limit: The most states that are kept while the steps are counted.
        stride: While counting, the state before step `i * stride` is kept in slot `i`; only the state before step 0 is
            kept if this is 0.
        full: While counting, the number of steps after which all slots are in use: `thin` must be called then.
        kind: The kind of the current action.
        slot: The slot that it starts from.
        begin: The step whose state is in that slot.
        end: The step that it leads to.
    """

    # The types of the fields are in checkpoint_plan.pxd.

    def __init__(self, policy: Policy, steps: int = -1) -> None:
        self._policy = policy
        self.limit = _ENDLESS if policy is None else 1 if isinstance(policy, str) else min(policy, _ENDLESS)
        self.stride, self.full = 1, self.limit
        if steps >= 0:
            self.stride = 0
            self.start(steps)

    def thin(self) -> int:
        """Keep every second state from now on, or only the first if the backward pass would need more runs with them.

        Slot i must get the state that is in slot 2 * i, for each i below the returned number.

        Returns:
            The number of states that are still kept.
        """
        kept: cython.Py_ssize_t = self.full // self.stride
        self.stride = 2 * self.stride
        if 4 * self.stride > self.limit:
            self.stride, self.full = 0, _ENDLESS
            return 1
        # The slots that are left must suffice for a sweep from one kept state to the next.
        self.full = self.stride * (self.limit - self.stride + 2)
        return (kept + 1) // 2

    def start(self, steps: cython.Py_ssize_t) -> None:
        """Begin the backward pass with the states that are kept now.

        Args:
            steps: The number of steps.
        """
        self.slots = slots_for(self._policy, steps)
        self._last = steps - 1
        self._kept = list(range(0, steps, self.stride)) if self.stride > 1 else [0]

    def next(self) -> bool:
        """Go on to the next action.

        Returns:
            Whether there is one.
        """
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
    """Return how far from a kept state the next one is kept, with `free` slots for `length` steps.

    Let `runs` be the smallest number with comb(free + 1 + runs, runs) >= length. The distance is so long that the steps
    behind the next kept state, with one slot less, are not run more than `runs` times; it is at most
    comb(free + runs, free + 1), so that the steps before that state are not run more often either.
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
