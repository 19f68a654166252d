"""Batches: the arguments of functions of many samples, and along which of their axes these are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.base.cached import cached_property
from gradwalk.trees.tree import SCALAR, Parameters, Shape, TreeDef, flatten, scalars
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

Axes = int | Sequence[Any] | Mapping[Any, Any] | None  # an axis, None for no axis, or a tree of these
SUMS = ("sum", "mean")
REDUCTIONS = (*SUMS, "max", "min", "prod", "logsumexp", "argmax", "argmin")


@dataclass(frozen=True)
class Batch:
    """The arguments of one call, taken apart.

    Attributes:
        leaves: The leaves of all arguments; those that vary have the batch as first axis.
        varies: For each leaf, whether it has a batch axis. The others are the same for all samples.
        names: What the arguments are called.
        elements: The treedef of each argument of one sample.
        positional: How many arguments are positional; the rest are keywords.
        size: How many samples there are.
    """

    leaves: list[Any]
    varies: list[bool]
    names: list[str]
    elements: list[TreeDef]
    positional: int
    size: int

    @property
    def key(self) -> Any:
        """The key of recordings: the treedef of a sample, and which of its numbers vary."""
        return self.positional, *zip(self.names, self.elements, strict=True), *self.varies

    @property
    def shapes(self) -> list[Shape]:
        """The shapes of all leaves of one sample."""
        return [shape for element in self.elements for shape in element.shapes]

    def sample(self, i: int) -> list[Any]:
        """Return the leaves of one sample.

        Args:
            i: The index of the sample.

        Returns:
            A list with one entry for each leaf.
        """
        return [leaf[i] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]

    def rows(self, start: int, end: int) -> Batch:
        """Return some of the samples, from `start` up to `end`, without a copy.

        Args:
            start: The index of the first sample.
            end: The index after the last one.

        Returns:
            A batch that shares the arrays of this one.
        """
        leaves = [leaf[start:end] if varies else leaf for leaf, varies in zip(self.leaves, self.varies, strict=True)]
        return replace(self, leaves=leaves, size=len(range(self.size)[start:end]))

    def example(self) -> list[Any]:
        """Return the arguments of the first sample, zeros where the batch is empty."""
        leaves = iter(self.first())
        return [element.unflatten([plain(next(leaves)) for _ in element.shapes]) for element in self.elements]

    def first(self) -> list[Any]:
        """Return the leaves of the first sample, zeros where the batch is empty."""
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
        others = [leaf for leaf in self.leaves if type(leaf) is not float]  # a Module has many floats
        return [leaf for leaf in others if isinstance(leaf, numpy.ndarray)]

    @cached_property
    def kind(self) -> type[numpy.floating[Any]]:
        """The type of numbers to compute with: float32 where all arrays are float32, else float64."""
        kinds = {array.dtype.type for array in self.arrays}
        return numpy.float32 if kinds == {numpy.float32} else numpy.float64

    @property
    def varying(self) -> list[NDArray[Any]]:
        """The leaves that vary."""
        return [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if varies]

    def columns(self) -> list[NDArray[Any]]:
        """Return the leaves that vary, as arrays of `kind`. They are copied only where they are of another type."""
        kind = self.kind
        with numpy.errstate(over="ignore"):  # numbers that are too large for float32 become inf
            return [_of_numbers(leaf) if leaf.dtype == object else numpy.asarray(leaf, kind) for leaf in self.varying]

    def shared(self) -> list[Any]:
        """Return the leaves that do not vary."""
        return [leaf for leaf, varies in zip(self.leaves, self.varies, strict=True) if not varies]


class Batching(NamedTuple):
    """How a function is batched.

    Attributes:
        name: What messages call the function.
        parameters: The names of its parameters.
        in_axes: Where the samples are in the arguments: see `vmap`.
        out_axes: Where the samples are in the results: see `vmap`.
        reduce: How results are reduced over the batch: one of `REDUCTIONS`, or None.
    """

    name: str
    parameters: Parameters
    in_axes: Axes
    out_axes: Axes
    reduce: str | None

    def checked(self) -> Batching:
        """Return this. Raises `TypeError` and `ValueError` where `in_axes`, `out_axes` and `reduce` make no sense."""
        if self.in_axes is not None and not isinstance(self.in_axes, (int, tuple, list)):
            raise TypeError(f"in_axes takes an int, None, or a tuple with one for each argument, not {self.in_axes!r}")
        if self.reduce is not None and self.reduce not in REDUCTIONS:
            known = ", ".join(map(repr, REDUCTIONS))
            raise ValueError(f"reduce={self.reduce!r}: give one of {known}, or None for the results of all samples")
        if self.reduce is not None and self.out_axes != 0:
            raise ValueError(
                f"out_axes={self.out_axes!r} with reduce={self.reduce!r}: a reduced result has no batch axis"
            )
        return self

    def batch(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Batch:
        """Take the arguments of one call apart.

        Args:
            args: The positional arguments.
            kwargs: The keyword arguments, which have the batch as axis 0.

        Returns:
            The batch that they are.

        Raises:
            TypeError: An argument holds something else than numbers, or a number where a batch is needed.
            ValueError: Arguments do not fit `in_axes`, or have batches of different sizes.
        """
        keywords = sorted(kwargs)
        names = [*self.parameters.first(len(args)), *keywords]
        batch = Batch([], [], names, [], len(args), 0)
        sizes: dict[int, str] = {}  # what has a batch of this size, for messages
        axes = [*self.axes(len(args)), *[0] * len(keywords)]
        for arg, name, arg_axes in zip([*args, *map(kwargs.__getitem__, keywords)], names, axes, strict=True):
            _append(batch, sizes, arg, name, arg_axes)
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
        """Return the axes of so many positional arguments. Raises `ValueError` where `in_axes` fit another count.

        Args:
            count: How many positional arguments there are.

        Returns:
            An axis, or a tree of axes, for each of them.
        """
        if self.in_axes is None or isinstance(self.in_axes, int):
            return [self.in_axes] * count
        if len(self.in_axes) != count:
            raise ValueError(
                f"in_axes={self.in_axes!r} has {len(self.in_axes)} parts, and {self.name} was called with {count} "
                f"positional argument{'s' if count != 1 else ''}: give one for each (keywords have the batch as axis 0)"
            )
        return list(self.in_axes)

    def taken_out(self, kwargs: dict[str, Any]) -> Any:
        """Take what results are to be written to out of the keyword arguments of a call.

        Args:
            kwargs: The keyword arguments. `out` is taken from them, unless the function has a parameter of that name.

        Returns:
            What was given as `out`, or None.
        """
        return None if "out" in self.parameters.keywords else kwargs.pop("out", None)

    def of_sums(self, sums: Any, count: int) -> Any:
        """Return what `reduce` makes of sums over `count` samples: themselves, or the means, nan for no samples.

        Args:
            sums: The sums over the batch.
            count: The number of samples.

        Returns:
            The sums or the means.
        """
        with numpy.errstate(all="ignore"):
            return sums / numpy.float64(count) if self.reduce == "mean" else sums


def spread(axes: Axes, treedef: TreeDef, what: str) -> list[int | None]:
    """Return an axis for each leaf of a tree.

    Args:
        axes: A tree of axes, each of which is for all leaves that stand in its place.
        treedef: The treedef of the tree.
        what: What messages call the axes.

    Raises:
        ValueError: The axes do not fit the treedef.
    """
    if axes is None or (isinstance(axes, int) and not isinstance(axes, bool)):
        return [axes] * len(treedef.shapes)
    given = parts_of(axes)
    parts = treedef.children()
    if given is None or given.keys() != parts.keys() or (treedef.shapes and not parts):
        raise ValueError(f"{what} is {axes!r}, which does not fit {treedef}: give an int, None, or a tree like it")
    return [axis for key, part in parts.items() for axis in spread(given[key], part, f"{what}[{key!r}]")]


def _append(batch: Batch, sizes: dict[int, str], arg: Any, name: str, axes: Axes) -> None:
    """Append an argument to a batch that is being put together, and the sizes of its batch axes to `sizes`."""
    leaves, treedef = flatten(arg, name)
    if axes is None:
        batch.leaves.extend(leaves)
        batch.varies.extend([False] * len(leaves))
        batch.elements.append(treedef)
        return
    shapes: list[Shape] = []
    for leaf, axis in zip(leaves, spread(axes, treedef, f"in_axes of {name}"), strict=True):
        moved = leaf if axis is None else _moved(leaf, axis, name)
        batch.leaves.append(moved)
        batch.varies.append(axis is not None)
        if axis is None:
            shapes.append(leaf.shape if isinstance(leaf, numpy.ndarray) else SCALAR.shapes[0])
        else:
            shapes.append(moved.shape[1:] or SCALAR.shapes[0])
            sizes.setdefault(len(moved), f"{name}, of shape {leaf.shape}, has {len(moved)} along axis {axis}")
    batch.elements.append(TreeDef(treedef.spec, tuple(shapes)))


def parts_of(tree: Any) -> Mapping[Any, Any] | None:
    """Return what a tree holds, such as one of axes, by the keys of `TreeDef.children`; None for what is no tree.

    Args:
        tree: Any object.
    """
    if isinstance(tree, Mapping):
        return tree
    if isinstance(tree, (tuple, list)):
        return dict(enumerate(tree))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        return {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree)}
    return None


def _moved(leaf: Any, axis: int, name: str) -> NDArray[Any]:
    """A view of an array with this axis first."""
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


def shown(key: Any) -> str:
    """Return, for messages, what a sample is like, from the key of its batch.

    Args:
        key: The key of a batch.

    Returns:
        A text.
    """
    return ", ".join(str(part[1]) for part in key if isinstance(part, tuple))


def plain(item: Any) -> Any:
    """Return a Python number in place of one of NumPy's.

    Args:
        item: Any object.
    """
    return item.item() if isinstance(item, numpy.generic) else item


def plain_numbers(leaves: Sequence[Any]) -> list[float]:
    """Return all numbers of the leaves, for a Value the number that it holds.

    Args:
        leaves: Leaves of a tree.

    Returns:
        The numbers in order.
    """
    return [primal_of(x) if isinstance(x, Value) else x for x in scalars(leaves)]


def _of_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """A float64 array of the numbers in an array of objects."""
    return numpy.array(plain_numbers([array]), numpy.float64).reshape(array.shape)


def as_array(numbers: Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional array of numbers: of objects where there are Values among them, else of float64.

    Args:
        numbers: Floats and Values.

    Returns:
        The array.
    """
    if not any(isinstance(x, Value) for x in numbers):
        return numpy.array(numbers, numpy.float64)
    array = numpy.empty(len(numbers), object)
    array[:] = numbers
    return array
