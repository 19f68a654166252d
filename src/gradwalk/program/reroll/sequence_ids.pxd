# C declarations for find_loops.py.
from gradwalk.base cimport c_compat


cdef class Ints:
    cdef int *data
    cdef int length
    cdef int _capacity
    cdef object _array

    cdef int append(self, int number) except? -1
    cdef object _grow(self)


cdef class Shapes:
    cdef Ints words
    cdef Ints places
    cdef Ints first_place
    cdef Ints _first_word
    cdef int *_table
    cdef object _cells
    cdef int _mask

    cdef int finish(self) except? -1
    cdef int _cell_of(self, int begin, int length) except? -1
    cdef bint _is_equal(self, int x, int y, int length) except? -1
    cdef object _set_table(self, int cells)
    cdef object _grow_table(self)
