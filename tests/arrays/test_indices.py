"""Tests of arrays of indices in subscripts of whole arrays, of `take`, and of `roll`."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from whole_arrays import compare_with_numbers

from gradwalk import grad, jit
from gradwalk import numpy as gnp
from gradwalk.arrays import layout_calls, recorder
from gradwalk.arrays.kinds import ArrayKind
from gradwalk.program.tape import Tape

SOME = numpy.array([3, 0, 0, 11, -1, 5])
PAIRS = numpy.array([[3, 0], [0, 0], [11, -12]])
ROWS = numpy.array([1, 1, -3, 2])


def weighted(y: Any) -> Any:
    """Return a number that depends on all elements and on their order."""
    return (numpy.sin(y) * y * numpy.linspace(1.0, 2.0, y.size).reshape(y.shape)).sum()


# Selections of a vector of 12 numbers and of a matrix of shape (4, 3).
OF_VECTOR = {
    "indices": lambda x: x[SOME],
    "list": lambda x: x[[1, 2, 2]],
    "unsigned": lambda x: x[SOME[1:4].astype(numpy.uint8)],
    "pairs": lambda x: x[PAIRS],
    "mask": lambda x: x[numpy.arange(12) % 3 > 0],
    "list of bools": lambda x: x[[True, False, True] * 4],
    "twice": lambda x: x[SOME][[5, 5, 0]],
    "take": lambda x: numpy.take(x, SOME),
    "take pairs": lambda x: gnp.take(x, PAIRS),
    "roll": lambda x: numpy.roll(x, 5),
    "roll back": lambda x: gnp.roll(x, -15),
}
OF_MATRIX = {
    "rows": lambda m: m[ROWS],
    "rows and a slice": lambda m: m[ROWS, 1:],
    "columns": lambda m: m[:, [2, 0, 0]],
    "pairs of rows": lambda m: m[numpy.stack([ROWS, ROWS[::-1]], axis=1)],
    "pairs of columns": lambda m: m[..., PAIRS[:2] % 3],
    "new axis": lambda m: m[ROWS, None],
    "mask of rows": lambda m: m[[True, False, False, True]],
    "take rows": lambda m: gnp.take(m, ROWS, axis=0),
    "take columns": lambda m: numpy.take(m, [0, 2], axis=-1),
    "roll rows": lambda m: numpy.roll(m, 1, axis=0),
    "roll columns": lambda m: numpy.roll(m, 2, axis=1),
    "roll both": lambda m: numpy.roll(m, (3, -1), axis=(0, 1)),
    "roll all": lambda m: numpy.roll(m, 4),
}
SELECTIONS = OF_VECTOR | {name: lambda x, of=of: of(x.reshape(4, 3)) for name, of in OF_MATRIX.items()}


@pytest.mark.parametrize("name", SELECTIONS)
def test_derivatives_to_third_order(name, monkeypatch):
    compare_with_numbers(lambda a, x: weighted(SELECTIONS[name](x * a) + 0.1), monkeypatch)


@pytest.mark.parametrize("name", SELECTIONS)
def test_the_array_stays_whole(name, whole):
    x = numpy.linspace(-1.0, 1.0, 12)
    f = jit(SELECTIONS[name])
    numpy.testing.assert_array_equal(f(x), SELECTIONS[name](x))
    calls = [call for call, _, _ in f.latest.program._tape.calls]
    assert not any(isinstance(call, (layout_calls.Pack, layout_calls.Unpack)) for call in calls)


@pytest.mark.parametrize("name", ["two arrays", "array and number", "object array", "empty", "mask of two axes"])
def test_other_keys_get_elements(name, monkeypatch):
    keys: dict[str, Any] = {
        "two arrays": (ROWS, [0, 1, 2, 0]),
        "array and number": (ROWS, 1),
        "object array": ROWS.astype(object),
        "empty": numpy.array([], int),
        "mask of two axes": numpy.arange(12).reshape(4, 3) > 4,
    }
    key = keys[name]
    plain = ROWS if name == "object array" else key
    m = numpy.linspace(-1.0, 1.0, 12).reshape(4, 3)
    expected = weighted(m[plain]) + m.sum()
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
    assert jit(lambda m: weighted(m[plain]) + m.sum())(m) == pytest.approx(expected)


@pytest.mark.parametrize(
    "key", [[12], [-13], [[True, False]], [0.5], [True] * 11, (numpy.array([0]), numpy.array([0]))], ids=str
)
def test_errors_are_those_of_numpy(key, whole):
    x = numpy.linspace(-1.0, 1.0, 12)
    with pytest.raises(IndexError) as expected:
        x[key]
    with pytest.raises(IndexError) as found:
        jit(lambda x: x[key])(x)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("kind", [numpy.int8, numpy.uint8, numpy.uint64, numpy.int64])
def test_indices_of_all_types(kind):
    x = numpy.arange(5000.0)
    assert jit(lambda x: x[numpy.array([3, 100], kind)])(x).tolist() == [3.0, 100.0]
    if kind in (numpy.int8, numpy.int64):
        assert jit(lambda x: x[numpy.array([-3, 100], kind)])(x).tolist() == [4997.0, 100.0]


def test_floats_after_ints(whole):
    x = numpy.arange(12)
    for f in (
        lambda x: x[3],
        lambda x: numpy.cumsum(x)[2],
        lambda x: x[[3, 1]][0],
        lambda x: numpy.take(x, 3),
        lambda x: x.reshape(4, 3)[[0, 1], [1, 0]],
    ):
        recorded = jit(f)
        recorded(x)
        numpy.testing.assert_array_equal(recorded(x + 0.5), f(x + 0.5))


@pytest.mark.parametrize("shift", [True, 2.0, numpy.float64(1.5), numpy.int8(-3)])
def test_shifts_are_converted_to_int(shift, whole):
    x = numpy.arange(12.0)
    assert jit(lambda x: numpy.roll(x, shift))(x).tolist() == numpy.roll(x, int(shift)).tolist()


def test_a_selection_is_a_copy(whole):
    def f(x: Any) -> Any:
        part = x[[0, 1]]
        part[:] = x[[2, 3]] * 2.0
        part[0] = 7.0
        return x.sum() + (part * part).sum()

    x = numpy.arange(12.0)
    assert jit(f)(x) == f(x)


def test_changed_indices_are_not_followed(whole):
    indices = numpy.array([0, 1])
    f = jit(lambda x: x[indices])
    x = numpy.arange(12.0)
    f(x)
    indices[:] = [2, 3]
    assert f(x).tolist() == [0.0, 1.0]


def test_many_selections_get_elements(whole):
    x = numpy.arange(12.0)
    f = jit(lambda x: sum(x[[i % 12, 0]].sum() for i in range(100)))
    assert f(x) == sum(i % 12 for i in range(100))


def test_cotangents_of_repeated_indices_are_added():
    kind = ArrayKind(3, 2)
    scatter = layout_calls.Scatter(kind, numpy.array([2, 0, 2]))
    rows = numpy.array([[1.0, 2.0], [3.0, 4.0], [5.0, numpy.inf]])
    assert scatter.run([rows])[0].tolist() == [[3.0, 4.0], [0.0, 0.0], [6.0, numpy.inf]]
    tape = Tape()
    [found] = scatter.expanded(tape, [[tape.input() for _ in range(6)]])
    assert tape.program(found).run(rows.ravel()).tolist() == [3.0, 4.0, 0.0, 0.0, 6.0, numpy.inf]


def test_random_stencils_on_graphs(whole):
    generator = numpy.random.default_rng(0)
    for _ in range(10):
        count, degree = (int(n) for n in generator.integers(2, 9, 2))
        edges = generator.integers(-count, count, (count, degree))
        x = generator.normal(size=count)

        def energy(x: Any, edges: Any = edges) -> Any:
            return ((x[edges] - x[:, None]) ** 4).sum() + (x * x[edges[:, 0]]).sum()

        step = 1e-5 * numpy.linspace(0.0, 1.0, count)
        difference = (energy(x + step) - energy(x - step)) / 2.0
        for gradient in (grad(energy)(x), jit(grad(energy))(x)):
            assert gradient @ step == pytest.approx(difference, rel=1e-6, abs=1e-11)
