# Makes the C functions of attributes.pxd available to module_treedef.py.
from gradwalk.trees cimport attributes
