/* The loops of the lane kernel for one instruction set (SET) and one dtype (REAL). See lanes.h. */

#ifndef REAL /* this file includes itself once per dtype */

#define REAL double
#define SINGLE 0
#define F(name) name
#define R(number) number
#include "lane_loops.h"
#undef REAL
#undef SINGLE
#undef F
#undef R
#define REAL float
#define SINGLE 1
#define F(name) name##f
#define R(number) number##f
#include "lane_loops.h"
#undef REAL
#undef SINGLE
#undef F
#undef R

#else

#include "vector_functions.h"

/* V(name) calls a math function in a formula; FUNCTION applies a math function to a whole row. Both use
   vector_functions.h if USES_OWN_FUNCTIONS is 1. V(sin) and V(cos) then accept only angles up to LARGEST_NEAR. */
#if USES_OWN_FUNCTIONS
#define V(name) NAME(lane_##name)
#define FUNCTION(opcode, name) case 8 * opcode: NAME(row_##name)(rows[code[2]], rows[code[1]], lanes); break;
#else
#define V(name) F(name)
#define FUNCTION(opcode, name) ONE(opcode, F(name)(x))
#endif

#define POWER(x, y) ((y) == R(2.0) ? (x) * (x) : F(pow)(x, y))
#define SIGN(x) ((x) > R(0.0) ? R(1.0) : (x) < R(0.0) ? R(-1.0) : (x))
#define FLOOR_DIVIDE(x, y) NAME(floor_divide)(x, y)
#define MOD(x, y) NAME(mod)(x, y)

#define ROW(x, i) const REAL *x##_row = (const REAL *)rows[code[2 + i]];
#define SCALAR(x, i) const REAL x = scalars[code[2 + i]];
#define LANE(x) const REAL x = x##_row[i];
#define LOOP(...) { REAL *out = (REAL *)rows[code[1]]; VECTORISE for (int64_t i = 0; i < lanes; i++) { __VA_ARGS__ } break; }

/* All forms of an operation with one, two or three operands. In each form, an operand is either a row or a scalar. */
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

static inline REAL NAME(floor_divide)(REAL x, REAL y) {
    const REAL m = F(fmod)(x, y);
    const REAL q = (x - m) / y - (m != R(0.0) && (m < R(0.0)) != (y < R(0.0)) ? R(1.0) : R(0.0));
    const REAL below = F(floor)(q);
    return y == R(0.0) ? x / y : q == R(0.0) ? F(copysign)(R(0.0), x / y) : q - below > R(0.5) ? below + R(1.0) : below;
}

static inline REAL NAME(mod)(REAL x, REAL y) {
    const REAL m = F(fmod)(x, y);
    return m == R(0.0) ? F(copysign)(R(0.0), y) : (m < R(0.0)) != (y < R(0.0)) ? m + y : m;
}

/* Return the numbers of a column for `count` samples, padded to `lanes` numbers by repeating the last one. Also
   prefetch the next block of the column. If several columns share a cache line, only the first column in the line
   prefetches it. If `ahead` is 0, contiguous columns are not prefetched, because machine code does that itself. */
static const REAL *NAME(load)(const char *first, int64_t stride, REAL *row, int64_t count, int64_t lanes, int ahead) {
    const char *next = first + lanes * stride;
    if (stride == (int64_t)sizeof(REAL) && count == lanes && (uintptr_t)first % sizeof(REAL) == 0) {
        for (int64_t i = 0; ahead && i < lanes * stride; i += 64) PREFETCH(next + i);
        return (const REAL *)first; /* read in place, without a copy */
    }
    if ((uintptr_t)first % 64 < sizeof(REAL))
        for (int64_t i = 0; i < lanes; i++) PREFETCH(next + i * stride);
    for (int64_t i = 0; i < count; i++) memcpy(row + i, first + i * stride, sizeof(REAL));
    for (int64_t i = count; i < lanes; i++) row[i] = row[count - 1];
    return row;
}

