"""`eval_shape`: the structure of a function's result, and `pure_callback`: results of a Python function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from gradwalk.program.calls.callback import CallbackArguments, PythonCall
from gradwalk.program.calls.trace_loop import bind
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.trees.tree import TreeDef, flatten, opened, scalars
from gradwalk.value.modes import without_numbers


class ShapeDtypeStruct:
    """The shape and the dtype of an array, as in JAX; a number has the shape ().

    Args:
        shape: The shape.
        dtype: The dtype; float64 by default, the dtype of all results of gradwalk.
    """

    def __init__(self, shape: Any, dtype: Any = numpy.float64) -> None:
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype = numpy.dtype(dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


def eval_shape(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the structure of a function's result without computing the result.

    The function is recorded, so it must not branch on its arguments.

    Args:
        f: A function that takes and returns trees of numbers.
        *args: Arguments of `f`. Only their structure is used; a leaf may be a `ShapeDtypeStruct`.
        **kwargs: Keyword arguments of `f`.

    Returns:
        The result of `f` with a `ShapeDtypeStruct` instead of each leaf.

    Raises:
        TypeError: `f` is not callable, or the arguments or the result contain something other than numbers.
        RecordingError: `f` branches on a number.

    Example:
        >>> eval_shape(lambda x, y: {"product": x @ y}, numpy.ones((2, 3)), ShapeDtypeStruct((3, 4)))
        {'product': ShapeDtypeStruct(shape=(2, 4), dtype=float64)}
    """
    if not callable(f):
        raise TypeError(f"eval_shape() takes a function, not {type(f).__name__}: {f!r:.60}")
    recording = Recording(staged=True)
    leaves, treedef = opened((args, kwargs))
    example = treedef.unflatten([_example(leaf) for leaf in leaves])
    opened_args, opened_kwargs = recording.add_inputs(example, f"the arguments of {display_name(f)}")
    with without_numbers():
        _, result = recording.run(f, opened_args, opened_kwargs)
    return result.unflatten([ShapeDtypeStruct(shape) for shape in result.array_shapes])


def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, vmap_method: str | None = None, **kwargs: Any
) -> Any:
    """Call a Python function with numbers, at each run of a recorded function, and use its result.

    The call has no derivative: call `pure_callback` in a function with derivative rules (see `custom_jvp`). For a
    function that returns one number, `primitive` does both. A batch by `vmap` calls the function for each sample.

    Args:
        callback: A function without side effects of numbers, float64 arrays or trees of them.
        result_shape_dtypes: The structure of the result: a `ShapeDtypeStruct`, an array, a number or a tree of these.
        *args: Arguments of the function.
        vmap_method: Not needed: samples are computed one by one. It is an argument in JAX.
        **kwargs: Keyword arguments of the function.

    Returns:
        The result of the function: numbers and arrays, or Values and arrays of Values if an argument is a Value.

    Raises:
        TypeError: The result has another structure, or a derivative is needed.

    Example:
        >>> from gradwalk import jit
        >>> sorted_numbers = jit(lambda x: pure_callback(numpy.sort, x, x)[0])
        >>> sorted_numbers(numpy.array([3.0, 1.0])), sorted_numbers(numpy.array([5.0, 7.0]))
        (1.0, 5.0)
    """
    del vmap_method
    leaves, spec = opened(result_shape_dtypes)
    treedef = flatten(spec.unflatten([_example(leaf) for leaf in leaves]), "result_shape_dtypes")[1]
    arguments = CallbackArguments(args, kwargs)
    operands, arguments.operands = arguments.operands, []

    def called(numbers: list[float]) -> list[Any]:
        args, kwargs = arguments.filled(numbers)
        found, structure = flatten(callback(*args, **kwargs), f"the result of {display_name(callback)}")
        if structure.with_numbers() != treedef.with_numbers():
            raise TypeError(
                f"{display_name(callback)} must return {treedef}, the structure in result_shape_dtypes, got {structure}"
            )
        return scalars(found)

    return treedef.filled(bind(PythonCall(display_name(callback), called, treedef.size), operands))


def _example(leaf: Any) -> Any:
    """Return an array of zeros for a `ShapeDtypeStruct`, and any other leaf unchanged."""
    if not isinstance(leaf, ShapeDtypeStruct):
        return leaf
    return TreeDef(None, (leaf.shape or "scalar",)).filled(numpy.zeros(leaf.size))
