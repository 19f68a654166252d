"""Tests of gradwalk.numpy on random inputs, compared with JAX. JAX needs about two minutes."""

from __future__ import annotations

import numpy
import pytest
from jnp_expressions import ALL, INPUTS, check_derivatives, in_jax, names_in


@pytest.mark.parametrize("expression", ALL)
@pytest.mark.parametrize("seed", [1, 2])
def test_values_and_derivatives_agree_with_jax(expression, seed):
    random = numpy.random.default_rng(seed)
    drawn = {name: random.normal(size=array.shape) for name, array in INPUTS.items()}
    drawn["p"] = random.uniform(0.1, 0.9, INPUTS["p"].shape)
    drawn["m"] = drawn["m"] + 2.0 * numpy.eye(3)
    inputs = [drawn[name] for name in names_in(expression)]
    directions = [random.normal(size=array.shape) for array in inputs]
    check_derivatives(expression, inputs, directions, in_jax(expression, inputs, directions))
