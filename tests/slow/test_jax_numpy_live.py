"""Tests of gradwalk.numpy on random inputs, compared with JAX.

JAX takes minutes for all expressions, so one in eight is compared here. tests/numpy/test_jax_numpy.py compares all of
them with stored results.
"""

from __future__ import annotations

import numpy
import pytest
from jnp_expressions import ALL, INPUTS, check_derivatives, in_jax, names_in


@pytest.mark.parametrize("expression", ALL[::8])
def test_values_and_derivatives_agree_with_jax(expression):
    random = numpy.random.default_rng(1)
    drawn = {name: random.normal(size=array.shape) for name, array in INPUTS.items()}
    drawn["p"] = random.uniform(0.1, 0.9, INPUTS["p"].shape)
    drawn["m"] = drawn["m"] + 2.0 * numpy.eye(3)
    inputs = [drawn[name] for name in names_in(expression)]
    directions = [random.normal(size=array.shape) for array in inputs]
    check_derivatives(expression, inputs, directions, in_jax(expression, inputs, directions))
