"""Hand-written `_backward` functions, stored without a reference cycle.

In micrograd's idiom the function is a closure over the node that holds it:

    out = Value(math.tanh(x.data), (x,), "tanh")
    def _backward():
        x.grad += (1 - out.data**2) * out.grad
    out._backward = _backward

This is a reference cycle: `out` holds the function, whose cell holds `out`. Only Python's cyclic garbage collector
could free the cycle, but it does not track Values, because tracking makes micrograd slow. The function is therefore
stored with None in the cells and default arguments that held the node, and each call creates a new function with the
node in these places. Calls share no state, so that several threads or nested rules may call the function at the same
time. A function that refers to its node in another way, for example through a list, keeps the node alive forever.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

_SHARED = (FunctionType, BuiltinFunctionType, ModuleType, type)  # types of objects that a deep copy does not copy


class Closure:
    """A function without arguments that belongs to a node, stored without a reference to the node."""

    __slots__ = ("_cells", "_defaults", "_function")

    def __init__(self, function: Callable[[], object], node: object) -> None:
        self._function = function
        self._cells: Sequence[int] = ()  # the indices of the cells that held the node
        self._defaults: Sequence[int] = ()  # the indices of the default arguments that held the node
        if isinstance(function, FunctionType):
            self._cells = [i for i, cell in enumerate(function.__closure__ or ()) if _contents(cell) is node]
            self._defaults = [i for i, held in enumerate(function.__defaults__ or ()) if held is node]
            self._function = self._bound(None)

    def __call__(self, node: object) -> None:
        """Call the function for the node that it belongs to."""
        self._bound(node)()

    def _bound(self, node: object) -> Callable[[], object]:
        """Return a new function with the node put back into the cells and default arguments that held it."""
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
        """Return a deep copy of this function. `memo` maps the `id` of each copied object to its copy.

        Raises `TypeError` if the references of the function cannot be replaced: it is a callable other than a function,
        or it refers to a copied object by a global name.
        """
        function = self._function
        if not isinstance(function, FunctionType):
            raise TypeError(
                f"cannot copy a node whose _backward is a {type(function).__name__}, because its references are "
                "unknown; use a function"
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
    """Return a copy of a function with other default arguments and cells."""
    code, closure = function.__code__, tuple(cells) if function.__closure__ else None
    twin = FunctionType(code, function.__globals__, function.__name__, tuple(defaults), closure)
    if keywords:
        twin.__kwdefaults__ = keywords
    return twin


def _contents(cell: CellType) -> object:
    """Return the contents of a cell. If the cell is empty, return the cell itself as a placeholder."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def _copied_cell(cell: CellType, memo: dict[int, Any]) -> CellType:
    """Return a new cell with a deep copy of the contents. If they are not copied, return the cell itself."""
    held = _contents(cell)
    copied = _copied(held, memo)
    return cell if copied is held else CellType(copied)


def _copied(held: Any, memo: dict[int, Any]) -> Any:
    return held if isinstance(held, (*_SHARED, CellType)) else copy.deepcopy(held, memo)
