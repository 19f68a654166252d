// Shared by all C++ programs that train microgpt: the sizes, the order of the weights, and Adam.

#pragma once

#include <cmath>
#include <cstring>

constexpr int WIDTH = 16, HEADS = 4, SIZE = WIDTH / HEADS, PLACES = 16, LETTERS = 27, HIDDEN = 4 * WIDTH;

template <typename Real>
struct WeightsOf {
    Real letters[LETTERS][WIDTH], places[PLACES][WIDTH], unembed[LETTERS][WIDTH];
    Real query[WIDTH][WIDTH], key[WIDTH][WIDTH], value[WIDTH][WIDTH], mix[WIDTH][WIDTH];
    Real widen[HIDDEN][WIDTH], narrow[WIDTH][HIDDEN];
};
using Weights = WeightsOf<float>;
constexpr int PARAMETERS = sizeof(Weights) / sizeof(float);

// Makes step number `step` of `steps`, counted from 0.
template <typename Real>
static void adam(Real *weights, Real *mean, Real *square, const Real *gradient, int step, int steps) {
    const Real rate = Real(0.01) * (1 - Real(step) / steps);
    const Real unbiased = 1 / (1 - std::pow(Real(0.85), Real(step + 1)));
    const Real unbiased_square = 1 / (1 - std::pow(Real(0.99), Real(step + 1)));
    for (int i = 0; i < PARAMETERS; i++) {
        mean[i] = Real(0.85) * mean[i] + Real(0.15) * gradient[i];
        square[i] = Real(0.99) * square[i] + Real(0.01) * gradient[i] * gradient[i];
        weights[i] -= rate * (mean[i] * unbiased) / (std::sqrt(square[i] * unbiased_square) + Real(1e-8));
    }
}
