/* The loops of the lane kernel, for one instruction set (SET) and one type of number (REAL). See lanes.h. */

#ifndef REAL /* this file includes itself, once for each type */

#define REAL double
#define F(name) name
#define R(number) number
#include "lane_loops.h"
#undef REAL
#undef F
#undef R
#define REAL float
#define F(name) name##f
#define R(number) number##f
#include "lane_loops.h"
#undef REAL
#undef F
#undef R

#else

#define POWER(x, y) ((y) == R(2.0) ? (x) * (x) : F(pow)(x, y))
#define SIGN(x) ((x) > R(0.0) ? R(1.0) : (x) < R(0.0) ? R(-1.0) : (x))

#define ROW(x, i) const REAL *x##_row = (const REAL *)rows[code[2 + i]];
#define SCALAR(x, i) const REAL x = scalars[code[2 + i]];
#define LANE(x) const REAL x = x##_row[i];
#define LOOP(...) { REAL *out = (REAL *)rows[code[1]]; VECTORISE for (int64_t i = 0; i < lanes; i++) { __VA_ARGS__ } break; }

/* An operation on one, two or three operands, in all of its forms: each operand is a row or a scalar. */
#define ONE(opcode, value) \
    case 8 * opcode: { ROW(x, 0) LOOP(LANE(x) out[i] = value;) }
#define TWO(opcode, value) \
    case 8 * opcode: { ROW(x, 0) ROW(y, 1) LOOP(LANE(x) LANE(y) out[i] = value;) } \
    case 8 * opcode + 1: { SCALAR(x, 0) ROW(y, 1) LOOP(LANE(y) out[i] = value;) } \
    case 8 * opcode + 2: { ROW(x, 0) SCALAR(y, 1) LOOP(LANE(x) out[i] = value;) }
#define THREE(opcode, value) \
    case 8 * opcode: { ROW(x, 0) ROW(y, 1) ROW(z, 2) LOOP(LANE(x) LANE(y) LANE(z) out[i] = value;) } \
    case 8 * opcode + 1: { SCALAR(x, 0) ROW(y, 1) ROW(z, 2) LOOP(LANE(y) LANE(z) out[i] = value;) } \
    case 8 * opcode + 2: { ROW(x, 0) SCALAR(y, 1) ROW(z, 2) LOOP(LANE(x) LANE(z) out[i] = value;) } \
    case 8 * opcode + 3: { SCALAR(x, 0) SCALAR(y, 1) ROW(z, 2) LOOP(LANE(z) out[i] = value;) } \
    case 8 * opcode + 4: { ROW(x, 0) ROW(y, 1) SCALAR(z, 2) LOOP(LANE(x) LANE(y) out[i] = value;) } \
    case 8 * opcode + 5: { SCALAR(x, 0) ROW(y, 1) SCALAR(z, 2) LOOP(LANE(y) out[i] = value;) } \
    case 8 * opcode + 6: { ROW(x, 0) SCALAR(y, 1) SCALAR(z, 2) LOOP(LANE(x) out[i] = value;) }

/* The numbers of a column for `count` samples; the rest of the row repeats the last one. The next block is prefetched:
   where columns share cache lines, the column that stands first in a line does it. */
static const REAL *NAME(load)(const char *first, int64_t stride, REAL *row, int64_t count, int64_t lanes) {
    const char *next = first + lanes * stride;
    if (stride == (int64_t)sizeof(REAL) && count == lanes && (uintptr_t)first % sizeof(REAL) == 0) {
        for (int64_t i = 0; i < lanes * stride; i += 64) PREFETCH(next + i);
        return (const REAL *)first; /* as it lies there */
    }
    if ((uintptr_t)first % 64 < sizeof(REAL))
        for (int64_t i = 0; i < lanes; i++) PREFETCH(next + i * stride);
    for (int64_t i = 0; i < count; i++) memcpy(row + i, first + i * stride, sizeof(REAL));
    for (int64_t i = count; i < lanes; i++) row[i] = row[count - 1];
    return row;
}

/* A tile: columns that stand side by side in memory, for all lanes, a row for each. The columns of a sample share a cache
   line, which is read once for all of them; one column after the other would fetch it TILE times. */
#ifdef HAS_SHUFFLES
typedef REAL NAME(eight) __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

