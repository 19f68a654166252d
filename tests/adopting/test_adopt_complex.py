"""An adopted package that computes with `cmath` and `complex`."""

from __future__ import annotations

import cmath
import importlib
import operator
import sys
import textwrap

import numpy
import pytest

from gradwalk import Complex, Value, adopt, grad, jit, value_and_grad, vmap

MODULE = """
    import cmath
    import numbers
    from cmath import exp, sqrt as root
    import numpy

    def impedance(resistance, inductance, kind=complex):
        z = complex(resistance, 314.0 * inductance)
        assert isinstance(z, complex) and isinstance(z, numbers.Complex) and not isinstance(resistance, complex)
        array = numpy.array([z, 1j], dtype=complex)
        total = exp(z / 100.0) + cmath.log(root(z)) + kind(z) * complex(1, resistance) + complex(z, 2.0) + array[0]
        return abs(total) + cmath.phase(z) + (1.0 if cmath.isfinite(z) else 0.0)

    def angles(resistance):
        return [f(resistance * 1j).imag for f in (cmath.sin, cmath.tan)]
"""
KEEPS = """
    def f(x):
        return complex(x.real, 1.0) if type(x) is complex else x
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a module and imports it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield write
    for name in ("complex_circuit", "complex_kind"):
        sys.modules.pop(name, None)


def test_functions_are_differentiated_unmodified(package):
    module = package("complex_circuit", MODULE)
    point = (3.0, 0.01)
    plain = module.impedance(*point)
    slope = (module.impedance(3.0 + 1e-6, 0.01) - module.impedance(3.0 - 1e-6, 0.01)) / 2e-6
    with adopt("complex_circuit") as adoption:
        assert adoption.modules == ["complex_circuit"]
        assert adoption.left_alone == {}
        assert module.impedance(*point) == plain
        assert type(module.angles(1.0)[0]) is float
        for transform in (lambda f: f, jit):
            value, gradient = transform(value_and_grad(module.impedance))(*point)
            assert value == pytest.approx(plain)
            assert gradient == pytest.approx(slope, rel=1e-6)
        batch = vmap(module.impedance, in_axes=(0, None))(numpy.array([3.0, 4.0]), 0.01)
        assert batch.tolist() == pytest.approx([plain, module.impedance(4.0, 0.01)])
        assert grad(lambda x: sum(module.angles(x)))(0.5) == pytest.approx(1.9140737)
        assert module.complex(Value(1.0), 2.0).data == module.complex(real=1.0, imag=2.0) == 1 + 2j
        assert module.complex(Value(1.0), Complex(0.0, Value(1.0))).data == 0j
        assert operator.eq(module.complex, complex)
        assert hash(module.complex) == hash(complex)
        assert issubclass(Complex, module.complex)
        with pytest.raises(TypeError):
            module.complex("a", 1.0)
    assert "complex" not in vars(module)
    assert module.cmath is cmath
    assert module.impedance.__defaults__ == (complex,)
    assert module.impedance(*point) == plain


def test_modules_that_need_the_class_keep_it(package):
    module = package("complex_kind", KEEPS)
    with adopt("complex_kind") as adoption:
        assert "`is complex`" in adoption.left_alone["complex_kind"]
        assert module.f(1j) == 1j
    assert "complex" not in vars(module)
