# The C versions of the functions in scratch.py.
from libc.stdlib cimport free, malloc

cdef enum:
    FEW = 512  # doubles on the stack, 4 KiB: small programs run without malloc

ctypedef double few_doubles[FEW]


cdef inline double* acquire(Py_ssize_t length, double* few) noexcept nogil:
    return few if length <= FEW else <double*>malloc(length * sizeof(double))


cdef inline void release(double* numbers, double* few) noexcept nogil:
    if numbers is not few:
        free(numbers)
