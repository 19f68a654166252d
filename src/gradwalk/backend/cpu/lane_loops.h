/* The loops of the lane kernel, for one instruction set (SET) and one type of number (REAL). See lanes.h. */

#ifndef REAL /* this file includes itself, once for each type */

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

/* A function that vector_functions.h has: among formulas, and of a row, where an angle may be of any size. */
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

/* The numbers of a column for `count` samples; the rest of the row repeats the last one. The next block is prefetched:
   where columns share cache lines, the column that stands first in a line does it. Machine code, for which `ahead` is
   0, fetches itself what it reads where it lies. */
static const REAL *NAME(load)(const char *first, int64_t stride, REAL *row, int64_t count, int64_t lanes, int ahead) {
    const char *next = first + lanes * stride;
    if (stride == (int64_t)sizeof(REAL) && count == lanes && (uintptr_t)first % sizeof(REAL) == 0) {
        for (int64_t i = 0; ahead && i < lanes * stride; i += 64) PREFETCH(next + i);
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

static inline void NAME(transpose)(NAME(eight) *r) {
    NAME(eight) pairs[8], fours[8]; /* which stand in registers, as all loops are unrolled */
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

/* The tiles of a block that were loaded last. */
typedef struct {
    REAL *cells;
    int64_t first[TILES]; /* the first column of each, or -1 */
    int next;             /* which is replaced next */
} NAME(Tiles);

/* By how many bytes the rows of slots are apart: a cache line more than they have, so that they do not all stand in the
   same few places of a cache, as they would where a row is a page. */
static inline int64_t NAME(row_bytes)(const Batch *batch) {
    return batch->lanes * (int64_t)sizeof(REAL) + CACHE_LINE;
}

/* A column's numbers for `count` samples from sample `first` on: a row, in this slot or where the column lies. */
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

/* How many instructions from a STORE on, at most TILE, store to columns that stand side by side in memory. */
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

/* What so many STOREs do whose columns stand side by side: all columns of a sample, which share a cache line, at once. */
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

/* The sum of `term` over `count` lanes, of which the first `fours` are added up four at a time before they are widened.
   That is for products in float32, which are rounded anyway: widening takes as long as adding. Where four of them are too
   large together, they are widened first. */
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

/* --- generated by tools/generate.py from ops/definitions.py: lane_definitions --- */
static inline REAL NAME(gradwalk_digamma)(REAL x) {
    const REAL v1 = x < R(0.0) ? R(1.0) - x : x;
    const REAL v2 = v1 - F(floor)(v1);
    const REAL v3 = v2 - R(0.46163177490234375) - R(3.700660045069526e-07) - R(1.4084307992882211e-14);
    const REAL v4 = v2 - R(0.5);
    const REAL v5 = (-R(8.330017764155427e-08) * v4 + R(2.086174950945902e-07)) * v4 + -R(4.343344704424389e-07);
    const REAL v6 = (v5 * v4 + R(1.0900440594791301e-06)) * v4 + -R(2.778815077217573e-06);
    const REAL v7 = (v6 * v4 + R(7.00085274570018e-06)) * v4 + -R(1.7687223169837115e-05);
    const REAL v8 = (v7 * v4 + R(4.4924967963555466e-05)) * v4 + -R(0.00011492419795785276);
    const REAL v9 = (v8 * v4 + R(0.0002971387135965835)) * v4 + -R(0.0007808823636548008);
    const REAL v10 = (v9 * v4 + R(0.002105524543932196)) * v4 + -R(0.005921836374555441);
    const REAL v11 = (v10 * v4 + R(0.017935099659936202)) * v4 + -R(0.06281369492028008);
    const REAL v12 = (v3 - R(2.0716944181397238e-21)) * ((v11 * v4 + R(0.315614744109642)) * v4 + R(1.4265838140477494));
    const REAL v13 = v12 / (R(1.0) + v2);
    const REAL v14 = R(1.0) / (v1 * v1) - R(0.125);
    const REAL v15 = (-R(4591.938846782404) * v14 + R(1089.271933340127)) * v14 + R(56.74821979266036);
    const REAL v16 = ((v15 * v14 + -R(9.383937793443973)) * v14 + -R(8.367116071586658)) * v14;
    const REAL v17 = ((v16 + R(2.339852621715782)) * v14 + -R(0.5459074840311283)) * v14;
    const REAL v18 = ((v17 + R(0.1860474938877423)) * v14 + -R(0.06912608631942489)) * v14;
    const REAL v19 = ((v18 + R(0.027050859197819174)) * v14 + -R(0.01169398771615852)) * v14;
    const REAL v20 = ((v19 + R(0.00572241535513085)) * v14 + -R(0.0032689269714030263)) * v14;
    const REAL v21 = ((v20 + R(0.0022840998764416674)) * v14 + -R(0.0020988822345760203)) * v14;
    const REAL v22 = ((v21 + R(0.002869699388890447)) * v14 + -R(0.007494163474050323)) * v14;
    const REAL v23 = v1 < R(2.0) ? v13 : V(log)(v1) - (R(0.5) + (v22 + R(0.08234693724440534)) / v1) / v1;
    const REAL v24 = v1 < R(1.0) ? v13 - R(1.0) / v1 : v23;
    const REAL v25 = R(3.141592653589793) * (x - F(rint)(x));
    return x < R(0.0) ? v24 - R(3.141592653589793) * (v25 / v25) / F(tan)(v25) : v24;
}
static inline REAL NAME(gradwalk_erfcx)(REAL x) {
    const REAL v1 = F(fabs)(x);
    const REAL v2 = v1 > R(40.0) ? F(copysign)(R(40.0), x) : x;
    const REAL v3 = v2 * v2;
    const REAL v4 = v2 + R(422212465065984.0) - R(422212465065984.0);
    const REAL v5 = v4 == R(0.0) ? v2 + R(786432.0) - R(786432.0) : v4;
    const REAL v6 = R(2.0) * (V(exp)(v3) * (R(1.0) + (v5 * v5 - v3 + (v2 - v5) * (v2 + v5))));
    const REAL v7 = R(1.0) - R(6.0) / (v1 + R(3.0));
    const REAL v8 = (-R(6.12145732683555e-11) * v7 + -R(1.351771125370553e-10)) * v7 + R(5.127790270822378e-10);
    const REAL v9 = (v8 * v7 + R(1.6031836449068353e-09)) * v7 + -R(1.634028310871011e-09);
    const REAL v10 = (v9 * v7 + -R(1.0253894913080063e-08)) * v7 + -R(1.493049982658938e-09);
    const REAL v11 = (v10 * v7 + R(4.8701117302581134e-08)) * v7 + R(5.162306074955268e-08);
    const REAL v12 = (v11 * v7 + -R(1.9873267469952435e-07)) * v7 + -R(4.169275647843032e-07);
    const REAL v13 = (v12 * v7 + R(7.775213243354225e-07)) * v7 + R(2.694480987287362e-06);
    const REAL v14 = (v13 * v7 + -R(3.4277257045938606e-06)) * v7 + -R(1.667273601956021e-05);
    const REAL v15 = (v14 * v7 + R(2.1622759437589747e-05)) * v7 + R(0.0001034765788075508);
    const REAL v16 = (v15 * v7 + -R(0.00020863648787147981)) * v7 + -R(0.0005711957841902369);
    const REAL v17 = (v16 * v7 + R(0.0024598861570559478)) * v7 + R(6.950565926502955e-05);
    const REAL v18 = ((v17 * v7 + -R(0.023840020578874875)) * v7 + R(0.0921480479228222)) * v7;
    const REAL v19 = ((v18 + -R(0.21142171133809773)) * v7 + R(0.34106687004085967)) * v7;
    const REAL v20 = (R(1.0) + v7) * ((v19 + -R(0.38862916439431083)) * v7 + R(0.25300805826972966));
    const REAL v21 = (R(1.0) + v20) / (R(1.0) + R(2.0) * v1);
    return x < R(0.0) ? v6 - v21 : v21;
}
static inline REAL NAME(gradwalk_gamma)(REAL x) {
    const REAL v1 = x - R(2.0) * F(rint)(x / R(2.0));
    const REAL v2 = V(sin)(R(3.141592653589793) * (F(fabs)(v1) > R(0.5) ? SIGN(v1) - v1 : v1));
    const REAL v3 = F(fabs)(x);
    const REAL v4 = v3 < R(6.0) ? R(1.0) : (v3 - R(4.0)) * (v3 < R(7.0) ? R(1.0) : (v3 - R(5.0)) * R(1.0));
    const REAL v5 = v3 < R(4.0) ? R(1.0) : (v3 - R(2.0)) * (v3 < R(5.0) ? R(1.0) : (v3 - R(3.0)) * v4);
    const REAL v6 = v3 - F(floor)(v3) - R(0.5);
    const REAL v7 = (R(2.038631996005556e-07) * v6 + -R(5.060382483924732e-07)) * v6 + R(1.0675361551610872e-06);
    const REAL v8 = (v7 * v6 + -R(2.5237611386457594e-06)) * v6 + R(7.257335209971111e-06);
    const REAL v9 = (v8 * v6 + -R(1.2810259356350584e-05)) * v6 + R(6.132951527532448e-05);
    const REAL v10 = (v9 * v6 + R(3.942933739732899e-06)) * v6 + R(0.0007544741634534283);
    const REAL v11 = (v10 * v6 + R(0.001607400398278153)) * v6 + R(0.010392403424525895);
    const REAL v12 = ((v11 * v6 + R(0.028360780598296692)) * v6 + R(0.10967323400218487)) * v6;
    const REAL v13 = ((v12 + R(0.253871246841081)) * v6 + R(0.6545585779813367)) * v6 + R(0.9347345216260858);
    const REAL v14 = (v3 < R(3.0) ? R(1.0) : (v3 - R(1.0)) * v5) * (v13 * v6 + R(1.329340388179137));
    const REAL v15 = R(1.0) + v3;
    const REAL v16 = POWER(v3, R(0.5) * v3 - R(0.25));
    const REAL v17 = R(1.0) / v3 - R(0.0625);
    const REAL v18 = (-R(0.002196060280020509) * v17 + R(0.0013070683334458798)) * v17 + R(0.0009074130524543835);
    const REAL v19 = (v18 * v17 + -R(0.001270808708296359)) * v17 + -R(0.00044710018535418266);
    const REAL v20 = (v19 * v17 + R(0.0019112639540711527)) * v17 + R(3.662186570509114e-05);
    const REAL v21 = (v20 * v17 + -R(0.006788057233972998)) * v17 + R(0.007434693079689562);
    const REAL v22 = v16 * (v16 * V(exp)(-v3)) * ((v21 * v17 + R(0.20989446167480796)) * v17 + R(2.5197159807609406));
    const REAL v23 = v3 < R(8.0) ? v14 / (v3 < R(1.0) ? x * v15 : (v3 < R(2.0) ? v3 : R(1.0))) : (v16 + v16 == v16 ? v16 : v22);
    const REAL v24 = R(3.141592653589793) * (v2 / v2) / (v2 * (v3 < R(2.0) ? v14 / (v3 < R(1.0) ? v15 : R(1.0)) : v3 * v23));
    return x < R(0.0) ? v24 : v23;
}
static inline REAL NAME(gradwalk_lgamma)(REAL x) {
    const REAL v1 = x - R(2.0) * F(rint)(x / R(2.0));
    const REAL v2 = V(sin)(R(3.141592653589793) * (F(fabs)(v1) > R(0.5) ? SIGN(v1) - v1 : v1));
    const REAL v3 = F(fabs)(v2);
    const REAL v4 = F(fabs)(x);
    const REAL v5 = V(log)(v4);
    const REAL v6 = v4 - F(floor)(v4);
    const REAL v7 = v6 - R(0.5);
    const REAL v8 = (-R(7.760660152513446e-06) * v7 + R(1.2140008083973407e-05)) * v7 + -R(8.355075869795273e-06);
    const REAL v9 = (v8 * v7 + R(1.3186019073996835e-05)) * v7 + -R(2.7201673025504752e-05);
    const REAL v10 = (v9 * v7 + R(4.30276814976503e-05)) * v7 + -R(6.614136022346414e-05);
    const REAL v11 = (v10 * v7 + R(0.00010535512483785591)) * v7 + -R(0.0001689178215524898);
    const REAL v12 = (v11 * v7 + R(0.00027131373861446925)) * v7 + -R(0.00043799307479613914);
    const REAL v13 = (v12 * v7 + R(0.000711519067515296)) * v7 + -R(0.0011644145847310124);
    const REAL v14 = (v13 * v7 + R(0.0019229163127905161)) * v7 + -R(0.0032120740737152814);
    const REAL v15 = (v14 * v7 + R(0.005446457839126065)) * v7 + -R(0.009425622448525798);
    const REAL v16 = (v15 * v7 + R(0.01679709863127416)) * v7 + -R(0.031308487501010646);
    const REAL v17 = ((v16 * v7 + R(0.06291140107456439)) * v7 + -R(0.14595989591430608)) * v7;
    const REAL v18 = (-R(1.4586003484400256e-08) * v7 + R(3.8720781951940836e-08)) * v7 + -R(8.772358424774663e-08);
    const REAL v19 = (v18 * v7 + R(2.353723932844072e-07)) * v7 + -R(6.421417451955873e-07);
    const REAL v20 = (v19 * v7 + R(1.745641275403404e-06)) * v7 + -R(4.786379987514225e-06);
    const REAL v21 = (v20 * v7 + R(1.3275711130257407e-05)) * v7 + -R(3.735336940027229e-05);
    const REAL v22 = (v21 * v7 + R(0.00010710021010234954)) * v7 + -R(0.00031505925035239633);
    const REAL v23 = (v22 * v7 + R(0.0009610979285520405)) * v7 + -R(0.0030951822936174096);
    const REAL v24 = ((v23 * v7 + R(0.0108770015141976)) * v7 + -R(0.0448058426973846)) * v7;
    const REAL v25 = v4 < R(6.0) ? R(1.0) : (v4 - R(4.0)) * (v4 < R(7.0) ? R(1.0) : (v4 - R(5.0)) * R(1.0));
    const REAL v26 = v4 < R(4.0) ? R(1.0) : (v4 - R(2.0)) * (v4 < R(5.0) ? R(1.0) : (v4 - R(3.0)) * v25);
    const REAL v27 = v6 * ((v24 + R(0.2675817993988097)) * v7 + R(0.5693657409458384)) + V(log)(v4 < R(3.0) ? R(1.0) : (v4 - R(1.0)) * v26);
    const REAL v28 = R(1.0) / (v4 * v4) - R(0.0078125);
    const REAL v29 = (R(0.005065905360156132) * v28 + -R(0.0016529186801303964)) * v28 + R(0.0007722649744296485);
    const REAL v30 = (v29 * v28 + -R(0.0005700461303173621)) * v28 + R(0.0007799993568828252);
    const REAL v31 = (v30 * v28 + -R(0.002765484404607617)) * v28 + R(0.08331168010429436);
    const REAL v32 = v4 < R(8.0) ? v27 : (v4 - R(0.5)) * (v5 - R(1.0)) + (R(0.41893853320467267) + v31 / v4);
    const REAL v33 = v4 < R(2.0) ? R(0.0) - v6 * (R(1.0) - v6) * (v17 + R(0.4831289505409809)) : v32;
    const REAL v34 = v4 < R(1e-20) ? -v5 : R(1.1447298858494002) - V(log)(v3 * (v4 < R(1.0) ? R(1.0) : v4)) - v33;
    return x < R(0.0) ? (v3 > R(0.0) ? v34 : v4 / R(0.0)) : (v4 < R(1.0) ? v33 - v5 : v33);
}
static inline REAL NAME(gradwalk_norm_cdf)(REAL x) {
    const REAL v1 = F(fabs)(x) > R(40.0) ? F(copysign)(R(40.0), x) : x;
    const REAL v2 = v1 * R(0.7071067811865476);
    const REAL v3 = v1 + R(422212465065984.0) - R(422212465065984.0);
    const REAL v4 = v3 == R(0.0) ? v1 + R(786432.0) - R(786432.0) : v3;
    const REAL v5 = v4 * R(0.70709228515625) - v2 + (v1 - v4) * R(0.70709228515625) + v1 * R(1.44960302975244e-05);
    return R(0.5) * (F(erfc)(-v2) + v5 * R(1.1283791670955126) * V(exp)(-(v2 * v2)));
}
static inline REAL NAME(gradwalk_norm_pdf)(REAL x) {
    const REAL v1 = F(fabs)(x) > R(40.0) ? F(copysign)(R(40.0), x) : x;
    const REAL v2 = v1 * v1;
    const REAL v3 = v1 + R(422212465065984.0) - R(422212465065984.0);
    const REAL v4 = v3 == R(0.0) ? v1 + R(786432.0) - R(786432.0) : v3;
    const REAL v5 = V(exp)(-R(0.5) * v2) * (R(1.0) - R(0.5) * (v4 * v4 - v2 + (v1 - v4) * (v1 + v4)));
    return v5 * R(0.3989422804014327);
}
static inline REAL NAME(gradwalk_norm_ppf)(REAL x) {
    const REAL v1 = x - R(0.5);
    const REAL v2 = x > R(0.5) ? R(1.0) - x : x;
    const REAL v3 = -V(log)(v2);
    const REAL v4 = F(sqrt)(v3);
    const REAL v5 = v4 - R(5.0);
    const REAL v6 = (R(2.0103343992922881e-07) * v5 + R(2.7115555687434876e-05)) * v5 + R(0.0012426609473880784);
    const REAL v7 = ((v6 * v5 + R(0.026532189526576124)) * v5 + R(0.29656057182850487)) * v5;
    const REAL v8 = ((v7 + R(1.7848265399172913)) * v5 + R(5.463784911164114)) * v5 + R(6.657904643501103);
    const REAL v9 = (R(2.0442631033899397e-15) * v5 + R(1.421511758316446e-07)) * v5 + R(1.8463183175100548e-05);
    const REAL v10 = (v9 * v5 + R(0.0007868691311456133)) * v5 + R(0.014875361290850615);
    const REAL v11 = ((v10 * v5 + R(0.1369298809227358)) * v5 + R(0.599832206555888)) * v5;
    const REAL v12 = v4 - R(1.6);
    const REAL v13 = (R(0.0007745450142783414) * v12 + R(0.022723844989269184)) * v12 + R(0.2417807251774506);
    const REAL v14 = ((v13 * v12 + R(1.2704582524523684)) * v12 + R(3.6478483247632045)) * v12;
    const REAL v15 = ((v14 + R(5.769497221460691)) * v12 + R(4.630337846156546)) * v12 + R(1.4234371107496835);
    const REAL v16 = (R(1.0507500716444169e-09) * v12 + R(0.0005475938084995345)) * v12 + R(0.015198666563616457);
    const REAL v17 = ((v16 * v12 + R(0.14810397642748008)) * v12 + R(0.6897673349851)) * v12;
    const REAL v18 = ((v17 + R(1.6763848301838038)) * v12 + R(2.053191626637759)) * v12 + R(1.0);
    const REAL v19 = SIGN(v1) * (v2 > R(0.0) ? (v4 > R(5.0) ? v8 / (v11 + R(1.0)) : v15 / v18) : v3);
    const REAL v20 = R(0.180625) - v1 * v1;
    const REAL v21 = (R(2509.0809287301227) * v20 + R(33430.57558358813)) * v20 + R(67265.7709270087);
    const REAL v22 = ((v21 * v20 + R(45921.95393154987)) * v20 + R(13731.69376550946)) * v20;
    const REAL v23 = ((v22 + R(1971.5909503065513)) * v20 + R(133.14166789178438)) * v20;
    const REAL v24 = (R(5226.495278852854) * v20 + R(28729.085735721943)) * v20 + R(39307.89580009271);
    const REAL v25 = ((v24 * v20 + R(21213.794301586597)) * v20 + R(5394.196021424751)) * v20;
    const REAL v26 = ((v25 + R(687.1870074920579)) * v20 + R(42.31333070160091)) * v20 + R(1.0);
    return F(fabs)(v1) > R(0.425) ? v19 : v1 * ((v23 + R(3.3871328727963665)) / v26);
}
static inline REAL NAME(gradwalk_silu)(REAL x) {
    const REAL v1 = V(exp)(-R(0.5) * F(fabs)(x));
    return x < R(0.0) ? (x < -R(1000.0) ? -R(1000.0) : x) * v1 * v1 / (R(1.0) + v1 * v1) : x / (R(1.0) + V(exp)(-x));
}
static inline REAL NAME(gradwalk_sinc)(REAL x) {
    const REAL v1 = x - R(2.0) * F(rint)(x / R(2.0));
    const REAL v2 = V(sin)(R(3.141592653589793) * (F(fabs)(v1) > R(0.5) ? SIGN(v1) - v1 : v1));
    return x == R(0.0) ? R(1.0) : v2 / (R(3.141592653589793) * x);
}
static inline REAL NAME(gradwalk_trigamma)(REAL x) {
    const REAL v1 = R(3.141592653589793) / V(sin)(R(3.141592653589793) * (x - F(rint)(x)));
    const REAL v2 = x < R(0.0) ? R(1.0) - x : x;
    const REAL v3 = v2 + R(1.0);
    const REAL v4 = v2 + R(2.0);
    const REAL v5 = v2 < R(3.0) ? v2 + R(3.0) : v2;
    const REAL v6 = v5 * v5;
    const REAL v7 = R(1.0) / v6 - R(0.05555555555555555);
    const REAL v8 = (R(95348.23338763771) * v7 + -R(14602.18889182699)) * v7 + R(1262.2592213511957);
    const REAL v9 = ((v8 * v7 + -R(239.70878304266327)) * v7 + R(53.74371338210029)) * v7;
    const REAL v10 = ((v9 + -R(11.455705140538624)) * v7 + R(2.6870179985628138)) * v7 + -R(0.7139726670575187);
    const REAL v11 = ((v10 * v7 + R(0.21856926054115564)) * v7 + -R(0.07960700650955325)) * v7;
    const REAL v12 = ((v11 + R(0.03608690658002407)) * v7 + -R(0.0217442511530328)) * v7;
    const REAL v13 = ((v12 + R(0.01933831921022616)) * v7 + -R(0.030953863548451005)) * v7;
    const REAL v14 = R(1.0) / v5 + (R(0.5) + (v13 + R(0.16488319916416225)) / v5) / v6;
    const REAL v15 = v2 < R(3.0) ? R(1.0) / v2 / v2 + R(1.0) / v3 / v3 + R(1.0) / v4 / v4 + v14 : v14;
    return x < R(0.0) ? v1 * v1 - v15 : v15;
}
/* --- end of generated code --- */

/* SCATTER: add the number of each lane to the total of the output that its index picks, if there is one. Where the index
   is out of the range of a table, add nan to all of these totals. */
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
/* Sums of products, as of a matrix times a vector: a run of MULADDs, each of which adds to the result of the one before
   it. Their sum stays in registers, where one instruction after the other would load and store it. */
typedef REAL NAME(numbers) __attribute__((vector_size(REGISTER), aligned(sizeof(REAL)), may_alias));

/* Where the run ends that begins with this instruction. */
static inline const int32_t *NAME(end_of_run)(const int32_t *code, const int32_t *end) {
    if (code[0] < 8 * MULADD || code[0] > 8 * MULADD + 2) return code + 5;
    const int32_t out = code[1];
    for (code += 5; code < end; code += 5) {
        const int form = code[0] - 8 * MULADD;
        if (form < 0 || form > 2 || code[1] != out || code[4] != out) break;
        if ((form != 1 && code[2] == out) || (form != 2 && code[3] == out)) break; /* a factor that is not in its row */
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
            const int at = code[0] - 8 * MULADD; /* which of the factors is a scalar: 1 for the first one */
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

/* Run the instructions on one block, of `count` samples from sample `first` on. */
static void NAME(run_block)(const Batch *batch, const Shard *shard, int64_t first, int64_t count) {
    const int64_t lanes = (count + 15) & ~(int64_t)15;
    const REAL *scalars = (const REAL *)batch->scalars;
    char **rows = shard->rows;
    NAME(Tiles) tiles = {.next = 0, .cells = (REAL *)(shard->scratch + batch->slots * NAME(row_bytes)(batch))};
    for (int k = 0; k < TILES; k++) tiles.first[k] = -1;
    const int32_t *end = batch->code + batch->length;
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
/* --- generated by tools/generate.py from ops/table.py: lanes --- */
        TWO(1, x + y) /* add */
        TWO(2, x - y) /* sub */
        TWO(3, x * y) /* mul */
        TWO(4, x / y) /* div */
        TWO(5, POWER(x, y)) /* pow */
        ONE(6, -x) /* neg */
        ONE(7, F(fabs)(x)) /* abs */
        FUNCTION(8, exp)
        FUNCTION(9, expm1)
        ONE(10, F(exp2)(x)) /* exp2 */
        FUNCTION(11, log)
        ONE(12, F(log2)(x)) /* log2 */
        ONE(13, F(log10)(x)) /* log10 */
        FUNCTION(14, log1p)
        ONE(15, F(sqrt)(x)) /* sqrt */
        ONE(16, F(cbrt)(x)) /* cbrt */
        ONE(17, x > -R(0.6931471805599453) ? V(log)(-V(expm1)(x)) : V(log1p)(-V(exp)(x))) /* log1mexp */
        FUNCTION(18, sin)
        FUNCTION(19, cos)
        ONE(20, F(tan)(x)) /* tan */
        ONE(21, F(asin)(x)) /* asin */
        ONE(22, F(acos)(x)) /* acos */
        ONE(23, F(atan)(x)) /* atan */
        ONE(24, F(sinh)(x)) /* sinh */
        ONE(25, F(cosh)(x)) /* cosh */
        FUNCTION(26, tanh)
        ONE(27, F(asinh)(x)) /* asinh */
        ONE(28, F(acosh)(x)) /* acosh */
        ONE(29, F(atanh)(x)) /* atanh */
        ONE(30, NAME(gradwalk_sinc)(x)) /* sinc */
        ONE(31, (x < R(0.0) ? V(exp)(-F(fabs)(x)) : R(1.0)) / (R(1.0) + V(exp)(-F(fabs)(x)))) /* sigmoid */
        ONE(32, x < R(0.0) ? R(0.0) : x) /* relu */
        ONE(33, (x > R(0.0) ? x : R(0.0)) + V(log1p)(V(exp)(-F(fabs)(x)))) /* softplus */
        ONE(34, NAME(gradwalk_silu)(x)) /* silu */
        ONE(35, (x < -R(1000.0) ? -R(1000.0) : x) * NAME(gradwalk_norm_cdf)(x)) /* gelu */
        ONE(36, F(erf)(x)) /* erf */
        ONE(37, F(erfc)(x)) /* erfc */
        ONE(38, NAME(gradwalk_erfcx)(x)) /* erfcx */
        ONE(39, NAME(gradwalk_norm_pdf)(x)) /* norm_pdf */
        ONE(40, NAME(gradwalk_norm_cdf)(x)) /* norm_cdf */
        ONE(41, NAME(gradwalk_norm_ppf)(x)) /* norm_ppf */
        ONE(42, NAME(gradwalk_gamma)(x)) /* gamma */
        ONE(43, NAME(gradwalk_lgamma)(x)) /* lgamma */
        ONE(44, NAME(gradwalk_digamma)(x)) /* digamma */
        ONE(45, NAME(gradwalk_trigamma)(x)) /* trigamma */
        TWO(46, F(atan2)(x, y)) /* atan2 */
        TWO(47, F(hypot)(x, y)) /* hypot */
        TWO(48, x < y ? y : (y == y ? x : y)) /* maximum */
        TWO(49, y < x ? y : (y == y ? x : y)) /* minimum */
        THREE(50, x != R(0.0) ? y : z) /* where */
        ONE(51, SIGN(x)) /* sign */
        ONE(52, F(floor)(x)) /* floor */
        ONE(53, F(ceil)(x)) /* ceil */
        ONE(54, F(trunc)(x)) /* trunc */
        ONE(55, F(rint)(x)) /* rint */
        TWO(56, x < y ? R(1.0) : R(0.0)) /* less */
        TWO(57, x <= y ? R(1.0) : R(0.0)) /* less_equal */
        TWO(58, x == y ? R(1.0) : R(0.0)) /* equal */
        TWO(59, FLOOR_DIVIDE(x, y)) /* floor_divide */
        TWO(60, MOD(x, y)) /* mod */
        TWO(61, F(fmod)(x, y)) /* fmod */
        TWO(62, F(remainder)(x, y)) /* remainder */
        TWO(63, x < y ? y : (x == x ? x : y)) /* fmax */
        TWO(64, y < x ? y : (x == x ? x : y)) /* fmin */
        TWO(65, F(copysign)(x, y)) /* copysign */
        TWO(66, (x < y ? y : x) + V(log1p)(V(exp)(-F(fabs)(x == y ? R(0.0) : x - y)))) /* logaddexp */
        ONE(67, x) /* stop_gradient */
        THREE(71, x * y + z) /* muladd */
        THREE(72, x * y - z) /* mulsub */
        THREE(73, z - x * y) /* submul */
/* --- end of generated code --- */
        case 8 * LOAD:
            rows[code[1]] = (char *)NAME(load_column)(batch, shard, &tiles, code[1], code[2], first, count, !batch->machine);
            break;
        case 8 * MACHINE:
            ((machine_run)batch->machine)(scalars, rows, tiles.cells + TILES * TILE * batch->lanes, lanes);
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
    for (int64_t i = 0; i < batch->slots; i++) shard->rows[i] = shard->scratch + i * NAME(row_bytes)(batch);
    for (int64_t first = shard->first; first < shard->last; first += batch->lanes) {
        const int64_t left = shard->last - first;
        NAME(run_block)(batch, shard, first, left < batch->lanes ? left : batch->lanes);
    }
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
