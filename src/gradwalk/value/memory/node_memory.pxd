# The functions of node_memory.h, for the compiled value.py.
cdef extern from "node_memory.h":
    int manage_nodes(object cls) except -1
    object make_node(object cls, int opcode, int level, object a, object b, double primal, double pa, double pb)
