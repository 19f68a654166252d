# What the compiled module reaches without going through Python.
from gradwalk.ops cimport ieee
from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
from gradwalk.program.instructions.instruction_store cimport InstructionStore
