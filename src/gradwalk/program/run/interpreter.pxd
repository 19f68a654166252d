# Lets other compiled modules run programs without going through Python.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.run.rows cimport row_loops
from gradwalk.program.run cimport instruction_loop
from gradwalk.program.run cimport scratch


cdef class Rows:
    cdef readonly object plan  # owns the arrays that the pointers point into
    cdef readonly int copies
    cdef int _count  # number of segments
    cdef int* _segment
    cdef int* _instruction
    cdef int* _link
    cdef int* _table
    cdef int* _copied
    cdef int* _output


cdef class Interpreter:
    cdef readonly object code
    cdef readonly int inputs
    cdef tuple _arrays  # owns the memory that the pointers point into
    cdef list _operands  # for each call, its operand indices as ranges; see `_stretches`
    cdef object _results  # the results of calls as ranges; see `_result_stretches`
    cdef int* _instruction  # four ints per instruction
    cdef double* _constant
    cdef int* _output  # the indices of the outputs
    cdef int* _start  # start of each table in _table
    cdef int* _table
    cdef int _outputs  # number of outputs
    cdef int _length  # four times the number of instructions
    cdef int _first  # index of the result of the first instruction
    cdef int _room  # size of a run's scratch memory, in doubles
    cdef bint _has_calls
    cdef bint _may_have_rows
    cdef Py_ssize_t _hot  # value of _executed at which machine code is requested
    cdef Py_ssize_t _executes  # four times the number of instructions of a run, including calls, approximately
    cdef Py_ssize_t _due  # value of _executed at which rows or machine code are requested
    cdef Py_ssize_t _executed  # four times the number of instructions interpreted so far
    cdef readonly object policy
    cdef readonly object machine_code  # keeps the code in memory
    cdef public str failure
    cdef Rows _plan  # the program in rows, or None
    cdef list _adopted  # keeps replaced plans alive for threads that still run them
    cdef c_compat.run_pointer _machine_run  # NULL without machine code

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
    cdef int _run_code(self, double* value) except -1
    cdef int _execute(self, double* value) noexcept nogil
    cdef int _interpret(self, int start, double* value) noexcept nogil
    cdef void _write_constants(self, double* value) noexcept nogil
    cdef object _run_calls(self, double* value)
    cdef object _called(self, int which, double* value)
    cdef object _refuse_nans(self, double* value)
    cdef list _apply_all(self, list results)
