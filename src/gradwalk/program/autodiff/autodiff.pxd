# What the compiled module reaches without going through Python.
from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
from gradwalk.program.autodiff.derivatives cimport Derivatives
from gradwalk.program.instructions.instruction_store cimport InstructionStore
