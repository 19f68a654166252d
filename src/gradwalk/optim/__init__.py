"""Gradient-based optimizers with the names and semantics of optax, composed from gradient transformations.

An optimizer is a pair of pure functions. `init(params)` returns the initial state, and `update(gradients, state,
params)` returns the updates to add to the parameters and the next state. Parameters, gradients and updates are trees of
floats, arrays or Modules. `jit` can record both functions, so a whole training loop, written with
`gradwalk.loops.scan`, compiles to a single program.

Example:
    >>> from gradwalk import grad, jit, loops, optim
    >>> optimizer = optim.adam(0.1)
    >>> def step(carry, _):
    ...     x, state = carry
    ...     updates, state = optimizer.update(grad(lambda x: (x - 3.0) ** 2)(x), state)
    ...     return (optim.apply_updates(x, updates), state), None
    >>> @jit
    ... def trained(x):
    ...     (x, _), _ = loops.scan(step, (x, optimizer.init(x)), None, length=500)
    ...     return x
    >>> round(trained(0.0), 6)
    3.0
"""

from __future__ import annotations

from gradwalk.optim.optimizers import adam, adamw, momentum, sgd
from gradwalk.optim.schedules import (
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    join_schedules,
    linear_schedule,
    piecewise_constant_schedule,
    polynomial_schedule,
    warmup_cosine_decay_schedule,
)
from gradwalk.optim.transformations import (
    GradientTransformation,
    add_decayed_weights,
    apply_updates,
    chain,
    clip,
    clip_by_global_norm,
    global_norm,
    identity,
    scale,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_schedule,
    trace,
)

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
