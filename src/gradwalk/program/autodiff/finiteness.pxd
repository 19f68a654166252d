# C declarations for other compiled modules.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef object mark_tame(InstructionStore store, object marks)
cdef object mark_risky(InstructionStore store, object marks)
