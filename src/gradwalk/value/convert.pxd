from gradwalk.value.node cimport ValueNode

cdef bint is_real(object x) except? -1
cdef bint are_operands(tuple operands) except? -1
cdef bint equals(double primal, object number) except? -1
cdef double real(object x, str what) except? -1.0
cdef double to_double(object x) except? -1.0
