# C declarations, so that load.py calls these functions as C functions.
from gradwalk.program.instructions cimport simplify
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef int first_total(InstructionStore store, int opcode) except? -1
cdef int append_step(InstructionStore store, int opcode, int total, int x, int y, int z) except? -1
cdef int append_unfused(InstructionStore store, int opcode, int x, int y, int z) except? -1
cdef int groups(int opcode) noexcept
cdef int starts(int opcode) noexcept
