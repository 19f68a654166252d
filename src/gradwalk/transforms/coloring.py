"""Which derivatives of a program can differ from 0, and how few sweeps are enough to compute all of these.

Columns of a Jacobian that share no row can be computed together, as their sum: every number in that sum is an entry of
one of them. To put all columns into few such groups is to colour a graph. See Gebremedhin, Manne and Pothen, "What
color is your Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005), 629-705.

A pattern is that of SciPy's compressed rows: the columns of row i are indices[indptr[i]:indptr[i + 1]], in order, and
both arrays are int32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.ops import c_compat, evaluate
from gradwalk.program import program
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

CALL = cython.declare(cython.int, program.CALL)
NONE = cython.declare(cython.int, -1)  # in place of a column, a set or a colour
_LARGEST = 2**31 - 1  # what int32 can count

# What a vertex is to its neighbours of one colour.
ALONE = cython.declare(cython.int, 0)  # there is one, which has no other neighbour of the vertex's colour
SPOKE = cython.declare(cython.int, 1)  # there is one, and it has
CENTRE = cython.declare(cython.int, 2)  # there are several


def pattern(program: Program, columns: list[int] | None = None) -> tuple[Any, Any]:
    """The pattern of a program's Jacobian: row i holds the inputs that output i depends on. Returns (indptr, indices).

    `columns`: the inputs that the columns stand for, each once; all of them in order by default. An operand that an
    operation passes no derivative to, such as the condition of `where`, does not count. It takes time linear in the
    number of instructions and in the sizes of the sets of inputs that outputs, and values needed more than once, depend
    on. Raises `MemoryError` where there are more than 2**31 - 1 entries.

    >>> from gradwalk.program.tape import Tape
    >>> tape = Tape()
    >>> x, y = tape.input(), tape.input()
    >>> indptr, indices = pattern(tape.program([tape.append("mul", x, y), y]))
    >>> indptr.tolist(), indices.tolist()
    ([0, 2, 3], [0, 1, 1])
    """
    if columns is None:
        columns = list(range(program.inputs))
    dependencies = Dependencies(program, columns)
    rows = [dependencies.of(place) for place in program.outputs]
    lengths = numpy.array([len(row) for row in rows], numpy.int64)
    if lengths.sum() > _LARGEST:
        raise MemoryError(f"the pattern has {lengths.sum()} entries; there may be {_LARGEST}")
    indptr = numpy.zeros(len(rows) + 1, numpy.int32)
    numpy.cumsum(lengths, out=indptr[1:])
    indices = numpy.concatenate([numpy.zeros(0, numpy.int32), *rows])
    return transposed(*transposed(indptr, indices, len(columns)), len(rows))  # which puts each row in order


@cython.cclass
class Dependencies:
    """The columns that the values of a program depend on, as sets.

    Only outputs and values that are needed more than once have sets of their own; a value that is needed once is looked
    through there. A set equal to that of an operand is that one. One that no value needs any longer is given up, and
    its room is used again.
    """

    _first: cython.int  # the place of the first instruction
    _code: cython.p_int
    _calls: list[Any]
    _use: cython.p_int  # by place: how often it is still needed; outputs once more
    _column: cython.p_int  # by place, up to the first instruction: the column of an input, or NONE
    _set: cython.p_int  # by place: its set, or NONE
    _operand: cython.p_int  # the operands of an instruction
    _stack: cython.p_int  # instructions yet to be looked through
    _height: cython.int
    _found: cython.p_int  # the columns that a value depends on, while they are gathered
    _count: cython.int
    _seen: cython.p_int  # by column: the latest value that it has been found for
    _widest: cython.int  # the largest of the sets that are being united, or NONE
    _begin: cython.p_int  # by set: where it stands in the pool
    _size: cython.p_int
    _owners: cython.p_int  # how many values that are still needed have it
    _sets: cython.int  # how many there have been
    _pool: cython.p_int
    _end: cython.Py_ssize_t  # of what is in use of it
    _columns: Any  # the pool's array
    _arrays: Any  # what the other pointers point to

    def __init__(self, program: Any, columns: list[int]) -> None:
        first, steps = program.inputs + len(program.constants), len(program)
        most = max(3, max([len(operands) for _, operands in program.calls], default=0))
        use, found, operand, stack, begin, size, owners = [
            numpy.zeros(length, numpy.int32)
            for length in (first + steps, len(columns), most, steps, steps, steps, steps)
        ]
        column, sets, seen = [numpy.full(length, -1, numpy.int32) for length in (first, first + steps, len(columns))]
        column[columns] = numpy.arange(len(columns))
        self._arrays = [program, use, found, operand, stack, begin, size, owners, column, sets, seen]
        self._first, self._calls, self._code = first, program.calls, c_compat.integers(program.instructions)
        self._use, self._column, self._set = c_compat.integers(use), c_compat.integers(column), c_compat.integers(sets)
        self._operand, self._stack = c_compat.integers(operand), c_compat.integers(stack)
        self._found, self._seen = c_compat.integers(found), c_compat.integers(seen)
        self._begin, self._size, self._owners = (
            c_compat.integers(begin),
            c_compat.integers(size),
            c_compat.integers(owners),
        )
        self._columns = numpy.zeros(steps, numpy.int32)
        self._pool = c_compat.integers(self._columns)
        self._height = self._count = self._sets = 0
        self._end = 0
        self._count_uses(program.outputs, first + steps)
        self._gather_all(first + steps)

    def of(self, place: cython.int) -> Any:
        """The columns that an output depends on, in no order."""
        if place >= self._first:
            which: cython.int = self._set[place]
            return self._columns[self._begin[which] : self._begin[which] + self._size[which]]
        column = self._column[place]
        return numpy.array([column] if column != NONE else [], numpy.int32)

    @cython.cfunc
    def _count_uses(self, outputs: list[int], end: cython.int) -> object:
        """Write how often each value is needed, and which are to have sets."""
        place: cython.int
        i: cython.int
        for place in outputs:
            self._use[place] += 1
        for place in range(end - 1, self._first - 1, -1):
            if self._use[place] > 0:
                for i in range(self._operands(place)):
                    self._use[self._operand[i]] += 1
            if self._use[place] > 1:
                self._set[place] = 0
        for place in outputs:
            self._set[place] = 0
        return None

    @cython.cfunc
    @cython.inline
    def _operands(self, place: cython.int) -> cython.int:
        """Write the operands that an instruction passes derivatives to. Returns how many there are."""
        k: cython.int = 4 * (place - self._first)
        opcode: cython.int = self._code[k]
        count: cython.int = 0
        i: cython.int
        if opcode == CALL:
            for operand in self._calls[self._code[k + 1]][1]:
                self._operand[count] = operand
                count += 1
            return count
        inert: cython.int = evaluate.non_differentiable(opcode) if opcode < CALL else 0
        for i in range(evaluate.arity(opcode) if opcode < CALL else 3):
            if not inert >> i & 1:
                self._operand[count] = self._code[k + 1 + i]
                count += 1
        return count

    @cython.cfunc
    def _gather_all(self, end: cython.int) -> object:
        """Make the sets of all values that are to have one."""
        place: cython.int
        for place in range(self._first, end):
            if self._set[place] == NONE:
                continue
            self._count = 0
            self._widest = NONE
            self._look_through(place, place)
            while self._height > 0:
                self._height -= 1
                self._look_through(self._stack[self._height], place)
            self._keep(place)
        return None

    @cython.cfunc
    def _look_through(self, step: cython.int, place: cython.int) -> object:
        """Find for a place what the operands of an instruction depend on."""
        i: cython.int
        operand: cython.int
        for i in range(self._operands(step)):
            operand = self._operand[i]
            if operand < self._first:
                if self._column[operand] != NONE:
                    self._find(self._column[operand], place)
            elif self._set[operand] == NONE:
                self._stack[self._height] = operand
                self._height += 1
            else:
                self._unite(operand, place)
        return None

    @cython.cfunc
    def _unite(self, operand: cython.int, place: cython.int) -> object:
        """Find for a place all of an operand's set."""
        which: cython.int = self._set[operand]
        k: cython.int
        for k in range(self._begin[which], self._begin[which] + self._size[which]):
            self._find(self._pool[k], place)
        if self._widest == NONE or self._size[which] > self._size[self._widest]:
            self._widest = which
        self._use[operand] -= 1
        if self._use[operand] == 0:
            self._owners[which] -= 1
        return None

    @cython.cfunc
    @cython.inline
    @cython.exceptval(check=False)
    def _find(self, column: cython.int, place: cython.int) -> cython.bint:
        """Add a column to those found for a place, if it is not among them. Returns whether it was."""
        if self._seen[column] == place:
            return True
        self._seen[column] = place
        self._found[self._count] = column
        self._count += 1
        return False

    @cython.cfunc
    def _keep(self, place: cython.int) -> object:
        """Give a place the set of what has been found for it."""
        which: cython.int = self._widest
        k: cython.int
        if which == NONE or self._size[which] != self._count:
            if self._end + self._count > len(self._columns):
                self._make_room()
            which = self._sets
            self._sets += 1
            self._begin[which] = self._end
            self._size[which] = self._count
            for k in range(self._count):
                self._pool[self._end + k] = self._found[k]
            self._end += self._count
        self._set[place] = which
        self._owners[which] += 1
        return None

    @cython.cfunc
    def _make_room(self) -> object:
        """Drop the sets that are no longer needed. Afterwards, half of the pool is free, or it is a larger one."""
        which: cython.int
        k: cython.int
        begin: cython.int
        end: cython.int = 0
        for which in range(self._sets):
            if self._owners[which] == 0:
                self._size[which] = 0
            begin = self._begin[which]
            self._begin[which] = end
            for k in range(self._size[which]):
                self._pool[end] = self._pool[begin + k]
                end += 1
        self._end = end
        if 2 * (self._end + self._count) > len(self._columns):
            self._enlarge(2 * (self._end + self._count))
        return None

    def _enlarge(self, capacity: int) -> None:
        if capacity > 2 * _LARGEST:
            raise MemoryError(f"the sets of inputs that values depend on have more than {_LARGEST} members together")
        columns = numpy.zeros(min(capacity, _LARGEST), numpy.int32)
        columns[: self._end] = self._columns[: self._end]
        self._columns, self._pool = columns, c_compat.integers(columns)


