# Lets other compiled modules call the rules as C functions.
from gradwalk.ops cimport ieee


cdef double evaluate(int opcode, double x, double y, double z) noexcept
cdef double partial(int opcode, int position, double x, double y, double z, double out) noexcept
cdef bint selects(int opcode) noexcept
cdef int inert(int opcode) noexcept
cdef int arity(int opcode) noexcept
