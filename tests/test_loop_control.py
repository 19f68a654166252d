"""gradwalk.loops: Values as conditions, exceptions in loop bodies, and bounds that are not whole numbers."""

from __future__ import annotations

import itertools
import signal
from typing import Any

import numpy
import pytest

from gradwalk import Program, RecordingError, Value, debug_nans, grad, hessian, jacfwd, jit, loops, math, vmap

# Conditions that are Values


class Scalar(Value):
    """A user-defined subclass of Value."""


@pytest.mark.parametrize(
    ("pred", "holds"),
    [
        *((kind(x), x != 0.0) for kind in (Value, Scalar, numpy.array, numpy.float64) for x in (0.0, -0.0, 1.0, -2.5)),
        *((numpy.array(Value(x), dtype=object), x != 0.0) for x in (0.0, 3.0)),
        (math.less(Value(3.0), 2.0), False),
        (math.less(2.0, Value(3.0)), True),
        (Value(float("nan")), True),
        (numpy.bool_(False), False),
    ],
    ids=repr,
)
def test_condition_holds_if_it_is_nonzero(pred, holds):
    def both(_: Any) -> Any:
        return loops.cond(pred, lambda: 1.0, lambda: 0.0), loops.while_loop(lambda _: pred, stop_after(2), 0.0)

    def stop_after(most: int) -> Any:
        def step(count: Any) -> Any:
            if count == most:
                raise StopIteration
            return count + 1.0

        return step

    for run in (both, grad(lambda x: loops.cond(pred, lambda: x, lambda: 0.0 * x))):
        if run is both and holds:
            with pytest.raises(StopIteration):
                run(1.0)
        else:
            found = run(1.0)
            assert found == ((0.0, 0.0) if run is both else float(holds))


def test_while_loop_accepts_values():
    def f(x: Any) -> Any:
        return loops.while_loop(lambda r: math.less(r, 10.0), lambda r: r * 2.0, x)

    x = Value(1.5)
    last = f(x)
    last.backward()
    assert (last.data, x.grad) == (12.0, 8.0)
    assert (f(1.5), jit(f)(1.5), grad(f)(1.5), vmap(f)(numpy.array([1.5]))[0]) == (12.0, 12.0, 8.0, 12.0)


def test_condition_must_return_a_number():
    for found in (None, "yes", numpy.zeros(2)):
        with pytest.raises(TypeError, match="the result of cond_fun must be a number"):
            loops.while_loop(lambda _: found, lambda c: c, 1.0)  # noqa: B023


# Exceptions in loop bodies and conditions


def loops_with_body() -> dict[str, Any]:
    return {
        "fori_loop": lambda body, x: loops.fori_loop(0, 3, lambda _, c: body(c), x),
        "scan": lambda body, x: loops.scan(lambda c, _: (body(c), c), x, length=3)[0],
        "reverse": lambda body, x: loops.scan(lambda c, _: (body(c), None), x, numpy.ones(3), reverse=True)[0],
        "map": lambda body, x: loops.map(lambda y: body(y * x), numpy.ones(3)).sum(),
        "while_loop": lambda body, x: loops.while_loop(lambda c: c < 100.0, body, x),
        "cond_fun": lambda body, x: loops.while_loop(lambda c: body(c) < 100.0, lambda c: c * 2.0, x),
    }


WAYS = {
    "eager": lambda f: f,
    "values": lambda f: lambda x: f(Value(x)),
    "grad": grad,
    "jit": jit,
    "jit of grad": lambda f: jit(grad(f)),
    "vmap": lambda f: lambda x: vmap(f)(numpy.array([x])),
}


