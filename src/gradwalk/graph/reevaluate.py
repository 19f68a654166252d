"""A recorded graph, run again from a node whose number is changed: compiled, for checks rerun it many times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate, ieee
from gradwalk.ops.evaluate import SUMPROD

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython


@cython.cclass
class Replay:
    """The arrays of a Graph with its root, ready to be run again. Raises `GraphError` where it is not well formed.

    `select(place)` chooses the node to change; `root_with(number)` is then the root's number for a number of that node.
    """

    _opcodes: cython.p_int
    _offsets: cython.p_int
    _operands: cython.p_int
    _partials: cython.p_double
    _data: cython.p_double  # the numbers as recorded
    _numbers: cython.p_double  # the same, but for those being run again
    _reached: cython.p_int  # whether a node depends on the selected one
    _dependents: cython.p_int  # the nodes that do, in order
    _count: cython.int  # how many there are
    _size: cython.int
    _root: cython.int
    _selected: cython.int
    _arrays: Any  # keeps alive what the pointers point to

    def __init__(self, graph: Any, root: int) -> None:
        graph.validate()  # from here on, C follows its numbers without looking
        n = len(graph.opcodes)
        numbers, reached, dependents = graph.data.copy(), numpy.zeros(n, numpy.int32), numpy.zeros(n, numpy.int32)
        self._arrays = (graph, numbers, reached, dependents)
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

    def select(self, place: cython.int) -> int:
        """Choose the node to change, and find what depends on it and leads to the root.

        Returns -1 where all of that can be run again, else the place of a hand-made node that cannot.
        """
        i: cython.int
        k: cython.int
        for i in range(self._count):
            self._numbers[self._dependents[i]] = self._data[self._dependents[i]]
        self._numbers[self._selected] = self._data[self._selected]
        self._selected = place
        self._count = 0
        for i in range(self._size):
            self._reached[i] = i == place
        blocked: cython.int = -1
        for i in range(place + 1, self._root + 1):
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
        """The root's number where the selected node has this one."""
        i: cython.int
        self._numbers[self._selected] = number
        for i in range(self._count):
            self._numbers[self._dependents[i]] = self._evaluated(self._dependents[i])
        return float(self._numbers[self._root])

    def noise(self, weights: Any) -> float:
        """The sum of weight times size over the nodes that were run again, with the numbers that they have now.

        `weights`: an array by place. A weight of 0 makes 0, whatever the number.
        """
        i: cython.int
        place: cython.int
        total: cython.double = 0.0
        weight: cython.p_double = c_compat.doubles(weights)
        for i in range(self._count):
            place = self._dependents[i]
            if weight[place] != 0.0:
                total += float(weight[place]) * ieee.fabs(float(self._numbers[place]))
        return total

    def depends(self, place: cython.int) -> bool:
        """Whether a node is the selected one or depends on it."""
        return self._reached[place] != 0

    def recomputed(self, place: cython.int) -> float:
        """The number that a node's operation gives for its operands; for leaves and hand-made nodes, their own."""
        return self._evaluated(place) if self._opcodes[place] > 0 else float(self._data[place])

    def local(self, place: cython.int, number: cython.double) -> float:
        """What a node's own operation gives where the selected node has this number, and all else its recorded one."""
        self._numbers[self._selected] = number
        return self._evaluated(place)

    @cython.cfunc
    @cython.exceptval(check=False)
    def _evaluated(self, place: cython.int) -> cython.double:
        k: cython.int = self._offsets[place]
        n: cython.int = self._offsets[place + 1] - k
        i: cython.int
        total: cython.double
        if self._opcodes[place] == SUMPROD:
            n = n // 2
            total = self._operand(k)
            for i in range(k + 1, k + 1 + n):
                total += self._operand(i) * self._operand(i + n)
            return total
        return evaluate.value(
            self._opcodes[place],
            self._operand(k),
            self._operand(k + 1) if n > 1 else 0.0,
            self._operand(k + 2) if n > 2 else 0.0,
        )

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _operand(self, k: cython.int) -> cython.double:
        """The number of the operand at an edge."""
        # float() is for uncompiled runs, where the arrays hold NumPy's numbers, which warn of what IEEE allows
        return float(self._numbers[self._operands[k]] if self._operands[k] >= 0 else self._partials[k])
