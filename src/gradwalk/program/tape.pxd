# Makes the C functions and types of these modules available to tape.py.
from gradwalk.base cimport ieee
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions cimport simplify
from gradwalk.program.instructions.instruction_store cimport InstructionStore
