# Lets the compiled sparsity.py call C by the names of these modules.
from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
