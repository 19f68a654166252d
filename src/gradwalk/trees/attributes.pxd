# What compiled modules see under the names of attributes.py.
cdef extern from "Python.h":
    dict get_generic "PyObject_GenericGetDict"(object module, void* context)


cdef inline dict get_attributes(object module):
    return get_generic(module, NULL)
