from gradwalk.ops cimport c_compat
from gradwalk.ops cimport evaluate
from gradwalk.value cimport convert
from gradwalk.value.node cimport ValueNode

cdef bint compute(ValueNode node) except? -1
