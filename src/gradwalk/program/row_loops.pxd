# What compiled modules see under the names of row_loops.py: loops in C.
from libc.stdint cimport int64_t

cdef extern from "row_loops.h":
    int ROW_WIDTH
    int STRIDED
    int INDEXED
    int ROW_FORMS
    int64_t run_rows(const int* segments, int64_t at, int64_t count, const int* code, double* value) nogil
