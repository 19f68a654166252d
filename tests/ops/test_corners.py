"""Tests of zeros, poles, kinks and tails: value, first and second derivative in every way of running."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from c_compiler import needs_program

import gradwalk.math
from gradwalk import Value, grad, hessian, jit, vmap

INF, NAN = math.inf, math.nan
EULER, ZETA_3 = 0.5772156649015329, 1.2020569031595942
ROOT_PI, ROOT_2_PI = math.sqrt(math.pi), math.sqrt(2 * math.pi)

# None means that the derivative is not checked.
CORNERS: list[tuple[str, float, float | None, float | None, float | None]] = [
    ("asinh", 1e300, math.log(2e300), 1e-300, 0.0),
    ("asinh", -1e300, -math.log(2e300), 1e-300, 0.0),
    ("acosh", 1.0, 0.0, INF, -INF),
    ("acosh", 1e300, math.log(2e300), 1e-300, 0.0),
    ("atanh", 1.0, INF, INF, None),
    ("atanh", -1.0, -INF, INF, None),
    ("atanh", 1e-200, 1e-200, 1.0, 2e-200),
    ("cbrt", 0.0, 0.0, INF, -INF),
    ("cbrt", -0.0, 0.0, INF, INF),
    ("cbrt", 1e-100, 4.641588833612779e-34, 1.5471962778709263e66, -1.0314641852472842e166),
    ("cbrt", 1e-200, 2.154434690031884e-67, 7.181448966772946e132, -INF),
    ("cbrt", -1e-200, -2.154434690031884e-67, 7.181448966772946e132, INF),
    ("cbrt", 5e-324, 1.7031839360032603e-108, 1.1490942214795807e215, -INF),
    ("cbrt", 1e-300, 1e-100, 1e200 / 3, -INF),
    ("cbrt", 1e308, 4.641588833612779e102, 1.547196e-206, 0.0),
    ("cbrt", INF, INF, 0.0, 0.0),
    ("cbrt", -INF, -INF, 0.0, 0.0),
    ("cbrt", -8.0, -2.0, 1 / 12, 1 / 144),
    ("exp2", -1074.0, 5e-324, None, None),
    ("log1mexp", 0.0, -INF, -INF, -INF),
    ("log1mexp", -1e-300, math.log(1e-300), -1e300, None),
    ("log1mexp", -800.0, 0.0, 0.0, 0.0),
    ("sinc", 0.0, 1.0, 0.0, -(math.pi**2) / 3),
    ("sinc", 1e-170, 1.0, -(math.pi**2) / 3 * 1e-170, -(math.pi**2) / 3),
    ("sinc", 3.0, 0.0, -1 / 3, 2 / 9),
    ("silu", 0.0, 0.0, 0.5, 0.5),
    ("silu", -INF, 0.0, 0.0, 0.0),
    ("silu", -1e300, 0.0, 0.0, 0.0),
    ("silu", 1e300, 1e300, 1.0, 0.0),
    ("silu", INF, INF, 1.0, 0.0),
    ("gelu", 0.0, 0.0, 0.5, 2 / ROOT_2_PI),
    ("gelu", -INF, 0.0, 0.0, 0.0),
    ("gelu", -1e300, 0.0, 0.0, 0.0),
    ("gelu", 1e300, 1e300, 1.0, 0.0),
    ("gelu", INF, INF, 1.0, 0.0),
    ("erfc", 30.0, 0.0, 0.0, 0.0),
    ("erfc", INF, 0.0, 0.0, None),
    ("erfcx", 0.0, 1.0, -2 / ROOT_PI, 2.0),
    ("erfcx", 1e100, 1e-100 / ROOT_PI, -1e-200 / ROOT_PI, 2e-300 / ROOT_PI),
    ("erfcx", INF, 0.0, 0.0, 0.0),
    ("erfcx", -30.0, INF, -INF, None),
    ("norm_pdf", 0.0, 1 / ROOT_2_PI, 0.0, -1 / ROOT_2_PI),
    ("norm_pdf", 50.0, 0.0, 0.0, 0.0),
    ("norm_cdf", 0.0, 0.5, 1 / ROOT_2_PI, 0.0),
    ("norm_cdf", -37.0, 5.725571222524577e-300, 2.1200065514402553e-298, 37 * 2.1200065514402553e-298),
    ("norm_cdf", INF, 1.0, 0.0, None),
    ("norm_cdf", -INF, 0.0, 0.0, None),
    ("norm_ppf", 0.0, -INF, INF, -INF),
    ("norm_ppf", -0.0, -INF, INF, -INF),
    ("norm_ppf", 1.0, INF, INF, INF),
    ("norm_ppf", 0.5, 0.0, ROOT_2_PI, 0.0),
    ("norm_ppf", -0.5, NAN, None, None),
    ("norm_ppf", 1e-320, None, INF, -INF),
    ("norm_ppf", 1e-300, -37.0470964, 2.69730446e298, -INF),
    ("norm_ppf", 1.44e-155, None, 2.61233811e153, -INF),
    ("norm_ppf", 1.45e-155, None, 2.59434718e153, -1.78667658e308),
    ("gamma", 1.0, 1.0, -EULER, EULER**2 + math.pi**2 / 6),
    ("gamma", 0.0, INF, -INF, None),
    ("gamma", -0.0, -INF, -INF, None),
    ("gamma", -2.0, NAN, NAN, None),
    ("gamma", 200.0, INF, INF, INF),
    ("gamma", INF, INF, INF, None),
    ("lgamma", 1.0, 0.0, -EULER, math.pi**2 / 6),
    ("lgamma", 2.0, 0.0, 1 - EULER, math.pi**2 / 6 - 1),
    ("lgamma", 0.0, INF, -INF, INF),
    ("lgamma", -3.0, INF, NAN, INF),
    ("lgamma", -INF, INF, None, None),
    ("lgamma", -5e-324, 744.4400719213812, None, None),
    ("lgamma", 1e300, 6.897755278982137e302, math.log(1e300), 1e-300),
    ("digamma", 1.0, -EULER, math.pi**2 / 6, -2 * ZETA_3),
    ("digamma", -0.5, 0.03648997397857652, 8.934802200544679, -0.8287966442343200),
    ("trigamma", 1.0, math.pi**2 / 6, -2 * ZETA_3, math.pi**4 / 15),
    ("trigamma", 1e160, 1e-160, 0.0, 0.0),
    ("trigamma", 0.0, INF, -INF, INF),
    ("floor", -0.5, -1.0, 0.0, 0.0),
    ("ceil", INF, INF, 0.0, 0.0),
    ("trunc", -2.7, -2.0, 0.0, 0.0),
    ("rint", 2.5, 2.0, 0.0, 0.0),
    ("rint", -3.5, -4.0, 0.0, 0.0),
]


def agrees(found: float, expected: float | None) -> bool:
    return expected is None or found == pytest.approx(expected, rel=1e-6 if abs(expected) > 37 else 1e-5, nan_ok=True)


@pytest.mark.parametrize(("name", "x", "value", "first", "second"), CORNERS)
def test_corners_to_second_order(name, x, value, first, second):
    f = getattr(gradwalk.math, name)
    out = f(Value(x))
    assert agrees(out.data, value)
    assert agrees(out.partials[0], first)
    for derivative, expected in ((grad(f), first), (grad(grad(f)), second)):
        assert agrees(derivative(x), expected)
        assert agrees(jit(derivative)(x), expected)
        assert agrees(vmap(derivative)(numpy.array([x, x]))[1], expected)
    assert agrees(vmap(f)(numpy.array([x, x]))[1], value)


@needs_program("cc")
def test_corners_in_c(tmp_path):
    names = sorted({corner[0] for corner in CORNERS})
    functions = {name: compiled(tmp_path, name, getattr(gradwalk.math, name)) for name in names}
    for name, x, *expected in CORNERS:
        outputs = (ctypes.c_double * 3)()
        functions[name]((ctypes.c_double * 1)(x), outputs)
        assert all(map(agrees, outputs, expected)), (name, x, list(outputs))


def compiled(folder: Path, name: str, f: Callable[..., Value]) -> Callable[..., None]:
    """Compile a C function that returns the value and two derivatives."""
    recorded = jit(lambda x: (f(x), grad(f)(x), grad(grad(f))(x)))
    recorded(0.3)
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(recorded.program.to_c(), encoding="utf-8")
    strict = ("-std=c99", "-Wall", "-Werror", "-O1", "-ffp-contract=off", "-shared", "-fPIC")
    subprocess.run(["cc", *strict, source, "-o", library, "-lm"], check=True)
    return ctypes.CDLL(str(library)).f


def test_fifth_derivative_of_lgamma():
    """At 1 it is -4! zeta(5), the fourth polygamma function, which no row computes."""
    f = gradwalk.math.lgamma
    for _ in range(5):
        f = grad(f)
    assert f(1.0) == pytest.approx(-24 * 1.03692775514337, rel=1e-9)


def test_second_derivative_of_norm_ppf_overflows_with_its_sign():
    p = numpy.concatenate([numpy.geomspace(1e-323, 1e-140, 400), numpy.linspace(1.43e-155, 1.45e-155, 400)])
    second = vmap(grad(grad(gradwalk.math.norm_ppf)))(p)
    with numpy.errstate(over="ignore"):
        expected = vmap(gradwalk.math.norm_ppf)(p) * vmap(grad(gradwalk.math.norm_ppf))(p) ** 2
    far = numpy.abs(expected) < 1.79e308
    assert (second[p < 1.445e-155] == -INF).all()
    assert second[far] == pytest.approx(expected[far], rel=1e-9)
    assert (second[~far] < -1.78e308).all()


def test_acosh_below_1_is_nan():
    """The acosh of musl returns finite numbers there."""
    x = -numpy.geomspace(1.0, 1e9, 1000)
    acosh = gradwalk.math.acosh
    assert numpy.isnan([Value(number).acosh().data for number in x]).all()
    assert numpy.isnan([jit(acosh)(number) for number in x]).all()
    assert numpy.isnan(vmap(acosh)(x)).all()


def test_rounding_a_value_gives_a_value():
    v = Value(2.5)
    results = [math.floor(v), math.ceil(v), math.trunc(v), round(v)]
    assert [result.data for result in results] == [2.0, 3.0, 2.0, 2.0]
    assert [result.operands for result in results] == [(v,)] * 4
    array = numpy.array([v, Value(-0.5)])
    for ufunc, expected in ((numpy.floor, [2, -1]), (numpy.ceil, [3, 0]), (numpy.trunc, [2, 0]), (numpy.rint, [2, 0])):
        assert [result.data for result in ufunc(array)] == expected
    assert round(Value(2.125), 2) == 2.12
    assert jit(lambda x: x - math.floor(x))(2.75) == 0.75


def test_atan2_has_zero_derivatives_at_the_origin():
    """In a batch whose sum is differentiated, the other points keep their gradients."""

    def f(w, x):
        return gradwalk.math.atan2(x[0] + w, x[1] + 2.0 * w)

    for once in (f, jit(f)):
        assert grad(once)(0.0, [0.0, 0.0]) == grad(grad(once))(0.0, [0.0, 0.0]) == 0.0
    points = numpy.array([[0.0, 0.0], [-2.0, 1000.0]])
    second = grad(grad(f))(0.0, points[1])
    assert grad(grad(vmap(f, in_axes=(None, 0), reduce="sum")))(0.0, points) == pytest.approx(second, rel=1e-12)
    assert numpy.array(jit(hessian(lambda p: gradwalk.math.atan2(p[0], p[1])))(points[0])).tolist() == [[0.0, 0.0]] * 2
