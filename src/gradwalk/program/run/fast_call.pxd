from libc.stdint cimport int64_t

from gradwalk.base cimport c_compat
from gradwalk.program.run cimport scratch
from gradwalk.program.run.interpreter cimport Interpreter
from gradwalk.trees.fast cimport form
from gradwalk.value cimport modes


cdef class PreparedPath:
    cdef Interpreter _interpreter
    cdef form.Form _makes
    cdef object _treedef
    cdef int _outputs
    cdef int _conditions  # number of conditions, which are the last outputs
    cdef tuple _outcomes  # owns the memory that the pointers point into
    cdef double* _outcome
    cdef int* _is_bool

    cdef int left_at(self, double* outputs) noexcept
    cdef bint follows(self, PreparedPath other, int position, double* outputs) noexcept
    cdef double _outcome_of(self, int i, double number) noexcept
    cdef object built(self, double* outputs)


cdef class Prepared:
    cpdef object result(self, tuple args, dict kwargs)


cdef class PreparedCall(Prepared):
    cdef readonly object key
    cdef form.Form _takes
    cdef form.Form _keywords
    cdef int _inputs
    cdef tuple _paths  # most recent first

    cpdef put_first(self, PreparedPath path)


cdef int _most_outputs(tuple paths)
cdef PreparedPath _next(tuple paths, PreparedPath left, int position, double* outputs)


cdef class PreparedFunction:
    cdef readonly object _cache
    cdef readonly int64_t _calls
