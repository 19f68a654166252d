"""The table of operations: the value and the partial derivatives of each operation, one row per operation.

The formulas of a row use the operands `x`, `y` and `z`; partials may also use the result `out`. The row

    Operation("tan", "tan", f.tan(x), [1 + out * out], [REAL], "tangent of an angle in radians", ufunc="tan")

defines out = tan(x) and d out / dx = 1 + out². Everything else is derived from the row: the method of `Value`, the
operator, the function in `gradwalk.math`, the derivatives of programs, the loops over batches, the C source, the NumPy
ufunc, the grammar of the command line, the page, the reference and the tests.

Operations on any number of operands are defined by a `Reduction`. The row

    Reduction("sumprod", "sumprod", 0, total + x * y, [y, x], 1, [REAL, REAL], "sum of products")

defines how the total changes with each element, here a pair of operands. `take`, whose operands are an index and a
table, is a `Gather`. All types of rows are described in `rows.py`.

To add an operation, add a row and run `python tools/generate.py`. The script reports each function that a
target language lacks, and each operation that a derivative needs but the table lacks.

At a kink, the row chooses a subgradient: relu'(0) = 0 and abs'(0) = 0.
"""

from __future__ import annotations

import math

from gradwalk.ops.definitions import erfcx_slope, lost, near, polynomial, trigamma_slope
from gradwalk.ops.formula import NEVER, Functions, equal, name, number, unless, usually, where
from gradwalk.ops.rows import Fused, Gather, Interval, Operation, Reduction

REAL: Interval = (-20.0, 20.0)
POSITIVE: Interval = (1e-6, 50.0)
UNIT: Interval = (-0.999, 0.999)

f = Functions()
x, y, z, out, total = name("x"), name("y"), name("z"), name("out"), name("total")
e = f.exp(-f.fabs(x))  # in [0, 1], so that formulas built from it do not overflow
logistic = where(x < 0, e, 1) / (1 + e)

# Textbook formulas with errors over 4 ulp are replaced by more accurate ones; docs/accuracy.md has the measured errors.
# Programs and batches compute both branches of a `where`, and its derivative includes 0 times the derivative of the
# branch not taken. The operands of each branch are therefore clamped so that this derivative is finite.

# The slopes of tanh and sigmoid avoid the cancellation in 1 - out² for out² > 1/2, and in 1 - out where the sigmoid
# saturates.
twice = f.exp(-2 * f.fabs(x))
tanh_slope = usually(1 - out * out, f.fabs(x) < 0.88, 4 * twice / ((1 + twice) * (1 + twice)))
sigmoid_slope = usually(out * (1 - out), x < 1, e / ((1 + e) * (1 + e)))

# `leg_squared` is 1 - x². It avoids the cancellation in this formula near 1 and -1, and the cancellation in the
# derivative of (1 - x) * (1 + x) near 0.
leg_squared = unless((1 - x) * (1 + x), f.fabs(x) < 0.5, 1 - x * x)
leg = f.sqrt(leg_squared)

# For |x| > 1e9, the 1 in 1 + x² is less than an ulp and is omitted. The derivative of the slope contains the square of
# 1 + x², which would overflow for large x.
far = unless(x, f.fabs(x) < 1e9, 1e9)
atan_slope = usually(1 / (1 + x * x), f.fabs(x) < 1e9, 1 / far / far)

density = 2 / f.sqrt(number(math.pi))
bell = usually(density * f.exp(-(x * x)), NEVER, density * (f.exp(-(near * near)) * (1 - lost)))

# The slopes of asinh and acosh avoid the cancellation in x² - 1 near 1, and the overflow of x².
asinh_slope = usually(1 / f.sqrt(1 + x * x), f.fabs(x) < 1e9, 1 / f.fabs(far))
beyond = unless(x, x < 1e9, 1e9)
modest = unless(x, x > 1e9, 1e9)
acosh_slope = usually(1 / f.sqrt(modest - 1) / f.sqrt(modest + 1), x < 1e9, 1 / beyond)

