from libc.stdint cimport int64_t

from gradwalk.backend.columns cimport Columns, new_columns
from gradwalk.backend.cpu cimport column_table
from gradwalk.backend.lane_kernel cimport LaneKernel
from gradwalk.base cimport c_compat
from gradwalk.program.run cimport scratch
from gradwalk.trees.fast cimport form
from gradwalk.value cimport modes


cdef class ColumnForm(form.Form):
    cdef object _dtype
    cdef object _kind
    cdef bint _is_converted
    cdef Py_ssize_t _axis
    cdef tuple _shape


cdef class SharedForm(form.Form):
    cdef object _dtype
    cdef form.Form _form


cdef class Maker:
    cdef object of(self, LaneKernel kernel, double* shared, Columns columns, object out)


cdef class Stacked(Maker):
    cdef object _treedef
    cdef object _kind
    cdef list _leaves
    cdef form.Form _targets
    cdef bint _is_leaf

    cdef object _allocate(self, Columns outputs, Py_ssize_t count)
    cdef object _compute(self, LaneKernel kernel, double* shared, Columns columns, Columns outputs)
    cdef bint _fits(self, object out, Columns outputs, Columns columns) except? -1
    cdef object _copied(self, LaneKernel kernel, double* shared, Columns columns, Columns targets)


cdef class Summed(Maker):
    cdef object _treedef
    cdef bint _is_mean
    cdef object _kind
    cdef form.Form _form
    cdef object _arrays


cdef class PreparedBatch:
    cdef LaneKernel _kernel
    cdef form.Form _takes
    cdef form.Form _keywords
    cdef Maker _maker
    cdef bint _single
    cdef int _uniform
    cdef list _guards
    cdef double _conditions

    cpdef object result(self, tuple args, dict kwargs, object out)


cdef class BatchFunction:
    cdef readonly object batching
    cdef readonly object _cache
    cdef readonly int64_t _calls


