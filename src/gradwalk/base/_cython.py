"""What `cython` is in plain Python and to type checkers: names of types, and decorators that change nothing.

Compiled modules have the real one. Cython takes `import cython` for its own wherever it stands, also under a condition
that is false when the module is run, and only by this name. So plain Python needs no Cython.
"""

import builtins
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

double = float
int = builtins.int  # noqa: A001
short = int
schar = int
longlong = int
ulonglong = int
uchar = int
bint = bool
Py_ssize_t = int
size_t = int
p_double = list[float]
p_int = list[int]
p_char = bytes
p_void = Any
void: TypeAlias = None
compiled = False


class _Lock:
    """The interpreter's lock, which plain Python keeps: a decorator and a context that do nothing."""

    def __call__(self, function: T) -> T:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


nogil = gil = _Lock()


def cclass(cls: T) -> T:
    """Return the class as it is."""
    return cls


no_gc = final = cfunc = inline = cclass


def freelist(size: int) -> Callable[[T], T]:
    """Return a decorator that changes nothing."""
    return cclass


def exceptval(value: object = None, *, check: bool = False) -> Callable[[T], T]:
    """Return a decorator that changes nothing."""
    return cclass


def annotation_typing(on: bool) -> Callable[[T], T]:
    """Return a decorator that changes nothing."""
    return cclass


def critical_section(owner: object) -> AbstractContextManager[None]:
    """Return a context that does nothing."""
    return nullcontext()


def declare(kind: object, value: object = None, *, visibility: str = "private") -> Any:
    """Return the value of a declared variable, which is None before it has one."""
    return value


def cast(kind: type[T], value: object) -> T:
    """Return a number converted to `kind`, anything else as it is."""
    return kind(value) if kind in (float, int) else value  # type: ignore[call-arg, return-value]


def address(number: float) -> list[float]:
    """Return the number as an array of its own."""
    return [number]