# The slope of cbrt is computed as out / (3 * x), which contains the rounding error of the cube root only once. The
# derivative of this quotient has two terms of opposite signs; if these overflow, (1 / out) / (3 * out) is used instead,
# whose derivative has a single term.
second = out / x / x
is_ordinary = equal(second - second, 0)
cbrt_slope = usually(1 / (3 * out * out), NEVER, where(is_ordinary, out, 1 / out) / where(is_ordinary, x, out) / 3)

# For silu and gelu, x is clamped. Infinity times a probability or density of 0 would be nan; with the clamped x, the
# product is its limit, 0.
lower = unless(x, x < -1e3, -1e3)
within = unless(lower, x > 1e3, 1e3)
left, right = where(x < 0, lower, 0), where(x < 0, 0, within)  # not relu, whose derivative at 0 is 0
half, decay = f.exp(0.5 * left), f.exp(-right)  # the square of `half` may be subnormal
silu_left = half * (1 + left / (1 + half * half)) * half / (1 + half * half)
silu_slope = where(x < 0, silu_left, (1 + right * (decay / (1 + decay))) / (1 + decay))

# The derivative of norm_ppf uses the smaller of the two tails. The density at the quantile is the tail divided by the
# Mills ratio. The Mills ratio is a multiple of erfcx.
tail = where(x > 0.5, 1 - x, x)
mills = f.sqrt(number(math.pi / 2)) * f.erfcx(where(x > 0.5, out, -out) * math.sqrt(0.5))
# For tails below 1.44e-155, the derivative of the slope would be the difference of two infinite terms. The smaller term
# is the derivative of the Mills ratio. Rounding by rint makes it 0: rint has derivative 0, and does not change numbers
# this large.
steady = where(tail < 1.44e-155, f.rint(mills * 2.0**60) * 2.0**-60, mills)
ppf_slope = where(equal(tail, 0), 1 / (tail + 0), steady / tail)

# Near 0, the terms of the derivative of sinc cancel, so the power series of the derivative in (pi * x)² is used.
away = unless(x, f.fabs(x) < 0.5, 1)
small = where(f.fabs(x) < 0.5, x, 0)
squared = (math.pi * small) * (math.pi * small)
sinc_terms = [(-1) ** k * 2 * k / math.factorial(2 * k + 1) for k in range(12, 0, -1)]
sinc_series = polynomial(squared, sinc_terms) * (math.pi * math.pi) * small
half_turns = away - 2 * f.rint(away / 2)
sinc_slope = unless((f.cos(math.pi * half_turns) - out) / away, f.fabs(x) < 0.5, sinc_series)

# The terms of the derivative of erfcx cancel for large x, so `erfcx_slope` is used for x >= 0.5.
short = unless(x, x >= 0.5, 0)
erfcx_partial = usually(2 * short * out - density, x < 0.5, erfcx_slope)

# Very long and very short vectors are scaled, so that their squares neither overflow nor become subnormal.
square = x * x + y * y
is_moderate = (square > 1e-30) & (square < 1e30)
divisor = usually(square, is_moderate, 1)
length = usually(out, is_moderate, 1)
scale = where(square < 1, 2.0**60, 2.0**-60)
scaled = f.hypot(scale * x, scale * y)
is_origin = equal(scaled, 0)  # all derivatives of the angle are 0 there
not_zero = where(is_origin, 1, scaled)

# x^y does not depend on x if y = 0, and does not depend on y if x = 0. The derivative with respect to this operand is
# then 0.
exponent = unless(y, equal(y, 0), 1)
base_of_one = usually(x, equal(y, 0) & (f.fabs(x) > 0), 1)
positive = unless(x, equal(x, 0) & (y >= 0), 1)

# With d = x - y, the relative error of exp(-d) is the absolute error of d. The rounding error of x - y is computed
# (Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B) and compensated. For d > 1000, the exponential is
# 0. The difference of equal infinities would be nan, and is replaced by 0.
difference = x - y
moved = difference - x
missing = where(f.fabs(difference) < 1000, (x - (difference - moved)) - (y + moved), 0)
apart = where(equal(difference, difference), difference, where(equal(x, y), 0, difference))
rising = f.exp(where(x < y, apart, 0)) * (1 + missing)  # exp(x - y) if x < y
falling = f.exp(-where(x < y, 0, apart)) * (1 - missing)  # exp(y - x) if x >= y

