"""Tests of branches in functions that `jit` records: one trace for each path through them."""

from __future__ import annotations

import pickle
import random
import sys
import threading
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from references import jax, jnp

from gradwalk import (
    RecordingError,
    RecordingWarning,
    Value,
    debug_nans,
    grad,
    hessian,
    hvp,
    jacfwd,
    jit,
    jvp,
    loops,
    math,
    primitive,
    value_and_grad,
    vjp,
    vmap,
)


def tax(income: Any) -> Any:
    if income < 100:
        return 0.2 * income
    if income < 500 and income != 250:
        return 0.3 * income - 10.0
    return 0.4 * income * income


def halved(x: Any) -> Any:
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return x * count + math.sin(x)


def largest(x: Any) -> Any:
    return max(x) * sorted(x)[0] + (x[0] if not x[1] else abs(x[1]))


def test_each_path_is_traced_once():
    recorded = jit(tax, branches="record")
    for income in (50.0, 150.0, 600.0, 60.0, 250.0, 99.9, 100.0, 499.0, 1e6):
        assert recorded(income) == tax(income)
    assert recorded.statistics.recordings == 4
    assert recorded.statistics.calls == 9


@pytest.mark.parametrize("transform", [lambda f: f, grad, value_and_grad, lambda f: grad(grad(f))])
def test_derivatives_of_each_path(transform):
    recorded = jit(transform(tax), branches="record")
    for income in (50.0, 150.0, 600.0, 60.0):
        assert recorded(income) == transform(tax)(income)
    assert recorded.statistics.recordings == 3


@settings(deadline=None)
@given(st.lists(st.floats(0.1, 1000.0), min_size=1, max_size=12))
def test_python_while_loops(numbers):
    recorded, slope = jit(halved, branches="record"), jit(grad(halved), branches="record")
    for x in numbers:
        assert recorded(x) == halved(x)
        assert slope(x) == grad(halved)(x)
    assert recorded.statistics.recordings == len({halvings(x) for x in numbers})


def halvings(x: float) -> int:
    count = 0
    while x > 1:
        x, count = x / 2, count + 1
    return count


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(-2, 2), min_size=3, max_size=3), min_size=1, max_size=12))
def test_comparisons_in_python_builtins(rows):
    recorded = jit(hessian(lambda x: largest(list(x))), branches="record")
    for row in rows:
        x = numpy.array(row)
        assert (recorded(x) == hessian(lambda x: largest(list(x)))(x)).all()


def test_derivatives_match_jax():
    def f(m: Any, cond: Any, x: Any) -> Any:
        y = cond(x > 0.5, lambda: m.sin(x), lambda: x * x)
        return cond(y > 0.4, lambda: y * x, lambda: m.cos(y))

    python = lambda pred, yes, no: yes() if pred else no()  # noqa: E731
    recorded = jit(grad(lambda x: f(math, python, x)), branches="record")
    for x in numpy.linspace(-1.0, 1.0, 41):
        assert recorded(x) == pytest.approx(float(jax.grad(lambda x: f(jnp, jax.lax.cond, x))(x)), rel=1e-12)


def test_paths_may_return_different_structures():
    recorded = jit(lambda x: (x, -x) if x > 0 else [x], branches="record")
    assert recorded(1.0) == (1.0, -1.0)
    assert recorded(-1.0) == [-1.0]
    assert recorded(2.0) == (2.0, -2.0)


def test_branches_depend_on_value_arguments():
    recorded = jit(tax, branches="record")
    x = Value(150.0)
    recorded(x).backward()
    assert x.grad == 0.3
    y = Value(50.0)
    recorded(y).backward()
    assert y.grad == 0.2


def test_branches_depend_on_captured_values():
    limit = Value(1.0)
    recorded = jit(lambda x: x if x < limit else limit * 2.0, branches="record")
    assert recorded(0.5) == 0.5
    assert recorded(3.0).data == 2.0
    limit.data = 5.0
    assert recorded(3.0) == 3.0


def test_nan_takes_the_same_branch_as_python():
    recorded = jit(tax, branches="record")
    recorded(50.0)
    assert numpy.isnan(recorded(float("nan")))
    assert recorded(60.0) == 12.0


