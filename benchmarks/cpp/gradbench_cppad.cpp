// The problems of gradbench.py on CppAD tapes, recorded and optimized once, and replayed for all samples.

#include <cppad/cppad.hpp>

typedef CppAD::AD<double> Number;
typedef std::vector<double> Vector;

static Number larger(const Number &a, const Number &b) { return CppAD::CondExpGt(a, b, a, b); }

struct Tape {
    CppAD::ADFun<double> f;
    size_t nx, np, ny;
};

template <class F> static Tape *recorded(size_t nx, const double *x, size_t np, const double *p, size_t ny, F f) {
    std::vector<Number> ax(x, x + nx), ap(p, p + np), ay(ny);
    CppAD::Independent(ax, 0, false, ap);
    f(ax.data(), ap.data(), ay.data());
    Tape *tape = new Tape{CppAD::ADFun<double>(ax, ay), nx, np, ny};
    tape->f.optimize("no_compare_op");
    tape->f.check_for_nan(false);
    return tape;
}

#include "gradbench_functions.h"

extern "C" void release(Tape *tape) { delete tape; }

// Adds the gradient, summed over samples with different parameters, to `out`.
extern "C" void gradients(Tape *tape, long samples, const double *x, const double *p, double *out) {
    const Vector given(x, x + tape->nx), one(1, 1.0);
    for (long s = 0; s < samples; s++, p += tape->np) {
        if (tape->np) tape->f.new_dynamic(Vector(p, p + tape->np));
        tape->f.Forward(0, given);
        const Vector found = tape->f.Reverse(1, one);
        for (size_t i = 0; i < tape->nx; i++) out[i] += found[i];
    }
}

// The Jacobian of each sample; samples have separate numbers.
extern "C" void jacobians(Tape *tape, long samples, const double *x, const double *p, double *out) {
    Vector given(tape->nx), weights(tape->ny);
    for (long s = 0; s < samples; s++, p += tape->np, x += tape->nx) {
        if (tape->np) tape->f.new_dynamic(Vector(p, p + tape->np));
        std::copy(x, x + tape->nx, given.begin());
        tape->f.Forward(0, given);
        for (size_t j = 0; j < tape->ny; j++, out += tape->nx) {
            std::fill(weights.begin(), weights.end(), 0.0);
            weights[j] = 1;
            const Vector found = tape->f.Reverse(1, weights);
            std::copy(found.begin(), found.end(), out);
        }
    }
}

// The derivatives of all results along directions, the columns of `seeds`.
extern "C" void directions(Tape *tape, long count, const double *x, const double *seeds, double *out) {
    tape->f.Forward(0, Vector(x, x + tape->nx));
    const Vector found = tape->f.Forward(1, count, Vector(seeds, seeds + tape->nx * count));
    std::copy(found.begin(), found.end(), out);
}

// The gradient, and the Hessian times a vector of ones.
extern "C" void seconds(Tape *tape, const double *x, double *out) {
    tape->f.Forward(0, Vector(x, x + tape->nx));
    tape->f.Forward(1, Vector(tape->nx, 1.0));
    const Vector found = tape->f.Reverse(2, Vector(1, 1.0));  // for each number, its derivative and the derivative of that along the ones
    for (size_t i = 0; i < tape->nx; i++) out[i] = found[2 * i], out[tape->nx + i] = found[2 * i + 1];
}
