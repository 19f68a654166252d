# Lets other compiled modules call these functions as C functions.
from gradwalk.ops cimport ieee


cdef double value(int opcode, double x, double y, double z) noexcept
cdef double partial(int opcode, int position, double x, double y, double z, double out) noexcept
cdef double reduced(int opcode, double* operands, Py_ssize_t count) noexcept
cdef void replace_by_partials(int opcode, double* operands, Py_ssize_t count, double out) noexcept
cdef bint is_reduction(int opcode) noexcept
cdef bint selects(int opcode) noexcept
cdef int non_differentiable(int opcode) noexcept
cdef int fusion(int opcode, int position, int inner) noexcept
cdef int arity(int opcode) noexcept
