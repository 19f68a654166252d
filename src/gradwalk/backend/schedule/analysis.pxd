# C declarations of the imported modules.
from gradwalk.base cimport c_compat
