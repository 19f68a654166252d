"""Tests of assignments to whole arrays, and of functions that join, repeat, pad, split and accumulate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_arrays import compare_with_numbers, x

from gradwalk import checkpoint, grad, jit, jvp, loops, vmap
from gradwalk import numpy as gnp
from gradwalk.arrays import recorder
from gradwalk.arrays.layout_calls import Unpack

ROWS, COLUMNS = numpy.array([0, 3, 1, 3]), numpy.array([2, 0, 1, 1])
SOME = numpy.array([5, 0, 7, 11, 2])
MASK = numpy.arange(12) % 3 == 1


def weighted(y: Any) -> Any:
    """Return a number that depends on all elements and on their order."""
    return (numpy.sin(y) * y * numpy.linspace(1.0, 2.0, y.size).reshape(y.shape)).sum()


def changed(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that changes a copy of its argument, and returns the copy."""

    def f(x: Any) -> Any:
        y = x * 1.5
        other = change(y)
        return y if other is None else other

    return f


def assigned(key: Any, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def change(y: Any) -> None:
        y[key] = value(y)

    return changed(change)


def added(key: Any, value: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def change(y: Any) -> None:
        y[key] += value(y)

    return changed(change)


def _euler(y: Any) -> None:
    for _ in range(3):
        y[1:-1] += 0.1 * (y[2:] - 2.0 * y[1:-1] + y[:-2])


def _filled(y: Any) -> Any:
    found = numpy.zeros_like(y)
    found[1:] = y[:-1]
    found[0] = y[-1] * 2.0
    return found


OF_VECTOR = {
    "a number": assigned(3, lambda y: 2.0),
    "a Value": assigned(-1, lambda y: y[0] * y[1]),
    "a slice": assigned(slice(2, 9, 3), lambda y: y[:3] * 2.0),
    "a reversed slice": assigned(slice(None, None, -1), lambda y: y * y),
    "a slice of itself": assigned(slice(1, None), lambda y: y[:-1]),
    "one Value for a slice": assigned(slice(1, 4), lambda y: y[7] * 3.0),
    "indices": assigned(SOME, lambda y: numpy.sin(y[SOME])),
    "repeated indices": assigned([1, 2, 1], lambda y: y[[5, 6, 7]]),
    "a list of numbers": assigned(SOME, lambda y: [1.0, 2, 3.5, 4.0, 5.0]),
    "a list of Values": assigned([1, 4], lambda y: [y[2], y[3] * y[3]]),
    "a mask": assigned(MASK, lambda y: y[MASK] ** 2),
    "leading axes": assigned(slice(0, 3), lambda y: y[None, 4:7]),
    "where positive": changed(lambda y: y.__setitem__(y > 0.2, 0.5)),
    "where negative": changed(lambda y: y.__setitem__(y < 0.0, y[0])),
    "everything": assigned(slice(None), lambda y: y[::-1] * y),
    "everything to a number": assigned(..., lambda y: y[3]),
    "+=": added(slice(2, 5), lambda y: y[5:8]),
    "+= at indices": added(SOME, lambda y: y[3]),
    "steps of Euler": changed(_euler),
    "zeros": _filled,
    "empty": lambda x: _set(numpy.empty_like(x), slice(None), x * 2.0),
    "ones": lambda x: numpy.ones_like(x) * x + numpy.full_like(x, 2.0) * numpy.full_like(x, x[3]),
    "concatenate": lambda x: numpy.concatenate([x, numpy.sin(x), x[:3]]),
    "concatenate plain": lambda x: gnp.concatenate([[0.0, 1.0], x[1:] - x[:-1], numpy.ones(2)]),
    "concatenate Values": lambda x: numpy.concatenate([x, [x[0] * x[1]]]),
    "hstack": lambda x: numpy.hstack([x[0], x, 2.0]),
    "vstack": lambda x: numpy.vstack([x, x * x]),
    "column_stack": lambda x: numpy.column_stack([x, numpy.ones((12, 2)), x * x]),
    "stack plain": lambda x: numpy.stack([numpy.arange(12.0), x]),
    "append": lambda x: numpy.append(x, [1.0, 2.0]),
    "pad": lambda x: numpy.pad(x, (2, 1)),
    "pad with a Value": lambda x: numpy.pad(x, 1, constant_values=x[3]),
    "pad with the edge": lambda x: numpy.pad(x, 2, "edge"),
    "pad with reflections": lambda x: gnp.pad(x, (1, 3), mode="reflect"),
    "repeat": lambda x: numpy.repeat(x, 2),
    "repeat each": lambda x: numpy.repeat(x, numpy.arange(12) % 3),
    "tile": lambda x: numpy.tile(x, 3),
    "tile in two axes": lambda x: numpy.tile(x, (2, 2)),
    "delete": lambda x: numpy.delete(x, [0, 4]),
    "split": lambda x: numpy.split(x, 3)[1] * numpy.array_split(x, 3)[2],
    "broadcast_to": lambda x: numpy.broadcast_to(x, (2, 12)),
    "reshape to columns": lambda x: x.reshape(3, 4).sum(axis=1),
    "reshape to three axes": lambda x: x.reshape(2, 3, 2)[1],
    "cumsum": lambda x: numpy.cumsum(x * x),
    "cumsum of a slice": lambda x: gnp.cumsum(x[2:8]),
    "convolve": lambda x: numpy.convolve(x, [0.25, 0.5, 0.3], "same"),
    "convolve in full": lambda x: numpy.convolve([1.0, -1.0], x),
    "convolve valid": lambda x: numpy.convolve(x, x[:3], "valid"),
    "polyval": lambda x: numpy.polyval([2.0, 0.5, -1.0], x),
    "trapezoid": lambda x: numpy.reshape(gnp.trapezoid(x * x, dx=0.5), (1,)),
    "outer": lambda x: numpy.outer(x, [1.0, 2.0]),
    "einsum": lambda x: numpy.einsum("i,i->i", x, numpy.cos(x)),
}
OF_MATRIX = {
    "row": lambda m: m[1] * m[3],
    "part of a row": lambda m: m[2, ::2],
    "rows and columns": lambda m: m[ROWS, COLUMNS],
    "a row of columns": lambda m: m[1, [2, 2, 0]],
    "mask of two axes": lambda m: m[numpy.arange(12).reshape(4, 3) > 4],
    "columns in turn": lambda m: _of_columns(*m.T),
    "rows in turn": lambda m: sum(row * row[0] for row in m),
    "assigned row": assigned(2, lambda m: m[0] * 2.0),
    "assigned column": assigned((slice(None), 1), lambda m: m[:, 0] * m[:, 2]),
    "assigned element": assigned((1, 2), lambda m: m[0, 0] ** 2),
    "assigned block": assigned((slice(1, 3), slice(0, 2)), lambda m: m[:2, 1:]),
    "assigned elements": assigned((ROWS[:3], COLUMNS[:3]), lambda m: m[:3, 0]),
    "broadcast to rows": assigned(slice(1, 3), lambda m: m[0]),
    "broadcast to columns": assigned((slice(1, 3), slice(1, None)), lambda m: m[:2, :1]),
    "row += ": added(1, lambda m: m[0]),
    "column *=": changed(lambda m: m.__setitem__((slice(None), 0), m[:, 0] * m[:, 1])),
    "concatenate rows": lambda m: numpy.concatenate([m, m[:2] * 2.0, numpy.ones((1, 3))]),
    "concatenate columns": lambda m: numpy.concatenate([m, numpy.ones((4, 1)), m], axis=1),
    "vstack row": lambda m: numpy.vstack([m, m[0], [1.0, 2.0, 3.0]]),
    "hstack": lambda m: numpy.hstack([m, m[:, :1]]),
    "append row": lambda m: numpy.append(m, m[:1], axis=0),
    "pad": lambda m: numpy.pad(m, ((1, 0), (0, 2)), constant_values=2.0),
    "repeat": lambda m: numpy.repeat(m, 2, axis=1),
    "rot90": numpy.rot90,
    "diagonal": numpy.diagonal,
    "flips": lambda m: numpy.fliplr(m) * numpy.flipud(m),
    "swapaxes": lambda m: numpy.swapaxes(m, 0, 1),
    "split": lambda m: numpy.vsplit(m, 2)[0] * numpy.split(m, [1, 3])[1],
    "take_along_axis": lambda m: numpy.take_along_axis(m, COLUMNS[:, None], axis=1),
    "transposed": lambda m: m.T.reshape(-1),
    "cumsum of rows": lambda m: numpy.cumsum(m, axis=0),
    "cumsum of columns": lambda m: numpy.cumsum(m, axis=-1),
    "cumsum of all": numpy.cumsum,
    "trapezoid": lambda m: gnp.trapezoid(m, numpy.array([0.0, 1.0, 1.5, 3.0]), axis=0),
    "einsum of a product": lambda m: numpy.einsum("ij,j->i", m, numpy.array([1.0, 2.0, 3.0])),
    "einsum of all": lambda m: m * numpy.einsum("ij,ij->", m, numpy.sin(m)),
    "einsum of rows": lambda m: numpy.einsum("ij, ik", m, m),
    "einsum of columns": lambda m: numpy.einsum("ij,ij->j", m, numpy.arange(12.0).reshape(4, 3)),
}


def _set(y: Any, key: Any, value: Any) -> Any:
    y[key] = value
    return y


def _of_columns(a: Any, b: Any, c: Any) -> Any:
    return a * b - c


FUNCTIONS = OF_VECTOR | {f"m: {name}": lambda x, of=of: of(x.reshape(4, 3)) for name, of in OF_MATRIX.items()}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_to_third_order(name, monkeypatch):
    compare_with_numbers(lambda a, x: weighted(FUNCTIONS[name](x * a) + 0.1 * x[0]), monkeypatch)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_numpy(name, whole):
    f = jit(FUNCTIONS[name])
    for _ in range(2):
        numpy.testing.assert_allclose(f(x), FUNCTIONS[name](x), rtol=1e-14, atol=1e-15)
    numpy.testing.assert_allclose(f.program.run(x), numpy.ravel(FUNCTIONS[name](x)), rtol=1e-14, atol=1e-15)
    unpacked = [call for call, _, _ in f.latest.program._tape.calls if isinstance(call, Unpack) and call.count > 3]
    assert unpacked == []


KEYS: list[Any] = [
    *(0, -1, slice(1, None), slice(None, None, -1), slice(0, 3, 2), ..., None),
    *((slice(None), 0), (..., slice(0, 2)), (1, 1), (slice(None), None), [0, 1, 0], ([1, 0], 1), [True, False, True]),
]
VIEWS: list[Callable[[Any], Any]] = [
    *(lambda a, key=key: a[key] for key in KEYS),
    *(lambda a: a.T, lambda a: a.reshape(-1), lambda a: a.T.reshape(-1), lambda a: a.reshape(2, -1), numpy.copy),
    *(lambda a: numpy.split(a, 2)[1], lambda a: numpy.swapaxes(a, 0, -1), numpy.ravel, lambda a: a + 1.0),
]


def changes(steps: list[tuple[int, int, int, bool]]) -> Callable[[Any], Any]:
    """Return a function that takes views of an array and changes them, and returns all of them."""

    def f(x: Any) -> Any:
        pool = [x.reshape(4, 3) * 1.0]
        for which, what, other, is_sum in steps:
            array, source = pool[which % len(pool)], pool[other % len(pool)]
            try:
                if what % 3 == 0:
                    found = VIEWS[what // 3 % len(VIEWS)](array)
                    pool += [found] if numpy.ndim(found) else []
                    continue
                key = KEYS[what // 3 % len(KEYS)]
                is_array = what % 3 == 1 and numpy.ndim(array[key])  # an element could be an array, too
                value = source if is_array else source.ravel()[0] * 2.0
                if is_sum:
                    array[key] += value
                else:
                    array[key] = value
            except (IndexError, TypeError, ValueError):  # the key or the shapes do not fit
                continue
        return numpy.concatenate([array.ravel() for array in pool])

    return f


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 100), st.integers(0, 50), st.booleans()), min_size=2, max_size=9
    )
)
def test_random_views_and_assignments(steps):
    f = changes(steps)
    with pytest.MonkeyPatch.context() as patch:
        slope = grad(lambda x: weighted(f(x)))(x)
        patch.setattr(recorder, "LEAST_SIZE", 1)
        numpy.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-13)
        for whole in (grad(lambda x: weighted(f(x)))(x), jit(grad(lambda x: weighted(f(x))))(x)):
            numpy.testing.assert_allclose(whole, slope, rtol=1e-9, atol=1e-11)