def test_nested_jit_with_branches():
    inner = jit(tax, branches="record")
    with pytest.raises(RecordingError, match="branches on"):
        jit(lambda x: inner(x) + 1.0, branches="refuse")(50.0)
    outer = jit(lambda x: inner(x) + 1.0, branches="record")
    for income in (50.0, 150.0, 600.0):
        assert outer(income) == tax(income) + 1.0
    assert grad(lambda x: inner(x) * 2.0)(150.0) == 0.6


def test_unsupported_uses_raise():
    for f in (float, lambda x: x.data, lambda x: [1.0, 2.0][x]):
        with pytest.raises(RecordingError):
            jit(f, branches="record")(1.0)
    with pytest.raises(RecordingError, match="branches on"):
        jit(vmap(tax), branches="refuse")(numpy.ones(3))
    with pytest.raises(ValueError, match=r"branches must be .*, got 'all'"):
        jit(tax, branches="all")
    with pytest.raises(RecordingError, match="branches more than 10,000 times, and one recording may") as refused:
        jit(endless, branches="record")(1.0)
    assert "x = loops.while_loop(" in str(refused.value)


def endless(x: Any) -> Any:
    while x > 0:
        x = x + 1.0
    return x


def test_fori_loop_stays_a_loop():
    recorded = jit(lambda x: loops.fori_loop(0, 100, lambda i, y: y * 0.9 + x, x) if x > 0 else x, branches="record")
    assert recorded(1.0) == pytest.approx(10.0 - 9.0 * 0.9**100, rel=1e-12)
    assert recorded(-1.0) == -1.0
    assert recorded.statistics.instructions < 10


def test_too_many_paths_warn():
    recorded = jit(halved, branches="record")

    def through(exponents: Any) -> None:
        for exponent in exponents:
            assert recorded(2.0**exponent) == halved(2.0**exponent)

    with pytest.warns(RecordingWarning, match="it took another path through its branches"):
        through(range(70))
    through(range(200))
    assert recorded.statistics.recordings <= 128
    assert recorded.statistics.forgotten > 0


def test_program_graph_walk_and_pickle():
    recorded = jit(tax, branches="record")
    recorded(150.0)
    outputs = [line.split()[0] for line in str(recorded.program).splitlines()[-4:]]
    assert outputs == ["out", "branch[0]", "branch[1]", "branch[2]"]
    assert recorded.graph.nodes[-1].data == 35.0
    assert recorded.walk(50.0).graph.nodes[-1].data == 10.0
    assert pickle.loads(pickle.dumps(recorded))(50.0) == 10.0


def test_traces_of_other_paths_are_not_run():
    """Check this because another path might raise, or loop forever, for these numbers."""

    def root(x):
        if x < 0:
            return 0.0 * x
        return loops.while_loop(lambda r: abs(r * r - x) > 1e-9, lambda r: (r + x / r) / 2, x)

    f = jit(root, branches="record")
    assert (f(4.0), f(-1.0), f(9.0)) == (pytest.approx(2.0), 0.0, pytest.approx(3.0))
    assert f.statistics.recordings == 2


@pytest.mark.filterwarnings("ignore::gradwalk.RecordingWarning")
def test_known_paths_are_bounded():
    f = jit(lambda x: x * int(x))
    for k in range(400):
        assert f(k + 0.5) == (k + 0.5) * k
    assert f.statistics.recordings == 128
    assert sum(map(len, f._paths._known.values())) <= 128


def test_threads_with_many_paths():
    def f(x, n):
        for k in range(40):
            if n == k:
                return x * k
        return x

    g = jit(f, branches="record")
    failures = []

    def work(seed):
        rng = random.Random(seed)
        try:
            for _ in range(300):
                n = float(rng.randrange(45))
                assert g(1.0, n) == f(1.0, n)
        except BaseException as error:
            failures.append(error)

    switching = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(switching)
    assert failures == []


# Derivatives inside a function with traced branches


def bent(x: Any) -> Any:
    return x * x if x > 0 else x * x * x


def bent_by(y: Any) -> Any:
    """Return a function of x that branches on the captured y."""
    return lambda x: x * x if y > 1 else x * y


def slope_and_more(x: Any) -> Any:
    """Branch inside the differentiated function and outside it."""
    slope = grad(bent)(x)
    return slope * bent(x - 1.0) if slope > 3 else grad(lambda y: slope * bent(y))(x + 0.5)


