"""What type checkers see in place of `cython`, which has no types: in plain Python its decorators change nothing."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

double = float
int = int  # noqa: A001
short = int
schar = int
longlong = int
ulonglong = int
uchar = int
bint = bool
Py_ssize_t = int
p_double = list[float]
p_int = list[int]
p_char = bytes
p_void = Any
void: TypeAlias = None
compiled: bool
nogil: AbstractContextManager[None]

def cclass(cls: T) -> T: ...
def no_gc(cls: T) -> T: ...
def freelist(size: int) -> Callable[[T], T]: ...
def final(cls: T) -> T: ...
def cfunc(function: T) -> T: ...
def inline(function: T) -> T: ...
def exceptval(value: object = None, *, check: bool = False) -> Callable[[T], T]: ...
def annotation_typing(on: bool) -> Callable[[T], T]: ...
def declare(kind: object, value: object = ..., *, visibility: str = ...) -> Any: ...
def cast(kind: type[T], value: object) -> T: ...
