// The problems of gradbench.py on ADOL-C tapes, recorded once in memory and replayed for all samples. Parameters are
// independent variables, too.

#include <adolc/adolc.h>

typedef adouble Number;
typedef std::vector<double> Vector;

static Number larger(const Number &a, const Number &b) { return fmax(a, b); }

struct Tape {
    short tag;
    size_t nx, np, ny;
    size_t inputs() const { return nx + np; }
};

template <class F> static Tape *recorded(size_t nx, const double *x, size_t np, const double *p, size_t ny, F f) {
    static short tags = 0;
    const unsigned int entries = np ? 1 << 23 : 1 << 28;  // large enough to keep every tape in memory
    Tape *tape = new Tape{++tags, nx, np, ny};
    trace_on(tape->tag, 0, entries, entries, entries / 8, entries, 1);
    {
        std::vector<adouble> ax(nx + np), ay(ny);
        for (size_t i = 0; i < nx; i++) ax[i] <<= x[i];
        for (size_t i = 0; i < np; i++) ax[nx + i] <<= p[i];
        f(ax.data(), ax.data() + nx, ay.data());
        double out;
        for (adouble &y : ay) y >>= out;
    }
    trace_off();
    return tape;
}

#include "gradbench_functions.h"

extern "C" void release(Tape *tape) {
    removeTape(tape->tag, ADOLC_REMOVE_COMPLETELY);
    delete tape;
}

// Adds the gradient, summed over samples with different parameters, to `out`.
extern "C" void gradients(Tape *tape, long samples, const double *x, const double *p, double *out) {
    Vector given(tape->inputs()), found(tape->inputs());
    std::copy(x, x + tape->nx, given.begin());
    for (long s = 0; s < samples; s++, p += tape->np) {
        std::copy(p, p + tape->np, given.begin() + tape->nx);
        gradient(tape->tag, tape->inputs(), given.data(), found.data());
        for (size_t i = 0; i < tape->nx; i++) out[i] += found[i];
    }
}

// The derivatives of all results along directions, the columns of `seeds`.
extern "C" void directions(Tape *tape, long count, const double *x, double *seeds, double *out) {
    std::vector<double *> along(tape->nx), rows(tape->ny);
    Vector values(tape->ny);
    for (size_t i = 0; i < tape->nx; i++) along[i] = seeds + count * i;
    for (size_t i = 0; i < tape->ny; i++) rows[i] = out + count * i;
    fov_forward(tape->tag, tape->ny, tape->nx, count, x, along.data(), values.data(), rows.data());
}

// The gradient, and the Hessian times a vector of ones.
extern "C" void seconds(Tape *tape, const double *x, double *out) {
    Vector given(x, x + tape->nx), ones(tape->nx, 1.0);
    gradient(tape->tag, tape->nx, given.data(), out);
    hess_vec(tape->tag, tape->nx, given.data(), ones.data(), out + tape->nx);
}
