# Functions with which other compiled modules create nodes without a Python call.
from gradwalk.base cimport c_compat
from gradwalk.ops.compiled cimport evaluate
from gradwalk.value cimport modes
from gradwalk.value cimport scalars
from gradwalk.value cimport node as nodes
from gradwalk.value.memory cimport node_memory
from gradwalk.value cimport convert
from gradwalk.value cimport variadic
from gradwalk.value.node cimport ValueNode


cdef ValueNode new_leaf(double data, int level)
cdef object new_node(int opcode, ValueNode a, ValueNode b, double data, double pa, double pb)
cdef object unary(int opcode, ValueNode a)
cdef object binary(int opcode, object left, object right)
cdef ValueNode ternary(int opcode, list arguments)
cdef object variadic_node(int opcode, list arguments)
cdef object applied(int opcode, tuple operands)
cdef object listed(object operands)
