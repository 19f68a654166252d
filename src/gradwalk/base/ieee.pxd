# The functions of ieee.py for compiled modules, which call the C library directly.

cdef extern from "<math.h>" nogil:
    double libm_pow "pow" (double, double)
    double exp(double)
    double log(double)
    double log2(double)
    double log10(double)
    double log1p(double)
    double expm1(double)
    double sqrt(double)
    double sin(double)
    double cos(double)
    double tan(double)
    double asin(double)
    double acos(double)
    double atan(double)
    double atan2(double, double)
    double sinh(double)
    double cosh(double)
    double tanh(double)
    double hypot(double, double)
    double erf(double)
    double erfc(double)
    double asinh(double)
    double libm_acosh "acosh" (double)
    double atanh(double)
    double cbrt(double)
    double exp2(double)
    double floor(double)
    double ceil(double)
    double trunc(double)
    double rint(double)
    double fabs(double)
    double fmod(double, double)
    double remainder(double, double)
    double copysign(double, double)
    const double NAN


cdef inline double pow(double x, double y) noexcept nogil:
    return x * x if y == 2.0 else libm_pow(x, y)


# musl (Alpine, Pyodide) returns numbers instead of nan for some x < 1, such as -100000.
cdef inline double acosh(double x) noexcept nogil:
    return NAN if x < 1.0 else libm_acosh(x)


# The algorithm of Python and NumPy: subtract fmod(x, y) first, so that the division is exact up to rounding.
cdef inline double floor_divide(double x, double y) noexcept nogil:
    cdef double m = fmod(x, y)
    cdef double q = (x - m) / y - (1.0 if m != 0.0 and (m < 0.0) != (y < 0.0) else 0.0)
    cdef double below = floor(q)
    if y == 0.0:
        return x / y
    return copysign(0.0, x / y) if q == 0.0 else below + 1.0 if q - below > 0.5 else below


cdef inline double mod(double x, double y) noexcept nogil:
    cdef double m = fmod(x, y)
    return copysign(0.0, y) if m == 0.0 else m + y if (m < 0.0) != (y < 0.0) else m


cdef inline double div(double x, double y) noexcept nogil:
    return x / y


cdef inline double sign(double x) noexcept nogil:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x


include "special.pxi"
