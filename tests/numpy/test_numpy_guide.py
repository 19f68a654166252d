"""Tests of each claim in the table of docs/guides/numpy.md, in each way of running."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy
import pytest
from checkout import ROOT

import gradwalk.numpy as gnp
from gradwalk import RecordingError, Value, grad, jit, math, vmap

GUIDE = ROOT / "docs/guides/numpy.md"
INPUTS = {
    "x": numpy.array([0.7, 0.3, 1.9, 1.1]),
    "y": numpy.array([0.4, 2.1, 0.8, 0.9]),
    "tied": numpy.array([0.5, 2.0, 2.0, 1.0]),
    "gaps": numpy.array([1.0, numpy.nan, 3.0, 2.0]),
    "flags": numpy.array([0.0, 1.0, 0.0, 0.0]),
    "m": numpy.array([[2.0, 0.5, 0.1, 0.3], [0.4, 3.0, 0.2, 0.1], [0.3, 0.6, 1.5, 0.2], [0.1, 0.2, 0.3, 2.5]]),
    "s": numpy.array([[2.0, 0.5, 0.1, 0.3], [0.5, 3.0, 0.2, 0.1], [0.1, 0.2, 1.5, 0.2], [0.3, 0.1, 0.2, 2.5]]),
}
REFUSED = "works in transforms, else an error"
DIFFERENT = "works in transforms, else a different result"
VERDICTS = ("works", "branches", REFUSED, DIFFERENT)


def rows() -> list[tuple[list[str], str, list[str]]]:
    """Return the expressions, the verdict and the replacements of each row."""
    lines = re.findall(r"^\| (`.*?) \| ([\w ,]+) \|(.*)\|$", GUIDE.read_text(encoding="utf-8"), re.M)
    return [(re.findall("`([^`]+)`", left), verdict, re.findall("`([^`]+)`", right)) for left, verdict, right in lines]


def claims(verdict: str) -> list[str]:
    return [expression for left, found, _ in rows() if found == verdict for expression in left]


def replaced(*verdicts: str) -> list[tuple[str, str]]:
    """Return the expressions of some rows with their replacements, or of all rows that have replacements."""
    chosen = [row for row in rows() if row[1] in (verdicts or VERDICTS)]
    return [pair for left, _, right in chosen if right for pair in zip(left, right, strict=True)]


def evaluated(expression: str, values: dict[str, Any]) -> Any:
    """Evaluate an expression with numbers or Values for its names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warns about nan
        return eval(expression, {"numpy": numpy, "gnp": gnp, "math": math, **values})


def names_in(expression: str) -> list[str]:
    return [name for name in INPUTS if re.search(rf"\b{name}\b", expression)]


def loss(expression: str, *inputs: Any) -> Any:
    """Compute a nonlinear number from all elements of a result."""
    result = numpy.asarray(evaluated(expression, dict(zip(names_in(expression), inputs, strict=True))), dtype=object)
    return sum(numpy.sin(i + 1.0) * (x + x * x) for i, x in enumerate(result.ravel()))


def given(expression: str) -> list[Any]:
    return [INPUTS[name] for name in names_in(expression)]


def differences(expression: str) -> list[Any]:
    """Compute central differences of the loss on plain numbers."""
    inputs, step = given(expression), 1e-6
    found = []
    for i, array in enumerate(inputs):
        slopes = numpy.zeros(array.shape)
        for at in numpy.ndindex(array.shape):
            ends = []
            for sign in (1.0, -1.0):
                moved = [x.copy() for x in inputs]
                moved[i][at] += sign * step
                ends.append(float(loss(expression, *moved)))
            slopes[at] = (ends[0] - ends[1]) / (2 * step)
        found.append(slopes)
    return found


def as_values(array: Any) -> Any:
    return numpy.array([Value(x) for x in array.ravel()], dtype=object).reshape(array.shape)


