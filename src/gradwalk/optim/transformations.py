"""`GradientTransformation` and the transformations from which optimizers are composed."""

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
    """Signature of the `update` function of a `GradientTransformation`."""

    def __call__(self, updates: Tree, state: Any, params: Tree = None) -> tuple[Tree, Any]:
        """Return the transformed gradients and the next state."""
        ...


class GradientTransformation(NamedTuple):
    """A transformation of gradients. An optimizer is a transformation that returns updates to add to the parameters.

    Attributes:
        init: Function that takes the parameters and returns the initial state.
        update: Function that takes the gradients, the state and, if the transformation needs them, the parameters. It
            returns the transformed gradients and the next state.
    """

    init: Callable[[Tree], Any]
    update: Update


class ScaleByScheduleState(NamedTuple):
    """State of `scale_by_schedule`.

    Attributes:
        count: Number of updates so far.
    """

    count: Number


class TraceState(NamedTuple):
    """State of `trace`.

    Attributes:
        trace: Decayed sum of the past gradients, a tree with the structure of the parameters.
    """

    trace: Tree


class ScaleByAdamState(NamedTuple):
    """State of `scale_by_adam`.

    Attributes:
        count: Number of updates so far.
        mu: Exponential moving average of the gradients, a tree with the structure of the parameters.
        nu: Exponential moving average of the squared gradients, a tree with the structure of the parameters.
    """

    count: Number
    mu: Tree
    nu: Tree


def apply_updates(params: Tree, updates: Tree) -> Tree:
    """Add updates to parameters.

    Args:
        params: Tree of parameters.
        updates: Tree of updates with the same structure.

    Returns:
        The new parameters. If `params` contains a Module, the parameters of the returned Module are plain numbers.

    Raises:
        ValueError: If the trees have different structures.

    Example:
        >>> apply_updates({"w": 1.0}, {"w": 0.5})
        {'w': 1.5}
    """
    return _mapped(lambda p, u: p + u, params, updates)


