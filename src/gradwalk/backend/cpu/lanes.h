/* The lane kernel: a program's instructions, each of them over a block of lanes, one lane a sample of the batch.

   executor.py calls `run_lanes`. An instruction is five numbers: 8 times its operation plus its form, where its result
   goes, and its operands. Bit i of the form says that operand i is a scalar, the same for all lanes, and not a row of
   lanes. lane_loops.h, included below, has the loops once for each instruction set and type of number; the operations
   in it are generated from the table.

   The result of a lane does not depend on which other lanes there are: rows are filled up to a multiple of 16 lanes, so
   that no loop has a remainder, which would go through other functions of the C library. Sums add up lanes 16 apart,
   then these 16, in an order that no instruction set changes. */

#ifndef GRADWALK_LANES_H
#define GRADWALK_LANES_H

#include "column_table.h" /* first, as Python.h is to be */

#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

/* Vector mathematics comes from libmvec, which has all of the functions from this version on, or else from
   vector_functions.h, which has some. Loops that compilers make no vectors of would call libmvec for some of the
   functions alone, and what vector_functions.h has takes longer there than the C library: below -O3, and where a sanitizer
   looks at each access. GRADWALK_OWN_VECTORS takes vector_functions.h everywhere, for tests. */
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

/* musl's has numbers for some that are far below 1: see ieee.pxd. */
#if !defined(__GLIBC__)
#define acosh(x) (acosh)((x) >= 1.0 ? (x) : 0.0)
#endif

/* What this has been compiled with, and the C library that it runs with where that tells its version. */
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
static const char *c_library(void) {
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

/* Columns lie far apart in memory, each with little for one block: processors do not foresee what is read next. */
#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address)
#endif

/* Instructions that are not loops of formulas. */
#include "lane_opcodes.h"

/* What an entry of a table is: see schedule/encoding.py. */
enum { KINDS = 4, IN_SLOT = 0, SCALAR_ENTRY = 1 };

enum { TILES = 4 /* how many tiles are kept */, CACHE_LINE = 64 /* bytes */ };

/* Machine code for the instructions of a program: see llvm/vector_ir.py. */
typedef void (*machine_run)(const void *scalars, char **rows, void *memory, int64_t lanes);

/* What all shards of a batch are run with. A column has a number for each sample; strides are in bytes. */
typedef struct {
    int64_t samples;      /* how many there are */
    int64_t width;        /* how many of them a block has */
    int64_t shards;       /* each of them is some blocks */
    int64_t totals;       /* how many numbers a shard has for its totals: two for each output, or none */
    const int32_t *code;
    const int32_t *tables;  /* what TAKE takes from: see schedule/encoding.py */
    const int32_t *targets; /* what SCATTER adds to: see schedule/scatter.py */
    int64_t length;       /* of the code */
    int64_t slots;
    int64_t lanes;        /* that a row has room for: a multiple of 16 */
    const void *scalars;
    char *const *columns; /* addresses of first numbers */
    const int64_t *strides;
    const int64_t *tiles; /* by column, the first column of the tile that it is part of, or -1 */
    char *const *outputs; /* as columns */
    const int64_t *output_strides;
    uintptr_t machine;    /* the machine_run of MACHINE, or 0 */
} Batch;

/* Some samples of a batch, and the memory of the thread that runs them. */
typedef struct {
    int64_t first, last;  /* samples, of one shard */
    double *totals;       /* two for each output: a sum over the samples, and what rounding has taken from it */
    char **rows;          /* by slot, where its row stands */
    char *scratch;        /* room for a row in each slot, for the tiles and for machine code; aligned to cache lines */
} Shard;

#define PASTE(a, b) a##_##b
#define JOIN(a, b) PASTE(a, b)
#define NAME(name) JOIN(JOIN(name, SET), REAL)

/* Sums that are computed side by side, a register each: as many as hide how long an addition takes. A loop over them is
   unrolled, so that their array stands in registers. */
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
#define HAS_SHUFFLES /* of 8 numbers at once: shorter registers would take longer than single numbers do */
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

/* The address of one of the functions that vector_functions.h has for rows, by its name in <math.h>; 0 for others. */
#define IN_SET(name, set) {(uintptr_t)row_##name##_##set##_double, (uintptr_t)row_##name##_##set##_float},
#if HAS_INSTRUCTION_SETS
#define IN_ALL_SETS(name) {#name, {IN_SET(name, baseline) IN_SET(name, avx2) IN_SET(name, avx512)}},
#else
#define IN_ALL_SETS(name) {#name, {IN_SET(name, baseline)}},
#endif
static uintptr_t row_function(const char *name, int set, int single) {
    const struct {
        const char *name;
        uintptr_t addresses[3][2];
    } functions[] = {ROW_FUNCTIONS(IN_ALL_SETS)};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, name) == 0) return functions[k].addresses[set][single != 0];
    return 0;
}

/* Add the totals of all shards to those of the first one. */
static inline void add_totals(double *totals, int64_t shards, int64_t outputs) {
    for (int64_t shard = 1; shard < shards; shard++)
        for (int64_t k = 0; k < outputs; k++) {
            const double *other = totals + 2 * (shard * outputs + k);
            add_to_total_baseline_double(totals + 2 * k, other[0]);
            totals[2 * k + 1] += other[1];
        }
}

/* How many of baseline, avx2 and avx512 this machine has. */
static int instruction_sets(void) { /* asks for what is named above, and nothing else is used */
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

/* Run a program on the samples of a shard, by one of these instruction sets, in float32 where `single` says so. */
static void run_shard(int set, int single, const Batch *batch, const Shard *shard) {
    switch (2 * set + (single != 0)) {
#if HAS_INSTRUCTION_SETS
    case 5: run_blocks_avx512_float(batch, shard); break;
    case 4: run_blocks_avx512_double(batch, shard); break;
    case 3: run_blocks_avx2_float(batch, shard); break;
    case 2: run_blocks_avx2_double(batch, shard); break;
#endif
    case 1: run_blocks_baseline_float(batch, shard); break;
    default: run_blocks_baseline_double(batch, shard);
    }
}

/* Run a program on the shards from `from` up to `to`. */
static void run_shards(
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
        run_shard(set, single, batch, &shard);
    }
}

#endif
