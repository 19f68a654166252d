/* The lane kernel: runs each instruction of a program over a block of lanes, one lane per sample of the batch.

   launch.py calls `run_shards`. An instruction is five integers: 8 * opcode + form, the result slot, and three
   operands. Bit i of the form is set if operand i is a scalar (the same number for all lanes) instead of a row of
   lanes. lane_loops.h, included below, contains the loops, once per instruction set and dtype; its operations are
   generated from ops/table.py.

   The result of a lane does not depend on the other lanes: rows are padded to a multiple of 16 lanes, so that no loop
   has a remainder. In a remainder, compilers would call other functions of the C library, such as the scalar `exp`
   instead of its vector version. A sum first adds the lanes whose distance is a multiple of 16, then the 16 partial
   sums. This order is the same for all instruction sets. */

#ifndef GRADWALK_LANES_H
#define GRADWALK_LANES_H

#include "column_table.h" /* first, because it includes Python.h */

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

/* With glibc 2.35 or later, vector functions come from libmvec; older versions lack some of them. Otherwise they come
   from vector_functions.h, which has some of them. Neither is used if loops are not vectorized (below -O3 or with a
   sanitizer): only some functions would then call libmvec, and vector_functions.h would be slower than the C library.
   Tests define GRADWALK_OWN_VECTORS to use vector_functions.h everywhere. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || GRADWALK_OPTIMIZE < 3
#define MAKES_VECTORS 0
#else
#define MAKES_VECTORS 1
#endif
#if MAKES_VECTORS && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35) && !defined(GRADWALK_OWN_VECTORS)
#define USES_LIBMVEC 1
#define VECTOR_1(name) \
    __attribute__((simd("notinbranch"))) double name(double); \
    __attribute__((simd("notinbranch"))) float name##f(float);
#define VECTOR_2(name) \
    __attribute__((simd("notinbranch"))) double name(double, double); \
    __attribute__((simd("notinbranch"))) float name##f(float, float);
VECTOR_1(exp) VECTOR_1(expm1) VECTOR_1(log) VECTOR_1(log2) VECTOR_1(log10) VECTOR_1(log1p) VECTOR_1(sin) VECTOR_1(cos)
VECTOR_1(tan) VECTOR_1(asin) VECTOR_1(acos) VECTOR_1(atan) VECTOR_1(sinh) VECTOR_1(cosh) VECTOR_1(tanh) VECTOR_1(erf)
VECTOR_1(asinh) VECTOR_1(acosh) VECTOR_1(atanh) VECTOR_1(cbrt) VECTOR_1(erfc) VECTOR_1(exp2)
VECTOR_2(pow) VECTOR_2(atan2) VECTOR_2(hypot)
#endif
#endif

#ifndef USES_LIBMVEC
#define USES_LIBMVEC 0
#endif
#if defined(GRADWALK_OWN_VECTORS) || (MAKES_VECTORS && !USES_LIBMVEC)
#define USES_OWN_FUNCTIONS 1
#else
#define USES_OWN_FUNCTIONS 0
#endif

/* musl's acosh returns numbers instead of nan for some x far below 1: see ieee.pxd. */
#if !defined(__GLIBC__)
#define acosh(x) (acosh)((x) >= 1.0 ? (x) : 0.0)
#endif

/* The compiler, and the version of glibc at run time (empty for other C libraries). */
#if defined(__clang__)
#define COMPILER "Clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "GCC " __VERSION__
#elif defined(_MSC_VER)
#define IN_QUOTES(number) #number
#define AS_TEXT(number) IN_QUOTES(number)
#define COMPILER "MSVC " AS_TEXT(_MSC_VER)
#else
#define COMPILER "a C compiler"
#endif
static inline const char *c_library(void) {
#if defined(__GLIBC__)
    return gnu_get_libc_version();
#else
    return "";
#endif
}

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_INSTRUCTION_SETS 1
#else
#define HAS_INSTRUCTION_SETS 0
#endif

#if defined(__clang__)
#define VECTORISE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define VECTORISE _Pragma("GCC ivdep")
#else
#define VECTORISE
#endif

/* A block reads a short piece of every column, and the columns are far apart in memory. Hardware prefetchers do not
   predict such reads. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address)
#endif

/* Opcodes of the instructions that are not elementwise operations. */
#include "lane_opcodes.h"

/* Encoding of the table entries of TAKE: see schedule/encoding.py. */
enum { KINDS = 4, IN_SLOT = 0, SCALAR_ENTRY = 1 };

enum { TILES = 4 /* tiles cached per block */, CACHE_LINE = 64 /* bytes */, PARTIAL_SUMS = 16 };

/* Machine code of a program, compiled by llvm/vector_ir.py. It returns a status, which is 0 if the program has run. */
typedef int (*machine_run)(const void *scalars, char **rows, int64_t lanes);

/* Arguments shared by all shards of a batch. A column has one number per sample; strides are in bytes. */
typedef struct {
    int64_t samples;      /* number of samples */
    int64_t width;        /* samples per block */
    int64_t shards;       /* number of shards; each has one or more blocks */
    int64_t totals;       /* length of a shard's totals: two numbers per output; 0 if nothing is summed */
    const int32_t *code;
    const int32_t *tables;  /* tables read by TAKE: see schedule/encoding.py */
    const int32_t *targets; /* output lists of SCATTER: see schedule/scatter.py */
    int64_t length;       /* length of `code` */
    int64_t slots;
    int64_t sums;         /* number of the last slots, which hold PARTIAL_SUMS numbers that MACHINE adds to */
    int64_t lanes;        /* lanes allocated per row: a multiple of 16 */
    const void *scalars;
    char *const *columns; /* address of each column's first number */
    const int64_t *strides;
    const int64_t *tiles; /* per column: the first column of its tile, or -1 */
    char *const *outputs; /* address of each output column's first number */
    const int64_t *output_strides;
    uintptr_t machine;    /* address of the machine_run that MACHINE calls, or 0 */
} Batch;

