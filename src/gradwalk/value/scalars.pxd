# The compiled version of scalars.py: the same functions, inlined.
from gradwalk.base cimport c_compat
from gradwalk.value cimport convert
from gradwalk.value.node cimport ValueNode


cdef inline bint is_operand(object x) except? -1:
    return type(x) is float or c_compat.is_kind(x, ValueNode) or convert.is_real(x)


cdef inline double number(object x) except? -1.0:
    if c_compat.is_kind(x, ValueNode):
        return (<ValueNode>x)._primal
    if type(x) is float:
        return <double>x
    return convert.to_double(x)
