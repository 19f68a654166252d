# What other compiled modules reach without going through Python.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions.instruction_store cimport InstructionStore


cdef object mark_tame(InstructionStore store, object marks)
cdef object mark_risky(InstructionStore store, object marks)
