/* Vectorizable exp, expm1, log, log1p, sin, cos and tanh, for C libraries without vector mathematics.

   The functions use only additions, multiplications, divisions, comparisons and bit operations, without branches, so
   that compilers vectorize loops over them. Results have the same bits on all instruction sets, because no
   fused multiply-add is used. The error is at most 1 ulp (tests/backend/cpu/test_vector_functions.py). nan, infinities,
   signed zeros and subnormals follow IEEE 754 and annex F of the C standard.

   Sources: W. J. Cody and W. Waite, Software Manual for the Elementary Functions (1980), for argument reduction by a
   constant in several parts; M. Payne and R. Hanek, Radian reduction for trigonometric functions (SIGNUM 18, 1983), for
   huge angles; T. J. Dekker, A floating-point technique for extending the available precision (Numerische Mathematik
   18, 1971), for the rounding errors of sums and products. tools/coefficients.py computes the polynomials and the
   constants. lane_loops.h includes this file once per instruction set and dtype. */

#ifndef GRADWALK_VECTOR_FUNCTIONS_H
#define GRADWALK_VECTOR_FUNCTIONS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Largest angle that lane_sin and lane_cos accept: its number of quarter turns fits in 20 bits. */
#define LARGEST_NEAR 1048576.0

#if defined(__GNUC__)
#define LANE_FUNCTION static inline __attribute__((always_inline))
#else
#define LANE_FUNCTION static inline
#endif

#include "vector_constants.h"

#define SPLITTER 134217729.0 /* 2^27 + 1: splits a double into two halves (Dekker) */

/* Reduce an angle with |x| >= 1: return the nearest number of quarter turns, modulo 4, and the remaining angle as
   high + rest. The angle is m 2^e. Only 192 bits of 2/pi are used; the bits above them contribute only whole turns. */
static uint64_t far_quarters(double x, double *high, double *rest) {
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    const uint64_t m = (word & 0xFFFFFFFFFFFFF) | 0x10000000000000;
    const int from = (int)(word >> 52 & 0x7FF) - 1013;
    const uint32_t halves[2] = {(uint32_t)m, (uint32_t)(m >> 32)}, *digits = TWO_OVER_PI + from / 32;
    uint32_t product[6] = {0}; /* the angle modulo whole turns; least significant word first */
    for (int i = 0; i < 2; i++) {
        uint64_t sum = 0;
        for (int k = i; k < 6; k++) {
            const int at = 5 - (k - i);
            const uint64_t pair = (uint64_t)digits[at] << 32 | digits[at + 1];
            sum = (sum >> 32) + product[k] + (uint64_t)halves[i] * (uint32_t)(pair >> (32 - from % 32));
            product[k] = (uint32_t)sum;
        }
    }
    uint64_t quarters = product[5] >> 30;
    uint64_t upper = (uint64_t)product[5] << 34 | (uint64_t)product[4] << 2 | product[3] >> 30;
    uint64_t lower = (uint64_t)product[3] << 34 | (uint64_t)product[2] << 2 | product[1] >> 30;
    const int is_above = upper >> 63 != 0; /* above half a quarter turn: use the distance to the next quarter */
    if (is_above) {
        quarters++;
        lower = ~lower + 1;
        upper = ~upper + (lower == 0);
    }
    const double scale = 1.0 / 4294967296.0; /* 2^-32 */
    const double a = (double)(upper >> 32) * scale, b = (double)(upper & 0xFFFFFFFF) * scale * scale;
    const double c = (double)(lower >> 32) * scale * scale * scale;
    const double d = (double)(lower & 0xFFFFFFFF) * scale * scale * scale * scale;
    const double ab = a + b, cd = c + d, more = ((a - ab) + b) + cd;
    const double fraction = ab + more, below = ((ab - fraction) + more) + ((c - cd) + d);
    const double angle = fraction * HALF_PI_WHOLE;
    const double p = fraction * SPLITTER, q = HALF_PI_WHOLE * SPLITTER;
    const double f = p - (p - fraction), g = q - (q - HALF_PI_WHOLE); /* the leading half of the bits of each factor */
    const double f_low = fraction - f, g_low = HALF_PI_WHOLE - g;
    const double lost = (((f * g - angle) + f * g_low) + f_low * g) + f_low * g_low;
    const double other = lost + (fraction * HALF_PI_REST + below * HALF_PI_WHOLE), sum = angle + other;
    const double sign = is_above != (x < 0.0) ? -1.0 : 1.0;
    *high = sign * sum;
    *rest = sign * ((angle - sum) + other);
    return x < 0.0 ? 0 - quarters : quarters;
}

#endif

/* The rest of this file is included once per instruction set and dtype. */
#ifdef REAL

