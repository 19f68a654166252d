from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport convert
from gradwalk.value.node cimport ValueNode

cdef bint compute(ValueNode node) except? -1
