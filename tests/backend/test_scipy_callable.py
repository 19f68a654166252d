"""Recorded functions as callbacks of SciPy's C routines."""

from __future__ import annotations

import gc
import math
import sys
import threading

import numpy
import pytest
from scipy import LowLevelCallable
from scipy.integrate import IntegrationWarning, dblquad, nquad, quad
from scipy.ndimage import generic_filter

from gradwalk import grad, jit, primitive
from gradwalk import math as gmath
from gradwalk.backend.scipy_callable import low_level_callable, low_level_filter
from gradwalk.program.program import ProgramError
from gradwalk.program.run import c_abi


def record_program(f, *args):
    function = jit(f)
    function(*args)
    return function.program


def bell(x, width):
    return gmath.exp(-((x / width) ** 2))


class TestIntegrands:
    def test_an_integrand_of_one_variable(self):
        integrand = low_level_callable(record_program(lambda x: gmath.sin(x) / (1 + x * x), 0.0))
        assert isinstance(integrand, LowLevelCallable)
        assert integrand.signature == "double (double, void *)"
        assert quad(integrand, 0.0, 3.0) == quad(lambda x: math.sin(x) / (1 + x * x), 0.0, 3.0)

    def test_an_integrand_with_arguments(self):
        integrand = low_level_callable(record_program(bell, 0.0, 1.0))
        assert integrand.signature == "double (int, double *, void *)"
        for width in (0.5, 2.0):
            found, _ = quad(integrand, -math.inf, math.inf, args=(width,))
            assert found == pytest.approx(width * math.sqrt(math.pi), rel=1e-10)

    def test_a_derivative_as_integrand(self):
        integrand = low_level_callable(record_program(grad(bell, 1), 0.0, 1.0))
        assert quad(integrand, -math.inf, math.inf, args=(2.0,))[0] == pytest.approx(math.sqrt(math.pi), rel=1e-10)

    def test_an_integrand_of_several_variables(self):
        def density(x, y, z, scale):
            return gmath.exp(-(x * x + y * y) * scale) * z

        integrand = low_level_callable(record_program(density, 0.0, 0.0, 0.0, 0.0))
        ranges = [(-1, 1), (0, 1), (0, 2)]
        expected = nquad(lambda x, y, z, scale: math.exp(-(x * x + y * y) * scale) * z, ranges, args=(0.5,))
        assert nquad(integrand, ranges, args=(0.5,)) == expected
        flat = low_level_callable(record_program(lambda y, x: y * x, 0.0, 0.0))
        assert dblquad(flat, 0.0, 1.0, 0.0, 2.0)[0] == pytest.approx(1.0)

    def test_a_wrong_number_of_variables_gives_nan(self):
        integrand = low_level_callable(record_program(bell, 0.0, 1.0))
        with pytest.warns(IntegrationWarning):
            assert math.isnan(quad(integrand, 0.0, 1.0, args=(1.0, 2.0))[0])

    def test_integrands_outlive_their_functions(self):
        integrand = low_level_callable(record_program(bell, 0.0, 1.0))
        gc.collect()
        others = [record_program(bell, 0.0, 1.0) for _ in range(20)]
        assert quad(integrand, -5.0, 5.0, args=(1.0,))[0] == pytest.approx(math.sqrt(math.pi))
        assert len(others) == 20

    def test_several_threads_may_use_an_integrand(self):
        integrand = low_level_callable(record_program(bell, 0.0, 1.0))
        expected = {width: quad(integrand, -5.0, 5.0, args=(width,))[0] for width in (0.5, 1.0, 2.0)}
        wrong = []

        def work(width):
            wrong.extend({quad(integrand, -5.0, 5.0, args=(width,))[0] for _ in range(20)} - {expected[width]})

        threads = [threading.Thread(target=work, args=(width,)) for width in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


class TestFilters:
    def test_filters_agree_with_generic_filter(self):
        def contrast(pixels):
            return gmath.sqrt(sum((x - pixels[4]) ** 2 for x in pixels))

        image = numpy.random.default_rng(0).random((12, 10))
        found = generic_filter(image, low_level_filter(record_program(contrast, numpy.zeros(9))), size=3)
        numpy.testing.assert_allclose(
            found, generic_filter(image, lambda x: math.dist(x, [x[4]] * 9), size=3), rtol=1e-12
        )

    def test_a_wrong_footprint_is_refused(self):
        wrong = low_level_filter(record_program(lambda pixels: pixels[0], numpy.zeros(4)))
        with pytest.raises(RuntimeError):
            generic_filter(numpy.zeros((5, 5)), wrong, size=3)


class TestErrors:
    def test_program_must_have_one_output(self):
        for function in (lambda x: (x, x), lambda x: ()):
            with pytest.raises(ValueError, match=r"low_level_filter\(\): program must have exactly one output, got"):
                low_level_filter(record_program(function, 1.0))

    def test_python_functions_are_refused(self):
        @primitive
        def gamma(x):
            return math.gamma(x)

        with pytest.raises(ProgramError, match=r"calls gamma, a Python function, which only Python can run"):
            low_level_callable(record_program(gamma, 1.5))

    def test_argument_must_be_a_program(self):
        with pytest.raises(
            TypeError, match=r"program must be a Program \(jit\(f\)\.program after a call\), got function"
        ):
            low_level_callable(bell)

    def test_scipy_must_be_installed(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "scipy", None)
        with pytest.raises(ImportError, match=r"LowLevelCallable.*pip install 'gradwalk\[scipy\]'"):
            low_level_callable(record_program(bell, 0.0, 1.0))


def test_uncompiled_callbacks_give_the_same_results(monkeypatch):
    monkeypatch.setattr(c_abi, "ADDRESSES", c_abi.addresses_in_python())
    one, several = record_program(lambda x: x * x, 0.0), record_program(bell, 0.0, 1.0)
    assert quad(low_level_callable(one), 0.0, 3.0)[0] == pytest.approx(9.0)
    assert quad(low_level_callable(several), -5.0, 5.0, args=(1.0,))[0] == pytest.approx(math.sqrt(math.pi))
    with pytest.warns(IntegrationWarning):
        assert math.isnan(quad(low_level_callable(several), 0.0, 1.0)[0])
    pixels = low_level_filter(record_program(lambda x: x[0] - x[2], numpy.zeros(3)))
    assert generic_filter(numpy.array([1.0, 2.0, 4.0]), pixels, size=3).tolist() == [-1.0, -3.0, -2.0]
    with pytest.raises(RuntimeError):
        generic_filter(numpy.zeros(5), pixels, size=5)
    assert c_abi.addresses_in_python() == c_abi.addresses_in_python()