#define BITS NAME(bits_type)
#if SINGLE
#define DIGITS 23 /* bits of the mantissa, without the implicit leading bit */
#define BIAS 127
#define SMALLEST FLT_MIN
#define OF_TYPE(constant) constant##_SINGLE
typedef uint32_t BITS;
#else
#define DIGITS 52
#define BIAS 1023
#define SMALLEST DBL_MIN
#define OF_TYPE(constant) constant
typedef uint64_t BITS;
#endif

/* Adding this number rounds to an integer, which is then in the lowest bits. */
#define ROUNDER (R(1.5) * (REAL)((BITS)1 << DIGITS))
#define HALF_OF_THEM (DIGITS / 2 + 1)
#define TINY (R(1.0) / (REAL)((BITS)1 << HALF_OF_THEM)) /* TINY² is at most half an ulp of 1 */
#define SIGN_BIT ((BITS)1 << (8 * sizeof(BITS) - 1))

LANE_FUNCTION BITS NAME(word)(REAL x) {
    BITS word;
    memcpy(&word, &x, sizeof word);
    return word;
}

LANE_FUNCTION REAL NAME(number)(BITS word) {
    REAL x;
    memcpy(&x, &word, sizeof x);
    return x;
}

/* Return x if all bits of `mask` are 1, `otherwise` if all are 0. */
LANE_FUNCTION REAL NAME(masked)(BITS mask, REAL x, REAL otherwise) {
    return NAME(number)((NAME(word)(x) & mask) | (NAME(word)(otherwise) & ~mask));
}

/* Return x if `condition` is 1, `otherwise` if it is 0. A mask is used because compilers merge the branches of several
   conditional expressions. With SSE2 alone, however, GCC does not vectorize masks from comparisons of doubles. */
LANE_FUNCTION REAL NAME(chosen)(BITS condition, REAL x, REAL otherwise) {
#if defined(__SSE2__) && !defined(__SSE4_2__) && !defined(__clang__) && !SINGLE
    return condition ? x : otherwise;
#else
    return NAME(masked)((BITS)0 - condition, x, otherwise);
#endif
}

LANE_FUNCTION REAL NAME(size)(REAL x) { return NAME(number)(NAME(word)(x) & ~SIGN_BIT); }

/* Keep the leading half of the bits of x. The product of two such numbers is exact. */
LANE_FUNCTION REAL NAME(leading)(REAL x) { return NAME(number)(NAME(word)(x) & ~(((BITS)1 << HALF_OF_THEM) - 1)); }

/* Return the rounding error of difference = x - y. */
LANE_FUNCTION REAL NAME(lost)(REAL x, REAL y, REAL difference) {
    const REAL other = difference - x;
    return (x - (difference - other)) - (y + other);
}

/* Clip x to [least, most]. Each line compiles to one instruction, which propagates nan. */
LANE_FUNCTION REAL NAME(within)(REAL x, REAL least, REAL most) {
    const REAL below = most < x ? most : x;
    return least > below ? least : below;
}

/* Reduce exp(x) to 2^n (1 + first + second + third). The lowest bits of the return value are n + more. */
LANE_FUNCTION BITS NAME(reduced_exp)(REAL x, int more, REAL *first, REAL *second, REAL *third) {
    const REAL rounder = ROUNDER + (REAL)more, rounded = x * (REAL)1.4426950408889634 + rounder, n = rounded - rounder;
    const REAL above = x - n * OF_TYPE(LOG_2_HIGH), below = n * OF_TYPE(LOG_2_LOW), r = above - below;
    const REAL lost = (above - r) - below, square = r * r;
    *first = r;
    *second = R(0.5) * square;
    *third = square * r * OF_TYPE(exp_tail)(r) + (lost + lost * r);
    return NAME(word)(rounded);
}

LANE_FUNCTION REAL NAME(lane_exp)(REAL x) {
    const REAL within = NAME(within)(x, -R(0.7) * (BIAS + DIGITS), R(0.7) * (BIAS + 1)); /* else exp(x) is 0 or inf */
    REAL first, second, third;
    const BITS n = NAME(reduced_exp)(within, 2 * BIAS, &first, &second, &third), half = n >> 1;
    const REAL sum = R(1.0) + first, rest = ((R(1.0) - sum) + first) + (second + third);
    const REAL result = sum + rest; /* 2^n may be out of range: multiply in two steps */
    return result * NAME(number)(half << DIGITS) * NAME(number)((n - half) << DIGITS);
}

/* Return (exp(x) - 1) / 2 as the sum of the result and *low. */
LANE_FUNCTION REAL NAME(half_expm1)(REAL x, REAL *low) {
    REAL first, second, third;
    const REAL scale = NAME(number)(NAME(reduced_exp)(x, BIAS - 1, &first, &second, &third) << DIGITS);
    const REAL whole = scale - R(0.5), part = scale * first, sum = whole + part;
    const REAL lost = (part - (sum - whole)) + ((scale - whole) - R(0.5));
    const REAL more = scale * second + (scale * third + lost), result = sum + more;
    *low = (sum - result) + more;
    return result;
}

