"""Optimizers, each a chain of gradient transformations."""

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
    """Create a stochastic gradient descent optimizer, optionally with momentum.

    Args:
        learning_rate: Factor that multiplies each gradient: a number, or a schedule (a function of the step count).
        momentum: Decay rate of the sum of past gradients; None for gradient descent without momentum.
        nesterov: Whether to use Nesterov momentum.

    Returns:
        The optimizer, a `GradientTransformation`.

    Example:
        >>> from gradwalk.optim import apply_updates
        >>> optimizer = sgd(0.1)
        >>> updates, state = optimizer.update([4.0, -2.0], optimizer.init([1.0, 1.0]))
        >>> apply_updates([1.0, 1.0], updates)
        [0.6, 1.2]
    """
    first = identity() if momentum is None else trace(momentum, nesterov)
    return chain(first, scale_by_learning_rate(learning_rate))


def momentum(
    learning_rate: Number | Schedule, momentum: Number = 0.9, nesterov: bool = False
) -> GradientTransformation:
    """Create a stochastic gradient descent optimizer with momentum, as `sgd(learning_rate, momentum)` does.

    Args:
        learning_rate: Factor that multiplies the sum of past gradients: a number, or a schedule (a function of the step
            count).
        momentum: Decay rate of the sum of past gradients.
        nesterov: Whether to use Nesterov momentum.

    Returns:
        The optimizer, a `GradientTransformation`.
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
    """Create an Adam optimizer (Kingma and Ba, 2014).

    Args:
        learning_rate: Step size: a number, or a schedule (a function of the step count). In one step, a parameter
            rarely changes by more than the step size.
        b1: Decay rate of the moving average of the gradients.
        b2: Decay rate of the moving average of the squared gradients.
        eps: Constant added to the denominator outside the square root, to avoid division by zero.
        eps_root: Constant added to the denominator inside the square root. To differentiate through an update, use a
            value above 0: the derivative of the square root is infinite at 0.
        nesterov: Whether to use Nesterov momentum (NAdam).

    Returns:
        The optimizer, a `GradientTransformation`.

    Example:
        >>> from gradwalk.optim import apply_updates
        >>> optimizer = adam(0.1)
        >>> updates, state = optimizer.update(4.0, optimizer.init(1.0))
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
    """Create an Adam optimizer with decoupled weight decay (Loshchilov and Hutter, 2019).

    Args:
        learning_rate: Step size: a number, or a schedule (a function of the step count). The weight decay is multiplied
            by the step size, too.
        b1: Decay rate of the moving average of the gradients.
        b2: Decay rate of the moving average of the squared gradients.
        eps: Constant added to the denominator outside the square root, to avoid division by zero.
        eps_root: Constant added to the denominator inside the square root.
        weight_decay: Strength of the weight decay: each step subtracts `learning_rate * weight_decay * param`.
        mask: The parameters to decay: a tree with a bool for each leaf (number or array) of the parameters, or a
            function that takes the parameters and returns such a tree. None decays all parameters.
        nesterov: Whether to use Nesterov momentum (NAdam).

    Returns:
        The optimizer, a `GradientTransformation`.
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )
