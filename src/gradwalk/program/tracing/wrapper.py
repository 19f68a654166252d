"""`WrappedFunction`: the base class of functions that transforms return."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from gradwalk.program.tracing.trace import Recordable, display_name, reduce_for_pickle

P = ParamSpec("P")
Q = ParamSpec("Q")
R_co = TypeVar("R_co", covariant=True)


class WrappedFunction(Generic[P, R_co]):
    """A function that a transform made from another function, with the name and docstring of that function.

    It can be pickled if the wrapped function can be pickled. If it is an attribute of a class, it binds to instances
    like a method. For type checkers it has the parameters `P` and the result type `R_co`.

    Args:
        f: The function to wrap.
        maker: Name of the transform, for error messages.

    Raises:
        TypeError: `f` is not a function.
    """

    __name__ = "function"  # used if `f` has no name, such as a functools.partial object

    def __init__(self, f: Callable[..., Any], maker: str) -> None:
        if not callable(f):
            raise TypeError(f"{maker}() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f, updated=())  # type: ignore[arg-type]  # subclasses are called
        self._f = f
        self._maker = maker

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: WrappedFunction[Concatenate[Any, Q], R_co], instance: object, owner: type | None = None
    ) -> Callable[Q, R_co]: ...
    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)  # type: ignore[arg-type]  # subclasses are called

    def __reduce__(self) -> Any:
        return reduce_for_pickle(self, self._reduce_args())

    def __repr__(self) -> str:
        return f"<{self._maker} of {self._f if isinstance(self._f, Recordable) else display_name(self._f)}>"

    def _reduce_args(self) -> tuple[Any, ...]:
        """Return arguments for pickling: calling the class with these arguments creates an equal function."""
        raise NotImplementedError
