# The C versions of the functions in array_cells.py.
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release, PyBuffer_ToContiguous, PyObject_GetBuffer
from libc.string cimport memcpy

from gradwalk.base cimport c_compat


cdef inline bint read_array(object array, tuple shape, double* row, Py_ssize_t position) except? -1:
    cdef Py_buffer view
    cdef Py_ssize_t i
    cdef bint fits
    try:
        PyObject_GetBuffer(array, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT)
    except (BufferError, ValueError):  # such as arrays of dates
        return False
    fits = view.ndim == len(shape) and view.format[0] == c"d" and view.format[1] == 0
    if fits:
        for i in range(view.ndim):
            fits = fits and view.shape[i] == <Py_ssize_t>shape[i]
    try:
        if fits:
            PyBuffer_ToContiguous(row + position, &view, view.len, c"C")
    finally:
        PyBuffer_Release(&view)
    return fits


cdef inline object write_array(object array, double* row, Py_ssize_t position, Py_ssize_t count):
    memcpy(c_compat.doubles(array), row + position, count * sizeof(double))
