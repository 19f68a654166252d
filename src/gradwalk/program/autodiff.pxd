# What the compiled module reaches without going through Python.
from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
from gradwalk.program.derivatives cimport Derivatives
from gradwalk.program.instruction_store cimport InstructionStore
