from gradwalk.base cimport c_compat
from gradwalk.program.code.checkpoint_plan cimport CheckpointPlan
from gradwalk.program.run.interpreter cimport Interpreter, Rows


cdef class Frame:
    cdef double* value
    cdef Interpreter _interpreter
    cdef object _array  # owns the memory of `value`; after the numbers, a buffer for the outputs
    cdef bint _refuses_nans
    cdef Rows _rows  # the program in rows, or None
    cdef int* _output  # indices of the outputs after a run
    cdef int _held  # start of the buffer for the outputs

    cdef object run(self)
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
    cdef Py_ssize_t _chunk  # number of steps between two checks for signals; a power of 2

    cdef object _pause(self)
    cdef object _warm(self)
    cdef Frame _entered(self, double* given)
    cdef Frame _guard(self, double* given)
    cdef int _goes_on(self, Py_ssize_t step, Frame frame, Frame guard) except? -1
    cdef object _advance(
        self, Frame frame, double* given, Py_ssize_t step, Py_ssize_t end, double* kept, Py_ssize_t slot
    )
    cdef void _keep(self, Frame frame, double* kept, Py_ssize_t slot) noexcept nogil
    cdef object _step(self, Py_ssize_t step, Frame frame, double* given)


cdef class BackwardPass:
    cdef LoopRunner _loop
    cdef double* _given
    cdef double* _seed
    cdef double* _result
    cdef object _states  # owns the memory of `_kept`
    cdef double* _kept  # the carries in all slots
    cdef Py_ssize_t _room  # number of allocated slots
    cdef Py_ssize_t _unpaused  # steps since the last pause
    cdef Frame _frame
    cdef Frame _back
    cdef int _inputs  # index of the first cotangent among the inputs of a backward step

    cdef object run(self, CheckpointPlan plan)
    cdef Py_ssize_t _count(self, CheckpointPlan plan) except? -1
    cdef object _thin(self, CheckpointPlan plan)
    cdef object _reserve(self, Py_ssize_t slots)
    cdef object _execute(self, CheckpointPlan plan)
    cdef object _pause(self)
    cdef object _go_back(self, Py_ssize_t step, Py_ssize_t begin, Py_ssize_t slot)
    cdef object _step_back(self, Py_ssize_t step)
    cdef void _take_up(self, LoopRunner loop, Frame back, Py_ssize_t slot) noexcept nogil
    cdef void _take_seeds(self, LoopRunner loop, Frame back, Py_ssize_t step) noexcept nogil
    cdef void _pass_on(self, LoopRunner loop, Frame back, Py_ssize_t step) noexcept nogil
