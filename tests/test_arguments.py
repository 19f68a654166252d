"""Arguments taken apart into numbers, and put together again."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from typing import Any

import numpy
import pytest

from gradwalk import Value
from gradwalk.arguments import filled, numbers_in

Point = namedtuple("Point", "x y")


def f(a: Any, b: Any = 0, *rest: Any) -> None: ...


def test_names_and_numbers():
    args = (Point(1, 2.0), {"k": [3.0, (4.0,)]}, numpy.array([[5.0], [6.0]]), Value(7.0))
    assert list(numbers_in(f, args)) == [
        *(("a[0]", 1.0), ("a[1]", 2.0), ("b['k'][0]", 3.0), ("b['k'][1][0]", 4.0)),
        *(("argument 3[0, 0]", 5.0), ("argument 3[1, 0]", 6.0), ("argument 4", 7.0)),
    ]


def test_the_same_structure_comes_back():
    counts = defaultdict(list, {"k": 2.0})
    args = (Point(1.0, 1.0), counts, numpy.array([[5.0], [6.0]]), (1.0,), [1.0])
    values = [Value(float(i)) for i in range(7)]
    point, mapping, array, pair, listed = filled(args, values)
    assert (point.x, point.y) == (values[0], values[1])
    assert mapping == {"k": values[2]}
    assert mapping["missing"] == []
    assert (array.shape, array[1, 0]) == ((2, 1), values[4])
    assert (pair, listed) == ((values[5],), [values[6]])
    assert counts == {"k": 2.0}


def test_what_is_no_number():
    with pytest.raises(TypeError, match="takes a real number"):
        list(numbers_in(f, ("x",)))


def test_functions_that_do_not_say_their_parameters():
    assert [name for name, _ in numbers_in(max, (1.0, 2.0))] == ["argument 1", "argument 2"]
