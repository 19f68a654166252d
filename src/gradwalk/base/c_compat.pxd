# The functions of c_compat.py in C, for compiled modules.
from cpython.mem cimport PyMem_Calloc, PyMem_Free

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    static inline int low_bits(double number) {
        uint64_t bits;
        memcpy(&bits, &number, 8);
        return (int32_t)(uint32_t)bits;
    }
    static inline int high_bits(double number) {
        uint64_t bits;
        memcpy(&bits, &number, 8);
        return (int32_t)(uint32_t)(bits >> 32);
    }
    static inline double from_bits(int low, int high) {
        double number;
        uint64_t bits = (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
        memcpy(&number, &bits, 8);
        return number;
    }
    /* Threads update the counter `executed` without a lock, so some increments may be lost. */
    typedef int (*run_pointer)(double *values);  /* returns 0 after success */
    #if defined(__GNUC__)
        #define LOADED(cell) __atomic_load_n(cell, __ATOMIC_ACQUIRE)
        #define STORED(cell, value) __atomic_store_n(cell, value, __ATOMIC_RELEASE)
        #define EXCHANGED(cell, value) __atomic_exchange_n(cell, value, __ATOMIC_ACQ_REL)
        #define ADDED(cell, value) __atomic_add_fetch(cell, value, __ATOMIC_RELAXED)
    #else
        #define LOADED(cell) (*(cell))
        #define STORED(cell, value) (*(cell) = (value))
        static inline Py_ssize_t EXCHANGED(Py_ssize_t *cell, Py_ssize_t value) {
            Py_ssize_t before = *cell;
            *cell = value;
            return before;
        }
        #define ADDED(cell, value) (*(cell) += (value))
    #endif
    static inline int adopt_run(run_pointer *cell, PyObject *address) {
        void *run = PyLong_AsVoidPtr(address);
        if (PyErr_Occurred()) return -1;
        STORED(cell, (run_pointer)run);
        return 0;
    }
    static inline int run_code(run_pointer *cell, Py_ssize_t *executed, Py_ssize_t length, double *values) {
        run_pointer run = LOADED(cell);
        if (run) return run(values);
        STORED(executed, LOADED(executed) + length);
        return 1;
    }
    /* Returns true in one thread only: other threads read `never`. */
    static inline int is_due(Py_ssize_t *executed, Py_ssize_t hot, Py_ssize_t never) {
        return LOADED(executed) >= hot && EXCHANGED(executed, never) >= hot;
    }
    /* Prefetch an item that will be needed soon and that the hardware prefetcher cannot predict. */
    static inline void fetch_item(PyObject *list, Py_ssize_t i) {
    #if defined(__GNUC__)
        if (i >= 0) {
            const char *item = (const char *)PyList_GET_ITEM(list, i);
            __builtin_prefetch(item, 1);
            __builtin_prefetch(item + 64, 1);
        }
    #endif
    }
    static inline void count(int *number, int by) {
        ADDED(number, by);
    }
    /* Faster than a loop: with -fwrapv, compilers do not vectorize a loop whose index is an int. */
    static inline void copy(double *to, Py_ssize_t at, const double *source, Py_ssize_t start, Py_ssize_t count) {
        if (count > 0) memcpy(to + at, source + start, (size_t)count * sizeof(double));
    }
    static inline void *cells(PyObject *array) {
        Py_buffer view;
        if (PyObject_GetBuffer(array, &view, PyBUF_SIMPLE) < 0) return NULL;
        PyBuffer_Release(&view);  /* the array still owns the memory */
        return view.buf;
    }
    /* Extension types do not allow assignment to class attributes or to new instance attributes. Programs written for
       micrograd do both: `Value.tanh = my_tanh`, `parameter.momentum = 0.0`. New instance attributes are stored in a
       dict that `own_attributes` returns. As in Python, instance attributes take precedence over class attributes,
       except over data descriptors such as properties. `tp_getattro` is replaced at the first assignment, so programs
       without such assignments are not slowed down. */
    static PyObject *(*own_attributes)(PyObject *self, int made);  /* returns None if there is no dict */
    static int class_decides(PyObject *self, PyObject *name) {
        PyObject *known = _PyType_Lookup(Py_TYPE(self), name);
        return known && Py_TYPE(known)->tp_descr_set;
    }
    static PyObject *get_attribute(PyObject *self, PyObject *name) {
        PyObject *own = own_attributes(self, 0);
        if (!own) return NULL;
        PyObject *found = own == Py_None || class_decides(self, name) ? NULL : PyDict_GetItemWithError(own, name);
        Py_XINCREF(found);
        Py_DECREF(own);
        return found || PyErr_Occurred() ? found : PyObject_GenericGetAttr(self, name);
    }
    static int set_attribute(PyObject *self, PyObject *name, PyObject *value) {
        PyObject *type, *error, *trace;
        int result = PyObject_GenericSetAttr(self, name, value);
        if (result == 0 || !PyErr_ExceptionMatches(PyExc_AttributeError) || class_decides(self, name)) return result;
        PyErr_Fetch(&type, &error, &trace);
        PyObject *own = own_attributes(self, value != NULL);
        if (own && (value || (own != Py_None && PyDict_GetItemWithError(own, name)))) {
            Py_XDECREF(type); Py_XDECREF(error); Py_XDECREF(trace);
            result = value ? PyDict_SetItem(own, name, value) : PyDict_DelItem(own, name);
            if (Py_TYPE(self)->tp_getattro == PyObject_GenericGetAttr) {
                Py_TYPE(self)->tp_getattro = get_attribute;
                PyType_Modified(Py_TYPE(self));
            }
        } else if (own) {
            PyErr_Restore(type, error, trace);
        }
        Py_XDECREF(own);
        return result;
    }
    /* Cython does not generate a vectorcall for a class whose base class is in another module. Without a vectorcall,
       `Value(2.0)` packs its arguments into a tuple and takes twice as long. */
    static PyObject *(*from_one_argument)(PyObject *argument);
    static PyObject *(*from_three_arguments)(PyObject *, PyObject *, PyObject *);  /* returns None to call the type */
    static PyObject *construct(PyObject *type, PyObject *const *arguments, size_t flags, PyObject *names) {
        Py_ssize_t count = PyVectorcall_NARGS(flags), named = names ? PyTuple_GET_SIZE(names) : 0;
        if (count == 1 && named == 0) return from_one_argument(arguments[0]);
        if (count == 3 && named == 0) {
            PyObject *made = from_three_arguments(arguments[0], arguments[1], arguments[2]);
            if (made != Py_None) return made;
            Py_DECREF(made);
        }
        PyObject *result = NULL, *positional = PyTuple_New(count), *keywords = PyDict_New();
        if (positional && keywords) {
            for (Py_ssize_t i = 0; i < count; i++)
                PyTuple_SET_ITEM(positional, i, Py_NewRef(arguments[i]));
            Py_ssize_t i = 0;
            while (i < named && PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), arguments[count + i]) == 0) i++;
            if (i == named) result = PyType_Type.tp_call(type, positional, keywords);
        }
        Py_XDECREF(positional); Py_XDECREF(keywords);
        return result;
    }
    /* In Cython, isinstance compares the type with the class and, if they differ, walks the base types. This is slow
       for operands: they are Values, and Value is a subclass of ValueNode. So the last match is cached. The cached
       address stays valid, because static C types are never freed. */
    static inline int is_kind(PyObject *x, PyObject *base) {
        static PyTypeObject *known;
        static PyObject *known_base;
        PyTypeObject *type = Py_TYPE(x);
        if (type == known && base == known_base) return 1;
        if (type == &PyFloat_Type) return 0; /* the most frequent other type */
        if (!PyType_IsSubtype(type, (PyTypeObject *)base)) return 0;
        if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
            known = type;
            known_base = base;
        }
        return 1;
    }
    static inline void construct_by(
        PyObject *type, PyObject *(*one)(PyObject *), PyObject *(*three)(PyObject *, PyObject *, PyObject *)
    ) {
        from_one_argument = one;
        from_three_arguments = three;
        ((PyTypeObject *)type)->tp_vectorcall = construct;
    }
    static inline void open_to_assignment(PyObject *type, PyObject *(*attributes)(PyObject *self, int made)) {
        own_attributes = attributes;
        ((PyTypeObject *)type)->tp_setattro = set_attribute;
        ((PyTypeObject *)type)->tp_flags &= ~Py_TPFLAGS_IMMUTABLETYPE;
        PyType_Modified((PyTypeObject *)type);
    }
    """
    int low_bits(double number) nogil
    int high_bits(double number) nogil
    double from_bits(int low, int high) nogil
    void copy(double* to, Py_ssize_t at, const double* source, Py_ssize_t start, Py_ssize_t count) nogil
    void* cells(object array) except? NULL
    bint is_kind(object x, object base)
    ctypedef int (*run_pointer)(double *values) noexcept nogil
    int adopt_run(run_pointer *cell, object address) except -1
    int run_code(run_pointer *cell, Py_ssize_t *executed, Py_ssize_t length, double *values) noexcept nogil
    int is_due(Py_ssize_t *executed, Py_ssize_t hot, Py_ssize_t never)
    void count(int *number, int by)
    void fetch_item(list items, Py_ssize_t i)
    void open_to_assignment(object cls, object (*attributes)(object, int))
    void construct_by(object cls, object (*one)(object), object (*three)(object, object, object))
    void untrack "PyObject_GC_UnTrack" (object container)
    double* NO_FLOATS "NULL"
    run_pointer NO_RUN "NULL"


cdef inline double* allocate(Py_ssize_t length) except NULL:
    cdef double* row = <double*>PyMem_Calloc(length, sizeof(double))  # NULL only if out of memory, also for length 0
    if row is NULL:
        raise MemoryError
    return row


cdef inline void release(double* row) noexcept:
    PyMem_Free(row)


cdef inline double* doubles(object array) except? NULL:
    return <double*>cells(array)


cdef inline int* integers(object array) except? NULL:
    return <int*>cells(array)
