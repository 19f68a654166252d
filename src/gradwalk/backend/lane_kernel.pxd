# Declares `LaneKernel` for other compiled modules, which can then call its C functions.
from libc.stdint cimport int64_t

from gradwalk.backend.columns cimport Columns
from gradwalk.backend.launch cimport Plan
from gradwalk.base cimport c_compat


cdef class LaneKernel:
    cdef object __weakref__
    cdef readonly object schedule
    cdef readonly bint reduced
    cdef readonly object lanes
    cdef readonly str instruction_set
    cdef readonly object policy
    cdef readonly int results
    cdef readonly list _plans
    cdef list _sizes
    cdef int _set
    cdef int64_t _length
    cdef int64_t _hot
    cdef int64_t _work[2]
    cdef int64_t _due[2]
    cdef list _refusals
    cdef object _whole

    cdef bint launch(
        self, double* shared, Columns columns, Columns outputs, long long count, double* results, bint is_mean
    ) except? -1
