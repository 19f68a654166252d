from gradwalk.ops cimport evaluate
from gradwalk.value cimport marks
from gradwalk.value.node cimport ValueNode

cdef int floor

cdef int visit(ValueNode root, dict keys, list order, list earlier) except? -1
cdef object unmark(list marked)
