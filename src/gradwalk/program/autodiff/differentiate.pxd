# C declarations of the imported modules.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.program.autodiff.cotangents cimport Cotangents
from gradwalk.program.instructions.instruction_store cimport InstructionStore