static void NAME(load_tile)(const char *first, int64_t stride, REAL *tile, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i += 8) {
        NAME(eight) r[8], pairs[8], fours[8];
        for (int k = 0; k < 8; k++) {
            const char *sample = first + (i + k) * stride;
            r[k] = *(const NAME(eight) *)sample;
            PREFETCH(sample + lanes * stride);
        }
        for (int k = 0; k < 8; k += 2) {
            pairs[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
            pairs[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
        }
        for (int k = 0; k < 8; k += k % 4 == 1 ? 3 : 1) {
            fours[k] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            fours[k + 2] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
        for (int k = 0; k < 4; k++) {
            *(NAME(eight) *)(tile + k * lanes + i) =
                __builtin_shufflevector(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
            *(NAME(eight) *)(tile + (k + 4) * lanes + i) =
                __builtin_shufflevector(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
        }
    }
}
#else
static void NAME(load_tile)(const char *first, int64_t stride, REAL *tile, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i++) {
        const REAL *sample = (const REAL *)(first + i * stride);
        PREFETCH(first + (i + lanes) * stride);
        for (int64_t k = 0; k < TILE; k++) tile[k * lanes + i] = sample[k];
    }
}
#endif

/* The tiles of a block that were loaded last. */
typedef struct {
    REAL *cells;
    int64_t first[TILES]; /* the first column of each, or -1 */
    int next;             /* which is replaced next */
} NAME(Tiles);

/* A column's numbers for `count` samples from sample `first` on: a row, in this slot or where the column lies. */
static const REAL *NAME(load_column)(
    const Batch *batch, const Shard *shard, NAME(Tiles) *tiles, int slot, int column, int64_t first, int64_t count
) {
    const int64_t lanes = batch->lanes;
    const int64_t stride = batch->strides[column];
    const int64_t start = batch->tiles[column];
    REAL *home = (REAL *)(shard->scratch + slot * lanes * (int64_t)sizeof(REAL));
    if (start < 0 || count < lanes) return NAME(load)(batch->columns[column] + first * stride, stride, home, count, lanes);
    int found = 0;
    while (found < TILES && tiles->first[found] != start) found++;
    if (found == TILES) {
        found = tiles->next;
        tiles->next = (found + 1) % TILES;
        tiles->first[found] = start;
        NAME(load_tile)(batch->columns[start] + first * stride, stride, tiles->cells + found * TILE * lanes, lanes);
    }
    memcpy(home, tiles->cells + (found * TILE + column - start) * lanes, (size_t)lanes * sizeof(REAL));
    return home;
}

/* The number of an entry of a table, for a lane, which is a sample of the batch. */
static inline REAL NAME(entry)(const Batch *batch, char **rows, int32_t entry, int64_t lane, int64_t sample) {
    const int64_t which = entry / KINDS;
    switch (entry % KINDS) {
    case IN_SLOT: return ((const REAL *)rows[which])[lane];
    case SCALAR_ENTRY: return ((const REAL *)batch->scalars)[which];
    default: {
        REAL number;
        memcpy(&number, batch->columns[which] + sample * batch->strides[which], sizeof(REAL));
        return number;
    }
    }
}

/* TAKE: for each lane the entry of a table that its index picks, or nan. An index may be any number whatsoever. `form`
   says whether it is a scalar, and whether all entries are. The lanes from `count` on repeat the last sample. */
static void NAME(take)(const Batch *batch, char **rows, const int32_t *code, int form, int64_t first, int64_t count, int64_t lanes) {
    const REAL *scalars = (const REAL *)batch->scalars;
    const REAL *index = form & 1 ? scalars + code[2] : (const REAL *)rows[code[2]];
    const int64_t step = form & 1 ? 0 : 1;
    const int32_t *entries = batch->tables + code[3] + 1;
    const REAL length = (REAL)entries[-1];
    REAL *out = (REAL *)rows[code[1]];
    for (int64_t i = 0; i < lanes; i++) {
        const REAL x = index[i * step];
        const REAL position = x < R(0.0) ? x + length : x;
        const int32_t k = position >= R(0.0) && position < length ? (int32_t)position : -1;
        if (k < 0 || k >= entries[-1] || (REAL)k != position) out[i] = (REAL)NAN; /* the length may be rounded up */
        else if (form & 2) out[i] = scalars[entries[k] / KINDS];
        else out[i] = NAME(entry)(batch, rows, entries[k], i, first + (i < count ? i : count - 1));
    }
}

static void NAME(store)(char *first, int64_t stride, const REAL *row, int64_t count) {
    if (stride == (int64_t)sizeof(REAL)) memcpy(first, row, (size_t)count * sizeof(REAL));
    else for (int64_t i = 0; i < count; i++) memcpy(first + i * stride, row + i, sizeof(REAL));
}

/* Adds to a total and keeps what rounding takes (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B). */
static inline void NAME(add_to_total)(double *total, double x) {
    const double sum = total[0] + x;
    const double part = sum - total[0];
    total[1] += (total[0] - (sum - part)) + (x - part);
    total[0] = sum;
}

static inline double NAME(sum_of_16)(const double *x) {
    double sums[8];
    for (int j = 0; j < 8; j++) sums[j] = x[j] + x[j + 8];
    for (int j = 0; j < 4; j++) sums[j] += sums[j + 4];
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* The sum of a row, of the products of two, or of those of a row and a scalar, over `count` lanes. */
#define SUM_OF(term) { \
    double sums[16] = {0.0}; \
    const int64_t whole = count & ~(int64_t)15; \
    for (int64_t start = 0; start < whole; start += 16) \
        for (int j = 0; j < 16; j++) { const int64_t i = start + j; sums[j] += (double)(term); } \
    for (int64_t i = whole; i < count; i++) sums[i - whole] += (double)(term); \
    return NAME(sum_of_16)(sums); \
}
static double NAME(sum)(const REAL *x, int64_t count) SUM_OF(x[i])
static double NAME(dot)(const REAL *x, const REAL *y, int64_t count) SUM_OF(x[i] * y[i])
static double NAME(scaled_sum)(const REAL *x, REAL y, int64_t count) SUM_OF(x[i] * y)

/* SCATTER: add the number of each lane to the total of the output that its index picks, if there is one. */
static void NAME(scatter)(const Batch *batch, const Shard *shard, const int32_t *code, int form, int64_t count) {
    const REAL *index = (const REAL *)shard->rows[code[2]];
    const REAL *number = form & 2 ? (const REAL *)batch->scalars + code[3] : (const REAL *)shard->rows[code[3]];
    const int64_t step = form & 2 ? 0 : 1;
    const int32_t *targets = batch->targets + code[1] + 1;
    const REAL length = (REAL)targets[-1];
    for (int64_t i = 0; i < count; i++) {
        const int32_t k = index[i] >= R(0.0) && index[i] < length ? (int32_t)index[i] : -1;
        if (k < 0 || k >= targets[-1] || (REAL)k != index[i] || targets[k] < 0) continue;
        NAME(add_to_total)(shard->totals + 2 * targets[k], (double)number[i * step]);
    }
}

/* Run the instructions on one block, of `count` samples from sample `first` on. */
static void NAME(run_block)(const Batch *batch, const Shard *shard, int64_t first, int64_t count) {
    const int64_t lanes = (count + 15) & ~(int64_t)15;
    const REAL *scalars = (const REAL *)batch->scalars;
    char **rows = shard->rows;
    NAME(Tiles) tiles = {.next = 0, .cells = (REAL *)(shard->scratch + batch->slots * batch->lanes * (int64_t)sizeof(REAL))};
    for (int k = 0; k < TILES; k++) tiles.first[k] = -1;
    const int32_t *end = batch->code + batch->length;
    for (const int32_t *code = batch->code; code < end; code += 5) {
        switch (code[0]) {
/* --- generated by tools/generate.py from ops/table.py: lanes --- */
        TWO(1, x + y) /* add */
        TWO(2, x - y) /* sub */
        TWO(3, x * y) /* mul */
        TWO(4, x / y) /* div */
        TWO(5, POWER(x, y)) /* pow */
        ONE(6, -x) /* neg */
        ONE(7, F(fabs)(x)) /* abs */
        ONE(8, F(exp)(x)) /* exp */
        ONE(9, F(expm1)(x)) /* expm1 */
        ONE(10, F(log)(x)) /* log */
        ONE(11, F(log2)(x)) /* log2 */
        ONE(12, F(log10)(x)) /* log10 */
        ONE(13, F(log1p)(x)) /* log1p */
        ONE(14, F(sqrt)(x)) /* sqrt */
        ONE(15, F(sin)(x)) /* sin */
        ONE(16, F(cos)(x)) /* cos */
        ONE(17, F(tan)(x)) /* tan */
        ONE(18, F(asin)(x)) /* asin */
        ONE(19, F(acos)(x)) /* acos */
        ONE(20, F(atan)(x)) /* atan */
        ONE(21, F(sinh)(x)) /* sinh */
        ONE(22, F(cosh)(x)) /* cosh */
        ONE(23, F(tanh)(x)) /* tanh */
        ONE(24, (x < R(0.0) ? F(exp)(-F(fabs)(x)) : R(1.0)) / (R(1.0) + F(exp)(-F(fabs)(x)))) /* sigmoid */
        ONE(25, x < R(0.0) ? R(0.0) : x) /* relu */
        ONE(26, (x > R(0.0) ? x : R(0.0)) + F(log1p)(F(exp)(-F(fabs)(x)))) /* softplus */
        ONE(27, F(erf)(x)) /* erf */
        TWO(28, F(atan2)(x, y)) /* atan2 */
        TWO(29, F(hypot)(x, y)) /* hypot */
        TWO(30, x < y ? y : (y == y ? x : y)) /* maximum */
        TWO(31, y < x ? y : (y == y ? x : y)) /* minimum */
        THREE(32, x != R(0.0) ? y : z) /* where */
        ONE(33, SIGN(x)) /* sign */
        TWO(34, x < y ? R(1.0) : R(0.0)) /* less */
        TWO(35, x <= y ? R(1.0) : R(0.0)) /* less_equal */
        TWO(36, x == y ? R(1.0) : R(0.0)) /* equal */
        ONE(37, x) /* stop_gradient */
        THREE(41, x * y + z) /* muladd */
        THREE(42, x * y - z) /* mulsub */
        THREE(43, z - x * y) /* submul */
/* --- end of generated code --- */
        case 8 * LOAD:
            rows[code[1]] = (char *)NAME(load_column)(batch, shard, &tiles, code[1], code[2], first, count);
            break;
        case 8 * TAKE: case 8 * TAKE + 1: case 8 * TAKE + 2:
            NAME(take)(batch, rows, code, code[0] % 8, first, count, lanes);
            break;
        case 8 * STORE: {
            const int64_t stride = batch->output_strides[code[1]];
            NAME(store)(batch->outputs[code[1]] + first * stride, stride, (const REAL *)rows[code[2]], count);
            break;
        }
        case 8 * SUM: NAME(add_to_total)(shard->totals + 2 * code[1], NAME(sum)((const REAL *)rows[code[2]], count)); break;
        case 8 * SUM + 1: NAME(add_to_total)(shard->totals + 2 * code[1], (double)scalars[code[2]] * (double)count); break;
        case 8 * SCATTER: case 8 * SCATTER + 2: NAME(scatter)(batch, shard, code, code[0] % 8, count); break;
        case 8 * DOT: {
            ROW(x, 0) ROW(y, 1)
            NAME(add_to_total)(shard->totals + 2 * code[1], NAME(dot)(x_row, y_row, count));
            break;
        }
        case 8 * DOT + 2: {
            ROW(x, 0) SCALAR(y, 1)
            NAME(add_to_total)(shard->totals + 2 * code[1], NAME(scaled_sum)(x_row, y, count));
            break;
        }
        }
    }
}

static void NAME(run_blocks)(const Batch *batch, const Shard *shard) {
    for (int64_t i = 0; i < batch->slots; i++) shard->rows[i] = shard->scratch + i * batch->lanes * (int64_t)sizeof(REAL);
    for (int64_t first = shard->first; first < shard->last; first += batch->lanes) {
        const int64_t left = shard->last - first;
        NAME(run_block)(batch, shard, first, left < batch->lanes ? left : batch->lanes);
    }
}

#undef POWER
#undef SIGN
#undef ROW
#undef SCALAR
#undef LANE
#undef LOOP
#undef SUM_OF
#undef ONE
#undef TWO
#undef THREE

#endif
