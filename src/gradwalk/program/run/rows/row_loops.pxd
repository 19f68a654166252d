# The C versions of the names in row_loops.py.
from libc.stdint cimport int64_t

cdef extern from "row_loops.h":
    int ROW_WIDTH
    int STRIDED
    int INDEXED
    int ROW_FORMS
    int CHAIN
    int LINK_WIDTH
    int IS_NUMBER
    int IS_ROW
    int IS_SCALED
    int ADD_SCALED
    int ADD_PRODUCTS
    int ADD_ROW
    int64_t run_rows(
        const int* segments, int64_t at, int64_t count, const int* code, const int* links, double* value
    ) nogil
