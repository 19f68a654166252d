"""Learning-rate schedules: functions that take a step count and return a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradwalk import math
from gradwalk.value.value import Value

Number = Any  # a float or a Value
Schedule = Callable[[Any], Any]


def constant_schedule(value: Number) -> Schedule:
    """Create a schedule that always returns the same value.

    Args:
        value: The value to return.

    Returns:
        A function that takes the step count and returns the value.
    """
    return partial(_constant, value)


def linear_schedule(
    init_value: Number, end_value: Number, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """Create a schedule that changes linearly from one value to another.

    Args:
        init_value: Value at the start.
        end_value: Value at the end.
        transition_steps: Number of steps in which the value changes from `init_value` to `end_value`. If this number is
            not positive, the value stays at `init_value`.
        transition_begin: Number of steps before the value starts to change. A negative number is treated as 0.

    Returns:
        A function that takes the step count and returns the value.

    Example:
        >>> [linear_schedule(1.0, 0.0, 4)(count) for count in range(6)]
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def polynomial_schedule(
    init_value: Number, end_value: Number, power: Number, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """Create a schedule that changes polynomially from one value to another.

    After n steps of the change, the value is `(init_value - end_value) * (1 - n / transition_steps)**power +
    end_value`.

    Args:
        init_value: Value at the start.
        end_value: Value at the end.
        power: Exponent of the polynomial.
        transition_steps: Number of steps in which the value changes from `init_value` to `end_value`. If this number is
            not positive, the value stays at `init_value`.
        transition_begin: Number of steps before the value starts to change. A negative number is treated as 0.

    Returns:
        A function that takes the step count and returns the value.
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
    """Create a schedule that decays exponentially: `init_value * decay_rate**(n / transition_steps)` after n steps.

    Args:
        init_value: Value at the start.
        transition_steps: Number of steps after which the value has been multiplied by `decay_rate`. If this number is
            not positive, the value stays at `init_value`.
        decay_rate: Factor that multiplies the value once in `transition_steps` steps. If this factor is 0, the value
            stays at `init_value`.
        transition_begin: Number of steps before the decay starts. A negative number is treated as 0.
        staircase: Whether to round `n / transition_steps` down, so that the value changes only every `transition_steps`
            steps.
        end_value: Limit of the value: a lower limit if `decay_rate` < 1, else an upper limit. None for no limit.

    Returns:
        A function that takes the step count and returns the value.
    """
    if transition_steps <= 0 or (not isinstance(decay_rate, Value) and decay_rate == 0):
        return constant_schedule(init_value)
    span = transition_steps, max(transition_begin, 0)
    return partial(_exponential, init_value, decay_rate, span, staircase, end_value)


def cosine_decay_schedule(
    init_value: Number, decay_steps: int, alpha: Number = 0.0, exponent: Number = 1.0
) -> Schedule:
    """Create a schedule that decays along half a period of a cosine curve (Loshchilov and Hutter, 2017).

    Args:
        init_value: Value at the start.
        decay_steps: Number of steps in which the value decays, at least 1.
        alpha: Final value, as a fraction of `init_value`.
        exponent: Exponent of the cosine term, which is `(0.5 * (1 + cos(pi * n / decay_steps)))**exponent` after n
            steps.

    Returns:
        A function that takes the step count and returns the value.

    Raises:
        ValueError: If `decay_steps` is not positive.
    """
    if decay_steps <= 0:
        raise ValueError(f"decay_steps must be positive, got {decay_steps}")
    return partial(_cosine, init_value, decay_steps, alpha, exponent)


def warmup_cosine_decay_schedule(
    init_value: Number,
    peak_value: Number,
    warmup_steps: int,
    decay_steps: int,
    end_value: Number = 0.0,
    exponent: Number = 1.0,
) -> Schedule:
    """Create a schedule with a linear warmup followed by a cosine decay.

    Args:
        init_value: Value at the start.
        peak_value: Value at the end of the warmup.
        warmup_steps: Number of steps of the warmup.
        decay_steps: Total number of steps, including the warmup.
        end_value: Value at the end of the decay.
        exponent: Exponent of the cosine term, as in `cosine_decay_schedule`.

    Returns:
        A function that takes the step count and returns the value.
    """
    alpha = 0.0 if not isinstance(peak_value, Value) and peak_value == 0.0 else end_value / peak_value
    down = cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps), down], [warmup_steps])


def piecewise_constant_schedule(
    init_value: Number, boundaries_and_scales: Mapping[int, Number] | None = None
) -> Schedule:
    """Create a piecewise constant schedule: its value is multiplied by a factor at each given step.

    Args:
        init_value: Value at the start.
        boundaries_and_scales: A dict from steps to factors. From each step on, the value is multiplied by the factor
            for that step.

    Returns:
        A function that takes the step count and returns the value.

    Raises:
        ValueError: If a factor is negative.
    """
    scales = sorted((boundaries_and_scales or {}).items())
    for boundary, scale in scales:
        if scale < 0.0:
            raise ValueError(f"boundaries_and_scales must not contain negative scales, got {scale} at step {boundary}")
    return partial(_piecewise, init_value, scales)


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Create a schedule that applies several schedules one after the other.

    Args:
        schedules: The schedules. Each schedule is called with the number of steps since it started.
        boundaries: The steps at which the second and later schedules start.

    Returns:
        A function that takes the step count and returns the value.

    Raises:
        ValueError: If the length of `boundaries` is not `len(schedules) - 1`.
    """
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(f"{len(schedules)} schedules need {len(schedules) - 1} boundaries, got {len(boundaries)}")
    return partial(_joined, schedules, boundaries)


# Implementations of the schedules. They are defined at module level, because pickle cannot store nested functions.


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
    """Return x if a condition is true, else y. The condition is a bool or a Value."""
    return math.where(condition, x, y) if isinstance(condition, Value) else x if condition else y
