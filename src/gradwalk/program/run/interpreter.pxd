# Lets other compiled modules run programs by calls of C functions.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.run.rows cimport row_loops
from gradwalk.program.run cimport instruction_loop
from gradwalk.program.run cimport scratch


cdef class Rows:
    cdef readonly object plan  # its arrays are what the pointers point into
    cdef readonly int copies
    cdef int _count  # of segments
    cdef int* _segment
    cdef int* _instruction
    cdef int* _link
    cdef int* _table
    cdef int* _copied
    cdef int* _output


cdef class Interpreter:
    cdef readonly object code
    cdef readonly int inputs
    cdef tuple _arrays  # what the pointers point into
    cdef list _operands  # of each call, stretches of the indices of its operands
    cdef object _results  # stretches of the results of calls
    cdef int* _instruction  # four numbers an instruction
    cdef double* _constant
    cdef int* _output  # the indices of the outputs
    cdef int* _start  # where the operands of each table begin in _table
    cdef int* _table
    cdef int _outputs  # how many outputs there are
    cdef int _length  # four times the number of instructions
    cdef int _first  # the index of the first instruction's result
    cdef int _room  # how many numbers the scratch of a run holds
    cdef bint _has_calls
    cdef bint _may_have_rows
    cdef Py_ssize_t _due  # when something faster is made
    cdef Py_ssize_t _executed  # by the interpreter: four times the instructions that have been run
    cdef readonly object policy
    cdef readonly object machine_code  # it keeps the code in memory
    cdef public str failure
    cdef Rows _plan  # the program in rows, or None
    cdef list _adopted  # the same, for threads that still use it when it is replaced
    cdef c_compat.run_pointer _machine_run  # NULL where there is none

    cpdef object run(self, object numbers)
    cpdef list on_values(self, list operands)
    cdef void compute(self, double* inputs, double* outputs) noexcept nogil
    cdef void _compute_with_calls(self, double* inputs, double* outputs) noexcept
    cdef object _run(self, double* inputs, double* outputs)
    cdef object _run_in_order(self, double* value, double* outputs)
    cdef void _run_rows(self, Rows rows, double* value) noexcept nogil
    cdef void _write_outputs(self, int* index, double* value, double* outputs) noexcept nogil
    cpdef object _order_in_rows(self)
    cpdef object install_rows(self, object plan)
    cpdef object install(self, object machine_code)
    cdef object warm(self)
    cdef int _execute(self, int start, double* value) noexcept nogil
    cdef int _interpret(self, int start, double* value) noexcept nogil
    cdef void _write_constants(self, double* value) noexcept nogil
    cdef object _run_calls(self, double* value)
    cdef object _called(self, int which, double* value)
    cdef object _refuse_nans(self, double* value)
    cdef list _apply_all(self, list results)
