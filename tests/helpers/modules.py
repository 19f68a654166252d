"""Random Modules with parameters in containers of all kinds."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy
from hypothesis import strategies as st

from gradwalk import Value
from gradwalk.nn import Module, Number

Pair = namedtuple("Pair", "left right")


class Net(Module):
    """A Module with arbitrary attributes."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)


class Other(Net):
    pass


@dataclass(frozen=True, eq=False)
class Line(Module):
    slope: Value
    offset: Value

    def __call__(self, x: Any) -> Any:
        return self.slope * x + self.offset


def objects(parts: list[Any]) -> Any:
    array = numpy.empty((len(parts), 1), dtype=object)
    for i, part in enumerate(parts):
        array[i, 0] = part
    return array


NAMES = st.sampled_from("abc")
STATICS = st.one_of(
    st.integers(0, 2), st.booleans(), st.sampled_from([0.0, -0.0, 1.0]), st.none(), st.just("relu"), st.just(abs)
)
CONSTANTS = st.lists(st.integers(0, 1), max_size=2).map(lambda numbers: numpy.array(numbers, float))


def parts(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Any]:
    """Draw attributes of a Module that contain these Values."""
    return st.recursive(
        st.one_of(values, STATICS, CONSTANTS),
        lambda parts: st.one_of(
            st.lists(parts, max_size=3),
            st.lists(parts, max_size=3).map(tuple),
            st.builds(Pair, parts, parts),
            st.dictionaries(NAMES, parts, max_size=2),
            st.dictionaries(NAMES, parts, max_size=2).map(OrderedDict),
            st.lists(parts, max_size=2).map(objects),
            st.dictionaries(NAMES, parts, max_size=2).map(lambda attributes: Net(**attributes)),
            st.dictionaries(NAMES, parts, max_size=2).map(lambda attributes: Other(**attributes)),
        ),
        max_leaves=8,
    )


def modules(values: st.SearchStrategy[Value]) -> st.SearchStrategy[Net]:
    """Draw Modules that contain these Values."""
    return st.dictionaries(NAMES, parts(values), max_size=3).map(lambda attributes: Net(**attributes))


MODULES = modules(st.builds(Value, st.integers(-9, 9)))


def written(part: Any) -> str:
    """Describe a Module without its numbers by recursion, as a reference."""
    if isinstance(part, (Value, Number)):
        return "parameter"
    if isinstance(part, Module):
        return f"{type(part).__name__} {written(vars(part))}"
    if isinstance(part, dict):
        return f"{type(part).__name__} {[(key, written(item)) for key, item in part.items()]}"
    if isinstance(part, (list, tuple)):
        return f"{type(part).__name__} {[written(item) for item in part]}"
    if isinstance(part, numpy.ndarray):
        return f"array {part.dtype} {part.shape} {[written(item) for item in part.ravel().tolist()]}"
    return repr(part)
