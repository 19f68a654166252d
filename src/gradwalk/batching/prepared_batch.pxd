from gradwalk.backend.columns cimport Columns
from gradwalk.ops cimport c_compat
from gradwalk.trees cimport form


cdef class ColumnForm(form.Form):
    cdef object _dtype
    cdef object _kind
    cdef bint _is_converted
    cdef Py_ssize_t _axis
    cdef tuple _shape


cdef class SharedForm(form.Form):
    cdef object _dtype
    cdef form.Form _form


cdef class PreparedBatch:
    cdef object _kernel
    cdef form.Form _takes
    cdef form.Form _keywords
    cdef object _result
    cdef bint _single
    cdef int _uniform
