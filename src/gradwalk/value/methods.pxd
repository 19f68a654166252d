from gradwalk.base cimport c_compat
from gradwalk.base cimport ieee
from gradwalk.value cimport apply
from gradwalk.value.node cimport ValueNode


cdef class Methods(ValueNode):
    pass
