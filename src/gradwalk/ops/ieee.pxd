# What compiled modules see under the names of ieee.py: the C library's functions, called directly.

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
    double fabs(double)


cdef inline double pow(double x, double y) noexcept nogil:
    return x * x if y == 2.0 else libm_pow(x, y)


cdef inline double div(double x, double y) noexcept nogil:
    return x / y


cdef inline double sign(double x) noexcept nogil:
    return 1.0 if x > 0.0 else -1.0 if x < 0.0 else x