TABLE: tuple[Operation, ...] = (
    # Arithmetic.
    Operation("add", "+", x + y, [1, 1], [REAL, REAL], "sum", operator="add", ufunc="add"),
    Operation("sub", "-", x - y, [1, -1], [REAL, REAL], "difference", operator="sub", ufunc="subtract"),
    Operation("mul", "*", x * y, [y, x], [REAL, REAL], "product", operator="mul", ufunc="multiply"),
    Operation("div", "/", x / y, [1 / y, -out / y], [REAL, POSITIVE], "quotient", operator="truediv", ufunc="divide"),
    Operation(
        "pow",
        "**",
        f.pow(x, y),
        [
            where(equal(y, 0), where(f.fabs(x) > 0, y / base_of_one, 0), exponent * f.pow(x, exponent - 1)),
            where(equal(x, 0) & (y >= 0), 0, out * f.log(positive)),
        ],
        [POSITIVE, (-5.0, 5.0)],
        "power",
        operator="pow",
        ufunc="power",
    ),
    Operation("neg", "-", -x, [-1], [REAL], "negative", operator="neg", ufunc="negative"),
    Operation("abs", "abs", f.fabs(x), [f.sign(x)], [REAL], "absolute value", operator="abs", ufunc="absolute"),
    # Exponentials, logarithms and roots.
    Operation("exp", "exp", f.exp(x), [out], [REAL], "exponential", ufunc="exp"),
    Operation("expm1", "expm1", f.expm1(x), [f.exp(x)], [REAL], "exp(x) - 1, accurate near 0", ufunc="expm1"),
    Operation("exp2", "exp2", f.exp2(x), [f.log(2) * out], [REAL], "2 to the power of x", ufunc="exp2"),
    Operation("log", "log", f.log(x), [1 / x], [POSITIVE], "natural logarithm", ufunc="log"),
    Operation("log2", "log2", f.log2(x), [1 / f.log(2) / x], [POSITIVE], "logarithm to base 2", ufunc="log2"),
    Operation("log10", "log10", f.log10(x), [1 / f.log(10) / x], [POSITIVE], "logarithm to base 10", ufunc="log10"),
    Operation(
        "log1p", "log1p", f.log1p(x), [1 / (1 + x)], [(-0.999, 20.0)], "log(1 + x), accurate near 0", ufunc="log1p"
    ),
    Operation("sqrt", "sqrt", f.sqrt(x), [0.5 / out], [POSITIVE], "square root", ufunc="sqrt"),
    Operation("cbrt", "cbrt", f.cbrt(x), [cbrt_slope], [REAL], "cube root, also of negative numbers", ufunc="cbrt"),
    Operation(
        "log1mexp",
        "log1mexp",
        where(x > -math.log(2), f.log(-f.expm1(x)), f.log1p(-f.exp(x))),
        [f.exp(x) / f.expm1(unless(x, equal(x, 0), -number(0)))],
        [(-50.0, -1e-6)],
        "log(1 - exp(x)), accurate for all x < 0",
    ),
    # Trigonometry, and the hyperbolic functions.
    Operation("sin", "sin", f.sin(x), [f.cos(x)], [REAL], "sine of an angle in radians", ufunc="sin"),
    Operation("cos", "cos", f.cos(x), [-f.sin(x)], [REAL], "cosine of an angle in radians", ufunc="cos"),
    Operation("tan", "tan", f.tan(x), [1 + out * out], [REAL], "tangent of an angle in radians", ufunc="tan"),
    Operation("asin", "asin", f.asin(x), [1 / leg], [UNIT], "inverse sine, in radians", ufunc="arcsin"),
    Operation("acos", "acos", f.acos(x), [-1 / leg], [UNIT], "inverse cosine, in radians", ufunc="arccos"),
    Operation("atan", "atan", f.atan(x), [atan_slope], [REAL], "inverse tangent, in radians", ufunc="arctan"),
    Operation("sinh", "sinh", f.sinh(x), [f.cosh(x)], [REAL], "hyperbolic sine", ufunc="sinh"),
    Operation("cosh", "cosh", f.cosh(x), [f.sinh(x)], [REAL], "hyperbolic cosine", ufunc="cosh"),
    Operation("tanh", "tanh", f.tanh(x), [tanh_slope], [REAL], "hyperbolic tangent", ufunc="tanh"),
    Operation("asinh", "asinh", f.asinh(x), [asinh_slope], [REAL], "inverse hyperbolic sine", ufunc="arcsinh"),
    Operation(
        "acosh", "acosh", f.acosh(x), [acosh_slope], [(1.001, 50.0)], "inverse hyperbolic cosine", ufunc="arccosh"
    ),
    Operation("atanh", "atanh", f.atanh(x), [1 / leg_squared], [UNIT], "inverse hyperbolic tangent", ufunc="arctanh"),
    Operation(
        "sinc",
        "sinc",
        f.sinc(x),
        [sinc_slope],
        [REAL],
        "sin(π · x) / (π · x), and 1 at 0",
    ),
    # Activations of neural networks.
    Operation("sigmoid", "sigmoid", logistic, [sigmoid_slope], [REAL], "1 / (1 + exp(-x))", ufunc="expit"),
    Operation("relu", "ReLU", where(x < 0, 0, x), [where(x <= 0, 0, 1)], [REAL], "x if x > 0, else 0"),
    Operation("softplus", "softplus", where(x > 0, x, 0) + f.log1p(e), [logistic], [REAL], "log(1 + exp(x))"),
    Operation(
        "silu",
        "SiLU",
        f.silu(x),
        [usually((1 + x / (1 + f.exp(x))) / (1 + f.exp(-x)), NEVER, silu_slope)],
        [REAL],
        "x · sigmoid(x), also known as swish",
    ),
    Operation(
        "gelu",
        "GELU",
        lower * f.norm_cdf(x),
        [f.norm_cdf(x) + within * f.norm_pdf(x)],
        [REAL],
        "x · norm_cdf(x), without the tanh approximation",
    ),
    # The error function, and the normal distribution of mean 0 and variance 1.
    Operation("erf", "erf", f.erf(x), [bell], [(-5.0, 5.0)], "error function", ufunc="erf"),
    Operation("erfc", "erfc", f.erfc(x), [-bell], [(-5.0, 25.0)], "1 - erf(x), accurate for large x", ufunc="erfc"),
    Operation(
        "erfcx",
        "erfcx",
        f.erfcx(x),
        [erfcx_partial],
        [(-20.0, 50.0)],
        "exp(x²) · erfc(x), which does not underflow",
        ufunc="erfcx",
    ),
    Operation(
        "norm_pdf", "norm_pdf", f.norm_pdf(x), [-near * out], [(-8.0, 8.0)], "density of the normal distribution"
    ),
    Operation(
        "norm_cdf",
        "norm_cdf",
        f.norm_cdf(x),
        [f.norm_pdf(x)],
        [(-8.0, 8.0)],
        "normal distribution function",
        ufunc="ndtr",
    ),
    Operation(
        "norm_ppf",
        "norm_ppf",
        f.norm_ppf(x),
        [
            usually(1 / f.norm_pdf(out), NEVER, ppf_slope),
        ],
        [(0.001, 0.999)],
        "quantile of the normal distribution: the inverse of norm_cdf",
        ufunc="ndtri",
    ),
    # The gamma function and related functions.
    Operation("gamma", "gamma", f.gamma(x), [out * f.digamma(x)], [(0.01, 20.0)], "gamma function", ufunc="gamma"),
    Operation(
        "lgamma",
        "lgamma",
        f.lgamma(x),
        [f.digamma(x)],
        [POSITIVE],
        "logarithm of the absolute value of the gamma function",
        ufunc="gammaln",
    ),
    Operation("digamma", "digamma", f.digamma(x), [f.trigamma(x)], [POSITIVE], "derivative of lgamma", ufunc="psi"),
    Operation(
        "trigamma",
        "trigamma",
        f.trigamma(x),
        [usually(f.polygamma(2, x), NEVER, trigamma_slope)],
        [(0.01, 50.0)],
        "derivative of digamma",
    ),
    # Polar coordinates.
    Operation(
        "atan2",
        "atan2",
        f.atan2(x, y),
        [
            usually(y / divisor, is_moderate, where(is_origin, 0, scale * y / not_zero / not_zero * scale)),
            usually(-x / divisor, is_moderate, where(is_origin, 0, -scale * x / not_zero / not_zero * scale)),
        ],
        [REAL, REAL],
        "angle of the point with ordinate x and abscissa y, in radians",
        ufunc="arctan2",
    ),
    Operation(
        "hypot",
        "hypot",
        f.hypot(x, y),
        [
            usually(x / length, is_moderate, scale * x / scaled),
            usually(y / length, is_moderate, scale * y / scaled),
        ],
        [REAL, REAL],
        "length of the vector (x, y)",
        ufunc="hypot",
    ),
    # Maximum, minimum and choice. If the operands of `maximum` or `minimum` are equal, each gets half of the gradient.
    Operation(
        "maximum",
        "max",
        where(x < y, y, where(equal(y, y), x, y)),
        [where(equal(x, y), 0.5, where(x < y, 0, 1)), where(equal(x, y), 0.5, where(y < x, 0, 1))],
        [REAL, REAL],
        "larger of x and y; nan if either of them is nan",
        ufunc="maximum",
    ),
    Operation(
        "minimum",
        "min",
        where(y < x, y, where(equal(y, y), x, y)),
        [where(equal(x, y), 0.5, where(y < x, 0, 1)), where(equal(x, y), 0.5, where(x < y, 0, 1))],
        [REAL, REAL],
        "smaller of x and y; nan if either of them is nan",
        ufunc="minimum",
    ),
    Operation(
        "where",
        "where",
        where(x, y, z),
        [0, where(x, 1, 0), where(x, 0, 1)],
        [REAL, REAL, REAL],
        "y where x is not zero, else z",
    ),
    # Piecewise constant functions. Comparisons return 1.0 for true and 0.0 for false.
    Operation("sign", "sign", f.sign(x), [0], [REAL], "sign of x: -1, 0 or 1", ufunc="sign"),
    Operation("floor", "floor", f.floor(x), [0], [REAL], "largest integer <= x", operator="floor", ufunc="floor"),
    Operation("ceil", "ceil", f.ceil(x), [0], [REAL], "smallest integer >= x", operator="ceil", ufunc="ceil"),
    Operation("trunc", "trunc", f.trunc(x), [0], [REAL], "x rounded towards 0", operator="trunc", ufunc="trunc"),
    Operation("rint", "rint", f.rint(x), [0], [REAL], "nearest integer, with ties to the even integer", ufunc="rint"),
    Operation("less", "<", where(x < y, 1, 0), [0, 0], [REAL, REAL], "1 where x < y, else 0"),
    Operation("less_equal", "<=", where(x <= y, 1, 0), [0, 0], [REAL, REAL], "1 where x <= y, else 0"),
    Operation("equal", "=", where(equal(x, y), 1, 0), [0, 0], [REAL, REAL], "1 where x and y are equal, else 0"),
    # Division with remainder. The derivative of the remainder is 1 with respect to x and -quotient with respect to y.
    # This also holds where the remainder jumps.
    Operation(
        "floor_divide",
        "//",
        f.floor_divide(x, y),
        [0, 0],
        [REAL, (0.1, 5.0)],
        "quotient rounded down",
        operator="floordiv",
        ufunc="floor_divide",
    ),
    Operation(
        "mod",
        "%",
        f.mod(x, y),
        [1, -f.floor_divide(x, y)],
        [REAL, (0.1, 5.0)],
        "remainder x - y · floor(x / y), which has the sign of y",
        operator="mod",
        ufunc="remainder",
    ),
    Operation(
        "fmod",
        "fmod",
        f.fmod(x, y),
        [1, -f.copysign(f.floor_divide(f.fabs(x), f.fabs(y)), x / y)],
        [REAL, (0.1, 5.0)],
        "remainder x - y · trunc(x / y), which has the sign of x",
        ufunc="fmod",
    ),
    Operation(
        "remainder",
        "remainder",
        f.remainder(x, y),
        [1, -(f.floor_divide(x, y) + where(f.sign(out) * f.sign(y) < 0, 1, 0))],
        [REAL, (0.1, 5.0)],
        "remainder x - y · rint(x / y), which is between -y / 2 and y / 2",
    ),
    # Maximum and minimum that skip nan, and the sign of another number. Equal operands of `fmin` and `fmax` each get
    # half of the gradient.
    Operation(
        "fmax",
        "fmax",
        where(x < y, y, where(equal(x, x), x, y)),
        [
            where(equal(x, y), 0.5, where(x < y, 0, where(equal(x, x), 1, 0))),
            where(equal(x, y), 0.5, where(x < y, 1, where(equal(x, x), 0, 1))),
        ],
        [REAL, REAL],
        "larger of x and y; if one of them is nan, the other one",
        ufunc="fmax",
    ),
    Operation(
        "fmin",
        "fmin",
        where(y < x, y, where(equal(x, x), x, y)),
        [
            where(equal(x, y), 0.5, where(y < x, 0, where(equal(x, x), 1, 0))),
            where(equal(x, y), 0.5, where(y < x, 1, where(equal(x, x), 0, 1))),
        ],
        [REAL, REAL],
        "smaller of x and y; if one of them is nan, the other one",
        ufunc="fmin",
    ),
    Operation(
        "copysign",
        "copysign",
        f.copysign(x, y),
        [f.sign(x) * f.copysign(1, y), 0],
        [REAL, REAL],
        "absolute value of x with the sign of y",
        ufunc="copysign",
    ),
    # The logarithm of a sum, given the logarithms of the terms.
    Operation(
        "logaddexp",
        "logaddexp",
        where(x < y, y, x) + f.log1p(f.exp(-f.fabs(unless(x - y, equal(x, y), 0)))),
        [
            usually(1 / (1 + f.exp(y - x)), NEVER, where(x < y, rising / (1 + rising), 1 / (1 + falling))),
            usually(1 / (1 + f.exp(x - y)), NEVER, where(x < y, 1 / (1 + rising), falling / (1 + falling))),
        ],
        [(0.1, 5.0), (-5.0, 5.0)],
        "log(exp(x) + exp(y))",
        ufunc="logaddexp",
    ),
    # Identity in the forward pass, zero in the backward pass.
    Operation("stop_gradient", "stop", x, [0], [REAL], "x itself, but no gradient flows back to x", is_exact=False),
)

REDUCTIONS: tuple[Reduction, ...] = (
    Reduction(
        "sumprod",
        "sumprod",
        0,
        total + x * y,
        [y, x],
        1,
        [REAL, REAL],
        "start + p[0]·q[0] + p[1]·q[1] + ..., added up in that order",
    ),
)

FUSED: tuple[Fused, ...] = (
    Fused("muladd", x * y + z),
    Fused("mulsub", x * y - z),
    Fused("submul", z - x * y),
)

GATHERS: tuple[Gather, ...] = (Gather("take", "take", "the entry of a table at an index"),)

# Rows of operations with any number of operands.
VARIADIC: tuple[Reduction | Gather, ...] = (*REDUCTIONS, *GATHERS)

# Rows of operations that a graph node can have.
GRAPH_ROWS: tuple[Operation | Reduction | Gather, ...] = (*TABLE, *VARIADIC)

# Instructions whose value is given by a formula.
ROWS: tuple[Operation | Fused, ...] = (*TABLE, *FUSED)

BY_NAME = {operation.name: operation for operation in TABLE}
REDUCTION_BY_NAME = {reduction.name: reduction for reduction in REDUCTIONS}
VARIADIC_BY_NAME = {row.name: row for row in VARIADIC}
