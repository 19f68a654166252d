# The C versions of the functions in attributes.py.
cdef extern from *:
    """
    static PyObject *look_at;  /* `nn.materialize` */

    static inline int look(PyObject *module) {
        PyObject *attributes = PyObject_CallOneArg(look_at, module);
        Py_XDECREF(attributes);
        return attributes ? 0 : -1;
    }
    static PyObject *attribute_of_module(PyObject *module, PyObject *name) {
        if (PyUnicode_CompareWithASCIIString(name, "__dict__") == 0 && look(module) < 0) return NULL;
        PyObject *found = PyObject_GenericGetAttr(module, name);
        if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
        PyErr_Clear();
        return look(module) < 0 ? NULL : PyObject_GenericGetAttr(module, name);
    }
    /* Only classes with lazy Modules get this tp_getattro, because it slows down attribute access. */
    static inline int supports_lazy(PyObject *cls, PyObject *looked_at) {
        PyTypeObject *type = (PyTypeObject *)cls;
        if (type->tp_getattro == attribute_of_module) return 1;
        if (type->tp_getattro != PyObject_GenericGetAttr) return 0;
        if (!look_at) look_at = Py_NewRef(looked_at);
        type->tp_getattro = attribute_of_module;
        PyType_Modified(type);
        return 1;
    }
    """
    dict get_generic "PyObject_GenericGetDict"(object module, void* context)
    bint supports_lazy(object cls, object looked_at)


cdef inline dict get_attributes(object module):
    return get_generic(module, NULL)
