"""Hand-written `_backward` functions, kept without making reference cycles.

In micrograd's idiom the function is a closure over the very node that holds it:

    out = Value(math.tanh(x.data), (x,), "tanh")
    def _backward():
        x.grad += (1 - out.data**2) * out.grad
    out._backward = _backward

Stored as it is, that is a cycle: `out` holds the function, whose cell holds `out`. Python could only free it by its
cyclic garbage collector, which `Value` does without because that is what makes micrograd slow. So the function is kept
with the node's own cell empty, and the cell is filled for the time of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType
from typing import Any


class Closure:
    """A function of no arguments that belongs to a node, without holding that node."""

    def __init__(self, function: Callable[[], object], node: object) -> None:
        self._own_cells: list[CellType] = []
        self._function = function
        if isinstance(function, FunctionType) and function.__closure__:
            self._function = _with_cells(function, tuple(self._emptied(cell, node) for cell in function.__closure__))

    def __call__(self, node: object) -> None:
        """Call the function, `node` being the one that it belongs to."""
        for cell in self._own_cells:
            cell.cell_contents = node
        try:
            self._function()
        finally:
            for cell in self._own_cells:
                del cell.cell_contents

    def replaced(self, replacements: Mapping[int, Any]) -> Closure:
        """The same function with the objects it closes over replaced, by `id`: what a deep copy needs.

        Raises `TypeError` for a callable that is not a plain function: what it holds is not known.
        """
        function = self._function
        if not isinstance(function, FunctionType):
            raise TypeError(
                f"cannot copy a hand-made node whose _backward is a {type(function).__name__}: what it refers to is"
                " not known; use a function"
            )
        copy = Closure.__new__(Closure)
        copy._own_cells = []
        copy._function = function
        if function.__closure__:
            cells = tuple(copy._replaced(cell, self._own_cells, replacements) for cell in function.__closure__)
            copy._function = _with_cells(function, cells)
        return copy

    def _emptied(self, cell: CellType, node: object) -> CellType:
        if _contents(cell) is not node:
            return cell
        self._own_cells.append(CellType())
        return self._own_cells[-1]

    def _replaced(self, cell: CellType, own: list[CellType], replacements: Mapping[int, Any]) -> CellType:
        if any(cell is other for other in own):
            self._own_cells.append(CellType())
            return self._own_cells[-1]
        contents = _contents(cell)
        return CellType(replacements[id(contents)]) if id(contents) in replacements else cell


def _with_cells(function: FunctionType, cells: tuple[CellType, ...]) -> FunctionType:
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _contents(cell: CellType) -> object:
    """What a cell holds; the cell itself, which nobody asks for, where it holds nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell
