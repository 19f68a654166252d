from gradwalk.base cimport c_compat
from gradwalk.value cimport node as nodes
from gradwalk.value.node cimport ValueNode

cdef int open_switches
cdef int staging
cdef int recordings

cdef object inspect(ValueNode out)
cdef bint is_recorded_elsewhere(ValueNode node) except? -1
cdef bint is_tracer(ValueNode node, object other) except? -1
cpdef object note_comparison(ValueNode node)