def numbers(result: Any) -> Any:
    array = numpy.asarray(result, dtype=object)
    return numpy.array([x.data if isinstance(x, Value) else float(x) for x in array.ravel()]).reshape(array.shape)


def eager(expression: str) -> tuple[Any, list[Any]]:
    """Return the numbers of the result on Values and the gradients of the loss."""
    inputs = [as_values(array) for array in given(expression)]
    total = loss(expression, *inputs)
    if isinstance(total, Value):
        total.backward()
    gradients = [numpy.array([v.grad for v in array.ravel()]).reshape(array.shape) for array in inputs]
    return numbers(evaluated(expression, dict(zip(names_in(expression), inputs, strict=True)))), gradients


def check_outside_of_jit(expression: str, gradients: list[Any]) -> None:
    expected = numpy.asarray(evaluated(expression, INPUTS), dtype=float)
    found, by_backward = eager(expression)
    numpy.testing.assert_allclose(found, expected, rtol=1e-12)
    check_grad(expression, gradients)
    for one, other in zip(by_backward, gradients, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def check_grad(expression: str, gradients: list[Any]) -> None:
    argnums = tuple(range(len(given(expression))))
    by_grad = grad(lambda *xs: loss(expression, *xs), argnums)(*given(expression))
    for one, other in zip(by_grad, gradients, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def check_everywhere(expression: str, gradients: list[Any]) -> None:
    check_outside_of_jit(expression, gradients)
    check_in_transforms(expression, gradients)


def check_in_transforms(expression: str, gradients: list[Any]) -> None:
    check_grad(expression, gradients)
    inputs = given(expression)
    names = names_in(expression)
    expected = numpy.asarray(evaluated(expression, INPUTS), dtype=float)

    def f(*xs: Any) -> Any:
        return evaluated(expression, dict(zip(names, xs, strict=True)))

    # Record with other numbers, so that constants in the recording would be noticed.
    others = [numpy.flip(array, -1) + 3.0 * (numpy.eye(4) if array.ndim == 2 else 0.0) for array in inputs]
    recorded = jit(f)
    recorded(*others)
    numpy.testing.assert_allclose(numpy.asarray(recorded(*inputs), dtype=float), expected, rtol=1e-12)
    lanes = [numpy.stack(pair) for pair in zip(inputs, others, strict=True)]
    numpy.testing.assert_allclose(vmap(f)(*lanes)[0], expected, rtol=1e-12)
    argnums = tuple(range(len(inputs)))
    derivative = grad(lambda *xs: loss(expression, *xs), argnums)
    recorded_derivative = jit(derivative)
    recorded_derivative(*others)
    for one, other in zip(recorded_derivative(*inputs), gradients, strict=True):
        numpy.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    for one, other in zip(vmap(derivative)(*lanes), gradients, strict=True):
        numpy.testing.assert_allclose(one[0], other, rtol=1e-5, atol=1e-7)


def test_every_row_is_parsed():
    assert len(rows()) > 20
    assert {verdict for _, verdict, _ in rows()} == set(VERDICTS)
    table = re.findall(r"^\| .*\|$", GUIDE.read_text(encoding="utf-8"), re.M)
    assert len(table) == len(rows()) + 1  # plus the heading


@pytest.mark.parametrize("expression", claims("works"))
def test_supported_expressions_work_everywhere(expression):
    check_everywhere(expression, differences(expression))


@pytest.mark.parametrize("expression", claims("branches"))
def test_expressions_that_branch_work_unless_branches_are_refused(expression):
    check_everywhere(expression, differences(expression))
    names = names_in(expression)

    def f(*xs: Any) -> Any:
        return evaluated(expression, dict(zip(names, xs, strict=True)))

    with pytest.raises(RecordingError, match=r"gradwalk\.(numpy|take)"):
        jit(f, branches="refuse")(*given(expression))
    with pytest.raises(RecordingError, match=r"gradwalk\.(numpy|take)"):
        jit(vmap(f), branches="refuse")(*[numpy.stack([x, x]) for x in given(expression)])


@pytest.mark.parametrize("expression", claims(REFUSED))
def test_some_expressions_work_in_transforms_alone(expression):
    if "quantile" in expression and numpy.lib.NumpyVersion(numpy.__version__) < "2.3.0":
        pytest.skip("earlier versions of NumPy sort the Values")
    with pytest.raises((TypeError, AttributeError, ValueError)):
        eager(expression)
    check_in_transforms(expression, differences(expression))


@pytest.mark.parametrize("expression", claims(DIFFERENT))
def test_wrong_results_are_still_wrong(expression):
    """The value or the gradient differs; if NumPy or Value changes, the guide must be updated."""
    found, gradients = eager(expression)
    expected = numpy.asarray(evaluated(expression, INPUTS), dtype=float)
    is_same = found.shape == expected.shape and numpy.array_equal(found, expected, equal_nan=True)
    same_slope = all(map(numpy.allclose, gradients, differences(expression)))
    assert not (is_same and same_slope)


def in_transforms(expression: str) -> list[Any]:
    """Return the results and gradients of an expression in functions that transforms call."""
    names, inputs = names_in(expression), given(expression)
    argnums = tuple(range(len(inputs)))

    def f(*xs: Any) -> Any:
        return evaluated(expression, dict(zip(names, xs, strict=True)))

    recorded, slopes = jit(f), grad(lambda *xs: loss(expression, *xs), argnums)
    lanes = [numpy.stack([array, numpy.flip(array)]) for array in inputs]
    return [recorded(*inputs), vmap(f)(*lanes)[0], *slopes(*inputs), *jit(slopes)(*inputs)]


@pytest.mark.parametrize(("expression", "replacement"), replaced(DIFFERENT))
def test_results_in_transforms_are_those_of_the_replacement(expression, replacement):
    expected = numpy.asarray(evaluated(expression, INPUTS), dtype=float)
    numpy.testing.assert_allclose(numpy.asarray(in_transforms(expression)[0], dtype=float), expected, rtol=1e-12)
    for found, other in zip(in_transforms(expression), in_transforms(replacement), strict=True):
        numpy.testing.assert_array_equal(found, other)


@pytest.mark.parametrize(("expression", "replacement"), replaced())
def test_replacement_agrees_with_numpy(expression, replacement):
    expected = evaluated(expression, INPUTS)
    if isinstance(expected, tuple):  # slogdet
        expected = expected[1]
    numpy.testing.assert_allclose(
        numpy.asarray(evaluated(replacement, INPUTS), dtype=float), numpy.asarray(expected, dtype=float), rtol=1e-12
    )


def discontinuous(expression: str) -> bool:
    """Return whether finite differences are useless, because of a jump or a nan."""
    return "gaps" in expression or "flags" in expression or "unique" in expression


@pytest.mark.parametrize("replacement", [r for _, r in replaced() if not discontinuous(r)])
def test_replacement_works_everywhere(replacement):
    check_everywhere(replacement, differences(replacement))


@pytest.mark.parametrize("replacement", [r for _, r in replaced() if discontinuous(r)])
def test_replacement_has_the_same_value_everywhere(replacement):
    expected = numpy.asarray(evaluated(replacement, INPUTS), dtype=float)
    names, inputs = names_in(replacement), given(replacement)
    numpy.testing.assert_array_equal(eager(replacement)[0], expected)

    def f(*xs: Any) -> Any:
        return evaluated(replacement, dict(zip(names, xs, strict=True)))

    recorded = jit(f)
    recorded(*[numpy.flip(array) for array in inputs])
    numpy.testing.assert_array_equal(numpy.asarray(recorded(*inputs), dtype=float), expected)
    lanes = [numpy.stack([array, numpy.flip(array)]) for array in inputs]
    numpy.testing.assert_array_equal(numpy.asarray(vmap(f)(*lanes), dtype=float)[0], expected)
