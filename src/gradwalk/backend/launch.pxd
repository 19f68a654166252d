# Declares `Launch` and `Plan` for other compiled modules, which can then call their C functions.
from libc.stdint cimport int64_t

from gradwalk.backend.columns cimport Columns
from gradwalk.backend.cpu cimport column_table, lanes
from gradwalk.base cimport c_compat


cdef class Plan:
    cdef readonly object code
    cdef readonly int64_t slots
    cdef readonly object machine
    cdef readonly int64_t memory
    cdef list _free

    cdef Scratch _taken(self)


cdef class Scratch:
    cdef object _arrays
    cdef void* rows
    cdef void* cells


cdef class Launch:
    cdef lanes.Batch _batch
    cdef Plan _plan
    cdef int _instruction_set
    cdef bint _single
    cdef object _schedule
    cdef object _totals
    cdef object _computed
    cdef tuple _arrays