/* A shard of a batch, and the scratch memory of the thread that runs it. */
typedef struct {
    int64_t first, last;  /* samples `first` to `last - 1` */
    double *totals;       /* two per output: the sum over the samples and its accumulated rounding error */
    char **rows;          /* address of the row in each slot */
    char *scratch;        /* memory for the rows and for the tiles; aligned to cache lines */
} Shard;

#define PASTE(a, b) a##_##b
#define JOIN(a, b) PASTE(a, b)
#define NAME(name) JOIN(JOIN(name, SET), REAL)

/* Number of sums that are computed side by side, one register each, to hide the latency of additions. Loops over these
   sums are unrolled, which keeps the sums in registers. */
enum { SIDE_BY_SIDE = 8 };
#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define SET baseline
#define REGISTER 16 /* bytes */
#include "lane_loops.h"
#undef SET
#undef REGISTER

#if HAS_INSTRUCTION_SETS
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2")
#endif
#define SET avx2
#define REGISTER 32
#include "lane_loops.h"
#undef SET
#undef REGISTER
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2,avx512f,avx512dq,avx512bw,avx512vl,avx512cd"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2,avx512f,avx512dq,avx512bw,avx512vl,avx512cd,prefer-vector-width=512")
#endif
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAS_SHUFFLES /* shuffles of 8 numbers; in shorter registers, copying single numbers is faster */
#endif
#endif
#define SET avx512
#define REGISTER 64
#include "lane_loops.h"
#undef SET
#undef REGISTER
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/* Return the address of the function in vector_functions.h that applies the <math.h> function `name` to a row, or 0. */
#define IN_SET(name, set) {(uintptr_t)row_##name##_##set##_double, (uintptr_t)row_##name##_##set##_float},
#if HAS_INSTRUCTION_SETS
#define IN_ALL_SETS(name) {#name, {IN_SET(name, baseline) IN_SET(name, avx2) IN_SET(name, avx512)}},
#else
#define IN_ALL_SETS(name) {#name, {IN_SET(name, baseline)}},
#endif
static inline uintptr_t row_function(const char *name, int set, int single) {
    const struct {
        const char *name;
        uintptr_t addresses[3][2];
    } functions[] = {ROW_FUNCTIONS(IN_ALL_SETS)};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, name) == 0) return functions[k].addresses[set][single != 0];
    return 0;
}

/* `computed` holds `count` float64 numbers, memory of the same length, and the totals of all shards. The following
   functions return the numbers as scalars in the dtype of the batch, and the totals. */
static inline const void *scalars_of(double *computed, int64_t count, int single) {
    float *rounded = (float *)(computed + count);
    if (!single) return computed;
    for (int64_t k = 0; k < count; k++) rounded[k] = (float)computed[k];
    return rounded;
}

static inline double *totals_of(double *computed, int64_t count) {
    return computed + 2 * count;
}

/* Add the totals of all shards to the totals of the first shard. */
static inline void add_totals(double *totals, int64_t shards, int64_t outputs) {
    for (int64_t shard = 1; shard < shards; shard++)
        for (int64_t k = 0; k < outputs; k++) {
            const double *other = totals + 2 * (shard * outputs + k);
            add_to_total_baseline_double(totals + 2 * k, other[0]);
            totals[2 * k + 1] += other[1];
        }
}

/* Return how many of baseline, avx2 and avx512 this machine supports. */
static inline int instruction_sets(void) { /* checks the features that the pragmas above enable */
#if HAS_INSTRUCTION_SETS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) return 1;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
        !__builtin_cpu_supports("avx512cd")) return 2;
    return 3;
#else
    return 1;
#endif
}

/* Run a program on a shard with one instruction set, in float32 if `single`, else in float64. Return the status. */
static int run_shard(int set, int single, const Batch *batch, const Shard *shard) {
    switch (2 * set + (single != 0)) {
#if HAS_INSTRUCTION_SETS
    case 5: return run_blocks_avx512_float(batch, shard);
    case 4: return run_blocks_avx512_double(batch, shard);
    case 3: return run_blocks_avx2_float(batch, shard);
    case 2: return run_blocks_avx2_double(batch, shard);
#endif
    case 1: return run_blocks_baseline_float(batch, shard);
    default: return run_blocks_baseline_double(batch, shard);
    }
}

/* Run a program on the shards `from` to `to - 1`; stop and return the status if machine code fails. */
static int run_shards(
    int set, int single, const Batch *batch, int64_t from, int64_t to, double *totals, void *rows, void *scratch
) {
    const int64_t blocks = (batch->samples + batch->width - 1) / batch->width;
    for (int64_t k = from; k < to; k++) {
        const int64_t first = blocks * k / batch->shards * batch->width;
        const int64_t last = blocks * (k + 1) / batch->shards * batch->width;
        const Shard shard = {
            .first = first,
            .last = last < batch->samples ? last : batch->samples,
            .totals = totals + k * batch->totals,
            .rows = rows,
            .scratch = scratch,
        };
        const int status = run_shard(set, single, batch, &shard);
        if (status) return status;
    }
    return 0;
}

#endif
