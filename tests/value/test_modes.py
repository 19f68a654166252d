"""Tests of settings that hold within a block, and of recordings: they end on every exit."""

from __future__ import annotations

import contextlib
import threading

import numpy
import pytest

from gradwalk import (
    RecordingError,
    Value,
    checkpoint,
    debug_nans,
    jit,
    loops,
    math,
    no_grad,
    primitive,
    source_lines,
    threads,
)
from gradwalk import numpy as gnp
from gradwalk.backend.thread_pool import available
from gradwalk.solvers import custom_root, odeint, root_scalar
from gradwalk.value import modes


def is_remembered() -> bool:
    return bool((Value(1.0) + 1.0).operands)


class TestGenerators:
    def test_settings_of_a_suspended_generator_stay_inside(self):
        def numbers():
            with no_grad(), threads(77):
                yield is_remembered(), available()
                yield is_remembered(), available()

        suspended = numbers()
        assert next(suspended) == (False, 77)
        assert is_remembered()
        assert available() != 77
        assert next(suspended) == (False, 77)
        suspended.close()
        assert is_remembered()

    def test_generators_can_end_in_any_order(self):
        def recording(end):
            with no_grad():
                yield is_remembered()
                yield is_remembered()
            yield end

        first, second = recording(1), recording(2)
        assert [next(first), next(second)] == [False, False]
        assert [next(first), next(first)] == [False, 1]
        assert next(second) is False
        assert is_remembered()
        assert next(second) == 2
        assert is_remembered()

    def test_setting_in_a_context_manager_covers_the_block(self):
        @contextlib.contextmanager
        def quiet():
            with no_grad():
                yield

        with quiet():
            assert not is_remembered()
            with contextlib.ExitStack() as stack:
                stack.enter_context(threads(5))
                assert available() == 5
        assert is_remembered()

    @pytest.fixture
    def unremembered(self):
        with no_grad():
            yield

    @pytest.mark.usefixtures("unremembered")
    def test_setting_in_a_fixture_covers_the_test(self):
        assert not is_remembered()

    def test_generator_closed_in_another_thread(self):
        def numbers():
            with no_grad():
                yield

        suspended = numbers()
        next(suspended)
        closer = threading.Thread(target=suspended.close)
        closer.start()
        closer.join()
        assert is_remembered()
        with no_grad():
            assert not is_remembered()
        assert is_remembered()


def test_setting_as_a_decorator():
    @no_grad()
    def quiet(depth):
        """Return whether results are remembered."""
        return is_remembered() or (depth > 0 and quiet(depth - 1))

    assert quiet(3) is False
    assert quiet.__doc__ == "Return whether results are remembered."
    assert is_remembered()


def test_setting_cannot_be_entered_twice():
    setting = no_grad()
    with setting, pytest.raises(RuntimeError, match="already in use: call no_grad"), setting:
        pass
    assert is_remembered()
    with setting:  # once it has ended it can be entered again
        assert not is_remembered()
    assert is_remembered()


@primitive
def cubed(x):
    return x**3


@cubed.derivative
def _(out, x):
    return 3 * x**2


@custom_root(lambda x, a: x * x - a)
def own_root(start, a):
    return a**0.5


# Functions of a Value x whose result has a Python rule.
CALLS = {
    "a loop": lambda x: loops.fori_loop(0, 3, lambda i, y: math.sin(y * x), 1.0),
    "a loop of jit": jit(lambda x: loops.while_loop(lambda y: y < 9.0, lambda y: y * 2.0 + x, x)),
    "a scan": lambda x: loops.scan(lambda total, y: (total + y * x, total), 0.0, numpy.arange(3.0))[0],
    "a branch": lambda x: loops.cond(math.less(x, 1.0), math.sin, math.cos, x),
    "a primitive": cubed,
    "a checkpoint": checkpoint(lambda x: math.sin(x) * x),
    "a linear system": lambda x: gnp.linalg.solve(numpy.array([[x, 1.0], [0.0, 2.0]]), numpy.array([1.0, x]))[0],
    "a root": lambda x: root_scalar(lambda y: y * y - x, x0=1.0),
    "a user-defined root": lambda x: own_root(1.0, x),
    "a differential equation": lambda x: odeint(lambda y, t: -x * y, 1.0, [0.0, 1.0])[-1],
    "a hand-made node": lambda x: Value(x.data**2, (x,), (2.0 * x.data,)),
    "a neuron": lambda x: math.sumprod([x, 2.0], [x, 1.0], 3.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_under_no_grad_are_leaves(name):
    call, x = CALLS[name], Value(0.8)
    with no_grad():
        y = call(x)
    assert isinstance(y, Value)
    assert y.operands == ()
    (y * x).backward()
    assert x.grad == y.data == pytest.approx(call(x).data, rel=1e-15)


def test_settings_nest():
    with threads(2):
        with threads(3):
            assert available() == 3
        assert available() == 2
    with source_lines(), debug_nans(), pytest.raises(FloatingPointError, match="log"):
        math.log(Value(-1.0))


class TestKeptArguments:
    """A function that stores its argument cannot use it after the recording."""

    @pytest.mark.parametrize("outcome", [ZeroDivisionError, KeyboardInterrupt, None])
    def test_kept_arguments_are_refused(self, outcome):
        kept = []

        @jit
        def f(x):
            kept.append(x)
            if outcome is not None:
                raise outcome
            return x

        with contextlib.suppress(ZeroDivisionError, KeyboardInterrupt):
            f(1.0)
        g = jit(lambda y: y * kept[0])
        with pytest.raises(RecordingError, match="used after the recording"):
            g(2.0)


def test_recording_does_not_leak_context_variables():
    """They end with the call of the function, so an interrupted recording leaves nothing behind."""
    depths = []

    @jit
    def f(x):
        depths.append(modes.depth())
        return x * 2.0

    f(1.0)
    assert depths == [1]
    assert modes.depth() == 0
