"""Reevaluate a recorded graph with the number of one node changed. Compiled, because a check does this many times."""

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
    """Recomputes the root of a graph for different numbers of a selected node.

    `select(index)` chooses the node. `root_with(number)` then sets the number of this node, and returns the resulting
    number of the root. The constructor raises `GraphError` if the graph is not valid.
    """

    _opcodes: cython.p_int
    _offsets: cython.p_int
    _operands: cython.p_int
    _partials: cython.p_double
    _data: cython.p_double  # the numbers, as recorded
    _numbers: cython.p_double  # the numbers, recomputed for nodes that depend on the selected node
    _reached: cython.p_int  # whether each node is the selected node or depends on it
    _dependents: cython.p_int  # indices of the dependent nodes, in order
    _count: cython.int  # number of dependent nodes
    _size: cython.int
    _root: cython.int
    _selected: cython.int
    _gathered: cython.p_double  # buffer for the operands of one node
    _arrays: Any  # owners of the memory that the pointers point into

    def __init__(self, graph: Any, root: int) -> None:
        graph.validate()  # the compiled code below does not check indices
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

        Returns -1 if all nodes between the chosen node and the root can be recomputed. Otherwise, returns the index of
        a hand-made node between them.
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
        """Set the number of the selected node, recompute its dependents, and return the number of the root."""
        i: cython.int
        self._numbers[self._selected] = number
        for i in range(self._count):
            self._numbers[self._dependents[i]] = self._evaluated(self._dependents[i])
        return float(self._numbers[self._root])

    def noise(self, weights: Any) -> float:
        """Return the sum of weight * |number| over the nodes that the last `root_with` recomputed.

        `weights` is a float64 array with one weight per node. A weight of 0 gives 0 even if the number is infinite or
        nan.
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
        """Return whether a node is the selected node or depends on it."""
        return self._reached[index] != 0

    def recomputed(self, index: cython.int) -> float:
        """Compute a node from the recorded numbers of its operands; for a leaf or hand-made node, return its number."""
        return self._evaluated(index) if self._opcodes[index] > 0 else float(self._data[index])

    def local(self, index: cython.int, number: cython.double) -> float:
        """Set the number of the selected node, and compute one node that uses it; other operands are as recorded."""
        self._numbers[self._selected] = number
        return self._evaluated(index)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _evaluated(self, index: cython.int) -> cython.double:
        """Apply the operation of a node to the current numbers of its operands."""
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
        """Return the number of entry k of the flat operand array."""
        # Uncompiled, the arrays yield NumPy scalars, which warn about overflow; floats do not.
        return float(self._numbers[self._operands[k]] if self._operands[k] >= 0 else self._partials[k])
