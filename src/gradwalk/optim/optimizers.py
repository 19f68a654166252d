"""Optimisers, each made out of transformations."""

from __future__ import annotations

from collections.abc import Callable

from gradwalk.optim.schedules import Number, Schedule
from gradwalk.optim.transformations import (
    GradientTransformation,
    Tree,
    add_decayed_weights,
    chain,
    identity,
    scale_by_adam,
    scale_by_learning_rate,
    trace,
)


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
        >>> from gradwalk.optim import apply_updates
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
        >>> from gradwalk.optim import apply_updates
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