/* Load a tile: copy TILE columns that are adjacent in memory to rows, one row per column. The numbers of a sample share
   a cache line, which is read once. Loading column by column would read it TILE times. */
#ifdef HAS_SHUFFLES
typedef REAL NAME(eight) __attribute__((vector_size(8 * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

static inline void NAME(transpose)(NAME(eight) *r) {
    NAME(eight) pairs[8], fours[8]; /* kept in registers, because all loops are unrolled */
    UNROLL for (int k = 0; k < 8; k += 2) {
        pairs[k] = __builtin_shufflevector(r[k], r[k + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pairs[k + 1] = __builtin_shufflevector(r[k], r[k + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    UNROLL for (int i = 0; i < 4; i++) {
        const int k = i / 2 * 4 + i % 2;
        fours[k] = __builtin_shufflevector(pairs[k], pairs[k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        fours[k + 2] = __builtin_shufflevector(pairs[k], pairs[k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
    UNROLL for (int k = 0; k < 4; k++) {
        r[k] = __builtin_shufflevector(fours[k], fours[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        r[k + 4] = __builtin_shufflevector(fours[k], fours[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

static void NAME(load_tile)(const char *first, int64_t stride, REAL *tile, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i += 8) {
        NAME(eight) r[8];
        UNROLL for (int k = 0; k < 8; k++) {
            const char *sample = first + (i + k) * stride;
            r[k] = *(const NAME(eight) *)sample;
            PREFETCH(sample + lanes * stride);
        }
        NAME(transpose)(r);
        UNROLL for (int k = 0; k < 8; k++) *(NAME(eight) *)(tile + k * lanes + i) = r[k];
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

/* The most recently loaded tiles of a block. */
typedef struct {
    REAL *cells;
    int64_t first[TILES]; /* the first column of each tile, or -1 */
    int next;             /* index of the tile to replace next */
} NAME(Tiles);

/* Return the distance between the rows of slots in bytes. It is one cache line more than a row, because rows at
   multiples of the page size would all compete for the same few cache sets. */
static inline int64_t NAME(row_bytes)(const Batch *batch) {
    return batch->lanes * (int64_t)sizeof(REAL) + CACHE_LINE;
}

/* Return the memory behind the rows, which holds the partial sums and the tiles. */
static inline char *NAME(after_rows)(const Batch *batch, const Shard *shard) {
    return shard->scratch + (batch->slots - batch->sums) * NAME(row_bytes)(batch);
}

/* Return a pointer to the numbers of a column for `count` samples from sample `first` on. The numbers are read in place
   if possible; otherwise they are copied to the row of the slot. */
static const REAL *NAME(load_column)(
    const Batch *batch, const Shard *shard, NAME(Tiles) *tiles, int slot, int column, int64_t first, int64_t count,
    int ahead
) {
    const int64_t lanes = batch->lanes;
    const int64_t stride = batch->strides[column];
    const int64_t start = batch->tiles[column];
    REAL *home = (REAL *)(shard->scratch + slot * NAME(row_bytes)(batch));
    if (start < 0 || count < lanes) return NAME(load)(batch->columns[column] + first * stride, stride, home, count, lanes, ahead);
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

/* Return the value of a table entry in lane `lane`, which computes sample `sample` of the batch. */
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

/* TAKE: write to each lane the table entry that its index selects, or nan if the index is out of range or not an
   integer. Bit 0 of `form` is set if the index is a scalar, bit 1 if all entries are scalars. Lanes from `count` on
   repeat the last sample. */
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
        if (k < 0 || k >= entries[-1] || (REAL)k != position) out[i] = (REAL)NAN; /* float32 may round `length` up */
        else if (form & 2) out[i] = scalars[entries[k] / KINDS];
        else out[i] = NAME(entry)(batch, rows, entries[k], i, first + (i < count ? i : count - 1));
    }
}

static void NAME(store)(char *first, int64_t stride, const REAL *row, int64_t count) {
    if (stride == (int64_t)sizeof(REAL)) memcpy(first, row, (size_t)count * sizeof(REAL));
    else for (int64_t i = 0; i < count; i++) memcpy(first + i * stride, row + i, sizeof(REAL));
}

/* Return how many STOREs from `code` on write to columns that are adjacent in memory, at most TILE. */
static inline int64_t NAME(side_by_side)(const Batch *batch, const int32_t *code, const int32_t *end) {
    const char *first = batch->outputs[code[1]];
    const int64_t stride = batch->output_strides[code[1]];
    int64_t columns = 1;
    if (stride == (int64_t)sizeof(REAL)) return 1;
    for (const int32_t *next = code + 5; next < end && columns < TILE && next[0] == 8 * STORE; next += 5, columns++)
        if (batch->outputs[next[1]] != first + columns * sizeof(REAL) || batch->output_strides[next[1]] != stride) break;
    return columns;
}

#define SAMPLES(columns) \
    case columns: \
        for (; i < count; i++, sample += stride) \
            for (int k = 0; k < columns; k++) memcpy(sample + k * sizeof(REAL), row[k] + i, sizeof(REAL)); \
        break;

/* Run STOREs to adjacent columns as one loop over the samples, because the numbers of a sample share a cache line. */
static void NAME(store_tile)(
    const Batch *batch, char **rows, const int32_t *code, int64_t columns, int64_t start, int64_t count
) {
    const int64_t stride = batch->output_strides[code[1]];
    char *sample = batch->outputs[code[1]] + start * stride;
    const REAL *row[TILE];
    int64_t i = 0;
    for (int64_t k = 0; k < columns; k++) row[k] = (const REAL *)rows[code[5 * k + 2]];
#ifdef HAS_SHUFFLES
    for (; columns == TILE && i + 8 <= count; i += 8) {
        NAME(eight) r[8];
        UNROLL for (int k = 0; k < 8; k++) r[k] = *(const NAME(eight) *)(row[k] + i);
        NAME(transpose)(r);
        UNROLL for (int k = 0; k < 8; k++, sample += stride) memcpy(sample, r + k, sizeof r[k]);
    }
#endif
    switch (columns) {
    SAMPLES(2) SAMPLES(3) SAMPLES(4) SAMPLES(5) SAMPLES(6) SAMPLES(7) SAMPLES(8)
    }
}

/* Add to a total and accumulate the rounding error (Knuth, The Art of Computer Programming 2, 4.2.2, theorem B). */
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

/* Sum `term` over `count` lanes. The first `fours` lanes are added in groups of four before they are converted to
   double. This saves time, because a conversion takes as long as an addition. It is done only for float32 products,
   which are rounded anyway. If a group overflows, the sum is computed again with every term converted first. */
#define SUM_OF(fours, term) { \
    double sums[16] = {0.0}; \
    const int64_t whole = count & ~(int64_t)15; \
    for (int64_t start = 0; start < fours; start += 64) \
        for (int64_t i = start; i < start + 16; i++) \
            sums[i - start] += (double)((term(i) + term(i + 16)) + (term(i + 32) + term(i + 48))); \
    for (int64_t start = fours; start < whole; start += 16) \
        for (int64_t i = start; i < start + 16; i++) sums[i - start] += (double)term(i); \
    for (int64_t i = whole; i < count; i++) sums[i - whole] += (double)term(i); \
    const double found = NAME(sum_of_16)(sums); \
    if (fours == 0 || isfinite(found)) return found; \
}
#define FOURS (sizeof(REAL) < sizeof(double) ? count & ~(int64_t)63 : 0)
#define NUMBER(i) x[i]
#define PRODUCT(i) (x[i] * y[i])
#define MULTIPLE(i) (x[i] * y)
static double NAME(sum)(const REAL *x, int64_t count) { SUM_OF(0, NUMBER) }
static double NAME(dot)(const REAL *x, const REAL *y, int64_t count) { SUM_OF(FOURS, PRODUCT) SUM_OF(0, PRODUCT) }
static double NAME(scaled_sum)(const REAL *x, REAL y, int64_t count) { SUM_OF(FOURS, MULTIPLE) SUM_OF(0, MULTIPLE) }

#include "lane_definitions.h"

/* SCATTER: add the number of each lane to the total of the output that the lane's index selects. An index without an
   output adds nothing. If `table` is not 0, it is the length of the table, and an index out of range adds nan to the
   totals of all outputs in the list. */
static void NAME(scatter)(const Batch *batch, const Shard *shard, const int32_t *code, int form, int64_t count) {
    const REAL *index = (const REAL *)shard->rows[code[2]];
    const REAL *number = form & 2 ? (const REAL *)batch->scalars + code[3] : (const REAL *)shard->rows[code[3]];
    const int64_t step = form & 2 ? 0 : 1;
    const int32_t *targets = batch->targets + code[1] + 1;
    const REAL length = (REAL)targets[-1];
    const int32_t table = targets[-2];
    for (int64_t i = 0; i < count; i++) {
        if (table && !(index[i] >= R(0.0) && index[i] < (REAL)table && (REAL)(int32_t)index[i] == index[i])) {
            for (int32_t k = 0; k < targets[-1]; k++) {
                if (targets[k] >= 0) NAME(add_to_total)(shard->totals + 2 * targets[k], (double)NAN);
            }
            continue;
        }
        const int32_t k = index[i] >= R(0.0) && index[i] < length ? (int32_t)index[i] : -1;
        if (k < 0 || k >= targets[-1] || (REAL)k != index[i] || targets[k] < 0) continue;
        NAME(add_to_total)(shard->totals + 2 * targets[k], (double)number[i * step]);
    }
}

#ifdef UNROLL
/* Sums of products, as in a matrix times a vector: a run of MULADDs, each of which adds to the result before it.
   Running them together keeps the sum in registers instead of loading and storing it for every instruction. */
typedef REAL NAME(numbers) __attribute__((vector_size(REGISTER), aligned(sizeof(REAL)), may_alias));

/* Return the end of the run of MULADDs that begins at `code`. */
static inline const int32_t *NAME(end_of_run)(const int32_t *code, const int32_t *end) {
    if (code[0] < 8 * MULADD || code[0] > 8 * MULADD + 2) return code + 5;
    const int32_t out = code[1];
    for (code += 5; code < end; code += 5) {
        const int form = code[0] - 8 * MULADD;
        if (form < 0 || form > 2 || code[1] != out || code[4] != out) break;
        if ((form != 1 && code[2] == out) || (form != 2 && code[3] == out)) break; /* a factor is the sum itself */
    }
    return code;
}

static inline __attribute__((always_inline)) void NAME(add_products)(
    const REAL *scalars, char **rows, const int32_t *code, const int32_t *end, int64_t first, const int count
) {
#define AT(row) ((const NAME(numbers) *)((const REAL *)rows[row] + first))
    NAME(numbers) sums[SIDE_BY_SIDE];
    NAME(numbers) *out = (NAME(numbers) *)((REAL *)rows[code[1]] + first);
    UNROLL for (int k = 0; k < count; k++) sums[k] = AT(code[4])[k];
    for (; code < end; code += 5) {
        if (code[0] == 8 * MULADD) {
            const NAME(numbers) *x = AT(code[2]), *y = AT(code[3]);
            UNROLL for (int k = 0; k < count; k++) sums[k] = x[k] * y[k] + sums[k];
        } else {
            const int at = code[0] - 8 * MULADD; /* the factor that is a scalar: 1 or 2 */
            const REAL x = scalars[code[1 + at]];
            const NAME(numbers) *y = AT(code[4 - at]);
            UNROLL for (int k = 0; k < count; k++) sums[k] = x * y[k] + sums[k];
        }
    }
    UNROLL for (int k = 0; k < count; k++) out[k] = sums[k];
#undef AT
}

static void NAME(run_products)(const REAL *scalars, char **rows, const int32_t *code, const int32_t *end, int64_t lanes) {
    const int64_t width = REGISTER / sizeof(REAL), wide = width * SIDE_BY_SIDE;
    int64_t i = 0;
    for (; i + wide <= lanes; i += wide) NAME(add_products)(scalars, rows, code, end, i, SIDE_BY_SIDE);
    for (; i < lanes; i += width) NAME(add_products)(scalars, rows, code, end, i, 1);
}
#endif

/* Run the instructions on one block: `count` samples from sample `first` on. Return the status of machine code. */
static int NAME(run_block)(const Batch *batch, const Shard *shard, int64_t first, int64_t count) {
    const int64_t lanes = (count + 15) & ~(int64_t)15;
    const REAL *scalars = (const REAL *)batch->scalars;
    char **rows = shard->rows;
    NAME(Tiles) tiles = {.next = 0, .cells = (REAL *)(NAME(after_rows)(batch, shard) + batch->sums * sizeof(double[PARTIAL_SUMS]))};
    for (int k = 0; k < TILES; k++) tiles.first[k] = -1;
    const int32_t *end = batch->code + batch->length;
    int status = 0;
    for (const int32_t *code = batch->code; code < end; code += 5) {
#ifdef UNROLL
        const int32_t *after = NAME(end_of_run)(code, end);
        if (after > code + 5) {
            NAME(run_products)(scalars, rows, code, after, lanes);
            code = after - 5;
            continue;
        }
#endif
        switch (code[0]) {
#include "lane_operations.h"
        case 8 * LOAD:
            rows[code[1]] = (char *)NAME(load_column)(batch, shard, &tiles, code[1], code[2], first, count, !batch->machine);
            break;
        case 8 * MACHINE:
            if (batch->sums) memset(rows[batch->slots - batch->sums], 0, (size_t)(batch->sums * PARTIAL_SUMS * sizeof(double)));
            status = ((machine_run)batch->machine)(scalars, rows, count);
            if (status) return status;
            break;
        case 8 * TAKE: case 8 * TAKE + 1: case 8 * TAKE + 2:
            NAME(take)(batch, rows, code, code[0] % 8, first, count, lanes);
            break;
        case 8 * STORE: {
            const int64_t stride = batch->output_strides[code[1]], columns = NAME(side_by_side)(batch, code, end);
            if (columns == 1) NAME(store)(batch->outputs[code[1]] + first * stride, stride, (const REAL *)rows[code[2]], count);
            else NAME(store_tile)(batch, rows, code, columns, first, count);
            code += 5 * (columns - 1);
            break;
        }
        case 8 * SUM: NAME(add_to_total)(shard->totals + 2 * code[1], NAME(sum)((const REAL *)rows[code[2]], count)); break;
        case 8 * SUM + 2: NAME(add_to_total)(shard->totals + 2 * code[1], NAME(sum_of_16)((const double *)rows[code[2]])); break;
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
    return 0;
}

static int NAME(run_blocks)(const Batch *batch, const Shard *shard) {
    const int64_t whole = batch->slots - batch->sums;
    for (int64_t i = 0; i < whole; i++) shard->rows[i] = shard->scratch + i * NAME(row_bytes)(batch);
    for (int64_t i = whole; i < batch->slots; i++) shard->rows[i] = NAME(after_rows)(batch, shard) + (i - whole) * sizeof(double[PARTIAL_SUMS]);
    for (int64_t first = shard->first; first < shard->last; first += batch->lanes) {
        const int64_t left = shard->last - first;
        const int status = NAME(run_block)(batch, shard, first, left < batch->lanes ? left : batch->lanes);
        if (status) return status;
    }
    return 0;
}

#undef V
#undef FUNCTION
#undef POWER
#undef SIGN
#undef FLOOR_DIVIDE
#undef MOD
#undef ROW
#undef SCALAR
#undef LANE
#undef LOOP
#undef SUM_OF
#undef FOURS
#undef NUMBER
#undef PRODUCT
#undef MULTIPLE
#undef SAMPLES
#undef ONE
#undef TWO
#undef THREE

#endif
