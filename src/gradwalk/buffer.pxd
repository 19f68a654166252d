# What compiled modules see under the names of buffer.py: C arrays.
from libc.stdlib cimport calloc, free


cdef extern from *:
    double* NOTHING "NULL"


cdef inline double* allocate(Py_ssize_t length) except NULL:
    cdef double* row = <double*>calloc(length or 1, sizeof(double))
    if row is NULL:
        raise MemoryError
    return row


cdef inline void release(double* row) noexcept:
    free(row)
