/* Table of the memory addresses of all columns that lanes.h reads or writes. A column has one number per sample.

   An array has a batch axis. Each position along the other axes, in C order, is a column. */

#ifndef GRADWALK_COLUMN_TABLE_H
#define GRADWALK_COLUMN_TABLE_H

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are adjacent in memory are read together, in tiles. A tile has TILE columns and all lanes of a block.
   The loops that load tiles require TILE == 8. */
enum { TILE = 8 };
enum { FEW_COLUMNS = 16 };

typedef struct {
    int64_t count;     /* number of samples; -1 before the first array */
    int64_t length, room;
    char **addresses;  /* address of each column's first number */
    int64_t *strides;  /* per column: distance between samples, in bytes */
    int64_t *tiles;    /* per column: the first column of its tile, or -1 */
    char *few_addresses[FEW_COLUMNS];
    int64_t few_strides[FEW_COLUMNS], few_tiles[FEW_COLUMNS];
    int64_t spans;     /* number of arrays */
    PyObject **arrays; /* a reference to each array, which keeps its memory alive */
    char **lows;       /* per array: start of its memory; NULL if it is empty */
    char **highs;      /* per array: end of its memory; NULL if it is empty */
    PyObject *few_arrays[FEW_COLUMNS];
    char *few_lows[FEW_COLUMNS], *few_highs[FEW_COLUMNS];
} column_table;

/* Return an empty table, or NULL if there is no memory. */
static inline column_table *columns_begin(void) {
    column_table *table = malloc(sizeof(column_table));
    if (!table) return (column_table *)PyErr_NoMemory();
    table->count = -1;
    table->length = 0;
    table->room = FEW_COLUMNS;
    table->addresses = table->few_addresses;
    table->strides = table->few_strides;
    table->tiles = table->few_tiles;
    table->spans = 0;
    table->arrays = table->few_arrays;
    table->lows = table->few_lows;
    table->highs = table->few_highs;
    return table;
}

/* Free the memory that replaced the short arrays in the table. */
static inline void columns_free(column_table *table) {
    if (table->addresses == table->few_addresses) return;
    free(table->addresses); free(table->strides); free(table->tiles);
    free(table->arrays); free(table->lows); free(table->highs);
}

static inline void columns_end(column_table *table) {
    if (!table) return;
    for (int64_t i = 0; i < table->spans; i++) Py_DECREF(table->arrays[i]);
    columns_free(table);
    free(table);
}

/* Make room for one more array with `more` columns. */
static inline int columns_reserve(column_table *table, int64_t more) {
    int64_t room = 2 * table->room;
    if (table->length + more <= table->room && table->spans < table->room) return 0;
    while (room < table->length + more) room *= 2;
    char **addresses = malloc(room * sizeof(char *));
    PyObject **arrays = malloc(room * sizeof(PyObject *));
    char **lows = malloc(room * sizeof(char *)), **highs = malloc(room * sizeof(char *));
    int64_t *strides = malloc(room * sizeof(int64_t)), *tiles = malloc(room * sizeof(int64_t));
    if (!addresses || !strides || !tiles || !arrays || !lows || !highs) {
        free(addresses); free(strides); free(tiles); free(arrays); free(lows); free(highs);
        PyErr_NoMemory();
        return -1;
    }
    memcpy(addresses, table->addresses, table->length * sizeof(char *));
    memcpy(strides, table->strides, table->length * sizeof(int64_t));
    memcpy(tiles, table->tiles, table->length * sizeof(int64_t));
    memcpy(arrays, table->arrays, table->spans * sizeof(PyObject *));
    memcpy(lows, table->lows, table->spans * sizeof(char *));
    memcpy(highs, table->highs, table->spans * sizeof(char *));
    columns_free(table);
    table->room = room;
    table->addresses = addresses; table->strides = strides; table->tiles = tiles;
    table->arrays = arrays; table->lows = lows; table->highs = highs;
    return 0;
}

/* Return whether a buffer format is `type` ('d' or 'f'), optionally prefixed with '@', '=' or '^' (unaligned). */
static inline int columns_are_of(const char *format, char type) {
    if (!format) return 0;
    if (*format == '@' || *format == '=' || *format == '^') format++;
    return format[0] == type && format[1] == 0;
}

/* Return whether the axes other than the batch axis have the lengths in `shape`; None allows any lengths. */
static inline int columns_fit(const Py_buffer *view, Py_ssize_t axis, PyObject *shape) {
    if (axis < 0 || axis >= view->ndim) return 0;
    if (shape == Py_None) return 1;
    if (PyTuple_GET_SIZE(shape) != view->ndim - 1) return 0;
    for (Py_ssize_t i = 0, k = 0; i < view->ndim; i++)
        if (i != axis && view->shape[i] != PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, k++))) return 0;
    return 1;
}

