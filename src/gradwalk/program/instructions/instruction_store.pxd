# C declarations for other compiled modules.
from gradwalk.base cimport c_compat


cdef class InstructionStore:
    cdef readonly list calls
    cdef readonly list tables
    cdef readonly dict arrays
    cdef dict _table_numbers
    cdef dict _pure_calls
    cdef readonly int inputs
    cdef int length
    cdef int *opcode
    cdef int *x
    cdef int *y
    cdef int *z
    cdef int _capacity
    cdef int *_first
    cdef int *_next
    cdef list _columns
    cdef int *_table
    cdef int _mask
    cdef int _filled
    cdef object _cells

    cdef int intern_take(self, int index, tuple table) except? -1
    cdef int intern_constant(self, double number) except? -1
    cdef double number(self, int index) noexcept
    cdef int intern(self, int opcode, int x, int y, int z) except? -1
    cdef object reserve(self, int capacity)
    cdef int _intern_by_hash(self, int opcode, int x, int y, int z) except? -1
    cdef object _set_table(self, int cells)
    cdef object _grow_table(self)
