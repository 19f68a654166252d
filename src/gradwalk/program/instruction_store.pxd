# What other compiled modules reach without going through Python.
from gradwalk.ops cimport c_compat


cdef class InstructionStore:
    cdef readonly list calls
    cdef readonly list tables
    cdef dict _table_numbers
    cdef readonly int inputs
    cdef int length
    cdef int *opcode
    cdef int *x
    cdef int *y
    cdef int *z
    cdef int _capacity
    cdef list _columns
    cdef int *_table
    cdef int _mask
    cdef object _cells

    cdef int intern_take(self, int index, tuple table) except? -1
    cdef int intern_constant(self, double number) except? -1
    cdef double number(self, int index) noexcept
    cdef int intern(self, int opcode, int x, int y, int z) except? -1
    cdef object reserve(self, int capacity)
    cdef object _resize_table(self, int size)