LANE_FUNCTION REAL NAME(lane_expm1)(REAL x) {
    const REAL within = NAME(within)(x, -R(2.0) * DIGITS, R(0.6933) * (BIAS + 1)); /* outside, expm1(x) is -1 or inf */
    REAL lost;
    const REAL half = NAME(half_expm1)(within, &lost);
    return NAME(chosen)(NAME(size)(x) < TINY * TINY, x, R(2.0) * half);
}

/* Compute tanh|x| = t / (1 + t) with t = (exp(2|x|) - 1) / 2. The quotient is the sum of its leading bits and a
   correction. */
LANE_FUNCTION REAL NAME(lane_tanh)(REAL x) {
    const REAL size = NAME(size)(x), most = R(0.5) * DIGITS; /* above, tanh is 1 */
    REAL low;
    const REAL t = NAME(half_expm1)(R(2.0) * (most < size ? most : size), &low);
    const REAL divisor = R(1.0) + t, inverse = R(1.0) / divisor, leading = NAME(leading)(divisor);
    const REAL lost = NAME(chosen)(t > R(1.0), R(1.0) - (divisor - t), t - (divisor - R(1.0)));
    const REAL quotient = NAME(leading)(t * inverse);
    const REAL remainder = ((t - quotient * leading) - quotient * ((divisor - leading) + (lost + low))) + low;
    const REAL result = NAME(number)(NAME(word)(quotient + remainder * inverse) | (NAME(word)(x) & SIGN_BIT));
    return NAME(chosen)(size < TINY, x, result);
}

/* Return log(x) of a normal number x as the sum of the result and *low: x = 2^k (1 + f), and
   log(1 + f) = f - f²/2 + s (f²/2 + tail) with s = f / (2 + f). */
LANE_FUNCTION REAL NAME(normal_log)(REAL x, REAL shift, REAL *low) {
    const BITS least = NAME(word)((REAL)0.7071067811865476), one = NAME(word)(R(1.0)), mask = ((BITS)1 << DIGITS) - 1;
    const BITS word = NAME(word)(x) + (one - least);
    const REAL k = NAME(number)((word >> DIGITS) + NAME(word)((REAL)((BITS)1 << DIGITS))) - shift;
    const REAL f = NAME(number)((word & mask) + least) - R(1.0);
    const REAL s = f / (R(2.0) + f), z = s * s;
    const REAL leading = NAME(leading)(f);
    const REAL square = R(0.5) * leading * leading, other = R(0.5) * (f - leading) * (f + leading);
    const REAL head = f - square, rest = s * ((square + other) + z * OF_TYPE(log_tail)(z));
    const REAL whole = k * OF_TYPE(LOG_2_HIGH), sum = whole + head;
    *low = ((whole - sum) + head) + (k * OF_TYPE(LOG_2_LOW) + (((f - head) - square) + (rest - other)));
    return sum;
}

/* Return log(x) for all x. `result` is log(x) if x is positive and finite, and is ignored otherwise. */
LANE_FUNCTION REAL NAME(whole_log)(REAL x, REAL result) {
    const REAL other = NAME(chosen)(x < R(0.0), (REAL)NAN, -(REAL)INFINITY);
    return NAME(chosen)(x <= R(0.0), other, NAME(chosen)(x < (REAL)INFINITY, result, x));
}

LANE_FUNCTION REAL NAME(lane_log)(REAL x) {
    const REAL scale = (REAL)((BITS)1 << DIGITS), shift = scale + (REAL)BIAS;
    const BITS is_small = x < SMALLEST;
    const REAL normal = NAME(chosen)(is_small, x * scale, x);
    REAL low;
    const REAL high = NAME(normal_log)(normal, NAME(chosen)(is_small, shift + (REAL)DIGITS, shift), &low);
    return NAME(whole_log)(x, high + low);
}

LANE_FUNCTION REAL NAME(lane_log1p)(REAL x) {
    const REAL sum = R(1.0) + x, lost = NAME(chosen)(x > R(1.0), R(1.0) - (sum - x), x - (sum - R(1.0)));
    REAL low;
    const REAL high = NAME(normal_log)(sum, (REAL)((BITS)1 << DIGITS) + (REAL)BIAS, &low);
    return NAME(chosen)(NAME(size)(x) < TINY * TINY, x, NAME(whole_log)(sum, high + (low + lost / sum)));
}

