"""Lower the calls of a program: loops, their reverse passes, and switches: `routine(code)`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwalk.program.code.code import Code
from gradwalk.program.routine.limits import MEMORY
from gradwalk.program.routine.lower_loops import Trail, backward, forward, not_run
from gradwalk.program.routine.lower_program import (
    Changing,
    LowerCall,
    Lowering,
    Trails,
    lowered,
    lowered_on_lanes,
)
from gradwalk.program.routine.numbers import Numbers
from gradwalk.program.routine.statements import Choose, Operand, Routine, Statement

# Maximum number of statements of a routine, which counts the body of a loop once. It limits the time of a compilation.
MOST = 6000
# The same on lanes. Instructions on vectors take longer to compile.
MOST_ON_LANES = 2000


def routine(code: Code, *, memory: int = MEMORY) -> Routine:
    """Lower a program: see `lowered`. Raises `TooLargeError` if there would be more than `MOST` statements."""
    return lowered(code, _lower_call, MOST, memory)


def routine_on_lanes(code: Code, uniform: int, lanes: int, *, memory: int = MEMORY, most: int | None = None) -> Routine:
    """Lower a program for a batch: see `lowered_on_lanes`.

    Raises `TooLargeError` if there would be more than `most` statements, or `MOST_ON_LANES` if `most` is None.
    """
    return lowered_on_lanes(code, uniform, lanes, _lower_call, MOST_ON_LANES if most is None else most, memory)


def _lower_call(lowering: Lowering, call: Any, operands: Numbers, trails: Trails) -> Sequence[Operand]:
    if call.has_rules:
        return lowering.program(call.flat().code, list(operands))
    if not call.kind:  # a batch
        return lowering.program(lowering.kept(call.portable.code), list(operands))
    return _LOWER[call.kind](lowering, call, operands, trails)


def _switch(lowering: Lowering, call: Any, operands: Numbers, trails: Trails) -> Sequence[Operand]:
    results = Changing(lowering, call.outputs, is_array=False, varies=_vary(lowering, operands))
    branches: list[Sequence[Statement]] = []
    given = list(operands[1:])
    for branch in call.branches:
        with lowering.nested() as body:
            results.set(lowering.program(branch.code, given))
        branches.append(body)
    with lowering.nested() as otherwise:
        results.set([math.nan] * call.outputs)
    lowering.add(Choose(operands[0], branches, otherwise))
    return results.current()


def _loop(lowering: Lowering, call: Any, operands: Numbers, trails: Trails) -> Sequence[Operand]:
    if not trails:
        return forward(lowering, call, operands, None, varies=_vary(lowering, operands)).results
    return _trail(lowering, call, operands, trails, varies=_vary(lowering, operands)).results


def _loop_back(lowering: Lowering, call: Any, operands: Numbers, trails: Trails) -> Sequence[Operand]:
    split, varies = call.loop.inputs, _vary(lowering, operands)
    if trails:
        trail = _trail(lowering, call.loop, operands[:split], trails, varies=varies)
    else:
        trail = not_run(lowering, call.loop, operands[:split], varies=varies)
    return backward(lowering, call, trail, operands[: call.loop.sizes.carry], operands[split:])


def _trail(lowering: Lowering, loop: Any, operands: Numbers, trails: Trails, *, varies: bool) -> Trail:
    """Return the trail of a loop. Append the loop if that has not been done yet."""
    [(key, known)] = trails.items()
    trail: Trail = known if isinstance(known, Trail) else forward(lowering, loop, operands, known, varies=varies)
    trails[key] = trail
    return trail


def _vary(lowering: Lowering, operands: Numbers) -> bool:
    """Return whether an operand of a call varies. The carry of a loop then varies, too."""
    return bool(lowering.varying) and any(map(lowering.varies, operands))


_LOWER: dict[str, LowerCall] = {
    "switch": _switch,
    "loop": _loop,
    "loop_back": _loop_back,
}
