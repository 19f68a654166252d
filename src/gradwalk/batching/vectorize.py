"""`vectorize`: a function of numbers, or of small arrays, over arrays of any shapes, by NumPy's broadcasting."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.batching.vmap import Vmap
from gradwalk.program.trace import named, reduced
from gradwalk.trees.tree import Parameters, flattened

Dimensions = tuple[str, ...]  # the names of those that an operand or result has of its own

_GROUP = r"\((?:\w+(?:,\w+)*)?\)"
_GROUPS = rf"{_GROUP}(?:,{_GROUP})*"


class Signature(NamedTuple):
    """Which dimensions operands and results have of their own. Those of one name are equally long."""

    text: str
    operands: list[Dimensions]
    results: list[Dimensions]


class Vectorized:
    """A function of arrays that broadcast: see `vectorize`."""

    __name__ = "function"

    def __init__(self, f: Callable[..., Any], signature: str | None, excluded: Iterable[int | str]) -> None:
        if not callable(f):
            raise TypeError(f"vectorize() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._signature = None if signature is None else _parsed(signature)
        self._excluded = frozenset([i if isinstance(i, int) else _position(f, i) for i in excluded])
        self._parameters = Parameters(f)
        self._batched: dict[tuple[int | None, ...], Vmap] = {}  # by in_axes

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The results for arrays that broadcast together."""
        if kwargs:
            args = _positional(self._f, args, kwargs)
        names = self._parameters.first(len(args))
        taken = [i for i in range(len(args)) if i not in self._excluded]
        operands = [_operand(args[i], names[i]) for i in taken]
        sizes: dict[str, int] = {}
        loops = [
            _loop(operand.shape, own, sizes, names[i])
            for i, operand, own in zip(taken, operands, self._own(len(taken)), strict=True)
        ]
        loop = _broadcast(loops, [names[i] for i in taken])
        axes: list[int | None] = [None] * len(args)
        given = list(args)
        for i, operand, shape in zip(taken, operands, loops, strict=True):
            axes[i] = None if math.prod(shape) == 1 != math.prod(loop) else 0
            given[i] = _batch(operand, shape, loop if axes[i] == 0 else None)
        return self._shaped(self._vmap(tuple(axes))(*given), loop, sizes)

    def __reduce__(self) -> Any:
        text = None if self._signature is None else self._signature.text
        return reduced(self, (self._f, text, tuple(sorted(self._excluded))))

    def __repr__(self) -> str:
        return f"<vectorize of {named(self._f)}>"

    def _own(self, count: int) -> list[Dimensions]:
        """The dimensions that so many operands have of their own."""
        if self._signature is None:
            return [()] * count
        if len(self._signature.operands) != count:
            raise TypeError(
                f"signature={self._signature.text!r} has {len(self._signature.operands)} operands, and "
                f"{named(self._f)} was called with {count} that are not excluded"
            )
        return self._signature.operands

    def _vmap(self, axes: tuple[int | None, ...]) -> Vmap:
        """The function for batches that are along these axes."""
        if axes not in self._batched:
            self._batched[axes] = Vmap(self._f, axes, 0, None, keeps=True)
        return self._batched[axes]

    def _shaped(self, result: Any, loop: tuple[int, ...], sizes: dict[str, int]) -> Any:
        """The result of a batch, its first axis shaped as the loop. Raises `ValueError` where it has other own ones."""
        leaves, structure = flattened(result, f"the result of {named(self._f)}")
        shaped = [leaf.reshape(loop + leaf.shape[1:])[()] for leaf in leaves]
        if self._signature is None:
            return structure.with_leaves(shaped)
        if len(leaves) != len(self._signature.results):
            raise ValueError(
                f"signature={self._signature.text!r} has {len(self._signature.results)} results, and {named(self._f)} "
                f"returned {len(leaves)} numbers or arrays (an array of numbers is made by numpy.array)"
            )
        for i, (leaf, own) in enumerate(zip(leaves, self._signature.results, strict=True)):
            what = f"result {i} of {named(self._f)}"
            if _loop(leaf.shape[1:], own, sizes, what) != ():
                raise ValueError(f"{what} has shape {leaf.shape[1:]}, and the signature says {_shown(own)}")
        return shaped[0] if len(shaped) == 1 else tuple(shaped)


