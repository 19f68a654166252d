from gradwalk.base cimport c_compat
from gradwalk.base cimport ieee
from gradwalk.value cimport making
from gradwalk.value.node cimport ValueNode


cdef class Operations(ValueNode):
    pass
