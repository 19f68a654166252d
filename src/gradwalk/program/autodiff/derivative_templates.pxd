# C declarations for other compiled modules.
from gradwalk.base cimport c_compat
from gradwalk.program.instructions cimport simplify
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef class Templates:
    cdef int *start
    cdef int *result
    cdef int *reads
    cdef int *opcode
    cdef int *x
    cdef int *y
    cdef int *z
    cdef int *index
    cdef object _arrays


cdef int instantiate(InstructionStore store, Templates templates, int i, int position, int adjoint) except? -1
