"""`vectorize`: apply a function of numbers or small arrays to arrays of any shapes, with NumPy broadcasting."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, ParamSpec, overload

import numpy
from numpy.typing import NDArray

from gradwalk.batching.axes import Batch, Batching
from gradwalk.batching.batched_trace import BatchedTrace, record_sample
from gradwalk.batching.split_trace import split
from gradwalk.program.tracing.paths import Outcomes, Paths
from gradwalk.program.tracing.trace import display_name, reduce_for_pickle
from gradwalk.program.tracing.trace_cache import TraceCache
from gradwalk.trees.tree import Parameters, flatten

P = ParamSpec("P")
Dimensions = tuple[str, ...]  # names of the core dimensions of an operand or result

_GROUP = r"\((?:\w+(?:,\w+)*)?\)"
_GROUPS = rf"{_GROUP}(?:,{_GROUP})*"


class Signature(NamedTuple):
    """The core dimensions of operands and results. Dimensions of the same name have the same length.

    Attributes:
        text: The signature as given, such as "(i),(i)->()".
        operands: The core dimensions of each operand.
        results: The core dimensions of each result.
    """

    text: str
    operands: list[Dimensions]
    results: list[Dimensions]


class Vectorized(Generic[P]):
    """A function of arrays that broadcast, returned by `vectorize`.

    Static type checkers see the parameters `P` of the function of numbers. `P` cannot express that arrays are accepted
    as well, so calls with any arguments pass the check.

    Args:
        f: The function of numbers.
        signature: See `vectorize`.
        excluded: See `vectorize`.
    """

    __name__ = "function"

    def __init__(self, f: Callable[P, Any], signature: str | None, excluded: Iterable[int | str]) -> None:
        if not callable(f):
            raise TypeError(f"vectorize() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())
        self._f = f
        self._signature = None if signature is None else _parsed(signature)
        self._excluded = frozenset([i if isinstance(i, int) else _position(f, i) for i in excluded])
        self._parameters = Parameters(f)
        self._cache: TraceCache[BatchedTrace] = TraceCache(display_name(f))
        self._paths: Paths[BatchedTrace] = Paths(self._cache)

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results for arrays that broadcast together."""
        if kwargs:
            args = _positional(self._f, args, kwargs)
        names = self._parameters.first(len(args))
        taken = [i for i in range(len(args)) if i not in self._excluded]
        operands = [_operand(args[i], names[i]) for i in taken]
        sizes: dict[str, int] = {}
        loops = [
            _loop(operand.shape, core, sizes, names[i])
            for i, operand, core in zip(taken, operands, self._core(len(taken)), strict=True)
        ]
        loop = _broadcast(loops, [names[i] for i in taken])
        axes: list[int | None] = [None] * len(args)
        given = list(args)
        for i, operand, shape in zip(taken, operands, loops, strict=True):
            axes[i] = None if math.prod(shape) == 1 != math.prod(loop) else 0
            given[i] = _batch(operand, shape, loop if axes[i] == 0 else None)
        return self._shaped(self._run(given, axes), loop, sizes)

    def __reduce__(self) -> Any:
        text = None if self._signature is None else self._signature.text
        return reduce_for_pickle(self, (self._f, text, tuple(sorted(self._excluded))))

    def __repr__(self) -> str:
        return f"<vectorize of {display_name(self._f)}>"

    def _core(self, count: int) -> list[Dimensions]:
        """Return the core dimensions of `count` operands."""
        if self._signature is None:
            return [()] * count
        if len(self._signature.operands) != count:
            raise TypeError(
                f"signature={self._signature.text!r} has {len(self._signature.operands)} operands, but "
                f"{display_name(self._f)} was called with {count} operands that are not excluded"
            )
        return self._signature.operands

    def _run(self, args: Sequence[Any], axes: Sequence[int | None]) -> Any:
        """Return the results. `axes` gives the batch axis of each argument, or None if it has no batch axis."""
        batching = Batching(display_name(self._f), self._parameters, tuple(axes), 0, None)
        batch = batching.batch(args, {})
        found = self._cache.find(batch.key)
        trace = split(batch, self._paths, self._recorded, batching) if found is None else found
        return trace.results(batch, batching)

    def _recorded(self, batch: Batch, imposed: Outcomes) -> BatchedTrace:
        """Record the function for the first sample of a batch: see `record_sample`."""
        return record_sample(self._f, batch, reduced=False, imposed=imposed)

    def _shaped(self, result: Any, loop: tuple[int, ...], sizes: dict[str, int]) -> Any:
        """Replace the first axis of the results by the loop dimensions, and check the results against the signature."""
        leaves, treedef = flatten(result, f"the result of {display_name(self._f)}")
        shaped = [leaf.reshape(loop + leaf.shape[1:])[()] for leaf in leaves]
        if self._signature is None:
            return treedef.unflatten(shaped)
        if len(leaves) != len(self._signature.results):
            raise ValueError(
                f"signature={self._signature.text!r} has {len(self._signature.results)} results, but "
                f"{display_name(self._f)} returned {len(leaves)} numbers or arrays (use numpy.array to return numbers "
                "as one array)"
            )
        for i, (leaf, core) in enumerate(zip(leaves, self._signature.results, strict=True)):
            what = f"result {i} of {display_name(self._f)}"
            if _loop(leaf.shape[1:], core, sizes, what) != ():
                raise ValueError(f"{what} has shape {leaf.shape[1:]}, but the signature says {_shown(core)}")
        return shaped[0] if len(shaped) == 1 else tuple(shaped)


