"""Replacement for the module `cython` in plain Python and for type checkers: type names and empty decorators.

A module first imports this module as `cython`. It then imports the real `cython` with `if not TYPE_CHECKING and
cython.compiled: import cython`. The Cython compiler processes this import although the import is conditional. Plain
Python never executes the import, so it does not need Cython.
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
    """`nogil` and `gil` in plain Python: a decorator and context manager that does nothing."""

    def __call__(self, function: T) -> T:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


nogil = gil = _Lock()


def cclass(cls: T) -> T:
    """Return the class unchanged."""
    return cls


no_gc = final = cfunc = inline = cclass


def freelist(size: int) -> Callable[[T], T]:
    """Return a decorator that does nothing."""
    return cclass


def exceptval(value: object = None, *, check: bool = False) -> Callable[[T], T]:
    """Return a decorator that does nothing."""
    return cclass


def annotation_typing(on: bool) -> Callable[[T], T]:
    """Return a decorator that does nothing."""
    return cclass


def critical_section(owner: object) -> AbstractContextManager[None]:
    """Return a context manager that does nothing."""
    return nullcontext()


def declare(kind: object, value: object = None, *, visibility: str = "private") -> Any:
    """Return the initial value of a declared variable (None by default)."""
    return value


def cast(kind: type[T], value: object) -> T:
    """Convert a value to `kind` if `kind` is float or int; otherwise return the value unchanged."""
    return kind(value) if kind in (float, int) else value  # type: ignore[call-arg, return-value]


def address(number: float) -> list[float]:
    """Return a list that contains only the number (in C, the address of the number)."""
    return [number]
