from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport making
from gradwalk.value cimport modes
from gradwalk.value cimport scalars
from gradwalk.value cimport node as nodes
from gradwalk.value cimport convert
from gradwalk.value.operations cimport Operations
from gradwalk.value.node cimport ValueNode


cdef class Value(Operations):
    pass