def transposed(indptr: Any, indices: Any, n: int) -> tuple[Any, Any]:
    """The pattern of the transpose of a matrix with n columns; every row is in order, whether or not those given were.

    >>> indptr, indices = transposed([0, 2, 3], [1, 0, 1], 2)
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 3], [0, 0, 1])
    """
    indptr, indices = _checked(indptr, indices, n)
    ends = numpy.zeros(n + 1, numpy.int32)
    numpy.cumsum(numpy.bincount(indices, minlength=n), out=ends[1:])
    result, place = numpy.zeros(len(indices), numpy.int32), ends.copy()
    _scatter(c_compat.integers(indptr), c_compat.integers(indices), len(indptr) - 1, place, result)
    return ends, result


@cython.cfunc
def _scatter(start: cython.p_int, column: cython.p_int, m: cython.int, places: object, results: object) -> object:
    """Write the rows of every column behind each other, from the column's place on."""
    place: cython.p_int = c_compat.integers(places)
    result: cython.p_int = c_compat.integers(results)
    i: cython.int
    k: cython.int
    for i in range(m):
        for k in range(start[i], start[i + 1]):
            result[place[column[k]]] = i
            place[column[k]] += 1
    return None


def column_coloring(indptr: Any, indices: Any, n: int) -> Any:
    """A colour for each of the n columns of a matrix, so that columns of a colour share no row: int32, from 0 on.

    Greedy, at distance 2 in the graph of rows and columns, the columns with most neighbours first. It takes time linear
    in the sum of the squares of the rows' lengths.

    >>> column_coloring([0, 2, 4], [0, 1, 1, 2], 3).tolist()
    [1, 0, 1]
    """
    indptr, indices = _checked(indptr, indices, n)
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
    """A star colouring of a symmetric pattern, and how to read the matrix off the sums of the columns of each colour.

    Returns the colours of the columns, int32 from 0 on, and an array of bool, one for each entry (i, j) of the pattern:
    False where it is to be read from row i of the sum of the columns of j's colour, True where from row j of that of
    i's colour, because the entry (j, i) is the same. Both entries of a pair are read from one place.

    No two neighbours have one colour, and no path of four vertices has two: vertices of two colours form stars. Greedy,
    the vertices with most neighbours first. Raises `ValueError` where the pattern is not symmetric, or not in order.

    >>> colors, flipped = star_coloring([0, 3, 5, 7], [0, 1, 2, 0, 1, 0, 2])  # an arrow pointing up and left
    >>> colors.tolist(), flipped.tolist()
    ([0, 1, 1], [False, True, True, False, False, False, False])
    """
    n = len(indptr) - 1
    indptr, indices = _checked(indptr, indices, n)
    if not all(map(numpy.array_equal, transposed(indptr, indices, n), (indptr, indices))):
        raise ValueError("a star colouring is that of a symmetric pattern with sorted rows, as `symmetric` makes it")
    stars = Stars(indptr, indices)
    for vertex in numpy.argsort(-numpy.diff(indptr), kind="stable").tolist():
        stars.color(vertex)
    return stars.colors, _flipped(indptr, indices, stars.colors)


