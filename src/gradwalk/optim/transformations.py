"""`GradientTransformation`: what optimisers are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy

from gradwalk import math
from gradwalk.optim.schedules import Number, Schedule
from gradwalk.trees.tree import flatten
from gradwalk.value.value import Value

Tree = Any  # a number, an array, or a list, dict, dataclass or Module of these


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
    leaves, _ = flatten(updates, "updates")
    squares = [leaf * leaf for leaf in leaves]
    return math.sqrt(sum([x.sum() if isinstance(x, numpy.ndarray) else x for x in squares]))


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Apply transformations one after the other.

    Args:
        *transformations: The transformations.

    Returns:
        One transformation, whose state is the tuple of theirs.
    """
    return GradientTransformation(partial(_init_chain, transformations), partial(_update_chain, transformations))


def identity() -> GradientTransformation:
    """Leave gradients as they are."""
    return _stateless(_unchanged)


def scale(step_size: Number) -> GradientTransformation:
    """Multiply gradients by a number.

    Args:
        step_size: The number.

    Returns:
        The transformation.
    """
    return _stateless(partial(_scaled, step_size))


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
        return scale_by_schedule(partial(_times, sign, learning_rate))
    return scale(sign * learning_rate)


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Multiply gradients by a number that depends on the step.

    Args:
        step_size_fn: Takes how many steps there have been, and returns the number.

    Returns:
        The transformation.
    """
    return GradientTransformation(_init_schedule, partial(_update_schedule, step_size_fn))


def trace(decay: Number, nesterov: bool = False) -> GradientTransformation:
    """Add up gradients, each step forgetting a part of those before: momentum.

    Args:
        decay: How much is kept.
        nesterov: Whether to look ahead, as Nesterov does.

    Returns:
        The transformation.
    """
    return GradientTransformation(_init_trace, partial(_update_trace, decay, nesterov))


def scale_by_adam(
    b1: Number = 0.9, b2: Number = 0.999, eps: Number = 1e-8, eps_root: Number = 0.0, *, nesterov: bool = False
) -> GradientTransformation:
    """Divide the mean of gradients by the root of the mean of their squares: see `adam`, with the same arguments."""
    return GradientTransformation(_init_adam, partial(_update_adam, (b1, b2, eps, eps_root), nesterov))


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
    return _stateless(partial(_decayed, weight_decay, mask))


def clip(max_delta: Number) -> GradientTransformation:
    """Bring all numbers of gradients into an interval around 0.

    Args:
        max_delta: How far it goes on either side.

    Returns:
        The transformation.
    """
    return _stateless(partial(_all_clipped, max_delta))


def clip_by_global_norm(max_norm: Number) -> GradientTransformation:
    """Shorten gradients that are longer than that, all numbers by the same factor.

    Args:
        max_norm: The length that they may have: see `global_norm`.

    Returns:
        The transformation.
    """
    return _stateless(partial(_shortened, max_norm))


# The functions of transformations, with their settings first. `functools.partial` of these can be pickled.


def _stateless(changed: Callable[[Tree, Tree], Tree]) -> GradientTransformation:
    """Return a transformation that remembers nothing."""
    return GradientTransformation(_init_nothing, partial(_update_nothing, changed))


def _init_nothing(params: Tree) -> Any:
    del params
    return ()


def _update_nothing(
    changed: Callable[[Tree, Tree], Tree], updates: Tree, state: Any, params: Tree = None
) -> tuple[Tree, Any]:
    return changed(updates, params), state


def _init_chain(transformations: Sequence[GradientTransformation], params: Tree) -> Any:
    return tuple([one.init(params) for one in transformations])


def _update_chain(
    transformations: Sequence[GradientTransformation], updates: Tree, state: Any, params: Tree = None
) -> tuple[Tree, Any]:
    if len(state) != len(transformations):
        raise ValueError(f"a state of {len(state)} parts, and not {len(transformations)}: another optimiser's")
    states = []
    for one, of_one in zip(transformations, state, strict=True):
        updates, after = one.update(updates, of_one, params)
        states.append(after)
    return updates, tuple(states)


def _unchanged(updates: Tree, params: Tree) -> Tree:
    del params
    return updates


def _scaled(step_size: Number, updates: Tree, params: Tree) -> Tree:
    del params
    return _mapped(lambda g: step_size * g, updates)


def _times(factor: float, schedule: Schedule, count: Number) -> Number:
    """Multiply a schedule by a number."""
    return factor * schedule(count)


def _init_schedule(params: Tree) -> Any:
    del params
    return ScaleByScheduleState(0)


def _update_schedule(step_size_fn: Schedule, updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
    del params
    factor = step_size_fn(state.count)
    return _mapped(lambda g: factor * g, updates), ScaleByScheduleState(state.count + 1)


def _init_trace(params: Tree) -> Any:
    return TraceState(_zeros(params))


def _update_trace(decay: Number, nesterov: bool, updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
    del params
    after = _mapped(lambda g, t: g + decay * t, updates, state.trace)
    moved = _mapped(lambda g, t: g + decay * t, updates, after) if nesterov else after
    return moved, TraceState(after)


def _init_adam(params: Tree) -> Any:
    return ScaleByAdamState(0, _zeros(params), _zeros(params))


def _update_adam(
    settings: Sequence[Number], nesterov: bool, updates: Tree, state: Any, params: Tree = None
) -> tuple[Tree, Any]:
    del params
    b1, b2, eps, eps_root = settings
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


def _decayed(weight_decay: Number, mask: Tree | Callable[[Tree], Tree] | None, updates: Tree, params: Tree) -> Tree:
    if params is None:
        raise ValueError("weights that decay need the parameters: call update(gradients, state, params)")
    if mask is None:
        return _mapped(lambda g, p: g + weight_decay * p, updates, params)
    chosen, _ = flatten(mask(params) if callable(mask) else mask, "mask")
    decaying = iter(chosen)
    return _mapped(lambda g, p: g + weight_decay * p if next(decaying) else g, updates, params)


def _all_clipped(max_delta: Number, updates: Tree, params: Tree) -> Tree:
    del params
    return _mapped(lambda g: _clipped(g, max_delta), updates)


def _shortened(max_norm: Number, updates: Tree, params: Tree) -> Tree:
    del params
    length = global_norm(updates)
    is_short = length < max_norm
    if isinstance(length, Value) or isinstance(max_norm, Value):
        factor = math.where(is_short, 1.0, max_norm / math.where(is_short, 1.0, length))
    else:
        factor = 1.0 if is_short else max_norm / length
    return _mapped(lambda g: g * factor, updates)


# Trees


def _mapped(f: Callable[..., Any], first: Tree, *others: Tree) -> Tree:
    """Return the tree of what a function makes of the leaves of trees that are alike."""
    leaves, treedef = flatten(first, "the tree")
    columns = [leaves]
    for other in others:
        found, other_treedef = flatten(other, "the tree")
        if other_treedef != treedef:
            raise ValueError(f"{treedef} and {other_treedef} are not alike: one of them is of other parameters")
        columns.append(found)
    return treedef.unflatten([f(*parts) for parts in zip(*columns, strict=True)])


def _zeros(params: Tree) -> Tree:
    """Return a tree of zeros."""
    leaves, treedef = flatten(params, "params")
    return treedef.unflatten([numpy.zeros(x.shape) if isinstance(x, numpy.ndarray) else 0.0 for x in leaves])


def _sqrt(x: Any) -> Any:
    return _elementwise(math.sqrt, x) if isinstance(x, numpy.ndarray) else math.sqrt(x)


def _clipped(x: Any, most: Number) -> Any:
    if isinstance(x, numpy.ndarray):
        return _elementwise(lambda x: math.maximum(math.minimum(x, most), -most), x)
    return math.maximum(math.minimum(x, most), -most)


def _elementwise(f: Callable[[Any], Any], array: Any) -> Any:
    """Apply a function of numbers to an array of floats or of Values."""
    with numpy.errstate(all="ignore"):  # the derivative of a root at 0 is inf without a word, as it is of numbers
        found = numpy.frompyfunc(f, 1, 1)(array)
    return found if array.dtype == object else found.astype(float)