def global_norm(updates: Tree) -> Number:
    """Compute the Euclidean norm of all numbers in a tree.

    Args:
        updates: Tree of numbers and arrays.

    Returns:
        The norm, a float or a Value.

    Example:
        >>> global_norm([3.0, 4.0])
        5.0
    """
    leaves, _ = flatten(updates, "updates")
    squares = [leaf * leaf for leaf in leaves]
    return math.sqrt(sum([x.sum() if isinstance(x, numpy.ndarray) else x for x in squares]))


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Combine several transformations into one that applies them in sequence.

    Args:
        *transformations: The transformations, in the order in which they are applied.

    Returns:
        The combined transformation. Its state is a tuple with the state of each transformation.
    """
    return GradientTransformation(partial(_init_chain, transformations), partial(_update_chain, transformations))


def identity() -> GradientTransformation:
    """Create a transformation that leaves gradients unchanged."""
    return _stateless(_unchanged)


def scale(step_size: Number) -> GradientTransformation:
    """Create a transformation that multiplies gradients by a fixed factor.

    Args:
        step_size: The factor.

    Returns:
        The transformation.
    """
    return _stateless(partial(_scaled, step_size))


def scale_by_learning_rate(learning_rate: Number | Schedule, *, flip_sign: bool = True) -> GradientTransformation:
    """Create a transformation that multiplies gradients by the negative learning rate.

    Args:
        learning_rate: A number, or a schedule (a function of the step count).
        flip_sign: Whether to multiply by the negative learning rate, as gradient descent requires. If False, gradients
            are multiplied by the learning rate itself.

    Returns:
        The transformation.
    """
    sign = -1.0 if flip_sign else 1.0
    if callable(learning_rate):
        return scale_by_schedule(partial(_times, sign, learning_rate))
    return scale(sign * learning_rate)


def scale_by_schedule(step_size_fn: Schedule) -> GradientTransformation:
    """Create a transformation that multiplies gradients by a factor that depends on the step count.

    Args:
        step_size_fn: Function that takes the number of previous updates and returns the factor.

    Returns:
        The transformation.
    """
    return GradientTransformation(_init_schedule, partial(_update_schedule, step_size_fn))


def trace(decay: Number, nesterov: bool = False) -> GradientTransformation:
    """Create a transformation that returns a decayed sum of past gradients (momentum).

    Args:
        decay: Factor that multiplies the sum in each step, before the new gradient is added.
        nesterov: Whether to use Nesterov momentum.

    Returns:
        The transformation.
    """
    return GradientTransformation(_init_trace, partial(_update_trace, decay, nesterov))


def scale_by_adam(
    b1: Number = 0.9, b2: Number = 0.999, eps: Number = 1e-8, eps_root: Number = 0.0, *, nesterov: bool = False
) -> GradientTransformation:
    """Create a transformation that rescales gradients as `adam` does, without the learning rate.

    The arguments are described in `adam`.
    """
    return GradientTransformation(_init_adam, partial(_update_adam, (b1, b2, eps, eps_root), nesterov))


def add_decayed_weights(
    weight_decay: Number = 0.0, mask: Tree | Callable[[Tree], Tree] | None = None
) -> GradientTransformation:
    """Create a transformation that adds `weight_decay * param` to the gradient of each parameter.

    Args:
        weight_decay: The factor.
        mask: The parameters to decay: a tree with a bool for each leaf (number or array) of the parameters, or a
            function that takes the parameters and returns such a tree. None decays all parameters.

    Returns:
        The transformation. Its `update` function requires the parameters.
    """
    return _stateless(partial(_decayed, weight_decay, mask))


def clip(max_delta: Number) -> GradientTransformation:
    """Create a transformation that clips each number of the gradients to [-max_delta, max_delta].

    Args:
        max_delta: Limit on the absolute value of each number.

    Returns:
        The transformation.
    """
    return _stateless(partial(_all_clipped, max_delta))


def clip_by_global_norm(max_norm: Number) -> GradientTransformation:
    """Create a transformation that scales gradients down so that their global norm is at most `max_norm`.

    Args:
        max_norm: Limit on the norm of the gradients, as computed by `global_norm`.

    Returns:
        The transformation.
    """
    return _stateless(partial(_shortened, max_norm))


# Implementations of the transformations. They are defined at module level, because pickle cannot store nested
# functions.


def _stateless(changed: Callable[[Tree, Tree], Tree]) -> GradientTransformation:
    """Return a transformation without state."""
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
        raise ValueError(
            f"optimizer state must have {len(transformations)} entries, got {len(state)}: "
            "pass the state that init of the same optimizer returned"
        )
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
    """Evaluate a schedule and multiply its value by a factor."""
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
    # Bias correction: the averages start at zero, so the first averages are too small.
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
        raise ValueError("weight decay needs the parameters: call update(gradients, state, params)")
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
    """Apply a function to the corresponding leaves of trees with equal structure."""
    leaves, treedef = flatten(first, "the tree")
    columns = [leaves]
    for other in others:
        found, other_treedef = flatten(other, "the tree")
        if other_treedef != treedef:
            raise ValueError(
                f"trees must have the same structure, got {treedef} and {other_treedef}: "
                "pass gradients, updates and state of the same parameters"
            )
        columns.append(found)
    return treedef.unflatten([f(*parts) for parts in zip(*columns, strict=True)])


def _zeros(params: Tree) -> Tree:
    """Return a tree of zeros with the structure and shapes of the parameters."""
    leaves, treedef = flatten(params, "params")
    return treedef.unflatten([numpy.zeros(x.shape) if isinstance(x, numpy.ndarray) else 0.0 for x in leaves])


def _sqrt(x: Any) -> Any:
    return _elementwise(math.sqrt, x) if isinstance(x, numpy.ndarray) else math.sqrt(x)


def _clipped(x: Any, most: Number) -> Any:
    if isinstance(x, numpy.ndarray):
        return _elementwise(lambda x: math.maximum(math.minimum(x, most), -most), x)
    return math.maximum(math.minimum(x, most), -most)


def _elementwise(f: Callable[[Any], Any], array: Any) -> Any:
    """Apply a scalar function to each entry of an array of floats or Values."""
    with numpy.errstate(all="ignore"):  # as for scalars: sqrt at 0 must not warn although its derivative is infinite
        found = numpy.frompyfunc(f, 1, 1)(array)
    return found if array.dtype == object else found.astype(float)
