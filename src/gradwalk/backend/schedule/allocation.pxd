# C declarations of the imported modules.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
