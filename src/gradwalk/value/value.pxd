from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.base cimport ieee
from gradwalk.value cimport modes
from gradwalk.value cimport node as nodes
from gradwalk.value.memory cimport node_memory
from gradwalk.value cimport convert
from gradwalk.value cimport variadic
from gradwalk.value.node cimport ValueNode


cdef class Value(ValueNode):
    pass