/* Reduce an angle: return the nearest number of quarter turns, modulo 4, and the remaining angle as high + rest. */
#if !SINGLE
LANE_FUNCTION BITS NAME(quarters)(double x, double *high, double *rest) {
    const double rounded = x * 0.6366197723675814 + ROUNDER, n = rounded - ROUNDER;
    const double first = x - n * HALF_PI_1, second = first - n * HALF_PI_2, third = second - n * HALF_PI_3;
    const double lost = NAME(lost)(first, n * HALF_PI_2, second) + NAME(lost)(second, n * HALF_PI_3, third);
    const double below = lost - n * HALF_PI_4, above = third + below;
    *high = above;
    *rest = (third - above) + below;
    return NAME(word)(rounded);
}
#else
LANE_FUNCTION BITS NAME(quarters)(float x, float *high, float *rest) {
    const double rounder = 6755399441055744.0; /* ROUNDER of double */
    const double rounded = (double)x * 0.6366197723675814 + rounder, n = rounded - rounder;
    const double angle = ((double)x - n * HALF_PI_1) - n * HALF_PI_2_SINGLE;
    *high = (float)angle;
    *rest = (float)(angle - (double)(float)angle);
    uint64_t word;
    memcpy(&word, &rounded, sizeof word);
    return (uint32_t)word;
}
#endif

/* Return sin(quarters * pi / 2 + high + rest), where |high + rest| is at most pi / 4. */
LANE_FUNCTION REAL NAME(sine)(BITS quarters, REAL high, REAL rest) {
    const REAL square = high * high, half = R(0.5) * square, whole = R(1.0) - half;
    const REAL sine = high + (high * square * OF_TYPE(sin_tail)(square) + rest * whole);
    const REAL cosine = whole + (((R(1.0) - whole) - half) + (square * square * OF_TYPE(cos_tail)(square) - high * rest));
    const BITS sign = (quarters & 2) << (8 * sizeof(BITS) - 2);
    return NAME(number)(NAME(word)(NAME(masked)((BITS)0 - (quarters & 1), cosine, sine)) ^ sign);
}

/* Return the sine of x, for |x| <= LARGEST_NEAR. */
LANE_FUNCTION REAL NAME(lane_sin)(REAL x) {
    REAL high, rest;
    const BITS quarters = NAME(quarters)(x, &high, &rest);
    return NAME(chosen)(NAME(size)(x) < TINY, x, NAME(sine)(quarters, high, rest));
}

/* Return the cosine of x, for |x| <= LARGEST_NEAR. */
LANE_FUNCTION REAL NAME(lane_cos)(REAL x) {
    REAL high, rest;
    const BITS quarters = NAME(quarters)(x, &high, &rest);
    return NAME(sine)(quarters + 1, high, rest);
}

/* Functions of whole rows, valid for all arguments. */
#define ROW_FUNCTION(function) \
    static void NAME(row_##function)(const void *in, void *out, int64_t lanes) { \
        const REAL *x = (const REAL *)in; \
        REAL *y = (REAL *)out; \
        VECTORISE for (int64_t i = 0; i < lanes; i++) y[i] = NAME(lane_##function)(x[i]); \
    }
#define ANGLE_FUNCTION(function, quarter) \
    static REAL NAME(any_##function)(REAL x) { \
        double high, rest; \
        if (!(NAME(size)(x) < (REAL)INFINITY)) return x - x; \
        if (NAME(size)(x) <= (REAL)LARGEST_NEAR) return NAME(lane_##function)(x); \
        const BITS quarters = (BITS)far_quarters((double)x, &high, &rest) + quarter; \
        return NAME(sine)(quarters, (REAL)high, (REAL)((high - (double)(REAL)high) + rest)); \
    } \
    static void NAME(row_##function)(const void *in, void *out, int64_t lanes) { \
        const REAL *x = (const REAL *)in; \
        REAL *y = (REAL *)out; \
        BITS is_far = 0; \
        VECTORISE for (int64_t i = 0; i < lanes; i++) is_far |= NAME(size)(x[i]) > (REAL)LARGEST_NEAR; \
        if (is_far) for (int64_t i = 0; i < lanes; i++) y[i] = NAME(any_##function)(x[i]); \
        else VECTORISE for (int64_t i = 0; i < lanes; i++) y[i] = NAME(lane_##function)(x[i]); \
    }

ROW_FUNCTION(exp)
ROW_FUNCTION(expm1)
ROW_FUNCTION(log)
ROW_FUNCTION(log1p)
ROW_FUNCTION(tanh)
ANGLE_FUNCTION(sin, 0)
ANGLE_FUNCTION(cos, 1)

#undef ROW_FUNCTION
#undef ANGLE_FUNCTION
#undef BITS
#undef DIGITS
#undef BIAS
#undef SMALLEST
#undef OF_TYPE
#undef ROUNDER
#undef HALF_OF_THEM
#undef TINY
#undef SIGN_BIT

#endif
