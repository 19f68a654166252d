# C declarations of the functions in column_table.py, for compiled modules.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t


cdef extern from "column_table.h":
    int TILE
    ctypedef struct column_table:
        int64_t count
        void* addresses
        void* strides
        void* tiles
        int64_t spans
        PyObject** arrays
    column_table* columns_begin() except NULL
    void columns_end(column_table* table)
    bint columns_add(
        column_table* table, object array, Py_ssize_t axis, object shape, bint single, bint is_written
    ) except? -1
    bint columns_meet(column_table* table, column_table* other)
    int columns_skip(column_table* table, int64_t columns) except -1
    void columns_fill(column_table* table, int64_t column, double number, bint single)


cdef inline object array_at(column_table* table, int64_t position):
    return <object>table.arrays[position]
