# Makes the loop callable as a C function.
from gradwalk.base cimport ieee
from gradwalk.ops.compiled cimport evaluate


cdef int run_until_call(
    int* code, int start, int length, double* value, int first, int* table_start, int* table
) noexcept nogil
