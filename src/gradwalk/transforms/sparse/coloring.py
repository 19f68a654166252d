"""Graph coloring of sparsity patterns. A sparse matrix is computed with one sweep per color.

Columns of a Jacobian can be computed together if no two of them have nonzeros in the same row: every number in the sum
of these columns is then an entry of a single column. Partitioning the columns into few such groups is a graph coloring
problem. See Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph coloring for computing derivatives",
SIAM Review 47 (2005), 629-705.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.transforms.sparse.sparsity_pattern import as_pattern, transposed

if not TYPE_CHECKING and cython.compiled:
    import cython

NONE = cython.declare(cython.int, -1)  # not colored yet

# The role of a vertex v with respect to its neighbors of one color.
ALONE = cython.declare(cython.int, 0)  # v has one such neighbor, which has no other neighbor of v's color
SPOKE = cython.declare(cython.int, 1)  # v has one such neighbor, which has other neighbors of v's color
CENTER = cython.declare(cython.int, 2)  # v has several such neighbors


def column_coloring(indptr: Any, indices: Any, n: int) -> Any:
    """Color the columns of a matrix so that columns of the same color have no nonzeros in the same row.

    This is a greedy distance-2 coloring of the bipartite graph of rows and columns, in which columns with the most
    neighbors come first. The time is linear in the sum of the squared row lengths.

    Returns:
        An int32 array with the color of each of the n columns. Colors are counted from 0.

    Example:
        >>> column_coloring([0, 2, 4], [0, 1, 1, 2], 3).tolist()
        [1, 0, 1]
    """
    indptr, indices = as_pattern(indptr, indices, n)
    ends, rows = transposed(indptr, indices, n)
    neighbors = numpy.bincount(indices, numpy.repeat(numpy.diff(indptr), numpy.diff(indptr)), n)
    order = numpy.argsort(-neighbors, kind="stable").tolist()
    colors, latest = numpy.full(n, -1, numpy.int32), numpy.full(n + 1, -1, numpy.int32)
    start: cython.p_int = c_compat.integers(indptr)
    column: cython.p_int = c_compat.integers(indices)
    end: cython.p_int = c_compat.integers(ends)
    row: cython.p_int = c_compat.integers(rows)
    color: cython.p_int = c_compat.integers(colors)
    taken: cython.p_int = c_compat.integers(latest)  # the last column for which each color was excluded
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
    """Color the vertices of a symmetric pattern so that the vertices of any two colors form only stars.

    No two neighbors have the same color, and no path of four vertices uses only two colors. Every entry of the matrix
    can then be read from the sum of all columns of one color. The coloring is greedy; vertices with the most neighbors
    come first.

    Returns:
        Two arrays. The first contains the color of each column (int32, counted from 0). The second contains a bool for
        each entry (i, j) of the pattern. If it is False, the entry is read from row i of the sum of the columns with
        j's color. If it is True, the equal entry (j, i) is read from row j of the sum of the columns with i's color.
        Both entries of a symmetric pair are read from the same place.

    Raises:
        ValueError: The pattern is not symmetric, or its rows are not sorted.

    Example:
        >>> colors, flipped = star_coloring([0, 3, 5, 7], [0, 1, 2, 0, 1, 0, 2])  # an arrow pointing up and left
        >>> colors.tolist(), flipped.tolist()
        ([0, 1, 1], [False, True, True, False, False, False, False])
    """
    n = len(indptr) - 1
    indptr, indices = as_pattern(indptr, indices, n)
    if not all(map(numpy.array_equal, transposed(indptr, indices, n), (indptr, indices))):
        raise ValueError("star_coloring: the pattern must be symmetric and its rows sorted, as `symmetric` returns it")
    stars = Stars(indptr, indices)
    for vertex in numpy.argsort(-numpy.diff(indptr), kind="stable").tolist():
        stars.color(vertex)
    return stars.colors, _flipped(indptr, indices, stars.colors)


@cython.cclass
class Stars:
    """State of the star coloring of a symmetric pattern. Vertices are colored one at a time.

    The algorithm is by Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with
    application to computing Hessians", SIAM Journal on Scientific Computing 29 (2007), 1042-1072. The algorithm stores
    an entry for every vertex and every color among its neighbors: one neighbor of this color, and whether there are
    more. The time is proportional to a sum over all edges. The term of an edge is the number of colors among the
    neighbors of its two ends.
    """

    colors = cython.declare(object, visibility="readonly")
    _start: cython.p_int
    _vertex: cython.p_int
    _color: cython.p_int  # the color of each vertex, or NONE
    _taken: cython.p_int  # the last vertex for which each color was excluded
    _met: cython.p_int  # the last vertex that was found to have a neighbor of each color
    _repeated: cython.p_int  # the last vertex that was found to have several neighbors of each color
    _count: cython.p_int  # the number of entries of each vertex, one entry per color of its neighbors
    _neighbor: cython.p_int  # the neighbor in each entry; the entries of v begin at _start[v]
    _role: cython.p_int  # the role in each entry: ALONE, SPOKE or CENTER
    _arrays: Any

    def __init__(self, indptr: Any, indices: Any) -> None:
        n = len(indptr) - 1
        colors, taken, met, repeated = numpy.full((4, n + 1), -1, numpy.int32)
        count, neighbor, role = [numpy.zeros(length, numpy.int32) for length in (n, len(indices), len(indices))]
        self._arrays = [indptr, indices, colors, taken, met, repeated, count, neighbor, role]
        self.colors = colors[:n]
        self._start, self._vertex = c_compat.integers(indptr), c_compat.integers(indices)
        self._color, self._taken = c_compat.integers(colors), c_compat.integers(taken)
        self._met, self._repeated = c_compat.integers(met), c_compat.integers(repeated)
        self._count, self._role = c_compat.integers(count), c_compat.integers(role)
        self._neighbor = c_compat.integers(neighbor)

    def color(self, v: cython.int) -> None:
        """Assign the first allowed color to an uncolored vertex."""
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
        """Exclude the colors of the neighbors of v."""
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
        """Exclude the colors of neighbors x of w that would give a path *-v-w-x or v-w-x-* only two colors."""
        k: cython.int
        is_repeated: cython.bint = self._repeated[self._color[w]] == v
        for k in range(self._start[w], self._start[w] + self._count[w]):
            if is_repeated or self._role[k] == SPOKE:
                self._taken[self._color[self._neighbor[k]]] = v
        return None

    @cython.cfunc
    def _connect(self, v: cython.int, w: cython.int) -> object:
        """Add the edge between two colored vertices to its star."""
        mine: cython.int = self._entry(v, w)
        theirs: cython.int = self._entry(w, v)
        if self._neighbor[mine] != w:
            self._role[mine] = CENTER
            self._role[theirs] = self._role[self._entry(self._neighbor[mine], v)] = SPOKE
        elif self._neighbor[theirs] != v:
            self._role[theirs] = CENTER
            self._role[mine] = self._role[self._entry(self._neighbor[theirs], w)] = SPOKE
        return None

    @cython.cfunc
    @cython.inline
    def _entry(self, v: cython.int, w: cython.int) -> cython.int:
        """Return the entry of v for the color of its neighbor w. Add the entry if needed."""
        k: cython.int
        end: cython.int = self._start[v] + self._count[v]
        for k in range(self._start[v], end):
            if self._color[self._neighbor[k]] == self._color[w]:
                return k
        self._count[v] += 1
        self._neighbor[end] = w
        self._role[end] = ALONE
        return end


def _flipped(indptr: Any, indices: Any, colors: Any) -> Any:
    """Return a bool for each entry (i, j): whether to read the entry from row j instead of row i.

    For i < j, an entry is read from row j if vertex i has several neighbors of j's color. Vertex j then has only one
    neighbor of i's color, because the edge belongs to a star. The entry (j, i) is read from the same place.
    """
    rows = numpy.repeat(numpy.arange(len(indptr) - 1), numpy.diff(indptr))
    keys = rows * len(indptr) + colors[indices]
    _, which, counts = numpy.unique(keys, return_inverse=True, return_counts=True)
    several = counts[which] > 1
    mirrored = numpy.argsort(indices, kind="stable")  # position of the entry (j, i)
    return numpy.where(rows <= indices, several, ~several[mirrored])
