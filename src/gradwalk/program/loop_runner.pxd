from gradwalk.ops cimport c_compat
from gradwalk.program.interpreter cimport Interpreter, Rows


cdef class Frame:
    cdef double* value
    cdef Interpreter _interpreter
    cdef object _array  # what `value` points into: after the numbers, room to hold the outputs
    cdef bint _refuses_nans
    cdef Rows _rows  # the program in rows, or None
    cdef int* _output  # where the outputs are after a run
    cdef int _held  # where the outputs are held

    cdef object run(self)
    cdef int execute(self) noexcept nogil
    cdef double output(self, int position) noexcept nogil
    cdef void move(self, int position, int count, int to) noexcept nogil


cdef class LoopRunner:
    cdef readonly Interpreter body
    cdef readonly Interpreter condition
    cdef int _carry
    cdef int _fixed
    cdef int _row
    cdef int _out
    cdef int _rows
    cdef Py_ssize_t _first
    cdef Py_ssize_t _steps

    cdef object _pause(self)
    cdef object _warm(self)
    cdef Frame _entered(self, double* given)
    cdef Frame _guard(self, double* given)
    cdef int _goes_on(self, Py_ssize_t step, Frame frame, Frame guard) except? -1
    cdef object _advance(self, Frame frame, double* given, Py_ssize_t step, Py_ssize_t end)
    cdef Py_ssize_t _advance_while(
        self, Frame frame, Frame guard, Py_ssize_t step, Py_ssize_t most, double* carries
    ) except? -1
    cdef Py_ssize_t _run_while(
        self, Frame frame, Frame guard, Py_ssize_t step, Py_ssize_t end, double* carries
    ) noexcept nogil
    cdef void _run_steps(self, Frame frame, double* given, Py_ssize_t step, Py_ssize_t end) noexcept nogil
    cdef object _step(self, Py_ssize_t step, Frame frame, double* given)
    cdef bint _is_plain(self, Frame frame, Frame back) noexcept
    cdef void _run_keeping(
        self, Frame frame, double* given, Py_ssize_t step, Py_ssize_t end, double* carries, Py_ssize_t skipped
    ) noexcept nogil
    cdef void _run_back(
        self, Frame back, Py_ssize_t step, Py_ssize_t end, double* carries, Py_ssize_t skipped,
        double* given, double* seed, double* result
    ) noexcept nogil
    cdef void _run_step_back(
        self, Frame back, Py_ssize_t step, double* given, double* seed, double* result
    ) noexcept nogil
    cdef object _back_from_all(self, Frame frame, Frame back, double* given, double* seed, double* result)
    cdef object _back_from_snapshots(
        self, Py_ssize_t steps, Py_ssize_t most, Frame frame, Frame back, double* given, double* seed, double* result
    )
    cdef void _run_stretch(
        self, Frame frame, Frame back, Py_ssize_t first, Py_ssize_t last, double* carries, Py_ssize_t place, double* given,
        double* seed, double* result
    ) noexcept nogil
    cdef void _keep(self, Frame frame, double* carries, Py_ssize_t place) noexcept
    cdef void _take_up(self, Frame frame, double* carries, Py_ssize_t place) noexcept
    cdef object _step_back(self, Py_ssize_t step, Frame back, double* given, double* seed, double* result)