@pytest.mark.parametrize(
    "error", [RuntimeError, TypeError, RecordingError, ValueError, IndexError, TimeoutError, KeyboardInterrupt]
)
@pytest.mark.parametrize("loop", loops_with_body())
@pytest.mark.parametrize("way", WAYS)
def test_exception_in_the_body_reaches_the_caller(way, loop, error):
    # The body must not run again: the second run does not raise.
    calls = []

    def body(c: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise error("once")
        return c * 1.5

    with pytest.raises(error, match="once"):
        WAYS[way](lambda x: loops_with_body()[loop](body, x))(2.0)
    assert len(calls) == 1


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="needs POSIX signals")
@pytest.mark.parametrize("loop", loops_with_body())
@pytest.mark.parametrize("way", ["grad", "jit", "vmap"])
def test_exception_in_a_signal_handler_reaches_the_caller(way, loop):
    def body(c: Any) -> Any:
        signal.raise_signal(signal.SIGALRM)
        return c * 1.5

    def handler(*_: Any) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(TimeoutError, match="too long"):
            WAYS[way](lambda x: loops_with_body()[loop](body, x))(2.0)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "number_of",
    [
        lambda i: float("%d" % i),  # noqa: UP031  f-strings convert differently
        lambda i: sum(itertools.islice([1.0, 2.0, 4.0], i)),
        lambda i: numpy.zeros(i).size,
        lambda i: numpy.eye(3)[i, i] * 2.0,
        lambda i: len(bytes(i)),
        lambda i: loops.cond(i > 1.0, lambda: numpy.array([1.0, 2.0, 4.0])[i], lambda: 0.5),
    ],
)
def test_unsupported_uses_of_the_counter_unroll_the_loop(number_of):
    # If `__index__` raises, Python and NumPy replace the error by IndexError, ValueError or another TypeError.

    def f(x: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, y: y * x + number_of(i), 1.0)

    for i in (2.0, -0.5):
        assert grad(f)(i) == jit(grad(f))(i) == pytest.approx(3 * i * i + 2 * i * number_of(0) + number_of(1))


def test_debug_nans_names_the_line_in_the_body():
    def f(x: Any) -> Any:
        return loops.fori_loop(0, 3, lambda i, c: math.log(c), x)

    with debug_nans(), pytest.raises(FloatingPointError, match=r"log\(-0.36\d+\) gave nan, at .*test_loop_control.py"):
        grad(f)(2.0)
    with debug_nans():
        assert grad(lambda x: loops.fori_loop(1, 4, lambda i, c: c / i, x))(6.0) == pytest.approx(1 / 6)


# Traced bounds


@pytest.mark.parametrize("bounds", [(0, 2.5), (0.5, 3), (0, float("nan")), (float("nan"), 2), (0, float("inf"))])
def test_bounds_must_be_whole_numbers(bounds):
    # Bounds that are not whole numbers raise if they are known, and give nan if they are traced.

    def f(x: Any, lower: Any, upper: Any) -> Any:
        return loops.fori_loop(lower, upper, lambda i, c: (c[0] * x + i, c[1] + 1.0), (x, 0.0))[0]

    for way in (f, grad(f), lambda *args: f(*map(Value, args))):
        with pytest.raises(ValueError, match="must be a whole number"):
            way(1.5, *bounds)
    for transform in (lambda g: g, grad, jacfwd, hessian):
        recorded = jit(transform(f))
        for regular in ((0, 3), (2, 7), (4, 4), (5, 2)):
            fixed = transform(lambda x, lower=regular[0], upper=regular[1]: f(x, lower, upper))
            assert recorded(1.5, *regular) == pytest.approx(fixed(1.5), rel=1e-12)
        assert numpy.isnan(recorded(1.5, *bounds))
        loaded = Program.from_json(recorded.program.to_json())
        assert numpy.isnan(loaded.run([1.5, *map(float, bounds)])).all()
        columns = [numpy.array([1.5, 1.5]), *(numpy.array([float(given), 2.0 * k]) for k, given in enumerate(bounds))]
        found = vmap(transform(f))(*columns)
        assert numpy.isnan(found[0])
        assert found[1] == pytest.approx(recorded(1.5, 0, 2), rel=1e-12)
