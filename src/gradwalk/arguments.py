"""Arguments that are numbers, or hold them: lists, tuples, dicts and arrays, nested."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from gradwalk.engine import Value


def numbers_in(f: Callable[..., Any], args: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """The numbers in the arguments of a function, with names such as x, x[0] and x['rate'].

    Raises `TypeError` where something else is in them.
    """
    for name, arg in zip(_parameter_names(f, len(args)), args, strict=True):
        yield from _numbers(name, arg)


def filled(arg: Any, values: Sequence[Value]) -> Any:
    """An argument, or a sequence of them, with Values in place of its numbers, in the order of `numbers_in`."""
    return _filled(arg, iter(values))


def _numbers(name: str, arg: Any) -> Iterator[tuple[str, float]]:
    if isinstance(arg, numpy.ndarray):
        for at in numpy.ndindex(arg.shape):
            yield from _numbers(f"{name}[{', '.join(map(str, at))}]", arg[at])
    elif isinstance(arg, dict):
        for key, item in arg.items():
            yield from _numbers(f"{name}[{key!r}]", item)
    elif isinstance(arg, (list, tuple)):
        for i, item in enumerate(arg):
            yield from _numbers(f"{name}[{i}]", item)
    else:
        yield name, arg.data if isinstance(arg, Value) else Value(arg).data


def _filled(arg: Any, values: Iterator[Value]) -> Any:
    if isinstance(arg, numpy.ndarray):
        array = numpy.empty(arg.shape, dtype=object)
        array.ravel()[:] = [_filled(item, values) for item in arg.ravel()]
        return array
    if isinstance(arg, dict):
        twin = copy.copy(arg)
        twin.update({key: _filled(item, values) for key, item in arg.items()})
        return twin
    if isinstance(arg, (list, tuple)):
        items = [_filled(item, values) for item in arg]
        return type(arg)(*items) if hasattr(arg, "_fields") else type(arg)(items)
    return next(values)


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not say
        parameters = {}.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*names, *(f"argument {i + 1}" for i in range(len(names), count))][:count]
