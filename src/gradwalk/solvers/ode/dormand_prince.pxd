from gradwalk.base cimport c_compat
from gradwalk.base cimport ieee
from gradwalk.program.run.interpreter cimport Interpreter
from gradwalk.program.run.loop_runner cimport Frame


cdef class Path:
    cdef int _size
    cdef Py_ssize_t _width
    cdef object _array
    cdef double* _cells
    cdef Py_ssize_t _steps
    cdef Py_ssize_t _latest

    cdef Py_ssize_t _next(self) except? -1
    cdef object _write(self, double t, double* to)


cdef class Stepper:
    cdef Frame _frame
    cdef Interpreter _field
    cdef Path _along
    cdef list _arrays
    cdef double* _slope
    cdef double* _now
    cdef double* _new
    cdef double* _weight
    cdef double* _place
    cdef double* _error
    cdef double* _between
    cdef int _begin
    cdef int _fed
    cdef int _time
    cdef int _size
    cdef double _rtol
    cdef double _atol
    cdef double _longest
    cdef double _direction
    cdef double _length

    cdef object _at(self, double t, Path last, double* result, Py_ssize_t to)
    cdef object _change(self, double t, double* state, int stage)
    cdef double _norm(self, double* numbers, Py_ssize_t at, Py_ssize_t less) noexcept
    cdef double _first_length(self, double t, double end) except? -1.0
    cdef double _step(self, double t, double end, Path path) except? -1.0
    cdef double _tried(self, double t, double h) except? -1.0
    cdef object _remember(self, double t, double h, Path path)
