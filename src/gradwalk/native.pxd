# What compiled modules see under the names of native.py.
from cpython.mem cimport PyMem_Calloc, PyMem_Free

cdef extern from *:
    """
    /* Extension types refuse assignment to their attributes. Programs written for micrograd do assign:
       `Value.tanh = my_tanh`. */
    static void open_to_assignment(PyObject *type) {
        ((PyTypeObject *)type)->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    void open_to_assignment(object cls)
    void untrack "PyObject_GC_UnTrack" (object container)
    double* NO_FLOATS "NULL"


cdef inline double* allocate(Py_ssize_t length) except NULL:
    cdef double* row = <double*>PyMem_Calloc(length, sizeof(double))  # not NULL for length 0, only without memory
    if row is NULL:
        raise MemoryError
    return row


cdef inline void release(double* row) noexcept:
    PyMem_Free(row)
