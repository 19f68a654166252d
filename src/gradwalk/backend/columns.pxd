# Declares `Columns` for other compiled modules.
from gradwalk.backend.cpu cimport column_table


cdef class Columns:
    cdef readonly bint single
    cdef bint _is_written
    cdef column_table.column_table* table

    cdef Columns _begin(self, bint single, bint is_written)
    cdef list arrays(self)
    cpdef bint overlap(self, Columns others) except? -1
    cpdef bint add(self, object array, Py_ssize_t axis, object shape) except? -1


cpdef Columns new_columns(bint single, bint is_written)
