/* Runs rows, which are groups of instructions of one operation, as vector loops over slots.

   row_plan.py writes the segments, and interpreter.py calls `run_rows`. A segment has `ROW_WIDTH` ints:
   - 0: 10 * opcode + form;
   - 1: the number of instructions, and 2: the slot of the first result (the results are contiguous);
   - 3 to 5: the slots of the first instruction's operands, and 6 to 8: their strides;
   - 9: the number of repetitions, and 10 to 12: the strides of the operands between repetitions.
   In forms 0 to 7, bit k is set if operand k has stride 0; the other operands have stride 1. In form 8 (STRIDED) the
   strides are arbitrary. In form 9 (INDEXED) entry 3 is the position of the first instruction, and the operands are
   read from `code`. The loops are generated from the operation table, for operations that consist of plain
   arithmetic: vector code gives bitwise equal results for these.

   A segment with the operation `CHAIN` accumulates several rows into totals. Entry 3 is the position of its first link
   and entry 4 the number of links. A link has `LINK_WIDTH` ints:
   - 0: its operation (IS_NUMBER to ADD_ROW);
   - 1 and 2: the slots of its two operands, and 3 and 4: their strides between repetitions of the segment;
   - 5: how many times the link is applied, and 6 and 7: the strides of its operands from one time to the next.
   This file includes itself, once for each CPU instruction set. */

#ifndef SET

#ifndef GRADWALK_ROW_LOOPS_H
#define GRADWALK_ROW_LOOPS_H

#include <math.h>
#include <stdint.h>

enum { ROW_WIDTH = 13, STRIDED = 8, INDEXED = 9, ROW_FORMS = 10 };
enum { CHAIN = 0, LINK_WIDTH = 8, IS_NUMBER = 0, IS_ROW, IS_SCALED, ADD_SCALED, ADD_PRODUCTS, ADD_ROW };

/* Four numbers of a row, which fit into one or two vector registers (without vector extensions, one number). */
#ifdef __GNUC__
typedef double row_part __attribute__((vector_size(4 * sizeof(double)), aligned(sizeof(double)), may_alias));
#else
typedef double row_part;
#endif

#if defined(__clang__)
#define VECTORISE_ROW _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define VECTORISE_ROW _Pragma("GCC ivdep")
#else
#define VECTORISE_ROW
#endif

#define ROW_PASTE(a, b) a##_##b
#define ROW_JOIN(a, b) ROW_PASTE(a, b)

#define SET baseline
#include "row_loops.h"
#undef SET

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC target("avx2,fma,bmi2")
#define SET avx2
#include "row_loops.h"
#undef SET
#pragma GCC pop_options
#define ROWS_HAVE_AVX2 1
#endif

/* Run segments from position `at` on, up to a segment that must be interpreted; return the position of that segment, or
   `count` if there is none. */
static inline int64_t run_rows(
    const int32_t *segments, int64_t at, int64_t count, const int32_t *code, const int32_t *links, double *value
) {
#ifdef ROWS_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return run_rows_avx2(segments, at, count, code, links, value);
#endif
    return run_rows_baseline(segments, at, count, code, links, value);
}

#endif

#else

/* Compute `width` totals of a chain. The totals stay in registers. The rows of chains have at least four numbers. If
   the number of totals is not a multiple of four, the last four overlap totals that have been computed already. */
#define PARTS(width) for (size_t j = 0; j < (width) * sizeof(double) / sizeof(row_part); j++)
#define TIMES for (int64_t t = link[5]; t > 0; t--, x += link[6], y += link[7])
#define PART(x) ((const row_part *)(x + i))[j]
#define CHAIN_OF(width) \
    static inline void ROW_JOIN(chain_of_##width, SET)( \
        const int32_t *link, int64_t count, int64_t repetition, const double *value, int64_t i, double *out \
    ) { \
        row_part total[(width) * sizeof(double) / sizeof(row_part)] = {0}; \
        for (; count > 0; count--, link += LINK_WIDTH) { \
            const double *x = value + link[1] + repetition * link[3]; \
            const double *y = value + link[2] + repetition * link[4]; \
            switch (link[0]) { \
            case IS_NUMBER: PARTS(width) total[j] = *x - (row_part){0}; break; \
            case IS_ROW: PARTS(width) total[j] = PART(y); break; \
            case IS_SCALED: PARTS(width) total[j] = *x * PART(y); break; \
            case ADD_SCALED: TIMES PARTS(width) total[j] = *x * PART(y) + total[j]; break; \
            case ADD_PRODUCTS: TIMES PARTS(width) total[j] = PART(x) * PART(y) + total[j]; break; \
            case ADD_ROW: TIMES PARTS(width) total[j] = total[j] + PART(y); break; \
            } \
        } \
        PARTS(width) ((row_part *)(out + i))[j] = total[j]; \
    }

CHAIN_OF(16)
CHAIN_OF(4)

