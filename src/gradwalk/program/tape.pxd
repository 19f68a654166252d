# What the compiled module reaches without going through Python.
from gradwalk.base cimport ieee
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions cimport simplify
from gradwalk.program.instructions.instruction_store cimport InstructionStore