@cython.cclass
class Stars:
    """A star colouring of a symmetric pattern while it is made, a vertex at a time.

    For every vertex and every colour among its neighbours it knows one neighbour that has it, and whether there are
    more. So it takes time linear in the number of edges and in the number of colours next to their ends; otherwise it
    is that of Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with application to
    computing Hessians", SIAM Journal on Scientific Computing 29 (2007), 1042-1072.
    """

    colors = cython.declare(object, visibility="readonly")
    _start: cython.p_int
    _vertex: cython.p_int
    _color: cython.p_int  # by vertex, or NONE
    _taken: cython.p_int  # by colour: the latest vertex that cannot have it
    _met: cython.p_int  # by colour: the latest vertex with a neighbour that has it
    _repeated: cython.p_int  # by colour: the latest vertex with several
    _count: cython.p_int  # by vertex: of the colours of its neighbours, whose entries begin where its edges do
    _neighbour: cython.p_int  # by entry: a neighbour that has the colour
    _role: cython.p_int
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
        """Give a vertex the first colour that it can have."""
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
        """A vertex cannot have the colours of its neighbours."""
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
        """Nor can it have those beyond a neighbour w that would make a path of two colours: *-v-w-x or v-w-x-*."""
        k: cython.int
        is_repeated: cython.bint = self._repeated[self._color[w]] == v
        for k in range(self._start[w], self._start[w] + self._count[w]):
            if is_repeated or self._role[k] == SPOKE:
                self._taken[self._color[self._neighbour[k]]] = v
        return None

    @cython.cfunc
    def _connect(self, v: cython.int, w: cython.int) -> object:
        """Add the edge of two coloured vertices to the star of their colours that it is in."""
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
        """The entry of a vertex for the colour of a neighbour: if there is none, a new one that names the neighbour."""
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
    """For each entry (i, j), whether to read it from row j: where i < j and row i has several of the colour of j.

    Row j then has only one of the colour of i, for their edge is in a star. The entry (j, i) is read from there too.
    """
    rows = numpy.repeat(numpy.arange(len(indptr) - 1), numpy.diff(indptr))
    keys = rows * len(indptr) + colors[indices]
    _, which, counts = numpy.unique(keys, return_inverse=True, return_counts=True)
    several = counts[which] > 1
    mirrored = numpy.argsort(indices, kind="stable")  # the places of the entries (j, i)
    return numpy.where(rows <= indices, several, ~several[mirrored])


def symmetric(indptr: Any, indices: Any) -> tuple[Any, Any]:
    """The pattern of a square matrix and of its transpose together.

    >>> indptr, indices = symmetric([0, 1, 1], [1])
    >>> indptr.tolist(), indices.tolist()
    ([0, 1, 2], [1, 0])
    """
    n = len(indptr) - 1
    indptr, indices = _checked(indptr, indices, n)
    rows = numpy.repeat(numpy.arange(n), numpy.diff(indptr))
    entries = numpy.unique(numpy.concatenate([rows * n + indices, indices * numpy.int64(n) + rows]))
    return numpy.searchsorted(entries, numpy.arange(n + 1) * n).astype(numpy.int32), (entries % max(n, 1)).astype(
        numpy.int32
    )


def _checked(indptr: Any, indices: Any, n: int) -> tuple[Any, Any]:
    """A pattern of n columns as arrays that C can read."""
    indptr, indices = [numpy.ascontiguousarray(array, numpy.int32) for array in (indptr, indices)]
    if len(indptr) == 0 or indptr[-1] != len(indices) or (len(indices) and not 0 <= indices.min() <= indices.max() < n):
        raise ValueError(f"not a pattern with {n} columns: indptr={indptr}, indices={indices}")
    return indptr, indices
