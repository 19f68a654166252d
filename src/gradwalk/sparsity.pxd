# Lets the compiled sparsity.py call C by the names of these modules.
from gradwalk cimport native
from gradwalk cimport rules
