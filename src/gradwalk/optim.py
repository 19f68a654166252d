"""Optimisers, with the names and meanings of optax: transformations of gradients, made out of parts.

An optimiser is two functions. `init(params)` returns its state, and `update(gradients, state, params)` what to add to
the parameters, and the next state; nothing is changed in its place. All of them are arithmetic on trees of numbers:
they work on floats, arrays and Modules, and inside of functions that are recorded, so that a whole training loop, as a
`gradwalk.loops.scan` over its steps, is one program.

Example:
    >>> from gradwalk import grad, jit, loops, optim
    >>> optimiser = optim.adam(0.1)
    >>> def step(carry, _):
    ...     x, state = carry
    ...     updates, state = optimiser.update(grad(lambda x: (x - 3.0) ** 2)(x), state)
    ...     return (optim.apply_updates(x, updates), state), None
    >>> @jit
    ... def trained(x):
    ...     (x, _), _ = loops.scan(step, (x, optimiser.init(x)), None, length=500)
    ...     return x
    >>> round(trained(0.0), 6)
    3.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy

from gradwalk import math
from gradwalk.trees.tree import flattened
from gradwalk.value.value import Value

__all__ = [
    "GradientTransformation",
    "adam",
    "adamw",
    "add_decayed_weights",
    "apply_updates",
    "chain",
    "clip",
    "clip_by_global_norm",
    "constant_schedule",
    "cosine_decay_schedule",
    "exponential_decay",
    "global_norm",
    "identity",
    "join_schedules",
    "linear_schedule",
    "momentum",
    "piecewise_constant_schedule",
    "polynomial_schedule",
    "scale",
    "scale_by_adam",
    "scale_by_learning_rate",
    "scale_by_schedule",
    "sgd",
    "trace",
    "warmup_cosine_decay_schedule",
]

Tree = Any  # a number, an array, or a list, dict, dataclass or Module of these
Number = Any  # a float or a Value
Schedule = Callable[[Any], Any]


class Update(Protocol):
    """How an optimiser makes updates of gradients."""

    def __call__(self, updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        """Return what the gradients become, and the next state."""
        ...


class GradientTransformation(NamedTuple):
    """A transformation of gradients; an optimiser is one whose results are added to the parameters.

    Attributes:
        init: Takes the parameters and returns a state.
        update: Takes gradients, a state, and the parameters where it needs them; returns what they become, and the next
            state.
    """

    init: Callable[[Tree], Any]
    update: Update


class ScaleByScheduleState(NamedTuple):
    """How many steps there have been.

    Attributes:
        count: The number.
    """

    count: Number


class TraceState(NamedTuple):
    """What momentum remembers.

    Attributes:
        trace: A tree like the parameters.
    """

    trace: Tree


class ScaleByAdamState(NamedTuple):
    """What Adam remembers.

    Attributes:
        count: How many steps there have been.
        mu: The mean of the gradients, a tree like the parameters.
        nu: That of their squares.
    """

    count: Number
    mu: Tree
    nu: Tree


# Optimisers


def sgd(
    learning_rate: Number | Schedule, momentum: Number | None = None, nesterov: bool = False
) -> GradientTransformation:
    """Stochastic gradient descent, with or without momentum.

    Args:
        learning_rate: How far a step goes for a gradient of 1: a number, or a schedule.
        momentum: How much of the step before is made again; None for none of it.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The optimiser.

    Example:
        >>> optimiser = sgd(0.1)
        >>> updates, state = optimiser.update([4.0, -2.0], optimiser.init([1.0, 1.0]))
        >>> apply_updates([1.0, 1.0], updates)
        [0.6, 1.2]
    """
    first = identity() if momentum is None else trace(momentum, nesterov)
    return chain(first, scale_by_learning_rate(learning_rate))


def momentum(
    learning_rate: Number | Schedule, momentum: Number = 0.9, nesterov: bool = False
) -> GradientTransformation:
    """Stochastic gradient descent with momentum: what `sgd` with a momentum is.

    Args:
        learning_rate: How far a step goes for a gradient of 1: a number, or a schedule.
        momentum: How much of the step before is made again.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The optimiser.
    """
    return sgd(learning_rate, momentum, nesterov)


def adam(
    learning_rate: Number | Schedule,
    b1: Number = 0.9,
    b2: Number = 0.999,
    eps: Number = 1e-8,
    eps_root: Number = 0.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam: gradients over the root of the mean of their squares (Kingma and Ba, 2014).

    Args:
        learning_rate: How far a step goes at most, nearly: a number, or a schedule.
        b1: How much of the mean of the gradients is kept in a step.
        b2: How much of that of their squares is.
        eps: What is added to the root.
        eps_root: What is added under the root; where derivatives through a step are taken, it should not be 0.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The optimiser.

    Example:
        >>> optimiser = adam(0.1)
        >>> updates, state = optimiser.update(4.0, optimiser.init(1.0))
        >>> round(apply_updates(1.0, updates), 6), state[0].count
        (0.9, 1)
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov),
        scale_by_learning_rate(learning_rate),
    )


def adamw(
    learning_rate: Number | Schedule,
    b1: Number = 0.9,
    b2: Number = 0.999,
    eps: Number = 1e-8,
    eps_root: Number = 0.0,
    weight_decay: Number = 1e-4,
    mask: Tree | Callable[[Tree], Tree] | None = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam with weights that decay by themselves (Loshchilov and Hutter, 2019).

    Args:
        learning_rate: How far a step goes at most, nearly: a number, or a schedule.
        b1: How much of the mean of the gradients is kept in a step.
        b2: How much of that of their squares is.
        eps: What is added to the root.
        eps_root: What is added under the root.
        weight_decay: How much of a parameter is taken from it in a step, times the learning rate.
        mask: Which parameters decay: a tree with a bool for each number and each array, or a function of the
            parameters that returns one.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The optimiser.
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def apply_updates(params: Tree, updates: Tree) -> Tree:
    """Return parameters with updates added to them.

    Args:
        params: The parameters.
        updates: A tree like them.

    Returns:
        A tree like them. For a Module, it is one with numbers in place of parameters.

    Raises:
        ValueError: The trees are not alike.

    Example:
        >>> apply_updates({"w": 1.0}, {"w": 0.5})
        {'w': 1.5}
    """
    return _mapped(lambda p, u: p + u, params, updates)


def global_norm(updates: Tree) -> Number:
    """Return the length of a tree: the root of the sum of the squares of all its numbers.

    Args:
        updates: The tree.

    Returns:
        A number.

    Example:
        >>> global_norm([3.0, 4.0])
        5.0
    """
    leaves, _ = flattened(updates, "updates")
    squares = [leaf * leaf for leaf in leaves]
    return math.sqrt(sum([x.sum() if isinstance(x, numpy.ndarray) else x for x in squares]))


# Transformations


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Apply transformations one after the other.

    Args:
        *transformations: The transformations.

    Returns:
        One transformation, whose state is the tuple of theirs.
    """

    def init(params: Tree) -> Any:
        return tuple([one.init(params) for one in transformations])

    def update(updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        if len(state) != len(transformations):
            raise ValueError(f"a state of {len(state)} parts, and not {len(transformations)}: another optimiser's")
        states = []
        for one, of_one in zip(transformations, state, strict=True):
            updates, after = one.update(updates, of_one, params)
            states.append(after)
        return updates, tuple(states)

    return GradientTransformation(init, update)


def identity() -> GradientTransformation:
    """Leave gradients as they are."""
    return _stateless(lambda updates, params: updates)


def scale(step_size: Number) -> GradientTransformation:
    """Multiply gradients by a number.

    Args:
        step_size: The number.

    Returns:
        The transformation.
    """
    return _stateless(lambda updates, params: _mapped(lambda g: step_size * g, updates))


def scale_by_learning_rate(learning_rate: Number | Schedule, *, flip_sign: bool = True) -> GradientTransformation:
    """Multiply gradients by a learning rate, and turn them round.

    Args:
        learning_rate: The number, or a schedule.
        flip_sign: Whether to go downhill.

    Returns:
        The transformation.
    """
    sign = -1.0 if flip_sign else 1.0
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Multiply gradients by a number that depends on the step.

    Args:
        step_size_fn: Takes how many steps there have been, and returns the number.

    Returns:
        The transformation.
    """

    def update(updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        del params
        factor = step_size_fn(state.count)
        return _mapped(lambda g: factor * g, updates), ScaleByScheduleState(state.count + 1)

    return GradientTransformation(lambda params: ScaleByScheduleState(0), update)


def trace(decay: Number, nesterov: bool = False) -> GradientTransformation:
    """Add up gradients, each step forgetting a part of those before: momentum.

    Args:
        decay: How much is kept.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The transformation.
    """

    def update(updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        del params
        after = _mapped(lambda g, t: g + decay * t, updates, state.trace)
        moved = _mapped(lambda g, t: g + decay * t, updates, after) if nesterov else after
        return moved, TraceState(after)

    return GradientTransformation(lambda params: TraceState(_zeros(params)), update)


def scale_by_adam(
    b1: Number = 0.9, b2: Number = 0.999, eps: Number = 1e-8, eps_root: Number = 0.0, *, nesterov: bool = False
) -> GradientTransformation:
    """Divide the mean of gradients by the root of that of their squares: see `adam`, which has the same arguments."""

    def update(updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        del params
        mu = _mapped(lambda g, m: (1.0 - b1) * g + b1 * m, updates, state.mu)
        nu = _mapped(lambda g, n: (1.0 - b2) * (g * g) + b2 * n, updates, state.nu)
        count = state.count + 1
        # Means that begin with zeros are too small in the first steps.
        first, second = 1.0 - b1**count, 1.0 - b2**count
        if nesterov:  # Dozat, 2016
            ahead = 1.0 - b1 ** (count + 1)
            mean = _mapped(lambda g, m: b1 * (m / ahead) + (1.0 - b1) * (g / first), updates, mu)
        else:
            mean = _mapped(lambda m: m / first, mu)
        scaled = _mapped(lambda m, n: m / (_sqrt(n / second + eps_root) + eps), mean, nu)
        return scaled, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(lambda params: ScaleByAdamState(0, _zeros(params), _zeros(params)), update)


def add_decayed_weights(
    weight_decay: Number = 0.0, mask: Tree | Callable[[Tree], Tree] | None = None
) -> GradientTransformation:
    """Add a part of each parameter to its gradient.

    Args:
        weight_decay: How much of it.
        mask: Of which parameters: a tree with a bool for each number and each array, or a function of the parameters
            that returns one.

    Returns:
        The transformation, whose update needs the parameters.
    """

    def changed(updates: Tree, params: Tree) -> Tree:
        if params is None:
            raise ValueError("weights that decay need the parameters: call update(gradients, state, params)")
        if mask is None:
            return _mapped(lambda g, p: g + weight_decay * p, updates, params)
        chosen, _ = flattened(mask(params) if callable(mask) else mask, "mask")
        decaying = iter(chosen)
        return _mapped(lambda g, p: g + weight_decay * p if next(decaying) else g, updates, params)

    return _stateless(changed)


def clip(max_delta: Number) -> GradientTransformation:
    """Bring all numbers of gradients into an interval around 0.

    Args:
        max_delta: How far it goes on either side.

    Returns:
        The transformation.
    """
    return _stateless(lambda updates, params: _mapped(lambda g: _clipped(g, max_delta), updates))


def clip_by_global_norm(max_norm: Number) -> GradientTransformation:
    """Shorten gradients that are longer than that, all numbers by the same factor.

    Args:
        max_norm: The length that they may have: see `global_norm`.

    Returns:
        The transformation.
    """

    def changed(updates: Tree, params: Tree) -> Tree:
        del params
        length = global_norm(updates)
        is_short = length < max_norm
        if isinstance(length, Value) or isinstance(max_norm, Value):
            factor = math.where(is_short, 1.0, max_norm / math.where(is_short, 1.0, length))
        else:
            factor = 1.0 if is_short else max_norm / length
        return _mapped(lambda g: g * factor, updates)

    return _stateless(changed)


# Schedules: functions of how many steps there have been


def constant_schedule(value: Number) -> Schedule:
    """Stay at a value.

    Args:
        value: The value.

    Returns:
        The schedule.
    """
    return lambda count: value


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

    def at(count: Number) -> Number:
        steps = _between(count - max(transition_begin, 0), 0.0, float(transition_steps))
        left: Number = 1.0 - steps / transition_steps
        return (init_value - end_value) * left**power + end_value

    return at


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

    def at(count: Number) -> Number:
        steps = count - max(transition_begin, 0)
        times = steps / transition_steps
        value = _chosen(steps <= 0, init_value, init_value * decay_rate ** (math.floor(times) if staircase else times))
        if end_value is None:
            return value
        return _chosen(decay_rate < 1.0, math.maximum(value, end_value), math.minimum(value, end_value))

    return at


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

    def at(count: Number) -> Number:
        wave = 0.5 * (1.0 + math.cos(math.pi * (math.minimum(count, float(decay_steps)) / decay_steps)))
        return init_value * ((1.0 - alpha) * wave**exponent + alpha)

    return at


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

    def at(count: Number) -> Number:
        value = init_value
        for boundary, scale in scales:
            value = value * _chosen(count >= boundary, scale, 1.0)
        return value

    return at


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

    def at(count: Number) -> Number:
        value = schedules[0](count)
        for boundary, schedule in zip(boundaries, schedules[1:], strict=True):
            value = _chosen(count < boundary, value, schedule(count - boundary))
        return value

    return at


# Arithmetic


def _stateless(changed: Callable[[Tree, Tree], Tree]) -> GradientTransformation:
    """Return a transformation that remembers nothing."""
    return GradientTransformation(
        lambda params: (), lambda updates, state, params=None: (changed(updates, params), state)
    )


def _mapped(f: Callable[..., Any], first: Tree, *others: Tree) -> Tree:
    """Return the tree of what a function makes of the leaves of trees that are alike."""
    leaves, treedef = flattened(first, "the tree")
    columns = [leaves]
    for other in others:
        found, other_treedef = flattened(other, "the tree")
        if other_treedef != treedef:
            raise ValueError(f"{treedef} and {other_treedef} are not alike: one of them is of other parameters")
        columns.append(found)
    return treedef.with_leaves([f(*parts) for parts in zip(*columns, strict=True)])


def _zeros(params: Tree) -> Tree:
    """Return a tree of zeros."""
    leaves, treedef = flattened(params, "params")
    return treedef.with_leaves([numpy.zeros(x.shape) if isinstance(x, numpy.ndarray) else 0.0 for x in leaves])


def _sqrt(x: Any) -> Any:
    return _elementwise(math.sqrt, x) if isinstance(x, numpy.ndarray) else math.sqrt(x)


def _clipped(x: Any, most: Number) -> Any:
    if isinstance(x, numpy.ndarray):
        return _elementwise(lambda x: _between(x, -most, most), x)
    return _between(x, -most, most)


def _elementwise(f: Callable[[Any], Any], array: Any) -> Any:
    """Apply a function of numbers to an array of floats or of Values."""
    found = numpy.frompyfunc(f, 1, 1)(array)
    return found if array.dtype == object else found.astype(float)


def _between(x: Number, least: Number, most: Number) -> Number:
    return math.maximum(math.minimum(x, most), least)


def _chosen(condition: Any, x: Number, y: Number) -> Number:
    """Choose by a condition, which may be recorded."""
    return math.where(condition, x, y) if isinstance(condition, Value) else x if condition else y
