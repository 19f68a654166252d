# Lets the compiled executor.py call C by the names of these modules.
from gradwalk.backend.cpu cimport lanes
from gradwalk.ops cimport c_compat
