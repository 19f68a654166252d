"""Schedules: functions of how many steps there have been."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradwalk import math
from gradwalk.value.value import Value

Number = Any  # a float or a Value
Schedule = Callable[[Any], Any]


def constant_schedule(value: Number) -> Schedule:
    """Stay at a value.

    Args:
        value: The value.

    Returns:
        The schedule.
    """
    return partial(_constant, value)


def linear_schedule(
    init_value: Number, end_value: Number, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """Go from a value to another one in a straight line.

    Args:
        init_value: The first value.
        end_value: The last one.
        transition_steps: How many steps it takes.
        transition_begin: The step that it begins with, at the earliest the first one.

    Returns:
        The schedule.

    Example:
        >>> [linear_schedule(1.0, 0.0, 4)(count) for count in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def polynomial_schedule(
    init_value: Number, end_value: Number, power: Number, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """Go from a value to another one along a power of the steps that are left.

    Args:
        init_value: The first value.
        end_value: The last one.
        power: The power.
        transition_steps: How many steps it takes; where it is not positive, the first value stays.
        transition_begin: The step that it begins with, at the earliest the first one.

    Returns:
        The schedule.
    """
    if transition_steps <= 0:
        return constant_schedule(init_value)
    return partial(_polynomial, init_value, end_value, power, transition_steps, max(transition_begin, 0))


def exponential_decay(
    init_value: Number,
    transition_steps: int,
    decay_rate: Number,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: Number | None = None,
) -> Schedule:
    """Multiply a value by the same rate again and again.

    Args:
        init_value: The first value.
        transition_steps: How many steps it takes to be multiplied once; where it is not positive, the value stays.
        decay_rate: The rate; where it is 0, the value stays.
        transition_begin: The step that it begins with, at the earliest the first one.
        staircase: Whether to change once in that many steps, and not in each of them.
        end_value: What it does not go beyond; None for nothing.

    Returns:
        The schedule.
    """
    if transition_steps <= 0 or (not isinstance(decay_rate, Value) and decay_rate == 0):
        return constant_schedule(init_value)
    span = transition_steps, max(transition_begin, 0)
    return partial(_exponential, init_value, decay_rate, span, staircase, end_value)


def cosine_decay_schedule(
    init_value: Number, decay_steps: int, alpha: Number = 0.0, exponent: Number = 1.0
) -> Schedule:
    """Go down along half a wave of the cosine (Loshchilov and Hutter, 2017).

    Args:
        init_value: The first value.
        decay_steps: How many steps it takes, at least one.
        alpha: How much of the first value is left in the end.
        exponent: The power that the wave is raised to.

    Returns:
        The schedule.

    Raises:
        ValueError: `decay_steps` is not positive.
    """
    if decay_steps <= 0:
        raise ValueError(f"decay_steps is {decay_steps}: going down takes at least one step")
    return partial(_cosine, init_value, decay_steps, alpha, exponent)


def warmup_cosine_decay_schedule(
    init_value: Number,
    peak_value: Number,
    warmup_steps: int,
    decay_steps: int,
    end_value: Number = 0.0,
    exponent: Number = 1.0,
) -> Schedule:
    """Go up in a straight line, then down along half a wave of the cosine.

    Args:
        init_value: The first value.
        peak_value: The one at the top.
        warmup_steps: How many steps it goes up.
        decay_steps: How many steps there are, those up included.
        end_value: The last value.
        exponent: The power that the wave is raised to.

    Returns:
        The schedule.
    """
    alpha = 0.0 if not isinstance(peak_value, Value) and peak_value == 0.0 else end_value / peak_value
    down = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps), down], [warmup_steps])


def piecewise_constant_schedule(
    init_value: Number, boundaries_and_scales: Mapping[int, Number] | None = None
) -> Schedule:
    """Multiply a value by a number at each of some steps.

    Args:
        init_value: The first value.
        boundaries_and_scales: By step, what the value is multiplied by from that step on.

    Returns:
        The schedule.

    Raises:
        ValueError: A value would change its sign.
    """
    scales = sorted((boundaries_and_scales or {}).items())
    for boundary, scale in scales:
        if scale < 0.0:
            raise ValueError(f"the scale at step {boundary} is {scale}: it may not be negative")
    return partial(_piecewise, init_value, scales)


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Follow schedules one after the other.

    Args:
        schedules: The schedules. Each counts its own steps.
        boundaries: The steps that all but the first one begin with.

    Returns:
        The schedule.

    Raises:
        ValueError: There are not as many boundaries as schedules after the first one.
    """
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(f"{len(schedules)} schedules need a boundary between any two, and not {len(boundaries)}")
    return partial(_joined, schedules, boundaries)


# The functions of schedules, with their settings first. `functools.partial` of these can be pickled.


def _constant(value: Number, count: Number) -> Number:
    del count
    return value


def _polynomial(
    init_value: Number, end_value: Number, power: Number, transition_steps: int, begin: int, count: Number
) -> Number:
    steps = _between(count - begin, 0.0, float(transition_steps))
    left: Number = 1.0 - steps / transition_steps
    return (init_value - end_value) * left**power + end_value


def _exponential(
    init_value: Number,
    decay_rate: Number,
    span: tuple[int, int],
    staircase: bool,
    end_value: Number | None,
    count: Number,
) -> Number:
    transition_steps, begin = span
    steps = count - begin
    times = steps / transition_steps
    value = _chosen(steps <= 0, init_value, init_value * decay_rate ** (math.floor(times) if staircase else times))
    if end_value is None:
        return value
    return _chosen(decay_rate < 1.0, math.maximum(value, end_value), math.minimum(value, end_value))


def _cosine(init_value: Number, decay_steps: int, alpha: Number, exponent: Number, count: Number) -> Number:
    wave = 0.5 * (1.0 + math.cos(math.pi * (math.minimum(count, float(decay_steps)) / decay_steps)))
    return init_value * ((1.0 - alpha) * wave**exponent + alpha)


def _piecewise(init_value: Number, scales: Sequence[tuple[int, Number]], count: Number) -> Number:
    value = init_value
    for boundary, scale in scales:
        value = value * _chosen(count >= boundary, scale, 1.0)
    return value


def _joined(schedules: Sequence[Schedule], boundaries: Sequence[int], count: Number) -> Number:
    value = schedules[0](count)
    for boundary, schedule in zip(boundaries, schedules[1:], strict=True):
        value = _chosen(count < boundary, value, schedule(count - boundary))
    return value


def _between(x: Number, least: Number, most: Number) -> Number:
    return math.maximum(math.minimum(x, most), least)


def _chosen(condition: Any, x: Number, y: Number) -> Number:
    """Choose by a condition, which may be recorded."""
    return math.where(condition, x, y) if isinstance(condition, Value) else x if condition else y