static inline void ROW_JOIN(run_chain, SET)(
    const int32_t *link, int64_t count, int64_t repetition, int64_t n, const double *value, double *out
) {
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) ROW_JOIN(chain_of_16, SET)(link, count, repetition, value, i, out);
    for (; i + 4 <= n; i += 4) ROW_JOIN(chain_of_4, SET)(link, count, repetition, value, i, out);
    if (i < n) ROW_JOIN(chain_of_4, SET)(link, count, repetition, value, n - 4, out);
}

#define REPEAT(...) { for (int64_t r = 0; r < s[9]; r++, out += n) { __VA_ARGS__ } break; }
#define EACH VECTORISE_ROW for (int64_t i = 0; i < n; i++)
#define AT(k) (s[3 + k] + r * s[10 + k])
#define PICK const int32_t *picked = code + 4 * (int64_t)s[3];
#define ROW_OF(x, k) const double *x##_row = value + AT(k);
#define LANE(x) const double x = x##_row[i];
#define SCALAR(x, k) const double x = value[AT(k)];
#define MOVING(x, k) const double x = value[AT(k) + i * s[6 + k]];
#define PICKED(x, k) const double x = value[picked[4 * i + 1 + k]];

#define ONE(opcode, f) \
    case ROW_FORMS * opcode: REPEAT(ROW_OF(x, 0) EACH { LANE(x) out[i] = f; }) \
    case ROW_FORMS * opcode + STRIDED: REPEAT(EACH { MOVING(x, 0) out[i] = f; }) \
    case ROW_FORMS * opcode + INDEXED: REPEAT(PICK EACH { PICKED(x, 0) out[i] = f; })
#define TWO(opcode, f) \
    case ROW_FORMS * opcode: REPEAT(ROW_OF(x, 0) ROW_OF(y, 1) EACH { LANE(x) LANE(y) out[i] = f; }) \
    case ROW_FORMS * opcode + 1: REPEAT(SCALAR(x, 0) ROW_OF(y, 1) EACH { LANE(y) out[i] = f; }) \
    case ROW_FORMS * opcode + 2: REPEAT(ROW_OF(x, 0) SCALAR(y, 1) EACH { LANE(x) out[i] = f; }) \
    case ROW_FORMS * opcode + STRIDED: REPEAT(EACH { MOVING(x, 0) MOVING(y, 1) out[i] = f; }) \
    case ROW_FORMS * opcode + INDEXED: REPEAT(PICK EACH { PICKED(x, 0) PICKED(y, 1) out[i] = f; })
#define THREE(opcode, f) \
    case ROW_FORMS * opcode: REPEAT(ROW_OF(x, 0) ROW_OF(y, 1) ROW_OF(z, 2) EACH { LANE(x) LANE(y) LANE(z) out[i] = f; }) \
    case ROW_FORMS * opcode + 1: REPEAT(SCALAR(x, 0) ROW_OF(y, 1) ROW_OF(z, 2) EACH { LANE(y) LANE(z) out[i] = f; }) \
    case ROW_FORMS * opcode + 2: REPEAT(ROW_OF(x, 0) SCALAR(y, 1) ROW_OF(z, 2) EACH { LANE(x) LANE(z) out[i] = f; }) \
    case ROW_FORMS * opcode + 3: REPEAT(SCALAR(x, 0) SCALAR(y, 1) ROW_OF(z, 2) EACH { LANE(z) out[i] = f; }) \
    case ROW_FORMS * opcode + 4: REPEAT(ROW_OF(x, 0) ROW_OF(y, 1) SCALAR(z, 2) EACH { LANE(x) LANE(y) out[i] = f; }) \
    case ROW_FORMS * opcode + 5: REPEAT(SCALAR(x, 0) ROW_OF(y, 1) SCALAR(z, 2) EACH { LANE(y) out[i] = f; }) \
    case ROW_FORMS * opcode + 6: REPEAT(ROW_OF(x, 0) SCALAR(y, 1) SCALAR(z, 2) EACH { LANE(x) out[i] = f; }) \
    case ROW_FORMS * opcode + STRIDED: REPEAT(EACH { MOVING(x, 0) MOVING(y, 1) MOVING(z, 2) out[i] = f; }) \
    case ROW_FORMS * opcode + INDEXED: REPEAT(PICK EACH { PICKED(x, 0) PICKED(y, 1) PICKED(z, 2) out[i] = f; })

static int64_t ROW_JOIN(run_rows, SET)(
    const int32_t *segments, int64_t at, int64_t count, const int32_t *code, const int32_t *links, double *value
) {
    for (; at < count; at++) {
        const int32_t *s = segments + ROW_WIDTH * at;
        const int64_t n = s[1];
        double *out = value + s[2];
        switch (s[0]) {
        case CHAIN:
            REPEAT(ROW_JOIN(run_chain, SET)(links + LINK_WIDTH * (int64_t)s[3], s[4], r, n, value, out);)
#include "row_operations.h"
        default: return at;
        }
    }
    return at;
}

#undef PARTS
#undef TIMES
#undef PART
#undef CHAIN_OF
#undef REPEAT
#undef EACH
#undef AT
#undef PICK
#undef ROW_OF
#undef LANE
#undef SCALAR
#undef MOVING
#undef PICKED
#undef ONE
#undef TWO
#undef THREE

#endif
