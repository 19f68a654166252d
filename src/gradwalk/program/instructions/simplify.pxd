# C declarations for other compiled modules.
from gradwalk.base cimport ieee
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef int emit_take(InstructionStore store, int index, tuple table) except? -1
cdef int emit(InstructionStore store, int opcode, int x, int y, int z) except? -1