def condition_from_outside(x: Any) -> Any:
    above = x > 1
    return grad(lambda y: y * x if above else y)(2.0)


def inside(f: Any) -> Any:
    """Wrap a function so that `jit` does not see its type."""

    def called(x: Any) -> Any:
        return f(x)

    return called


INSIDE = {
    "first order": inside(grad(bent)),
    "second order": inside(grad(grad(bent))),
    "one in another": inside(grad(lambda y: y * grad(bent)(y) if y < 2 else grad(bent)(y))),
    "value": lambda x: value_and_grad(bent)(x)[0] + value_and_grad(bent)(x)[1],
    "forward": lambda x: jvp(bent, (x,), (2.0,))[1],
    "pulled": lambda x: vjp(bent, x)[1](3.0)[0],
    "Jacobian": lambda x: jacfwd(lambda y: [bent(y), bent(-y)])(x)[1],
    "Hessian": inside(hessian(bent)),
    "product with the Hessian": lambda x: hvp(bent, (x,), (2.0,)),
    "captured": lambda x: grad(bent_by(x))(3.0),
    "captured twice": lambda x: grad(lambda y: grad(bent_by(x))(y) * y * y)(3.0),
    "a condition from outside": condition_from_outside,
    "inside and outside": slope_and_more,
    "a batch": inside(grad(lambda y: vmap(lambda a: a * y * y, reduce="sum")(ROW) if y > 0 else y)),
}
ROW = numpy.array([1.0, 2.0])
POINTS = (2.0, 0.5, -2.0, 3.0, -0.5, 1.5, 2.0, -2.0)


@pytest.mark.parametrize("f", INSIDE.values(), ids=INSIDE.keys())
def test_derivatives_inside_follow_branches(f):
    recorded = jit(f, branches="record")
    for x in POINTS:
        assert recorded(x) == pytest.approx(f(x), rel=1e-15)
    assert 1 < recorded.statistics.recordings <= 4
    slope = jit(grad(f), branches="record")
    for x in POINTS:
        assert slope(x) == grad(recorded)(x) == pytest.approx(grad(f)(x), rel=1e-14)


def test_swallowed_error_in_a_derivative_is_raised():
    def careless(x: Any) -> Any:
        try:
            return grad(lambda y: y * float(y))(x)
        except TypeError:
            return 0.0 * x

    with pytest.raises(RecordingError, match=r"calls float\(\) on"):
        jit(careless, branches="record")(2.0)


def test_branches_in_a_nested_jit():
    nested = jit(inside(grad(jit(bent))))
    assert [nested(x) for x in (2.0, 0.5, -1.0, 2.0)] == [grad(bent)(x) for x in (2.0, 0.5, -1.0, 2.0)]
    with pytest.raises(RecordingError, match="branches on"):
        jit(inside(grad(jit(bent))), branches="refuse")(2.0)


class TestFastPath:
    """Recorded paths run without Python between the call and the result, as long as their conditions hold."""

    def test_each_path_has_a_fast_path(self):
        @jit(branches="record")
        def f(x, y):
            if x < 0.0:
                return {"a": [y, x]}
            return {"a": [x, y * 2.0]} if x > y else {"a": [x * 3.0, y]}

        points = [(-1.0, 2.0), (3.0, 2.0), (1.0, 2.0)]
        expected = [{"a": [2.0, -1.0]}, {"a": [3.0, 4.0]}, {"a": [3.0, 2.0]}]
        assert [f(*point) for point in points] == expected
        [prepared] = f._cache.prepared
        for _ in range(3):
            assert [f(*point) for point in points] == expected
            assert [prepared.result(point, {}) for point in points] == expected
        assert f.statistics.recordings == 3

    def test_a_path_without_conditions(self):
        f = jit(lambda x: x * 2.0, branches="record")
        assert [f(1.0), f(2.0), f(3.0)] == [2.0, 4.0, 6.0]

    def test_conditions_that_are_nan_hold(self):
        f = jit(lambda x: 1.0 * x if x * 0.0 else 2.0 * x, branches="record")
        plain = lambda x: x if x * 0.0 else 2.0 * x  # noqa: E731
        for x in (1.0, math.inf, 1.0, math.inf, math.nan):
            assert f(x) == pytest.approx(plain(x), nan_ok=True)

    def test_gradients_of_all_paths(self):
        f = jit(value_and_grad(lambda x: x * x if x > 1.0 else 3.0 * x), branches="record")
        for x in (0.5, 2.0, 0.25, 3.0):
            assert f(x) == ((x * x, 2.0 * x) if x > 1.0 else (3.0 * x, 3.0))

    def test_functions_of_python_are_guarded(self):
        def inverse(x):
            if x == 0.0:
                raise ZeroDivisionError
            return 1.0 / x

        f = jit(lambda x: primitive(inverse)(x) if x > 0.0 else x, branches="record")
        assert [f(2.0), f(0.0), f(4.0), f(0.0)] == [0.5, 0.0, 0.25, 0.0]
        assert all(p.result((2.0,), {}) != 0.5 for p in f._cache.prepared)

    def test_debug_nans_checks_only_the_path_that_is_taken(self):
        f = jit(lambda x: math.sqrt(x) if x > 0.0 else -x, branches="record")
        for _ in range(2):
            assert [f(x) for x in (4.0, -4.0, 9.0, -9.0)] == [2.0, 4.0, 3.0, 9.0]
            with debug_nans():
                assert f(4.0) == 2.0


