"""Runs a recorded graph again with the number of one node changed. Compiled, because a check does so many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat, ieee
from gradwalk.ops.compiled import evaluate

if not TYPE_CHECKING and cython.compiled:
    import cython


@cython.cclass
class Reevaluator:
    """Computes the root of a graph again for other numbers of a selected node.

    `select(index)` chooses the node; `root_with(number)` then returns the root's number for a number of that node.

    Args:
        graph: A Graph.
        root: The index of its root.

    Raises:
        GraphError: The graph is not well formed.
    """

    _opcodes: cython.p_int
    _offsets: cython.p_int
    _operands: cython.p_int
    _partials: cython.p_double
    _data: cython.p_double  # the numbers, as recorded
    _numbers: cython.p_double  # the numbers, with those that depend on the selected node computed again
    _reached: cython.p_int  # whether each node depends on the selected one
    _dependents: cython.p_int  # the indices of those that do, in order
    _count: cython.int  # how many dependents there are
    _size: cython.int
    _root: cython.int
    _selected: cython.int
    _gathered: cython.p_double  # room for the operands of one node
    _arrays: Any  # keeps the arrays alive that the pointers point to

    def __init__(self, graph: Any, root: int) -> None:
        graph.validate()  # the compiled code below follows indices without checking them
        n = len(graph.opcodes)
        numbers, reached, dependents = graph.data.copy(), numpy.zeros(n, numpy.int32), numpy.zeros(n, numpy.int32)
        gathered = numpy.zeros(numpy.diff(graph.offsets).max(initial=0))
        self._arrays = (graph, numbers, reached, dependents, gathered)
        self._gathered = c_compat.doubles(gathered)
        self._opcodes = c_compat.integers(graph.opcodes)
        self._offsets = c_compat.integers(graph.offsets)
        self._operands = c_compat.integers(graph.operands)
        self._partials = c_compat.doubles(graph.partials)
        self._data = c_compat.doubles(graph.data)
        self._numbers = c_compat.doubles(numbers)
        self._reached = c_compat.integers(reached)
        self._dependents = c_compat.integers(dependents)
        self._count = 0
        self._size = n
        self._root = root
        self._selected = 0

    def select(self, index: cython.int) -> int:
        """Choose the node to change, and find the nodes that depend on it.

        Args:
            index: The index of the node.

        Returns:
            -1 if everything between the node and the root can be computed again, else the index of a hand-made node
            in between, which cannot.
        """
        i: cython.int
        k: cython.int
        for i in range(self._count):
            self._numbers[self._dependents[i]] = self._data[self._dependents[i]]
        self._numbers[self._selected] = self._data[self._selected]
        self._selected = index
        self._count = 0
        for i in range(self._size):
            self._reached[i] = i == index
        blocked: cython.int = -1
        for i in range(index + 1, self._root + 1):
            for k in range(self._offsets[i], self._offsets[i + 1]):
                if self._operands[k] >= 0 and self._reached[self._operands[k]]:
                    self._reached[i] = True
                    self._dependents[self._count] = i
                    self._count += 1
                    if self._opcodes[i] == 0:
                        blocked = i
                    break
        return blocked if self._reached[self._root] else -1

    def root_with(self, number: cython.double) -> float:
        """Compute the root's number for a number of the selected node.

        Args:
            number: The number that the selected node is given.

        Returns:
            The root's number. Nodes that do not depend on the selected one keep their recorded numbers.
        """
        i: cython.int
        self._numbers[self._selected] = number
        for i in range(self._count):
            self._numbers[self._dependents[i]] = self._evaluated(self._dependents[i])
        return float(self._numbers[self._root])

    def noise(self, weights: Any) -> float:
        """Sum weight times absolute number over the nodes that `root_with` computed last.

        Args:
            weights: An array of float64, one weight for each node. A weight of 0 counts as 0, whatever the number.

        Returns:
            The sum, to which the selected node itself does not belong.
        """
        i: cython.int
        index: cython.int
        total: cython.double = 0.0
        weight: cython.p_double = c_compat.doubles(weights)
        for i in range(self._count):
            index = self._dependents[i]
            if weight[index] != 0.0:
                total += float(weight[index]) * ieee.fabs(float(self._numbers[index]))
        return total

    def depends(self, index: cython.int) -> bool:
        """Return whether a node is the selected one or depends on it.

        Args:
            index: The index of the node.
        """
        return self._reached[index] != 0

    def recomputed(self, index: cython.int) -> float:
        """Compute a node from the recorded numbers of its operands; leaves and hand-made nodes keep their own.

        Args:
            index: The index of the node.

        Returns:
            The number that the graph should have recorded for the node.
        """
        return self._evaluated(index) if self._opcodes[index] > 0 else float(self._data[index])

    def local(self, index: cython.int, number: cython.double) -> float:
        """Compute one node for a number of the selected node, all other operands having their recorded numbers.

        Args:
            index: The index of the node to compute, which has the selected node as an operand.
            number: The number that the selected node is given.

        Returns:
            The node's number.
        """
        self._numbers[self._selected] = number
        return self._evaluated(index)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _evaluated(self, index: cython.int) -> cython.double:
        """Apply the operation of a node to the numbers that its operands have now."""
        k: cython.int = self._offsets[index]
        n: cython.int = self._offsets[index + 1] - k
        i: cython.int
        if evaluate.is_variadic(self._opcodes[index]):
            for i in range(n):
                self._gathered[i] = self._operand(k + i)
            return evaluate.variadic_value(self._opcodes[index], self._gathered, n)
        return evaluate.value(
            self._opcodes[index],
            self._operand(k),
            self._operand(k + 1) if n > 1 else 0.0,
            self._operand(k + 2) if n > 2 else 0.0,
        )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _operand(self, k: cython.int) -> cython.double:
        """Return the number of operand k of the flat array of operands."""
        # When this runs uncompiled the arrays hold NumPy scalars, which warn about overflow where floats do not.
        return float(self._numbers[self._operands[k]] if self._operands[k] >= 0 else self._partials[k])
