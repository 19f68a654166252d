# The compiled module calls this module's C functions.
from gradwalk.base cimport c_compat
