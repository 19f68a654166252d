"""`eval_shape`: the structure of a function's result, and `pure_callback`: results of a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwalk.program.calls.callback import CallbackArguments, PythonCall
from gradwalk.program.calls.trace_loop import bind
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.trees.structs import examples, structs
from gradwalk.trees.tree import flatten, scalars
from gradwalk.value.modes import without_numbers


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
        >>> import numpy
        >>> eval_shape(lambda x, y: {"product": x @ y}, numpy.ones((2, 3)), numpy.ones((3, 4)))
        {'product': ShapeDtypeStruct(shape=(2, 4), dtype=float64)}
    """
    if not callable(f):
        raise TypeError(f"eval_shape() takes a function, not {type(f).__name__}: {f!r:.60}")
    recording = Recording(staged=True)
    opened_args, opened_kwargs = recording.add_inputs(examples((args, kwargs)), f"the arguments of {display_name(f)}")
    with without_numbers():
        _, result = recording.run(f, opened_args, opened_kwargs)
    return structs(result)


def pure_callback(
    callback: Callable[..., Any], result_shape_dtypes: Any, *args: Any, vmap_method: str | None = None, **kwargs: Any
) -> Any:
    """Call a Python function with numbers every time a recorded function runs, and use its result.

    The call has no derivative: call `pure_callback` in a function with derivative rules (see `custom_jvp`). For a
    function that returns one number, `primitive` does both. Under `vmap`, the function is called once per sample.

    Args:
        callback: A pure function: it takes numbers, float64 arrays or trees of them, and has no side effects.
        result_shape_dtypes: The structure of the result: a `ShapeDtypeStruct`, an array, a number or a tree of these.
        *args: Arguments of the function.
        vmap_method: Ignored; accepted for compatibility with JAX. Samples are computed one by one.
        **kwargs: Keyword arguments of the function.

    Returns:
        The result of the function: numbers and arrays, or Values and arrays of Values if an argument is a Value.

    Raises:
        TypeError: The result has another structure, or a derivative is needed.

    Example:
        >>> import numpy
        >>> from gradwalk import jit
        >>> sorted_numbers = jit(lambda x: pure_callback(numpy.sort, x, x)[0])
        >>> sorted_numbers(numpy.array([3.0, 1.0])), sorted_numbers(numpy.array([5.0, 7.0]))
        (1.0, 5.0)
    """
    del vmap_method
    treedef = flatten(examples(result_shape_dtypes), "result_shape_dtypes")[1]
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
