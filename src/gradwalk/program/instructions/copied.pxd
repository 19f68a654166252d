# C declarations of the imported modules.
from gradwalk.base cimport ieee
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.instructions cimport simplify
from gradwalk.program.instructions.instruction_store cimport InstructionStore
