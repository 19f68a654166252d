# Lets other compiled modules read and build Modules without going through Python.
from gradwalk.base cimport c_compat
from gradwalk.trees cimport attributes
from gradwalk.trees.fast cimport form, object_codes
from gradwalk.value cimport convert
from gradwalk.value.node cimport ValueNode


cdef class _Part:
    cdef int code
    cdef bint is_new
    cdef tuple static
    cdef object constant
    cdef bint is_copied
    cdef _Node node


cdef class _Node:
    cdef object cls
    cdef bint is_module
    cdef bint is_tuple
    cdef tuple keys
    cdef int first
    cdef list parts


cdef class ModuleForm(form.Form):
    cdef int _position
    cdef int _size
    cdef list _nodes
    cdef _Part _root
    cdef object _treedef
    cdef object _likewise
    cdef bint _waits

    cdef dict fill(self, object module, list numbers)
    cdef bint _reads_pending(self, Pending pending, double* row) except? -1
    cdef bint _reads_part(self, _Part part, object item, double* row, object_codes.code_table* codes) except? -1
    cdef bint _reads_parameter(self, int code, object item, double* row) except? -1
    cdef bint _reads_node(self, _Node node, object item, double* row, object_codes.code_table* codes) except? -1
    cdef bint _reads_parameters(
        self, _Node node, list items, double* row, object_codes.code_table* codes) except? -1
    cdef bint _reads_items(self, _Node node, dict items, double* row, object_codes.code_table* codes) except? -1
    cdef object _filled(self, _Node node, object shell, list numbers, list built)
    cdef object _add_named(self, _Node node, dict named, list numbers, list built)
    cdef object _item(self, _Part part, list numbers, list built)


cdef class Pending:
    cdef ModuleForm _form
    cdef readonly object treedef
    cdef readonly object numbers

    cpdef list parameters(self)
    cpdef dict attributes(self, object module)
