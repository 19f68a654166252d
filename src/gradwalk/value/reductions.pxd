from gradwalk.value cimport convert
from gradwalk.value.node cimport ValueNode

cdef bint sum_products(ValueNode node) except? -1
