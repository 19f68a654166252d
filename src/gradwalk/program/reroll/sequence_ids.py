"""`Shapes`: ids of instruction sequences. Equal sequences get the same id (hash-consing)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.base import _cython as cython
from gradwalk.base import c_compat

if not TYPE_CHECKING and cython.compiled:
    import cython

_none = cython.declare(cython.int, -1)
_low32 = cython.declare(cython.ulonglong, 0xFFFFFFFF)


@cython.cclass
class Ints:
    """A growable int32 array for compiled code.

    Attributes:
        data: The ints.
        length: The number of ints.
    """

    data: cython.p_int
    length: cython.int
    _capacity: cython.int
    _array: Any  # the array behind `data`

    def __init__(self) -> None:
        self.length = 0
        self._capacity = 64
        self._array = numpy.empty(64, numpy.int32)
        self.data = c_compat.integers(self._array)

    @cython.cfunc
    @cython.exceptval(-1)
    def append(self, number: cython.int) -> cython.int:
        """Append an int."""
        if self.length == self._capacity:
            self._grow()
        self.data[self.length] = number
        self.length += 1
        return 0

    @cython.cfunc
    def _grow(self) -> object:
        """Double the capacity."""
        self._capacity *= 2
        larger = numpy.empty(self._capacity, numpy.int32)
        larger[: self.length] = self._array[: self.length]
        self._array = larger
        self.data = c_compat.integers(larger)
        return None


@cython.cclass
class Shapes:
    """Ids of the descriptions of instruction sequences. Equal descriptions have equal ids.

    A description is a list of ints. Each id also has a list of places: the offsets of the described instructions from
    the start of the sequence. Callers append a description to `words` and its places to `places`. Then `finish` returns
    its id.

    Attributes:
        words: All descriptions, one after the other. The last description may be incomplete.
        places: The places of all descriptions, one after the other.
        first_place: The position in `places` at which the places of each id begin. The last entry is the position for
            the next id.
    """

    words: Ints
    places: Ints
    first_place: Ints
    _first_word: Ints
    _table: cython.p_int  # hash table: the id of a description in each cell, or -1
    _cells: Any  # the array behind `_table`
    _mask: cython.int  # number of cells (a power of two) minus 1

    def __init__(self) -> None:
        self.words, self.places = Ints(), Ints()
        self.first_place, self._first_word = Ints(), Ints()
        self.first_place.append(0)
        self._first_word.append(0)
        self._set_table(1024)

    @cython.cfunc
    @cython.exceptval(-1)
    def finish(self) -> cython.int:
        """Return the id of the description that was appended last. If the description is not new, remove it."""
        number: cython.int = self._first_word.length - 1
        begin: cython.int = self._first_word.data[number]
        cell: cython.int = self._cell_of(begin, self.words.length - begin)
        if self._table[cell] != _none:
            self.words.length = begin
            self.places.length = self.first_place.data[number]
            return self._table[cell]
        self._table[cell] = number
        self._first_word.append(self.words.length)
        self.first_place.append(self.places.length)
        if 2 * number > self._mask:
            self._grow_table()
        return number

    @cython.cfunc
    @cython.exceptval(-1)
    def _cell_of(self, begin: cython.int, length: cython.int) -> cython.int:
        """Return the cell of the hash table that has a description, or the empty cell in which to store it."""
        hashed: cython.ulonglong = length
        word: cython.longlong
        i: cython.int
        other: cython.int
        for i in range(begin, begin + length):
            word = self.words.data[i]
            hashed = ((hashed ^ (word & _low32)) * 0x5BD1E995 + (hashed >> 15)) & _low32
        cell: cython.int = (hashed ^ (hashed >> 13)) & self._mask
        while self._table[cell] != _none:
            other = self._table[cell]
            if self._first_word.data[other + 1] - self._first_word.data[other] == length and self._is_equal(
                self._first_word.data[other], begin, length
            ):
                return cell
            cell = (cell + 1) & self._mask
        return cell

    @cython.cfunc
    @cython.exceptval(-1)
    def _is_equal(self, x: cython.int, y: cython.int, length: cython.int) -> cython.bint:
        """Return whether the words from `x` on are equal to the words from `y` on."""
        i: cython.int = 0
        while i < length and self.words.data[x + i] == self.words.data[y + i]:
            i += 1
        return i == length

    @cython.cfunc
    def _set_table(self, cells: cython.int) -> object:
        """Replace the hash table by an empty one with `cells` cells."""
        self._cells = numpy.full(cells, -1, numpy.int32)
        self._table = c_compat.integers(self._cells)
        self._mask = cells - 1
        return None

    @cython.cfunc
    def _grow_table(self) -> object:
        """Quadruple the size of the hash table."""
        self._set_table(4 * (self._mask + 1))
        number: cython.int
        begin: cython.int
        for number in range(self._first_word.length - 1):
            begin = self._first_word.data[number]
            self._table[self._cell_of(begin, self._first_word.data[number + 1] - begin)] = number
        return None
