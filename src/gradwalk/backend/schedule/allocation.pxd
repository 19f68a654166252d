# Lets the compiled module call C by the name of the module that has it.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
