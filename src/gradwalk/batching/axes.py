"""Arguments and results of functions over batches: which of their axes the samples are along."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.trees.tree import SCALAR, Parameters, Shape, Structure, flattened, scalars
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

Axes = int | Sequence[Any] | Mapping[Any, Any] | None  # of a tree, or of all trees in it
REDUCTIONS = ("sum", "mean")


@dataclass(frozen=True)
class Batch:
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

    def rows(self, start: int, end: int) -> Batch:
        """The same with some of its samples only, which are not copied."""
        leaves = [leaf[start:end] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]
        return replace(self, leaves=leaves, size=len(range(self.size)[start:end]))

    def example(self) -> list[Any]:
        """The arguments of the first sample; zeros where the batch is empty."""
        leaves = iter(self.first())
        return [element.with_leaves([_plain(next(leaves)) for _ in element.shapes]) for element in self.elements]

    def first(self) -> list[Any]:
        """The leaves of the first sample; zeros where the batch is empty."""
        if self.size:
            return self.sample(0)
        return [numpy.zeros(x.shape[1:])[()] if v else x for x, v in zip(self.leaves, self.varies, strict=True)]

    @cached_property
    def has_values(self) -> bool:
        """Whether there are Values among the numbers."""
        kinds = set(map(type, self.leaves))
        if any(issubclass(kind, Value) for kind in kinds):
            return True
        return any(isinstance(x, Value) for array in self.arrays if array.dtype == object for x in array.flat)

    @cached_property
    def arrays(self) -> list[NDArray[Any]]:
        """The leaves that are arrays."""
        others = [leaf for leaf in self.leaves if type(leaf) is not float]  # the parameters of a Module are many floats
        return [leaf for leaf in others if isinstance(leaf, numpy.ndarray)]

    @cached_property
    def kind(self) -> type[numpy.floating[Any]]:
        """The type of numbers to compute with: float32 where all arrays are, else float64, as for NumPy."""
        kinds = {array.dtype.type for array in self.arrays}
        return numpy.float32 if kinds == {numpy.float32} else numpy.float64

    def columns(self) -> list[NDArray[Any]]:
        """The leaves that vary, as arrays of that type: copied only where they are of another one."""
        kind = self.kind
        varying = [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if varies]
        with numpy.errstate(over="ignore"):  # of numbers that are too large for the type
            return [_of_numbers(leaf) if leaf.dtype == object else numpy.asarray(leaf, kind) for leaf in varying]

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
        axes = [*self.axes(len(args)), *[0] * len(keywords)]
        for arg, name, arg_axes in zip([*args, *map(kwargs.__getitem__, keywords)], names, axes, strict=True):
            leaves, structure = flattened(_as_numpy(arg), name)
            if arg_axes is None:
                batch.leaves.extend(leaves)
                batch.varies.extend([False] * len(leaves))
                batch.elements.append(structure)
                continue
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
            raise ValueError(
                f"in_axes={self.in_axes!r} of {self.name}, called with {len(names)} argument{'s' * (len(names) != 1)}: "
                "none has a batch axis. Give the axis of the samples, such as 0, for at least one that holds arrays"
            )
        if len(sizes) > 1:
            raise ValueError(
                f"the batches of {self.name} have different sizes: {'; '.join(sizes.values())}. Give as many samples "
                "in each; in_axes has None for what all samples share"
            )
        return replace(batch, size=next(iter(sizes)))

    def axes(self, count: int) -> list[Any]:
        """The axes of so many positional arguments."""
        if self.in_axes is None or isinstance(self.in_axes, int):
            return [self.in_axes] * count
        if len(self.in_axes) != count:
            raise ValueError(
                f"in_axes={self.in_axes!r} has {len(self.in_axes)} parts, and {self.name} was called with {count} "
                f"positional argument{'s' if count != 1 else ''}: give one for each (keywords have the batch as axis 0)"
            )
        return list(self.in_axes)

    def of_sums(self, sums: Any, count: int) -> Any:
        """The sums over a batch, or the means: nan for an empty one."""
        with numpy.errstate(all="ignore"):
            return sums / numpy.float64(count) if self.reduce == "mean" else sums


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
        with numpy.errstate(over="ignore"):  # inf is what float32 has for larger numbers
            column[:, *at] = numbers

    def refuse_varying(self, fixed: Sequence[int]) -> None:
        """Raise `ValueError` where a result without a batch axis is not the same for all samples."""
        start = 0
        for end, axis, name in zip(self._ends, self._axes, self._structure.paths("the result"), strict=True):
            if axis is None and not set(range(start, end)) <= set(fixed):
                raise ValueError(
                    f"out_axes has None, which is for results that are the same for all samples, and {name} varies: "
                    "give the axis that it is to have the samples along, such as 0"
                )
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
    given = _parts(axes)
    parts = structure.children()
    if given is None or given.keys() != parts.keys() or (structure.shapes and not parts):
        raise ValueError(f"{what} is {axes!r}, which does not fit {structure}: give an int, None, or a tree like it")
    return [axis for key, part in parts.items() for axis in spread(given[key], part, f"{what}[{key!r}]")]


def _parts(axes: Any) -> Mapping[Any, Any] | None:
    """What a tree of axes holds, as `Structure.children` has it; None for what is no tree."""
    if isinstance(axes, Mapping):
        return axes
    if isinstance(axes, (tuple, list)):
        return dict(enumerate(axes))
    if dataclasses.is_dataclass(axes) and not isinstance(axes, type):
        return {field.name: getattr(axes, field.name) for field in dataclasses.fields(axes)}
    return None


def _as_numpy(arg: Any) -> Any:
    """An array of NumPy in place of one of another library, such as pandas, PyTorch and JAX have."""
    is_foreign = hasattr(arg, "__array__") and not isinstance(arg, (numpy.ndarray, numpy.generic, Value))
    return numpy.asarray(arg) if is_foreign else arg


def _moved(leaf: Any, axis: int, name: str) -> NDArray[Any]:
    """An array with this axis first."""
    if not isinstance(leaf, numpy.ndarray):
        raise TypeError(
            f"{name} is or holds a number, which has no axis {axis}: a batch is a NumPy array with one number or array "
            f"for each sample (for a list of numbers, numpy.array(it)), or in_axes has None for what all samples share"
        )
    if not -leaf.ndim <= axis < leaf.ndim:
        raise ValueError(
            f"{name} is or holds an array of shape {leaf.shape}, which has no axis {axis}: in_axes says which axis the "
            "samples are along, and has None for what all samples share"
        )
    return numpy.moveaxis(numpy.asarray(leaf), axis, 0)


def _with_batch_axis(shape: tuple[int, ...], axis: int | None, count: int, kind: Any) -> NDArray[Any]:
    """An empty array that has the batch at `axis`, but seen with the batch as first axis."""
    if axis is None:
        return numpy.empty((1, *shape), kind)
    if not -len(shape) - 1 <= axis <= len(shape):
        raise ValueError(
            f"out_axes has {axis} for {'a number' if shape == () else f'an array of shape {shape}'}: with the samples "
            f"along one more axis, that can be {-len(shape) - 1} to {len(shape)}"
        )
    whole = list(shape)
    whole.insert(axis % (len(shape) + 1), count)
    return numpy.moveaxis(numpy.empty(whole, kind), axis, 0)


def shown(key: Any) -> str:
    """What a sample is like, for messages: from the key of a batch."""
    return ", ".join(str(part) for part in key if isinstance(part, Structure))


def _plain(item: Any) -> Any:
    """A number in place of NumPy's or of an array without axes."""
    return item.item() if isinstance(item, numpy.generic) else item


def plain_numbers(leaves: Sequence[Any]) -> list[float]:
    """All numbers of the leaves, those of Values too."""
    return [primal_of(x) if isinstance(x, Value) else x for x in scalars(leaves)]


def _of_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """An array of objects as one of float64."""
    return numpy.array(plain_numbers([array]), numpy.float64).reshape(array.shape)


def as_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional array, of objects where there are Values among the numbers."""
    if not any(isinstance(x, Value) for x in numbers):
        return numpy.array(numbers, numpy.float64)
    array = numpy.empty(len(numbers), object)
    array[:] = numbers
    return array