def vectorize(
    f: Callable[..., Any] | None = None, *, signature: str | None = None, excluded: Iterable[int | str] = ()
) -> Any:
    """A function that computes `f`, one of numbers, for arrays that broadcast: `numpy.vectorize`, recorded and batched.

    With a `signature` such as "(i),(),(i)->()", operands and results have dimensions of their own, the last ones, and
    `f` gets arrays of these. Those of one name are equally long. What stands before is broadcast. Results are then an
    array, or a tuple of all arrays that `f` returns, however nested; without a signature they are a tree as `f` returns
    it. Arrays are float64, or float32 where all arrays that are given are; without anything to loop over, numbers are
    NumPy's.

    Arguments that are `excluded`, by position or name, are the same for all: numbers in any tree that `vmap` takes.

    `f` is recorded as by `jit(vmap(f))`, once for each structure of its arguments, and again where others of them are
    broadcast; what is the same in the whole call is computed once. A function made by `grad` and its kin will do, and
    so does a ufunc's place: `dask.array.apply_gufunc(vectorize(f, signature=s), s, x, y)`.

    Raises `ValueError` where the signature makes no sense, and where shapes do not fit it or do not broadcast;
    `TypeError` where an operand holds no numbers, or their number is not that of the signature.

    >>> from gradwalk import grad
    >>> vectorize(lambda x, y: x * y)([[1.0], [2.0]], [3.0, 4.0, 5.0])
    array([[ 3.,  4.,  5.],
           [ 6.,  8., 10.]])
    >>> vectorize(grad(lambda x: x * x * x))(numpy.array([1.0, 2.0]))
    array([ 3., 12.])
    >>> vectorize(lambda x, y: x @ y, signature="(i),(i)->()")(numpy.ones((4, 3)), [1.0, 2.0, 3.0])
    array([6., 6., 6., 6.])
    """
    if f is None:
        return functools.partial(vectorize, signature=signature, excluded=excluded)
    return Vectorized(f, signature, excluded)


def _parsed(text: str) -> Signature:
    compact = re.sub(r"\s", "", text)
    if not re.fullmatch(f"{_GROUPS}->{_GROUPS}", compact):
        raise ValueError(f"signature={text!r}: give the dimensions of each operand and result, as in '(i,j),(j)->(i)'")
    sides = [[tuple(re.findall(r"\w+", group)) for group in re.findall(_GROUP, side)] for side in compact.split("->")]
    return Signature(text, *sides)


def _position(f: Callable[..., Any], name: str) -> int:
    """Where the parameter of a name stands."""
    parameters = list(inspect.signature(f).parameters)
    if name not in parameters:
        raise ValueError(f"excluded has {name!r}, and the parameters of {named(f)} are {', '.join(parameters)}")
    return parameters.index(name)


def _positional(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments by position, those that have been left out as well."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{named(f)} takes {', '.join(bound.kwargs)} by keyword only, and vectorize() has to give it by position"
        )
    return bound.args


def _operand(arg: Any, name: str) -> NDArray[Any]:
    """An argument as an array. Raises `TypeError` where it holds no numbers."""
    array = arg if isinstance(arg, numpy.ndarray) else numpy.asarray(arg)
    flattened(array, name)
    return numpy.asarray(array)


def _loop(shape: tuple[int, ...], own: Dimensions, sizes: dict[str, int], what: str) -> tuple[int, ...]:
    """What of a shape stands before the dimensions of its own, whose sizes are noted, or compared with those noted."""
    start = len(shape) - len(own)
    if start < 0:
        raise ValueError(f"{what} has shape {shape}, and the signature says {_shown(own)}")
    for name, size in zip(own, shape[start:], strict=True):
        if sizes.setdefault(name, size) != size:
            raise ValueError(f"{what} has shape {shape}: {name} is {size} there, and {sizes[name]} elsewhere")
    return shape[:start]


def _broadcast(loops: list[tuple[int, ...]], names: list[str]) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*loops)
    except ValueError:
        shapes = ", ".join(f"{name} over {shape}" for name, shape in zip(names, loops, strict=True))
        raise ValueError(f"these do not broadcast together: {shapes}") from None


def _batch(operand: NDArray[Any], own_loop: tuple[int, ...], loop: tuple[int, ...] | None) -> Any:
    """An operand with its loop along one axis, copied only where strides cannot say that; or without one."""
    own = operand.shape[len(own_loop) :]
    if loop is None:
        return operand.reshape(own)[()]
    return numpy.broadcast_to(operand, loop + own).reshape((math.prod(loop), *own))


def _shown(own: Dimensions) -> str:
    return f"({','.join(own)})"
