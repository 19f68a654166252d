# The C versions of the functions in object_codes.py.
cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>
    #define OBJECTS_ON_STACK 1024
    typedef struct { PyObject *object; int code; } met_object;
    typedef struct {
        met_object *cells;  /* hash table with open addressing, at most half full */
        size_t mask;
        met_object few[OBJECTS_ON_STACK];
    } code_table, codes_by_object[1];

    static int codes_begin(code_table *codes, Py_ssize_t count) {
        size_t room = 16;
        while (room < 2 * (size_t)count) room *= 2;
        codes->mask = room - 1;
        codes->cells = room <= OBJECTS_ON_STACK ? codes->few : malloc(room * sizeof(met_object));
        if (!codes->cells) { PyErr_NoMemory(); return -1; }
        memset(codes->cells, 0, room * sizeof(met_object));
        return 0;
    }
    static void codes_end(code_table *codes) {
        if (codes->cells != codes->few) free(codes->cells);
    }
    /* Return whether an object has this code. If is_new is true, return whether it had no code yet, and give it this
       code in that case. */
    static int codes_agree(code_table *codes, PyObject *object, int code, int is_new) {
        size_t at = ((size_t)object >> 4) * 0x9E3779B97F4A7C15u >> 20;
        while (codes->cells[at & codes->mask].object) {
            met_object *cell = &codes->cells[at++ & codes->mask];
            if (cell->object == object) return !is_new && cell->code == code;
        }
        codes->cells[at & codes->mask].object = object;
        codes->cells[at & codes->mask].code = code;
        return is_new;
    }
    /* Make a Number, or an instance of another subclass of float without additional fields. */
    static PyObject *float_of_class(PyObject *cls, double number) {
        PyObject *made = ((PyTypeObject *)cls)->tp_alloc((PyTypeObject *)cls, 0);
        if (made) ((PyFloatObject *)made)->ob_fval = number;
        return made;
    }
    """
    ctypedef struct code_table:
        pass
    ctypedef code_table codes_by_object[1]
    int codes_begin(code_table *codes, Py_ssize_t count) except -1
    void codes_end(code_table *codes)
    bint codes_agree(code_table *codes, object thing, int code, bint is_new)
    object float_of_class(object cls, double number)
