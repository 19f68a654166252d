# Lets other compiled modules read and build trees without going through Python.
from gradwalk.base cimport c_compat
from gradwalk.trees.fast cimport array_cells
from gradwalk.value cimport convert


cdef bint is_settled(object found, object known) except? -1


cdef class Form:
    cdef bint read(self, object tree, double* row, object columns) except? -1
    cdef object build(self, double* row)


cdef class NumberForm(Form):
    cdef readonly int position
    cdef public bint refuses_bools


cdef class TypedForm(Form):
    cdef int _position
    cdef bint _is_bool


cdef class ComplexForm(Form):
    cdef int _real
    cdef int _imag


cdef class ArrayForm(Form):
    cdef tuple _shape
    cdef Py_ssize_t _position
    cdef Py_ssize_t _count


cdef class WholeArrayForm(Form):
    cdef tuple _shape
    cdef tuple _rows


cdef class ComplexArrayForm(Form):
    cdef Form _real
    cdef Form _imag


cdef class ConstantForm(Form):
    cdef object _constant
    cdef bint _is_immutable


cdef class SequenceForm(Form):
    cdef object _cls
    cdef list _parts

    cdef object _made(self, list parts)


cdef class DictForm(Form):
    cdef list _keys
    cdef list _parts
    cdef dict _shell


cdef class FieldsForm(Form):
    cdef object _cls
    cdef list _names
    cdef list _parts
