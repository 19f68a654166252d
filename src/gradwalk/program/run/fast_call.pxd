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

    cpdef object result(self, tuple args, dict kwargs)
    cdef object _built(self, double* outputs)
