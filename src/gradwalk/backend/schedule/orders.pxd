# Lets the compiled module call C by the name of the module that has it.
from gradwalk.ops cimport c_compat
