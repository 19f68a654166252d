# The C structs of nodes, for the compiled modules.
cimport cython

from gradwalk.base cimport c_compat
from gradwalk.value.memory cimport marks

cdef int UNCONNECTED


@cython.no_gc
cdef class Details:
    cdef str label
    cdef str symbol
    cdef list arguments
    cdef double* partials
    cdef object closure
    cdef object source
    cdef object attributes
    cdef object number_type


@cython.no_gc  # Cython also requires it here for Value, which inherits from ValueNode
cdef class ValueNode:
    cdef double _primal
    cdef double _grad
    cdef ValueNode _a
    cdef ValueNode _b
    cdef double _pa
    cdef double _pb
    cdef Details _details
    cdef signed char _opcode
    cdef unsigned char _level
    cdef unsigned char _mark
    cdef unsigned char _special
    cdef int _index


cdef object set_leaf(ValueNode node, double primal, int level)
cdef Details details_of(ValueNode node)
cdef Details known_details(ValueNode node)
cdef object hold(ValueNode node, list arguments)
cdef object set_operands_and_level(ValueNode node, list arguments)
cdef object set_closure(ValueNode node, object closure)
cdef object set_by_hand(ValueNode node, list children, object symbol)
cdef object set_symbol(ValueNode node, object symbol)
cdef object refuse_if_native(ValueNode node)
cdef list as_children(object children)
