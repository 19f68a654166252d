# The compiled module calls these modules' C functions.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
