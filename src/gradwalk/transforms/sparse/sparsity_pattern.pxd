# C-level imports of the compiled module.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
