# What compiled modules see under the names of scratch.py.
from libc.stdlib cimport free, malloc

cdef enum:
    FEW = 512  # numbers on the stack, 4 KiB, which cost small programs no call of malloc

ctypedef double few_doubles[FEW]


cdef inline double* acquire(Py_ssize_t length, double* few) noexcept nogil:
    return few if length <= FEW else <double*>malloc(length * sizeof(double))


cdef inline void release(double* numbers, double* few) noexcept nogil:
    if numbers is not few:
        free(numbers)
