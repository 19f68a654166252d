"""Functions of other packages compute with Values while their package is adopted, and are restored afterwards."""

from __future__ import annotations

import colorsys
import importlib
import math
import numbers
import sys
import textwrap
import warnings

import numpy
import pytest

from gradwalk import Value, adopt, grad, hessian, jit, jvp, value_and_grad
from gradwalk import math as gm
from gradwalk.adopting import rebinding

PACKAGE = {
    "__init__": "",
    "names": """
        import math
        import math as m
        import numbers
        from math import exp, floor, log as ln
        from math import *

        def by_module(x):
            return math.sin(x) + m.cos(x)

        def by_name(x):
            return exp(x) + ln(x) + sqrt(x) + hypot(x, 3.0)

        def in_default(x, f=math.tanh, *, g=math.atan):
            return f(x) * g(x)

        def outer():
            f = math.cosh
            def inner(x):
                return f(x)
            return inner

        in_closure = outer()
        TABLE = {"sin": math.sin, 2: [math.cos]}
        LIST = [math.sin]

        def in_containers(x):
            return TABLE["sin"](x) + LIST[0](x)

        class Curve:
            f = math.log1p
            def __init__(self, x):
                self.x = float(x)
            def height(self):
                return self.f(self.x) * math.pow(self.x, 2.0)

        KINDS = (int, float)

        def checked(x):
            if not isinstance(x, (int, float)) or not isinstance(x, float) or not isinstance(x, KINDS):
                raise TypeError("a number, please")
            if not isinstance(x, numbers.Real):
                raise TypeError("a real number, please")
            return x * x

        def bins(x):
            table = [1.0, 10.0, 100.0]
            return table[floor(x)] * x + math.trunc(x) + math.ceil(x)

        def parts(x):
            mantissa, exponent = math.frexp(x)
            return math.ldexp(mantissa, exponent) + mantissa
    """,
    "arrays": """
        import numpy as np
        from numpy import array

        def norm(x, y):
            numbers = np.asarray([x, (1.0 * y)], dtype=float)
            assert numbers.shape == (2,)
            return np.sqrt(array(numbers, float) @ np.array(numbers, dtype="float64"))

        def kept(x):
            return np.array(x, dtype=np.float64).dtype, np.asarray([1, 2], float).dtype, np.float64(x) * 2.0

        def asked(x):
            return 2.0 * x if np.isfinite(x) and not np.isnan(x) and not np.isinf(x) else x

        def turned(x):
            return np.cos(np.radians(x)) + np.rad2deg(np.deg2rad(np.array([x])))[0] + np.degrees(x)
    """,
    "classes": """
        import math
        from math import fsum, dist, prod

        KINDS = [float]

        def zeros(dtype=float):
            if dtype is float:
                return [0.0]
            raise ValueError("dtype is not supported")

        def kind(x):
            match x:
                case int():
                    return "int"
                case float():
                    return "float"

        def total(x):
            return fsum([x, 1.0, 2.0 * x]) + dist([x, 1.0], (0.0, 1.0)) + prod(y for y in (x, 2.0))

        def near(x):
            return math.isclose(a=x, b=x * (1.0 + 1e-12))
    """,
    "stars": """
        from somebodys.later import *
    """,
    "later": """
        from math import sin

        def f(x):
            return sin(x) * float(x)
    """,
    "angle": """
        import math

        class Angle(float):
            pass

        def f(x):
            return math.sin(x)

        def degrees(x):
            return math.degrees(Angle(float(x)))
    """,
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Create a package, and return a function that imports a module of it."""
    folder = tmp_path / "somebodys"
    folder.mkdir()
    for name, source in PACKAGE.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name: importlib.import_module(f"somebodys.{name}")
    for name in [name for name in sys.modules if name.partition(".")[0] == "somebodys"]:
        del sys.modules[name]


CASES = {
    "by_module": (lambda x: gm.sin(x) + gm.cos(x), 0.7),
    "by_name": (lambda x: gm.exp(x) + gm.log(x) + gm.sqrt(x) + gm.hypot(x, 3.0), 0.7),
    "in_default": (lambda x: gm.tanh(x) * gm.atan(x), 0.7),
    "in_closure": (gm.cosh, 0.7),
    "in_containers": (lambda x: 2.0 * gm.sin(x), 0.7),
    "checked": (lambda x: x * x, 0.7),
    "bins": (lambda x: 10.0 * x + 1.0 + 2.0, 1.5),
}


def test_arrays_of_floats_hold_values(package):
    module = package("arrays")
    plain = module.kept(3)
    with adopt("somebodys"):
        assert grad(module.norm, (0, 1))(3.0, 4.0) == pytest.approx((0.6, 0.8))
        assert module.kept(3) == plain == (numpy.float64, numpy.float64, 6.0)
        assert type(module.kept(3)[2]) is numpy.float64
        assert module.np.linalg is numpy.linalg
        assert grad(module.asked)(3.0) == 2.0
        turned = grad(lambda x: gm.cos(gm.radians(x)) + x + gm.degrees(x))
        assert grad(module.turned)(30.0) == pytest.approx(turned(30.0))


@pytest.mark.parametrize("name", CASES)
def test_names_of_all_kinds_accept_values(package, name):
    module = package("names")
    expected, x = CASES[name]
    plain = getattr(module, name)(x)
    with adopt("somebodys"):
        f = getattr(module, name)
        assert value_and_grad(f)(x) == value_and_grad(expected)(x)
        assert hessian(f)(x) == hessian(expected)(x)
        assert f(x) == plain == pytest.approx(value_and_grad(expected)(x)[0], rel=1e-15)
        assert type(f(Value(x))) is Value
    assert getattr(module, name)(x) == plain


def test_modules_that_need_the_class_itself_keep_float(package):
    module = package("classes")
    with adopt("somebodys") as adoption:
        assert module.zeros(float) == module.zeros() == module.zeros(module.KINDS[0]) == [0.0]
        assert [module.kind(x) for x in (1, 1.0)] == ["int", "float"]
        assert "contains `is float` or `case float()`" in adoption.left_alone["somebodys.classes"]
        assert grad(module.total)(3.0) == 6.0
        assert grad(lambda x: x if module.near(x) else 2.0 * x)(3.0) == 1.0
    assert module.total(3.0) == 19.0


def test_names_that_other_modules_have_imported_are_restored(package):
    with adopt("somebodys"):
        stars = package("stars")
        assert grad(stars.f)(0.7) == grad(lambda x: gm.sin(x) * x)(0.7)
        other = sys.modules[__name__]
        other.copied = stars.sin
    assert stars.sin is math.sin
    assert other.copied is math.sin
    assert "float" not in vars(stars)
    del other.copied


def test_a_failing_adoption_changes_nothing(package, monkeypatch):
    module = package("names")
    finders = list(sys.meta_path)
    monkeypatch.setattr(rebinding, "_in_function", lambda function, find: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        adopt("somebodys")
    assert module.math is math
    assert sys.meta_path == finders


def test_a_warning_that_is_an_error_leaves_nothing_adopted():
    finders = list(sys.meta_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="has changed no module"):
            adopt("math")
    assert sys.meta_path == finders


def test_modules_of_python_itself_are_left_alone():
    with pytest.warns(UserWarning, match="has changed no module"):
        adoption = adopt("builtins", "math", "gradwalk")
    with adoption:
        assert adoption.modules == []
        assert adoption.left_alone["math"] == "it is built into Python" or "compiled" in adoption.left_alone["math"]
        assert grad(lambda x: x * x)(3.0) == 6.0


def test_arrays_by_keyword(package):
    np = package("arrays").np
    with adopt("somebodys"):
        assert package("arrays").np.array(object=[1.0], dtype=float).tolist() == [1.0]
        assert package("arrays").np.asarray([Value(1.0)], dtype=float).dtype == object
        assert numpy.issubdtype(numpy.float64, package("names").Curve.__init__.__globals__["float"])
    assert np is numpy


def test_classes_keep_values(package):
    curve = package("names").Curve
    with adopt("somebodys"):
        assert grad(lambda x: curve(x).height())(0.5) == grad(lambda x: gm.log1p(x) * x**2.0)(0.5)
        assert curve(3).x == 3.0
        assert type(curve("2.5").x) is float
    assert curve.f is math.log1p


def test_the_exponent_of_a_number_has_no_derivative(package):
    parts = package("names").parts
    with adopt("somebodys"):
        assert value_and_grad(parts)(5.0) == (5.625, 1.125)
    assert parts(5.0) == 5.625


def test_recorded_functions_work_if_they_do_not_need_numbers(package):
    f = package("names").by_name
    with adopt("somebodys"):
        assert jit(grad(f))(0.7) == grad(f)(0.7)


def test_plain_numbers_behave_as_before(package):
    module = package("names")
    with adopt("somebodys"):
        for call, error in (
            (lambda: module.sqrt(-1.0), ValueError),
            (lambda: module.exp(1000.0), OverflowError),
            (lambda: module.math.log("x"), TypeError),
            (lambda: module.math.no_such_name, AttributeError),
        ):
            with pytest.raises(error):
                call()
        assert module.floor(2.5) == 2
        assert type(module.floor(2.5)) is int
        assert module.math.gcd(12, 18) == 6
        assert module.by_name.__globals__["float"]("1e3") == 1000.0
        assert module.math.pi is math.pi


def test_float_stands_for_the_class_float(package):
    with adopt("somebodys"):
        float_ = package("names").Curve.__init__.__globals__["float"]
        assert isinstance(1.0, float_)
        assert isinstance(Value(1.0), float_)
        assert not isinstance(1, float_)
        assert issubclass(float, float_)
        assert type(1.0) == float_  # noqa: E721, UP003
        assert float_.fromhex("0x1p3") == 8.0
        assert numpy.zeros(2, float_).dtype == numpy.float64
        assert numpy.array([1, 2]).astype(float_).dtype == numpy.float64
        assert repr(float_) == "<class 'float'>"
        assert {float_: 1}[float] == 1


def test_modules_that_are_imported_later_are_adopted(package):
    package("names")
    with adopt("somebodys") as adoption:
        later = package("later")
        assert grad(later.f)(0.7) == grad(lambda x: gm.sin(x) * x)(0.7)
        assert adoption.modules == ["somebodys", "somebodys.later", "somebodys.names"]
        assert later.__spec__.loader is later.__loader__
        assert later.__loader__.get_source("somebodys.later").strip().startswith("from math")
    assert later.sin is math.sin
    assert "float" not in vars(later)


def test_a_package_may_be_adopted_before_its_first_import(package):
    with adopt("somebodys"):
        assert grad(package("later").f)(0.0) == 0.0
    assert package("later").sin is math.sin


def test_a_single_module_may_be_adopted(package):
    names, later = package("names"), package("later")
    with adopt("somebodys.later"):
        assert grad(later.f)(0.7) == grad(lambda x: gm.sin(x) * x)(0.7)
        assert names.math is math


def test_everything_is_restored(package):
    module, angle = package("names"), package("angle")
    before = {name: dict(vars(m)) for name, m in (("names", module), ("angle", angle))}
    defaults = module.in_default.__defaults__, dict(module.in_default.__kwdefaults__)
    cell = module.in_closure.__closure__[0].cell_contents
    with adopt("somebodys"):
        assert vars(module) != before["names"]
        assert module.in_closure.__closure__[0].cell_contents is not cell
    assert vars(module) == before["names"]
    assert (module.in_default.__defaults__, module.in_default.__kwdefaults__) == defaults
    assert module.in_closure.__closure__[0].cell_contents is cell
    assert module.LIST[0] is math.sin
    assert module.TABLE["sin"] is math.sin


def test_names_that_the_package_has_changed_meanwhile_are_kept(package):
    module = package("names")
    with adopt("somebodys"):
        module.exp = math.exp2 if hasattr(math, "exp2") else abs
        module.LIST.clear()
        changed = module.exp
    assert module.exp is changed
    assert module.LIST == []


def test_an_exception_restores_the_package(package):
    module = package("names")
    with pytest.raises(ZeroDivisionError), adopt("somebodys"):
        1 / 0  # noqa: B018
    assert module.math is math


def test_two_adoptions_end_independently(package):
    module = package("later")
    first, second = adopt("somebodys"), adopt("somebodys", "colorsys")
    first.restore()
    first.restore()
    assert grad(module.f)(0.0) == 0.0
    assert module.sin is not math.sin
    second.restore()
    assert module.sin is math.sin
    assert repr(second) == "<restored somebodys, colorsys>"


def test_modules_that_cannot_be_adopted_are_named(package):
    angle = package("angle")
    package("names")
    with pytest.warns(UserWarning, match="has changed no module. numpy._core._multiarray_umath: it is compiled"):
        adoption = adopt("somebodys", "numpy._core._multiarray_umath")
    with adoption:
        reason = "it keeps float, because its class Angle is a subclass of float"
        assert adoption.left_alone["somebodys.angle"] == reason
        assert grad(angle.f)(0.0) == 1.0
        assert angle.degrees("0.5") == math.degrees(0.5)
        assert "compiled" in adoption.left_alone["numpy._core._multiarray_umath"]
        shown = repr(adoption).splitlines()
        assert shown[0] == ("<adopted somebodys, numpy._core._multiarray_umath: 3 modules compute with Values")
        assert "left alone: somebodys.angle: it keeps float, because" in shown[1]
    assert adoption.left_alone["somebodys.angle"] == reason


def test_wrong_names_are_refused():
    with pytest.raises(TypeError, match="takes names of packages"):
        adopt()
    with pytest.raises(TypeError, match=r"such as adopt\('fluids'\), got"):
        adopt(math)
    with pytest.raises(ModuleNotFoundError, match="there is no package 'no_such_package'"):
        adopt("colorsys", "no_such_package")
    with pytest.raises(ModuleNotFoundError, match=r"there is no package 'math\.sqrt'"):
        adopt("math.sqrt")
    assert grad(lambda r: colorsys.rgb_to_yiq(r, 0.5, 0.2)[0])(0.3) == pytest.approx(0.30)


def test_numbers_are_restored_for_other_code(package):
    with adopt("somebodys"):
        package("names")
        assert not isinstance(Value(1.0), (float, numbers.Real))
        with pytest.raises(TypeError, match="gradient would be lost"):
            math.sin(Value(1.0))


def test_forward_mode(package):
    with adopt("somebodys"):
        assert jvp(package("later").f, (0.7,), (1.0,)) == jvp(lambda x: gm.sin(x) * x, (0.7,), (1.0,))
