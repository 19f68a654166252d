from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value.memory cimport marks
from gradwalk.value.node cimport ValueNode

cdef int AHEAD
cdef int floor

cdef tuple begin(list roots)
cdef object end(tuple aside)
cdef int visit(ValueNode root, dict keys, list order, list earlier) except? -1
cdef object unmark(list marked)
