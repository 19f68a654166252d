# Lets the compiled kernel.py call C by the names of these modules.
from gradwalk cimport lanes, native
