"""Arguments and results of functions over batches: which of their axes the samples are along."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.engine import Value
from gradwalk.trees import SCALAR, Parameters, Shape, Structure, flattened

Axes = int | Sequence[Any] | Mapping[Any, Any] | None  # of a tree, or of all trees in it
REDUCTIONS = ("sum", "mean")


class Batch(NamedTuple):
    """Arguments, taken apart.

    `leaves`: of all of them, with the batch as first axis; `varies`: which of them have one, the others being the same
    for all samples. `elements`: what the arguments of one sample are like. `positional`: how many are no keywords.
    `size`: how many samples.
    """

    leaves: list[Any]
    varies: list[bool]
    names: list[str]
    elements: list[Structure]
    positional: int
    size: int

    @property
    def key(self) -> Any:
        """What a recording can be found again by."""
        return self.positional, *self.names, *self.elements, *self.varies

    @property
    def shapes(self) -> list[Shape]:
        """Of all leaves of one sample."""
        return [shape for element in self.elements for shape in element.shapes]

    def sample(self, i: int) -> list[Any]:
        """The leaves of one sample."""
        return [leaf[i] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]

    def example(self) -> list[Any]:
        """The arguments of the first sample; zeros where the batch is empty."""
        leaves = iter(
            self.sample(0)
            if self.size
            else [numpy.zeros(x.shape[1:]) if v else x for x, v in zip(self.leaves, self.varies, strict=True)]
        )
        return [element.with_leaves([_plain(next(leaves)) for _ in element.shapes]) for element in self.elements]

    @property
    def has_values(self) -> bool:
        """Whether there are Values among the numbers."""
        return any(
            isinstance(leaf, Value)
            or (
                isinstance(leaf, numpy.ndarray)
                and leaf.dtype == object
                and any(isinstance(x, Value) for x in leaf.flat)
            )
            for leaf in self.leaves
        )

    @property
    def kind(self) -> type[numpy.floating[Any]]:
        """The type of numbers to compute with: float32 where all arrays are, else float64, as for NumPy."""
        kinds = {leaf.dtype for leaf in self.leaves if isinstance(leaf, numpy.ndarray)}
        return numpy.float32 if kinds == {numpy.dtype(numpy.float32)} else numpy.float64

    def columns(self) -> list[NDArray[Any]]:
        """The leaves that vary, as arrays of that type: copied only where they are of another one."""
        return [numpy.asarray(leaf, self.kind) for leaf, v in zip(self.leaves, self.varies, strict=True) if v]

    def shared(self) -> list[Any]:
        """The leaves that do not vary."""
        return [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if not varies]


class Batching(NamedTuple):
    """How a function is batched: its name, its parameters, and what `vmap` was told."""

    name: str
    parameters: Parameters
    in_axes: Axes
    out_axes: Axes
    reduce: str | None

    def checked(self) -> Batching:
        """The same. Raises `TypeError` and `ValueError` where it makes no sense."""
        if self.in_axes is not None and not isinstance(self.in_axes, (int, tuple, list)):
            raise TypeError(f"in_axes takes an int, None, or a tuple with one for each argument, not {self.in_axes!r}")
        if self.reduce is not None and self.reduce not in REDUCTIONS:
            raise ValueError(f"reduce={self.reduce!r}: give 'sum' or 'mean', or None for the results of all samples")
        if self.reduce is not None and self.out_axes != 0:
            raise ValueError(
                f"out_axes={self.out_axes!r} with reduce={self.reduce!r}: a reduced result has no batch axis"
            )
        return self

    def batch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Batch:
        """The arguments, taken apart. Raises `TypeError` and `ValueError` where they do not fit `in_axes`."""
        keywords = sorted(kwargs)
        names = [*self.parameters.first(len(args)), *keywords]
        batch = Batch([], [], names, [], len(args), 0)
        sizes: dict[int, str] = {}
        axes = [*self._axes_of_positions(len(args)), *[0] * len(keywords)]
        for arg, name, arg_axes in zip([*args, *map(kwargs.__getitem__, keywords)], names, axes, strict=True):
            leaves, structure = flattened(arg, name)
            shapes: list[Shape] = []
            for leaf, axis in zip(leaves, spread(arg_axes, structure, f"in_axes of {name}"), strict=True):
                moved = leaf if axis is None else _moved(leaf, axis, name)
                batch.leaves.append(moved)
                batch.varies.append(axis is not None)
                if axis is None:
                    shapes.append(leaf.shape if isinstance(leaf, numpy.ndarray) else SCALAR.shapes[0])
                else:
                    shapes.append(moved.shape[1:] or SCALAR.shapes[0])
                    sizes.setdefault(len(moved), f"{name}, of shape {leaf.shape}, has {len(moved)} along axis {axis}")
            batch.elements.append(Structure(structure.spec, tuple(shapes)))
        if not sizes:
            raise ValueError(f"in_axes={self.in_axes!r} of {self.name}: no argument has a batch axis")
        if len(sizes) > 1:
            raise ValueError(f"the batches of {self.name} have different sizes: {'; '.join(sizes.values())}")
        return batch._replace(size=next(iter(sizes)))

    def of_sums(self, sums: Any, count: int) -> Any:
        """The sums over a batch, or the means: nan for an empty one."""
        with numpy.errstate(all="ignore"):
            return sums / numpy.float64(count) if self.reduce == "mean" else sums

    def _axes_of_positions(self, count: int) -> list[Any]:
        """The axes of each positional argument."""
        if self.in_axes is None or isinstance(self.in_axes, int):
            return [self.in_axes] * count
        if len(self.in_axes) != count:
            raise ValueError(
                f"in_axes={self.in_axes!r} has {len(self.in_axes)} parts, and {self.name} was called with {count} "
                f"positional argument{'s' if count != 1 else ''}: give one for each (keywords have the batch as axis 0)"
            )
        return list(self.in_axes)


class Outputs:
    """Arrays for the results of a batch. `columns`: the same with the batch as first axis.

    A result that has no batch axis, its axis being None, has a batch of one here.
    """

    def __init__(self, structure: Structure, out_axes: Axes, count: int, kind: Any) -> None:
        self._structure = structure
        self._axes = spread(out_axes, structure, "out_axes")
        shapes = [() if isinstance(shape, str) else shape for shape in structure.shapes]
        self.columns = [
            _with_batch_axis(shape, axis, count, kind) for shape, axis in zip(shapes, self._axes, strict=True)
        ]
        self._ends = list(itertools.accumulate(math.prod(shape) for shape in shapes))

    def fill(self, position: int, numbers: Any) -> None:
        """Set one number of the result, for all samples: to an array, or to the same for all."""
        leaf = bisect.bisect_right(self._ends, position)
        column = self.columns[leaf]
        start = self._ends[leaf] - math.prod(column.shape[1:])
        at: Any = numpy.unravel_index(position - start, column.shape[1:])
        column[:, *at] = numbers

    def refuse_varying(self, fixed: Sequence[int]) -> None:
        """Raise `ValueError` where a result without a batch axis is not the same for all samples."""
        start = 0
        for end, axis in zip(self._ends, self._axes, strict=True):
            if axis is None and not set(range(start, end)) <= set(fixed):
                raise ValueError("out_axes=None is for results that are the same for all samples: this one varies")
            start = end

    def tree(self) -> Any:
        """The result."""
        leaves = [
            _plain(column[0]) if axis is None else numpy.moveaxis(column, 0, axis)
            for column, axis in zip(self.columns, self._axes, strict=True)
        ]
        return self._structure.with_leaves(leaves)


def spread(axes: Axes, structure: Structure, what: str) -> list[int | None]:
    """An axis for each leaf of a tree. `axes` is a tree of axes, each for all that stands in its place.

    Raises `TypeError` and `ValueError` where these differ in structure.
    """
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(structure.shapes)
    parts = structure.children()
    if isinstance(axes, Mapping) and isinstance(parts, Mapping) and axes.keys() == parts.keys():
        pairs = [(axes[key], part, f"{what}[{key!r}]") for key, part in parts.items()]
    elif isinstance(axes, (tuple, list)) and isinstance(parts, list) and len(axes) == len(parts):
        pairs = [(axis, part, f"{what}[{i}]") for i, (axis, part) in enumerate(zip(axes, parts, strict=True))]
    else:
        raise ValueError(f"{what} is {axes!r}, which does not fit {structure}: give an int, None, or a tree like it")
    return [axis for axis, part, where in pairs for axis in spread(axis, part, where)]


def _moved(leaf: Any, axis: int, name: str) -> NDArray[Any]:
    """An array with this axis first."""
    if not isinstance(leaf, numpy.ndarray):
        raise TypeError(
            f"{name} is or holds a number, which has no axis {axis}: a batch is a NumPy array with one number or array "
            f"for each sample (for a list of numbers, numpy.array(it)), or in_axes has None for what all samples share"
        )
    if not -leaf.ndim <= axis < leaf.ndim:
        raise ValueError(f"{name} is or holds an array of shape {leaf.shape}, which has no axis {axis}")
    return numpy.moveaxis(leaf, axis, 0)


def _with_batch_axis(shape: tuple[int, ...], axis: int | None, count: int, kind: Any) -> NDArray[Any]:
    """An empty array that has the batch at `axis`, but seen with the batch as first axis."""
    if axis is None:
        return numpy.empty((1, *shape), kind)
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ValueError(f"out_axes has {axis} for a result with {len(shape)} axes of its own")
    whole = list(shape)
    whole.insert(axis % (len(shape) + 1), count)
    return numpy.moveaxis(numpy.empty(whole, kind), axis, 0)


def _plain(item: Any) -> Any:
    """A number in place of NumPy's or of an array without axes."""
    return item.item() if isinstance(item, numpy.generic) else item


def as_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional array, of objects where there are Values among the numbers."""
    if not any(isinstance(x, Value) for x in numbers):
        return numpy.array(numbers, numpy.float64)
    array = numpy.empty(len(numbers), object)
    array[:] = numbers
    return array
