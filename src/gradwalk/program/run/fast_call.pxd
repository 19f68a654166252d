from gradwalk.base cimport c_compat
from gradwalk.program.run cimport scratch
from gradwalk.program.run.interpreter cimport Interpreter
from gradwalk.trees.fast cimport form


cdef class PreparedCall:
    cdef Interpreter _interpreter
    cdef form.Form _takes
    cdef form.Form _keywords
    cdef form.Form _makes
    cdef object _treedef
    cdef int _inputs
    cdef int _outputs
    cdef int _conditions  # number of conditions, which are the last outputs
    cdef tuple _outcomes  # owns the memory that the pointers point into
    cdef double* _outcome
    cdef int* _is_bool

    cpdef object result(self, tuple args, dict kwargs)
    cdef bint _has_outcomes(self, double* outputs)
    cdef object _built(self, double* outputs)
