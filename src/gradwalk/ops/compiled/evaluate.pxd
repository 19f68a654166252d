# C-level declarations for other compiled modules.
from gradwalk.base cimport ieee


cdef double value(int opcode, double x, double y, double z) noexcept
cdef double partial(int opcode, int position, double x, double y, double z, double out) noexcept
cdef double NAN

cdef Py_ssize_t position_of(double index, Py_ssize_t count) noexcept nogil
cdef double variadic_value(int opcode, double* operands, Py_ssize_t count) noexcept
cdef void replace_by_partials(int opcode, double* operands, Py_ssize_t count, double out) noexcept
cdef bint is_variadic(int opcode) noexcept
cdef bint is_scalar(int opcode) noexcept
cdef bint selects(int opcode) noexcept
cdef bint is_tame(int opcode) noexcept
cdef bint has_constant_partials(int opcode) noexcept
cdef int non_differentiable(int opcode) noexcept
cdef int fusion(int opcode, int position, int inner) noexcept
cdef int arity(int opcode) noexcept
