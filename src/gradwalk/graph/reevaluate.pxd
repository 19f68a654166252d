# Lets the compiled replay.py call C by the names of these modules.
from gradwalk.base cimport ieee
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
