# Declares `Plan` for other compiled modules, which can then call its C functions.
from libc.stdint cimport int64_t

from gradwalk.backend.columns cimport Columns
from gradwalk.backend.cpu cimport column_table, lanes
from gradwalk.base cimport c_compat
from gradwalk.program.run cimport scratch
from gradwalk.program.run.interpreter cimport Interpreter


cdef class Plan:
    cdef readonly object machine
    cdef readonly int64_t memory
    cdef tuple _arrays
    cdef int* _code
    cdef int* _tables
    cdef int* _targets
    cdef int64_t _length
    cdef int64_t _slots
    cdef int64_t _sums
    cdef size_t _address
    cdef int _instruction_set
    cdef bint _single
    cdef Interpreter _prologue
    cdef int _computed
    cdef int _scalars
    cdef tuple _fixed
    cdef int64_t _totals
    cdef list _free

    cdef bint launch(
        self, double* shared, Columns columns, Columns outputs, tuple sizes, double* results, bint is_mean
    ) except? -1
    cpdef object trial(self, Columns columns, Columns outputs, long long count, long long width)
    cdef object _execute(self, Columns columns, Columns outputs, tuple sizes, double* computed, object memory)
    cdef object _run(self, lanes.Batch batch, long long first, long long last, double* totals)
    cdef bint _add_totals(
        self, double* totals, tuple sizes, double* computed, double* results, bint is_mean
    ) except? -1
    cdef Scratch _taken(self)


cdef class Scratch:
    cdef object _arrays
    cdef void* rows
    cdef void* cells


cdef class Launch:
    cdef Plan _plan
    cdef lanes.Batch _batch
    cdef double* _totals
    cdef tuple _owners

    cdef object run(self, Plan plan, lanes.Batch batch, double* totals, object owners)
