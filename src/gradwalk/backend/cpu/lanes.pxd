# What compiled modules see under the names of lanes.py: the kernel in C.
from libc.stdint cimport int64_t


cdef extern from "lanes.h":
    ctypedef struct Run:
        const int* code
        int64_t length
        const void* scalars
        char* const* columns
        const int64_t* strides
        const int64_t* tiles
        char* const* outputs
        const int64_t* output_strides
        double* totals
        char** rows
        char* scratch
        int64_t slots
        int64_t lanes
        int64_t first
        int64_t last
    int instruction_sets()
    void run_lanes(int instruction_set, int single, const Run* run) nogil
    void add_totals(double* totals, int64_t strands, int64_t outputs) nogil


cdef inline void run(
    int instruction_set,
    bint single,
    int* code,
    int64_t length,
    void* scalars,
    void* columns,
    void* strides,
    void* tiles,
    void* outputs,
    void* output_strides,
    void* totals,
    void* rows,
    void* scratch,
    int64_t slots,
    int64_t lanes,
    int64_t first,
    int64_t last,
) noexcept nogil:
    cdef Run what = Run(
        code, length, scalars, <char* const*>columns, <const int64_t*>strides, <const int64_t*>tiles, <char* const*>outputs,
        <const int64_t*>output_strides, <double*>totals, <char**>rows,
        <char*>((<size_t>scratch + 63) & ~<size_t>63),  # rows begin where cache lines do
        slots, lanes, first, last,
    )
    run_lanes(instruction_set, single, &what)
