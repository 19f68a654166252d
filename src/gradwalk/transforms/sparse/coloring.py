"""Colourings of sparsity patterns: how few sweeps are enough to compute all entries of a sparse matrix.

Columns of a Jacobian that share no row can be computed together, as their sum: every number in that sum is an entry of
one of them. Putting all columns into few such groups is a graph colouring. See Gebremedhin, Manne and Pothen, "What
color is your Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005), 629-705.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.transforms.sparse.sparsity_pattern import as_pattern, transposed

if not TYPE_CHECKING and cython.compiled:
    import cython

NONE = cython.declare(cython.int, -1)  # in place of a colour

# What a vertex is to its neighbours of one colour.
ALONE = cython.declare(cython.int, 0)  # there is one, which has no other neighbour of the vertex's colour
SPOKE = cython.declare(cython.int, 1)  # there is one, which has others
CENTRE = cython.declare(cython.int, 2)  # there are several


def column_coloring(indptr: Any, indices: Any, n: int) -> Any:
    """Colour the columns of a matrix so that columns of the same colour share no row.

    The colouring is greedy, of distance 2 in the graph of rows and columns; columns with most neighbours come first.
    It takes time linear in the sum of the squares of the rows' lengths.

    Args:
        indptr: Where each row of the pattern begins in `indices`.
        indices: The columns of the entries.
        n: How many columns there are.

    Returns:
        The colour of each column, an array of int32 that counts from 0.

    Raises:
        ValueError: If the arrays are no pattern with n columns.

    Example:
        >>> column_coloring([0, 2, 4], [0, 1, 1, 2], 3).tolist()
        [1, 0, 1]
    """
    indptr, indices = as_pattern(indptr, indices, n)
    ends, rows = transposed(indptr, indices, n)
    neighbours = numpy.bincount(indices, numpy.repeat(numpy.diff(indptr), numpy.diff(indptr)), n)
    order = numpy.argsort(-neighbours, kind="stable").tolist()
    colors, latest = numpy.full(n, -1, numpy.int32), numpy.full(n + 1, -1, numpy.int32)
    start: cython.p_int = c_compat.integers(indptr)
    column: cython.p_int = c_compat.integers(indices)
    end: cython.p_int = c_compat.integers(ends)
    row: cython.p_int = c_compat.integers(rows)
    color: cython.p_int = c_compat.integers(colors)
    taken: cython.p_int = c_compat.integers(latest)  # by colour: the latest column that cannot have it
    j: cython.int
    k: cython.int
    other: cython.int
    for j in order:
        for k in range(end[j], end[j + 1]):
            for other in range(start[row[k]], start[row[k] + 1]):
                if color[column[other]] != NONE:
                    taken[color[column[other]]] = j
        color[j] = 0
        while taken[color[j]] == j:
            color[j] += 1
    return colors


def star_coloring(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """Colour the vertices of a symmetric pattern so that vertices of any two colours form stars.

    No two neighbours have the same colour, and no path of four vertices has only two colours. Every entry can then be
    read off the sums of the columns of each colour. The colouring is greedy; vertices with most neighbours come first.

    Args:
        indptr: Where each row of the pattern begins in `indices`.
        indices: The columns of the entries, sorted in each row.

    Returns:
        The colours of the columns, an array of int32 that counts from 0, and an array of bool, one for each entry
        (i, j) of the pattern. Where it is False, the entry is read from row i of the sum of the columns of j's colour;
        where True, from row j of the sum of the columns of i's colour, because the entry (j, i) is the same. Both
        entries of a pair are read from one place.

    Raises:
        ValueError: If the pattern is not symmetric, or its rows are not sorted.

    Example:
        >>> colors, flipped = star_coloring([0, 3, 5, 7], [0, 1, 2, 0, 1, 0, 2])  # an arrow pointing up and left
        >>> colors.tolist(), flipped.tolist()
        ([0, 1, 1], [False, True, True, False, False, False, False])
    """
    n = len(indptr) - 1
    indptr, indices = as_pattern(indptr, indices, n)
    if not all(map(numpy.array_equal, transposed(indptr, indices, n), (indptr, indices))):
        raise ValueError("a star colouring is that of a symmetric pattern with sorted rows, as `symmetric` makes it")
    stars = Stars(indptr, indices)
    for vertex in numpy.argsort(-numpy.diff(indptr), kind="stable").tolist():
        stars.color(vertex)
    return stars.colors, _flipped(indptr, indices, stars.colors)


@cython.cclass
class Stars:
    """A star colouring of a symmetric pattern while it is computed, one vertex at a time.

    The algorithm is that of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with
    application to computing Hessians", SIAM Journal on Scientific Computing 29 (2007), 1042-1072. It keeps, for every
    vertex and every colour among its neighbours, one neighbour of this colour and whether there are more. Therefore it
    takes time linear in the number of edges and in the number of colours next to their ends.
    """

    colors = cython.declare(object, visibility="readonly")
    _start: cython.p_int
    _vertex: cython.p_int
    _color: cython.p_int  # by vertex, or NONE
    _taken: cython.p_int  # by colour: the latest vertex that cannot have it
    _met: cython.p_int  # by colour: the latest vertex with a neighbour of this colour
    _repeated: cython.p_int  # by colour: the latest vertex with several such neighbours
    _count: cython.p_int  # by vertex: how many colours its neighbours have; their entries begin where its edges do
    _neighbour: cython.p_int  # by entry, which is a vertex and a colour: a neighbour of this colour
    _role: cython.p_int  # by entry: ALONE, SPOKE or CENTRE
    _arrays: Any

    def __init__(self, indptr: Any, indices: Any) -> None:
        n = len(indptr) - 1
        colors, taken, met, repeated = numpy.full((4, n + 1), -1, numpy.int32)
        count, neighbour, role = [numpy.zeros(length, numpy.int32) for length in (n, len(indices), len(indices))]
        self._arrays = [indptr, indices, colors, taken, met, repeated, count, neighbour, role]
        self.colors = colors[:n]
        self._start, self._vertex = c_compat.integers(indptr), c_compat.integers(indices)
        self._color, self._taken = c_compat.integers(colors), c_compat.integers(taken)
        self._met, self._repeated = c_compat.integers(met), c_compat.integers(repeated)
        self._count, self._role = c_compat.integers(count), c_compat.integers(role)
        self._neighbour = c_compat.integers(neighbour)

    def color(self, v: cython.int) -> None:
        """Give a vertex the first colour that it can have.

        Args:
            v: The vertex, which has no colour yet.
        """
        self._meet(v)
        k: cython.int
        w: cython.int
        color: cython.int = 0
        for k in range(self._start[v], self._start[v + 1]):
            if self._color[self._vertex[k]] != NONE:
                self._take_beyond(v, self._vertex[k])
        while self._taken[color] == v:
            color += 1
        self._color[v] = color
        for k in range(self._start[v], self._start[v + 1]):
            w = self._vertex[k]
            if w != v and self._color[w] != NONE:
                self._connect(v, w)

    @cython.cfunc
    def _meet(self, v: cython.int) -> object:
        """Exclude the colours of a vertex's neighbours."""
        k: cython.int
        color: cython.int
        for k in range(self._start[v], self._start[v + 1]):
            color = self._color[self._vertex[k]]
            if color != NONE:
                if self._met[color] == v:
                    self._repeated[color] = v
                self._met[color] = self._taken[color] = v
        return None

    @cython.cfunc
    @cython.inline
    def _take_beyond(self, v: cython.int, w: cython.int) -> object:
        """Exclude colours beyond the neighbour w that would make a path of two colours, *-v-w-x or v-w-x-*."""
        k: cython.int
        is_repeated: cython.bint = self._repeated[self._color[w]] == v
        for k in range(self._start[w], self._start[w] + self._count[w]):
            if is_repeated or self._role[k] == SPOKE:
                self._taken[self._color[self._neighbour[k]]] = v
        return None

    @cython.cfunc
    def _connect(self, v: cython.int, w: cython.int) -> object:
        """Add the edge between two coloured vertices to its star."""
        mine: cython.int = self._entry(v, w)
        theirs: cython.int = self._entry(w, v)
        if self._neighbour[mine] != w:
            self._role[mine] = CENTRE
            self._role[theirs] = self._role[self._entry(self._neighbour[mine], v)] = SPOKE
        elif self._neighbour[theirs] != v:
            self._role[theirs] = CENTRE
            self._role[mine] = self._role[self._entry(self._neighbour[theirs], w)] = SPOKE
        return None

    @cython.cfunc
    @cython.inline
    def _entry(self, v: cython.int, w: cython.int) -> cython.int:
        """Return the entry of a vertex for the colour of a neighbour, made if there is none."""
        k: cython.int
        end: cython.int = self._start[v] + self._count[v]
        for k in range(self._start[v], end):
            if self._color[self._neighbour[k]] == self._color[w]:
                return k
        self._count[v] += 1
        self._neighbour[end] = w
        self._role[end] = ALONE
        return end


def _flipped(indptr: Any, indices: Any, colors: Any) -> Any:
    """Return for each entry (i, j) whether to read it from row j: if i < j and row i has several of j's colour.

    Row j then has only one of i's colour, because the edge is in a star. The entry (j, i) is read from there too.
    """
    rows = numpy.repeat(numpy.arange(len(indptr) - 1), numpy.diff(indptr))
    keys = rows * len(indptr) + colors[indices]
    _, which, counts = numpy.unique(keys, return_inverse=True, return_counts=True)
    several = counts[which] > 1
    mirrored = numpy.argsort(indices, kind="stable")  # where the entries (j, i) are
    return numpy.where(rows <= indices, several, ~several[mirrored])