/* Append the addresses and strides of an array's columns to the table. The caller has checked that the array fits. */
static inline int columns_append(column_table *table, const Py_buffer *view, Py_ssize_t axis) {
    Py_ssize_t at[64];
    int64_t columns = 1;
    char *address = view->buf;
    if (view->ndim > 64) return -1;
    for (Py_ssize_t i = 0; i < view->ndim; i++) {
        at[i] = 0;
        columns *= i == axis ? 1 : view->shape[i];
    }
    if (columns_reserve(table, columns) < 0) return -1;
    for (int64_t k = 0; k < columns; k++) {
        table->addresses[table->length] = address;
        table->strides[table->length] = view->strides[axis];
        table->tiles[table->length++] = -1;
        for (Py_ssize_t i = view->ndim - 1; i >= 0; i--) {
            if (i == axis) continue;
            address += view->strides[i];
            if (++at[i] < view->shape[i]) break;
            address -= at[i] * view->strides[i];
            at[i] = 0;
        }
    }
    return 0;
}

/* Store a reference to an array whose columns have been appended, and its memory range. */
static inline void columns_span(column_table *table, PyObject *array, const Py_buffer *view) {
    char *low = view->buf, *high = low + view->itemsize;
    for (Py_ssize_t i = 0; i < view->ndim; i++) {
        const Py_ssize_t reach = (view->shape[i] - 1) * view->strides[i];
        *(reach < 0 ? &low : &high) += reach;
    }
    if (view->len == 0) low = high = NULL; /* intersects with no range */
    table->arrays[table->spans] = Py_NewRef(array);
    table->lows[table->spans] = low;
    table->highs[table->spans++] = high;
}

/* Return whether the memory ranges of an array of `table` and an array of `other` intersect. If both are the same
   table, compare its arrays with each other. */
static inline int columns_meet(const column_table *table, const column_table *other) {
    for (int64_t i = 0; i < table->spans; i++)
        for (int64_t k = table == other ? i + 1 : 0; k < other->spans; k++)
            if (table->lows[i] < other->highs[k] && other->lows[k] < table->highs[i]) return 1;
    return 0;
}

/* Return whether no two elements of an array share memory. This is the case if each stride exceeds the extent of all
   axes with smaller strides. */
static inline int columns_are_apart(const Py_buffer *view) {
    for (Py_ssize_t i = 0; view->len && i < view->ndim; i++) {
        const Py_ssize_t step = Py_ABS(view->strides[i]);
        Py_ssize_t reach = view->itemsize;
        for (Py_ssize_t j = 0; j < view->ndim; j++) {
            const Py_ssize_t other = Py_ABS(view->strides[j]);
            if (other < step || (other == step && j < i)) reach += (view->shape[j] - 1) * other;
        }
        if (view->shape[i] > 1 && step < reach) return 0;
    }
    return 1;
}

/* Mark the tiles among the columns from `first` on. A tile consists of TILE columns that are adjacent in memory.
   Columns with contiguous numbers need no tiles. */
static inline void columns_tile(column_table *table, int64_t first, int64_t size) {
    for (int64_t k = first; k + TILE <= table->length; k += TILE) {
        const int64_t stride = table->strides[k];
        int is_tile = stride != size && stride % size == 0 && (uintptr_t)table->addresses[k] % size == 0;
        for (int64_t i = 1; is_tile && i < TILE; i++)
            is_tile = table->addresses[k + i] == table->addresses[k] + i * size;
        for (int64_t i = 0; is_tile && i < TILE; i++) table->tiles[k + i] = k;
    }
}

/* Append the columns of an array (float32 if `single`, else float64) and return 1. Return 0 if the dtype, shape or
   number of samples does not fit, or if the array must be writable but is read-only or has overlapping elements.
   Return -1 on errors. */
static inline int columns_add(
    column_table *table, PyObject *array, Py_ssize_t axis, PyObject *shape, int single, int is_written
) {
    Py_buffer view;
    if (PyObject_GetBuffer(array, &view, PyBUF_STRIDES | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0)) < 0) {
        PyErr_Clear();
        return 0;
    }
    int fits = columns_are_of(view.format, single ? 'f' : 'd') && columns_fit(&view, axis, shape);
    fits = fits && (table->count < 0 || view.shape[axis] == table->count);
    fits = fits && (!is_written || columns_are_apart(&view));
    if (fits) {
        const int64_t first = table->length;
        table->count = view.shape[axis];
        if (columns_append(table, &view, axis) < 0) fits = -1;
        else {
            columns_span(table, array, &view);
            if (!is_written) columns_tile(table, first, view.itemsize);
        }
    }
    PyBuffer_Release(&view);
    return fits;
}

/* Append columns that kernels neither read nor write. */
static inline int columns_skip(column_table *table, int64_t columns) {
    if (columns_reserve(table, columns) < 0) return -1;
    for (int64_t k = 0; k < columns; k++, table->length++) {
        table->addresses[table->length] = NULL;
        table->strides[table->length] = 0;
        table->tiles[table->length] = -1;
    }
    return 0;
}

/* Fill a column with one number. */
static inline void columns_fill(column_table *table, int64_t column, double number, int single) {
    char *address = table->addresses[column];
    const float rounded = (float)number;
    for (int64_t i = 0; i < table->count; i++, address += table->strides[column])
        if (single) memcpy(address, &rounded, sizeof rounded);
        else memcpy(address, &number, sizeof number);
}

#endif