class TestRoundedNumbers:
    """A plain int that a function asks for is a condition of the path: other numbers take another path."""

    def test_int_selects_from_a_table(self):
        table = [1.0, 10.0, 100.0]
        f = jit(value_and_grad(lambda x: table[int(x)] * x), branches="record")
        for x in (0.5, 1.5, 1.75, 0.25, 2.0, -0.5):
            assert f(x) == (table[int(x)] * x, table[int(x)])
        assert f.statistics.recordings == 3

    def test_int_of_large_numbers_and_results(self):
        f = jit(lambda x: 2.0 * int(x * 1e300) + x, branches="record")
        for x in (1.0, -1.0, 3.0):
            assert f(x) == 2.0 * int(x * 1e300) + x

    def test_int_raises_as_for_floats(self):
        f = jit(lambda x: int(x) * x, branches="record")
        assert f(2.5) == 5.0
        with pytest.raises(OverflowError):
            f(math.inf)
        with pytest.raises(ValueError, match="NaN"):
            f(math.nan)
        assert f(2.25) == 4.5

    def test_is_integer_is_a_branch(self):
        f = jit(lambda x: x * 2.0 if x.is_integer() else x, branches="record")
        assert [f(x) for x in (2.0, 2.5, 3.0, 0.5, math.inf)] == [4.0, 2.5, 6.0, 0.5, math.inf]
        assert f.statistics.recordings == 2

    def test_range_of_an_int_repeats(self):
        def powers(x, n):
            total = 0.0
            for k in range(int(n)):
                total = total + x**k
            return total

        f = jit(grad(powers), branches="record")
        for n in (3.0, 5.0, 3.5, 0.0):
            assert f(2.0, n) == grad(powers)(2.0, n)

    @pytest.mark.parametrize("first", [math.nan, math.inf, 3.0])
    def test_an_int_that_raises_is_a_condition(self, first):
        def f(x, y):
            try:
                return int(x) * y
            except ValueError:
                return y + 1.0
            except OverflowError:
                return y - 1.0

        for g in (jit(f, branches="record"), jit(jit(f, branches="record"), branches="record")):
            for x in (first, 3.0, 4.0, math.nan, math.inf, -math.inf, 3.0, math.nan, 4.5):
                assert g(x, 2.0) == f(x, 2.0)
            assert g.statistics.recordings == 5

    def test_infinity_is_no_integer(self):
        f = jit(lambda x: 1.0 if x.is_integer() else 0.0, branches="record")
        assert [f(x) for x in (math.inf, 2.0, -math.inf, 2.5, math.nan)] == [0.0, 1.0, 0.0, 0.0, 0.0]

    def test_debug_nans_does_not_look_at_other_paths(self):
        f = jit(lambda x, y: x / y if y else x, branches="record")
        assert f(1.0, 2.0) == 0.5
        with debug_nans():
            assert f(1.0, 0.0) == 1.0
            with pytest.raises(FloatingPointError):
                f(math.inf, 2.0)
