# C declarations of the functions in lanes.py, for compiled modules.
from libc.stdint cimport int64_t


# Pointers to arrays of pointers are declared as void*, because launch.py allocates some of these arrays with NumPy.
cdef extern from "lanes.h":
    int TILES
    int CACHE_LINE
    int PARTIAL_SUMS
    bint USES_LIBMVEC
    bint USES_OWN_FUNCTIONS
    const char* COMPILER
    const char* c_library()
    ctypedef struct Batch:
        int64_t samples
        int64_t width
        int64_t shards
        int64_t totals
        const int* code
        const int* tables
        const int* targets
        int64_t length
        int64_t slots
        int64_t sums
        int64_t lanes
        const void* scalars
        void* columns
        void* strides
        void* tiles
        void* outputs
        void* output_strides
        size_t machine
    int instruction_sets()
    size_t row_function(const char* name, int instruction_set, int single)
    int run_shards(
        int instruction_set, int single, const Batch* batch, int64_t first, int64_t last, double* totals, void* rows,
        void* scratch
    ) nogil
    const void* scalars_of(double* computed, int64_t count, bint single) nogil
    double* totals_of(double* computed, int64_t count) nogil
    void add_totals(double* totals, int64_t shards, int64_t outputs) nogil


cdef inline int run(
    int instruction_set, bint single, Batch batch, int64_t first, int64_t last, double* totals, void* rows, void* scratch
) noexcept nogil:
    return run_shards(instruction_set, single, &batch, first, last, totals, rows, scratch)


# Returns its argument. If that is -1, a signal handler has raised an exception, which is then raised.
cdef inline int checked(int status) except? -1:
    return status
