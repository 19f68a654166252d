"""Tests of the names of jax.numpy: each is present or has advice, and differentiable names agree with JAX."""

from __future__ import annotations

import inspect
import json
import re
import types
from typing import Any

import jnp_expressions
import numpy
import pytest
from jnp_expressions import ALL, check_derivatives, directions_of, evaluate, inputs_of

import gradwalk.numpy as gnp
from gradwalk.numpy.names.advice import ADVICE

REFERENCES = json.loads(jnp_expressions.REFERENCES.read_text(encoding="utf-8"))

# Functions without derivatives, which other tests call, or which NumPy defines and tests.
WITHOUT_DERIVATIVES = {
    "angle",
    "arange",
    "argwhere",
    "array_repr",
    "array_str",
    "at",
    "bartlett",
    "blackman",
    "broadcast_shapes",
    "can_cast",
    "diag_indices",
    "diag_indices_from",
    "einsum_path",
    "empty",
    "eye",
    "finfo",
    "flatnonzero",
    "frexp",
    "frompyfunc",
    "gcd",
    "get_printoptions",
    "hamming",
    "hanning",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "i0",
    "identity",
    "iinfo",
    "indices",
    "intersect1d",
    "iscomplex",
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "iterable",
    "ix_",
    "kaiser",
    "lcm",
    "lexsort",
    "mask_indices",
    "ndim",
    "nextafter",
    "nonzero",
    "ones",
    "printoptions",
    "promote_types",
    "ravel_multi_index",
    "result_type",
    "roots",
    "set_printoptions",
    "setdiff1d",
    "setxor1d",
    "shape",
    "size",
    "spacing",
    "tri",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu_indices",
    "triu_indices_from",
    "ufunc",
    "union1d",
    "unique",
    "zeros",
    "linalg.eig",
    "linalg.eigvals",
    "linalg.matrix_rank",
    "linalg.expm",
}


def names_of(module: Any) -> list[str]:
    return [name for name in dir(module) if not name.startswith("_")]


def test_every_name_of_jax_is_present_or_has_advice():
    jnp = pytest.importorskip("jax.numpy")
    for name in names_of(jnp):
        assert hasattr(gnp, name) != (name in ADVICE), name
    for name in names_of(jnp.linalg):
        assert hasattr(gnp.linalg, name), name


def test_a_missing_name_says_what_to_use():
    with pytest.raises(AttributeError, match=r"gradwalk\.numpy does not have argpartition: use argsort"):
        _ = gnp.argpartition
    with pytest.raises(AttributeError, match=r"does not have bitwise_and: use numpy\.bitwise_and"):
        gnp.bitwise_and(1, 2)
    with pytest.raises(AttributeError, match=r"use numpy\.load"):
        gnp.load("file")
    with pytest.raises(AttributeError, match=r"module 'gradwalk\.numpy' has no attribute 'nothing'"):
        _ = gnp.nothing


def test_every_function_is_compared_with_jax():
    text = "\n".join(ALL)
    for prefix, module in (("", gnp), ("linalg.", gnp.linalg)):
        for name in names_of(module):
            thing = getattr(module, name)
            if callable(thing) and not isinstance(thing, (type, types.ModuleType)) and name != "annotations":
                used = re.search(rf"np\.{re.escape(prefix + name)}\b", text)
                assert bool(used) != (prefix + name in WITHOUT_DERIVATIVES), prefix + name


@pytest.mark.parametrize("expression", ALL)
def test_values_and_derivatives_agree_with_jax(expression):
    check_derivatives(expression, inputs_of(expression), directions_of(expression), REFERENCES[expression])


@pytest.mark.parametrize("expression", ALL)
def test_arrays_of_numbers_give_what_numpy_gives(expression):
    inputs = inputs_of(expression)
    try:
        expected = evaluate(expression, numpy, *inputs)
    except (AttributeError, TypeError, FutureWarning):
        return  # not in this version of NumPy, or with other parameters
    found = evaluate(expression, gnp, *inputs)
    assert type(found) is type(expected)
    numpy.testing.assert_array_equal(found, expected)
    assert numpy.asarray(found).dtype == numpy.asarray(expected).dtype


def test_every_function_has_a_docstring_and_a_signature():
    for module in (gnp, gnp.linalg):
        for name in names_of(module):
            thing = getattr(module, name)
            if inspect.isfunction(thing) and not isinstance(inspect.unwrap(thing), numpy.ufunc):
                assert (inspect.getdoc(thing) or "").strip(), name
                assert inspect.signature(thing).parameters or name in {"get_printoptions"}, name