def _of_nothing(u: Any, key: Any, change: Callable[[Any], Any]) -> Any:
    """Change no element, and then three elements of an array that NumPy fills with ints."""
    t = numpy.ones_like(u)
    t[key] = change(t[key])
    t[:3] = u[:3]
    return t


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("key", [slice(5, 5), slice(12, None), [], numpy.zeros(12, bool)], ids=str)
def test_assignments_to_no_elements(key):
    recorded = jit(lambda u: _of_nothing(u, key, lambda part: part + 3.0) * 1.0)
    expected = numpy.array([*x[:3], *[1.0] * 9])
    numpy.testing.assert_array_equal(recorded(x), expected)
    assert len(recorded.latest.program) < 12
    numpy.testing.assert_array_equal(jit(lambda u: _of_nothing(u, key, lambda part: part))(x), expected)
    with pytest.raises(ValueError, match=r"broadcast|cannot assign"):
        jit(lambda u: _of_nothing(u, key, lambda part: numpy.ones(3)))(x)


@pytest.mark.usefixtures("whole")
def test_types_of_arrays_whose_elements_were_used():
    """Test floats that are assigned to an array of ints after its elements have been used."""

    def f(u):
        t = numpy.zeros_like(u)
        assert len(list(t)) == 12
        t[:3] = u[:3]
        return t

    def with_mask(u):
        m = u.reshape(4, 3)
        t = numpy.zeros_like(m)
        t[numpy.arange(4) < 2] += 1.0
        t[0] = m[0]
        return t

    numpy.testing.assert_array_equal(jit(f)(x), [*x[:3], *[0.0] * 9])
    numpy.testing.assert_array_equal(jit(with_mask)(x), [x[:3], [1.0] * 3, [0.0] * 3, [0.0] * 3])


def _changing(u: Any) -> Any:
    u[2:4] = u[4:6] * 2.0
    u *= 1.5
    return (u * u).sum()


CALLERS: dict[str, Callable[[Any], Any]] = {
    "jit": jit(_changing),
    "jit of a dict": lambda y: jit(lambda tree: _changing(tree["y"]))({"y": y}),
    "grad": lambda y: grad(_changing)(y).sum(),
    "jvp": lambda y: jvp(_changing, (y,), (y,))[1],
    "checkpoint": checkpoint(_changing),
    "cond": lambda y: loops.cond(y[0] < 9.0, _changing, lambda u: u[0], y),
    "vmap": lambda y: vmap(lambda s, u: _changing(u) * s, in_axes=(0, None))(numpy.arange(3.0), y).sum(),
}


@pytest.mark.parametrize("name", CALLERS)
def test_functions_change_copies_of_their_arguments(name, monkeypatch):
    def f(a: Any, x: Any) -> Any:
        y = x * a
        return CALLERS[name](y) + weighted(y)

    compare_with_numbers(f, monkeypatch)
