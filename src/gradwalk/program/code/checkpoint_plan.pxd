cdef class CheckpointPlan:
    cdef readonly Py_ssize_t slots
    cdef readonly Py_ssize_t limit
    cdef readonly Py_ssize_t stride
    cdef readonly Py_ssize_t full
    cdef readonly int kind
    cdef readonly Py_ssize_t slot
    cdef readonly Py_ssize_t begin
    cdef readonly Py_ssize_t end
    cdef object _policy
    cdef Py_ssize_t _last  # the last step whose backward pass has not run
    cdef list _kept  # per slot in use: the step whose state it holds

    cpdef Py_ssize_t thin(self) except -1
    cpdef object start(self, Py_ssize_t steps)
    cpdef bint next(self) except -1
    cdef object _set(self, int kind, Py_ssize_t slot, Py_ssize_t begin, Py_ssize_t end)
