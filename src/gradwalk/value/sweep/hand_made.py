"""Hand-written `_backward` functions, kept without making reference cycles.

In micrograd's idiom the function is a closure over the very node that holds it:

    out = Value(math.tanh(x.data), (x,), "tanh")
    def _backward():
        x.grad += (1 - out.data**2) * out.grad
    out._backward = _backward

Stored as it is, that is a cycle: `out` holds the function, whose cell holds `out`. Python could only free it by its
cyclic garbage collector, which `Value` does without because that is what makes micrograd slow. So the function is kept
without the node: the cells and default arguments that held it hold None, and every call makes a function of its own in
which they hold the node. Calls share nothing, so that several threads, and rules that call each other, may make them at
once. A function that reaches its own node in another way, through a list say, keeps it alive for good.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

_SHARED = (FunctionType, BuiltinFunctionType, ModuleType, type)  # what a deep copy does not copy


class Closure:
    """A function of no arguments that belongs to a node, without holding that node."""

    __slots__ = ("_cells", "_defaults", "_function")

    def __init__(self, function: Callable[[], object], node: object) -> None:
        self._function = function
        self._cells: Sequence[int] = ()  # the indices of the cells that held the node
        self._defaults: Sequence[int] = ()  # the indices of default arguments that did
        if isinstance(function, FunctionType):
            self._cells = [i for i, cell in enumerate(function.__closure__ or ()) if _contents(cell) is node]
            self._defaults = [i for i, held in enumerate(function.__defaults__ or ()) if held is node]
            self._function = self._bound(None)

    def __call__(self, node: object) -> None:
        """Call the function, `node` being the one that it belongs to."""
        self._bound(node)()

    def _bound(self, node: object) -> Callable[[], object]:
        """Return the function with the node where it belongs."""
        function = self._function
        if not (self._cells or self._defaults) or not isinstance(function, FunctionType):
            return function
        cells = list(function.__closure__ or ())
        for i in self._cells:
            cells[i] = CellType(node)
        defaults = list(function.__defaults__ or ())
        for i in self._defaults:
            defaults[i] = node
        return _like(function, defaults, cells, function.__kwdefaults__)

    def replaced(self, memo: dict[int, Any]) -> Closure:
        """Return this function with what it holds copied deeply.

        Raises `TypeError` where it cannot be known what the function holds: for other callables than functions, and for
        functions that refer to one of the copied objects by a global name.

        Args:
            memo: The copies made so far, by `id`.

        Returns:
            The copy.
        """
        function = self._function
        if not isinstance(function, FunctionType):
            raise TypeError(
                f"cannot copy a node whose _backward is a {type(function).__name__}: what it refers to is not known; "
                "use a function"
            )
        for name in function.__code__.co_names:
            if id(function.__globals__.get(name)) in memo:
                raise TypeError(
                    f"cannot copy a node whose _backward refers to the global name {name!r}, which would still be the "
                    "original; make the node in a function"
                )
        cells = [_copied_cell(cell, memo) for cell in function.__closure__ or ()]
        defaults = [_copied(held, memo) for held in function.__defaults__ or ()]
        keywords = function.__kwdefaults__ and {k: _copied(held, memo) for k, held in function.__kwdefaults__.items()}
        twin = Closure.__new__(Closure)
        twin._cells, twin._defaults = self._cells, self._defaults
        twin._function = _like(function, defaults, cells, keywords)
        return twin


def _like(
    function: FunctionType, defaults: list[Any], cells: list[CellType], keywords: dict[str, Any] | None
) -> FunctionType:
    """The same function with other default arguments and cells."""
    code, closure = function.__code__, tuple(cells) if function.__closure__ else None
    twin = FunctionType(code, function.__globals__, function.__name__, tuple(defaults), closure)
    if keywords:
        twin.__kwdefaults__ = keywords
    return twin


def _contents(cell: CellType) -> object:
    """What a cell holds; the cell itself, which nobody asks for, where it holds nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _copied_cell(cell: CellType, memo: dict[int, Any]) -> CellType:
    """A cell with a copy of what it holds; the cell itself where that is shared."""
    held = _contents(cell)
    copied = _copied(held, memo)
    return cell if copied is held else CellType(copied)


def _copied(held: Any, memo: dict[int, Any]) -> Any:
    return held if isinstance(held, (*_SHARED, CellType)) else copy.deepcopy(held, memo)
