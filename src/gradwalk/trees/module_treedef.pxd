# Lets the compiled module_treedef.py call C by the names of this module.
from gradwalk.trees cimport attributes
