from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport apply
from gradwalk.value cimport modes
from gradwalk.value cimport scalars
from gradwalk.value cimport node as nodes
from gradwalk.value cimport convert
from gradwalk.value.methods cimport Methods
from gradwalk.value.node cimport ValueNode


cdef class Value(Methods):
    pass
