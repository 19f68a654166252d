"""`jax.random` for programs that compute with gradwalk: the same random numbers as JAX, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy


def __getattr__(name: str) -> Callable[..., Any]:
    """Return a function of `jax.random` that returns NumPy arrays."""
    draw = getattr(jax.random, name)
    return lambda *args, **options: numpy.array(draw(*args, **options))
