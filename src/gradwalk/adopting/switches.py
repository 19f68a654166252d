"""Functions and classes of numbers that also accept Values, and that cost plain numbers little time.

The module is Cython in pure-Python mode.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradwalk.base import _cython as cython
from gradwalk.value.node import ValueNode

if not TYPE_CHECKING and cython.compiled:
    import cython


def of_one_argument(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one argument that calls `on_values` if the argument is a Value, else `plain`."""

    def function(x: Any, /) -> Any:
        if type(x) is float or not isinstance(x, ValueNode):
            return plain(x)
        return on_values(x)

    return function


_MISSING: Any = object()


def of_two_arguments(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of one or two arguments that calls `on_values` if one of them is a Value, else `plain`."""

    def function(x: Any, y: Any = _MISSING, /) -> Any:
        has_value: cython.bint = (type(x) is not float and isinstance(x, ValueNode)) or (
            type(y) is not float and isinstance(y, ValueNode)
        )
        called = on_values if has_value else plain
        return called(x) if y is _MISSING else called(x, y)

    return function


def of_any_arguments(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `on_values` if a positional argument is a Value, else `plain`."""

    def function(*args: Any, **kwargs: Any) -> Any:
        for arg in (*args, *kwargs.values()):
            if type(arg) is not float and isinstance(arg, ValueNode):
                return on_values(*args, **kwargs)
        return plain(*args, **kwargs)

    return function


@cython.cclass
class NumberKind:
    """A substitute for a class of numbers, such as `float`, which also includes Values.

    Args:
        plain: The class.
        dtype: The dtype that NumPy takes for the class, or None.

    Attributes:
        plain: As above.
        dtype: As above.
    """

    plain = cython.declare(object, visibility="readonly")
    dtype = cython.declare(object, visibility="readonly")

    def __init__(self, plain: Any, dtype: Any = None) -> None:
        self.plain, self.dtype = plain, dtype

    def __call__(self, *args: Any) -> Any:
        """Return a Value unchanged, and any other object as the class converts it."""
        if len(args) == 1 and type(args[0]) is not float and isinstance(args[0], ValueNode):
            return args[0]
        return self.plain(*args)

    def __instancecheck__(self, x: object) -> bool:
        return type(x) is self.plain or isinstance(x, (ValueNode, self.plain))

    def __subclasscheck__(self, kind: Any) -> bool:
        return issubclass(kind, (self.plain, ValueNode))

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (self.plain,)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumberKind):
            return self.plain is other.plain
        return other is self.plain or (isinstance(other, type) and issubclass(other, ValueNode))

    def __hash__(self) -> int:
        return hash(self.plain)

    def __or__(self, other: Any) -> Any:
        return self.plain | other

    def __ror__(self, other: Any) -> Any:
        return other | self.plain

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    def __repr__(self) -> str:
        return repr(self.plain)