@overload
def vectorize(
    f: Callable[P, Any], *, signature: str | None = None, excluded: Iterable[int | str] = ()
) -> Vectorized[P]: ...
@overload
def vectorize(
    f: None = None, *, signature: str | None = None, excluded: Iterable[int | str] = ()
) -> Callable[[Callable[P, Any]], Vectorized[P]]: ...
def vectorize(
    f: Callable[..., Any] | None = None, *, signature: str | None = None, excluded: Iterable[int | str] = ()
) -> Any:
    """Apply a function of numbers to arrays that broadcast, like `numpy.vectorize`, but with `jit` and `vmap`.

    `f` is recorded as by `jit(vmap(f))`: once for each structure of its arguments and each set of arguments that are
    broadcast. Computations that do not depend on the broadcast arguments run once per call. `f` may be the result of a
    transform such as `grad`. The vectorized function can be used like a ufunc, as in
    `dask.array.apply_gufunc(vectorize(f, signature=s), s, x, y)`.

    Args:
        f: A function of numbers or, with a signature, of arrays of the core dimensions. Omit it to use `vectorize` as a
            decorator with options, as in `@vectorize(signature="(i),(i)->()")`.
        signature: The core dimensions of operands and results, such as "(i),(),(i)->()", in the notation of NumPy's
            gufuncs. The core dimensions are the last dimensions of an array; all dimensions before them are broadcast.
            Core dimensions of the same name have the same length. None (the default) means no core dimensions.
        excluded: Positions and names of arguments that are not broadcast. They can be trees of numbers, as for `vmap`.

    Returns:
        A function of arrays. Without a signature, it returns a tree like the result of `f`. With a signature, it
        returns an array, or a tuple of arrays if `f` returns several. Arrays are float64, or float32 if all array
        arguments are float32. If no argument has dimensions to broadcast, numbers are returned as NumPy scalars.

    Raises:
        TypeError: `f` is not a function. When the returned function is called: an operand contains something other than
            numbers, or the number of operands differs from the number in the signature.
        ValueError: The signature is invalid, or `excluded` names an unknown parameter. When the returned function is
            called: shapes do not match the signature or do not broadcast.

    Example:
        >>> import numpy
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
    """Return the position of a parameter."""
    parameters = list(inspect.signature(f).parameters)
    if name not in parameters:
        raise ValueError(f"excluded has {name!r}, but the parameters of {display_name(f)} are {', '.join(parameters)}")
    return parameters.index(name)


def _positional(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return all arguments in the order of the parameters, with defaults for omitted arguments."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{display_name(f)} takes {', '.join(bound.kwargs)} by keyword only, but vectorize() passes arguments by "
            "position: allow it as a positional argument"
        )
    return bound.args


def _operand(arg: Any, name: str) -> NDArray[Any]:
    """Convert an argument to an array. Raises `TypeError` if it contains something other than numbers."""
    array = arg if isinstance(arg, numpy.ndarray) else numpy.asarray(arg)
    flatten(array, name)
    return numpy.asarray(array)


def _loop(shape: tuple[int, ...], core: Dimensions, sizes: dict[str, int], what: str) -> tuple[int, ...]:
    """Return the dimensions before the core dimensions.

    If `sizes` has a size for a core dimension, the sizes must be equal; otherwise the size is added to `sizes`.
    """
    start = len(shape) - len(core)
    if start < 0:
        raise ValueError(f"{what} has shape {shape}, but the signature says {_shown(core)}")
    for name, size in zip(core, shape[start:], strict=True):
        if sizes.setdefault(name, size) != size:
            raise ValueError(f"{what} has shape {shape}: {name} is {size} here, but {sizes[name]} elsewhere")
    return shape[:start]


def _broadcast(loops: list[tuple[int, ...]], names: list[str]) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*loops)
    except ValueError:
        shapes = ", ".join(f"{name} over {shape}" for name, shape in zip(names, loops, strict=True))
        raise ValueError(f"the arguments do not broadcast together: {shapes}") from None


def _batch(operand: NDArray[Any], own_loop: tuple[int, ...], loop: tuple[int, ...] | None) -> Any:
    """Merge the loop dimensions of an operand into one first axis; remove them if `loop` is None.

    The operand is copied only if strides cannot express the broadcasting.
    """
    core = operand.shape[len(own_loop) :]
    if loop is None:
        return operand.reshape(core)[()]
    return numpy.broadcast_to(operand, loop + core).reshape((math.prod(loop), *core))


def _shown(core: Dimensions) -> str:
    return f"({','.join(core)})"
