/* C library functions over rows: vectorized by libmvec if VECTORS is defined, otherwise one number at a time. */
#include <math.h>

#ifdef VECTORS
#define DECLARED(name, type) __attribute__((simd("notinbranch"))) type name(type);
#else
#define DECLARED(name, type)
#endif
#define ROW(name, function, type) \
    DECLARED(function, type) \
    void name(const type *x, type *out, long count) { \
        _Pragma("GCC ivdep") for (long i = 0; i < count; i++) out[i] = function(x[i]); \
    }
#define ROWS(function) ROW(row_##function##_double, function, double) ROW(row_##function##_float, function##f, float)

ROWS(exp) ROWS(log) ROWS(sin) ROWS(cos) ROWS(tanh)
