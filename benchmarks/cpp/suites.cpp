// Handwritten versions of the problems of suites.py. Derivatives are written out, and nothing is allocated at run time.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

// A number with its first and second derivative with respect to one variable.
struct Jet {
    double v, d, dd;
};

static Jet operator+(Jet a, Jet b) { return {a.v + b.v, a.d + b.d, a.dd + b.dd}; }
static Jet operator-(Jet a, Jet b) { return {a.v - b.v, a.d - b.d, a.dd - b.dd}; }
static Jet operator*(Jet a, Jet b) { return {a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd}; }
static Jet operator*(double a, Jet b) { return {a * b.v, a * b.d, a * b.dd}; }
static Jet composed(Jet a, double f, double f1, double f2) { return {f, f1 * a.d, f2 * a.d * a.d + f1 * a.dd}; }
static Jet operator/(Jet a, Jet b) {
    const double r = 1 / b.v;
    return a * composed(b, r, -r * r, 2 * r * r * r);
}
static Jet cubed_distance(Jet a) {  // a to the power of -3/2
    const double r = 1 / a.v, f = r / std::sqrt(a.v);
    return composed(a, f, -1.5 * f * r, 3.75 * f * r * r);
}

// The squared position where a particle repelled by two charges crosses the axis; w moves one of the charges.
static Jet crossing(double w) {
    const double dt = 0.1;
    const Jet ten{10, 0, 0}, charge{10 - w, -1, 0};
    Jet x{0, 0, 0}, y{8, 0, 0}, vx{0.75, 0, 0}, vy{0, 0, 0};
    while (y.v + dt * vy.v > 0) {
        const Jet a = x - ten, b = y - charge;
        const Jet near = cubed_distance(a * a + b * b), far = cubed_distance(a * a + y * y);
        const Jet ax = a * (near + far), ay = b * near + y * far;
        x = x + dt * vx, y = y + dt * vy, vx = vx + dt * ax, vy = vy + dt * ay;
    }
    const Jet hit = x - y / vy * vx;
    return hit * hit;
}

extern "C" double particle(double w) {
    double before = w + 1;
    while (std::fabs(w - before) > 1e-5) {
        const Jet found = crossing(w);
        before = w;
        w -= found.d / found.dd;
    }
    return w;
}

// Gradient descent as in the suites: the step doubles after ten improvements and halves after a failure.
template <class F> static void descend(F f, const double *start, double *at) {
    double x = start[0], y = start[1], gx, gy, eta = 1e-5, fx = f(x, y, gx, gy);
    for (int count = 0; std::sqrt(gx * gx + gy * gy) > 1e-5;) {
        if (count == 10) {
            eta *= 2, count = 0;
            continue;
        }
        double a = x - eta * gx, b = y - eta * gy, ga, gb, fa = f(a, b, ga, gb);
        if (std::sqrt((a - x) * (a - x) + (b - y) * (b - y)) <= 1e-5) break;
        if (fa < fx)
            x = a, y = b, fx = fa, gx = ga, gy = gb, count++;
        else
            eta /= 2, count = 0;
    }
    at[0] = x, at[1] = y;
}

static void largest(double x, double y, const double *start, double *at) {
    descend([=](double a, double b, double &ga, double &gb) {
        ga = 2 * a, gb = 2 * b;
        return a * a + b * b - (x * x + y * y);
    }, start, at);
}

extern "C" void saddle(const double *start, double *out) {
    descend([=](double x, double y, double &gx, double &gy) {
        double at[2];
        largest(x, y, start, at);
        gx = 2 * x, gy = 2 * y;
        return x * x + y * y - (at[0] * at[0] + at[1] * at[1]);
    }, start, out);
    largest(out[0], out[1], start, out + 2);
}

// y'[0] = x[0] and y'[i] = x[i] y[i - 1], by the Runge-Kutta method, and the gradient of the last y.
static void slope(int n, const double *x, const double *y, double *out) {
    out[0] = x[0];
    for (int i = 1; i < n; i++) out[i] = x[i] * y[i - 1];
}

static void slope_back(int n, const double *x, const double *y, const double *adjoint, double *of_x, double *of_y) {
    of_x[0] += adjoint[0];
    for (int i = 1; i < n; i++) of_x[i] += adjoint[i] * y[i - 1], of_y[i - 1] = adjoint[i] * x[i];
    of_y[n - 1] = 0;
}

static void solved(double span, int n, int steps, const double *x, double *of_x) {
    static std::vector<double> kept;
    kept.assign((steps + 1) * n, 0.0);
    const double h = span / steps;
    const double before[4] = {0, h / 2, h / 2, h}, weight[4] = {h / 6, h / 3, h / 3, h / 6};
    std::vector<double> memory(12 * n);
    double *z[4], *k[4], *of_k[4];
    for (int j = 0; j < 4; j++) z[j] = &memory[j * n], k[j] = &memory[(4 + j) * n], of_k[j] = &memory[(8 + j) * n];
    auto stages = [&](const double *y) {
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < n; i++) z[j][i] = j ? y[i] + before[j] * k[j - 1][i] : y[i];
            slope(n, x, z[j], k[j]);
        }
    };
    for (int t = 0; t < steps; t++) {
        const double *y = &kept[t * n];
        stages(y);
        for (int i = 0; i < n; i++) {
            double total = y[i];
            for (int j = 0; j < 4; j++) total += weight[j] * k[j][i];
            kept[(t + 1) * n + i] = total;
        }
    }
    std::fill(of_x, of_x + n, 0.0);
    std::vector<double> of_y(n, 0.0), of_z(n);
    of_y[n - 1] = 1;
    for (int t = steps - 1; t >= 0; t--) {
        stages(&kept[t * n]);
        for (int j = 0; j < 4; j++)
            for (int i = 0; i < n; i++) of_k[j][i] = weight[j] * of_y[i];
        for (int j = 3; j >= 0; j--) {
            slope_back(n, x, z[j], of_k[j], of_x, of_z.data());
            for (int i = 0; i < n; i++) {
                of_y[i] += of_z[i];
                if (j) of_k[j - 1][i] += before[j] * of_z[i];
            }
        }
    }
}

extern "C" void ode(int n, int steps, const double *x, double *of_x) { solved(1, n, steps, x, of_x); }

extern "C" double logsumexp(int n, const double *x, double *gradient) {
    const double most = *std::max_element(x, x + n);
    double total = 0;
    for (int i = 0; i < n; i++) total += gradient[i] = std::exp(x[i] - most);
    const double scale = 1 / total;
    for (int i = 0; i < n; i++) gradient[i] *= scale;
    return most + std::log(total);
}

// The Newton step for k-means: minus the gradient divided by the diagonal of the Hessian.
extern "C" void kmeans(int n, int k, int d, const double *points, const double *centers, double *out) {
    std::vector<double> count(k, 0.0);
    std::fill(out, out + k * d, 0.0);
    for (int i = 0; i < n; i++) {
        const double *p = points + i * d;
        int best = 0;
        double least = 1e300;
        for (int c = 0; c < k; c++) {
            double distance = 0;
            for (int j = 0; j < d; j++) distance += (p[j] - centers[c * d + j]) * (p[j] - centers[c * d + j]);
            if (distance < least) least = distance, best = c;
        }
        count[best]++;
        for (int j = 0; j < d; j++) out[best * d + j] += p[j] - centers[best * d + j];
    }
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) out[c * d + j] /= count[c];
}

// Layers with elementwise gates. The gates, c and tanh(c) of each letter are stored for the backward pass.
static const int B = 14;

static double squashed(double x) { return 1 / (1 + std::exp(-x)); }

struct Kept {
    double x[B], h[B], c[B], gates[4 * B], after[B], bent[B];
};

template <int LAYERS>
static void layered(int letters, const double *w, const double *extra, const double *state, const double *sequence,
                    double *of_w, double *of_extra) {
    static std::vector<Kept> kept;
    static std::vector<double> shares, last;
    kept.resize(letters * LAYERS), shares.resize(letters * B), last.resize(letters * B);
    double h[LAYERS][B], c[LAYERS][B], x[B];
    for (int l = 0; l < LAYERS; l++)
        std::copy(state + 2 * l * B, state + (2 * l + 1) * B, h[l]), std::copy(state + (2 * l + 1) * B, state + (2 * l + 2) * B, c[l]);
    for (int t = 0; t + 1 < letters; t++) {
        for (int i = 0; i < B; i++) x[i] = sequence[t * B + i] * extra[i];
        for (int l = 0; l < LAYERS; l++) {
            Kept &k = kept[t * LAYERS + l];
            const double *weight = w + 8 * l * B, *bias = weight + 4 * B;
            for (int i = 0; i < B; i++) {
                k.x[i] = x[i], k.h[i] = h[l][i], k.c[i] = c[l][i];
                for (int g = 0; g < 4; g++) {
                    const double given = (g % 2 ? k.h[i] : k.x[i]) * weight[g * B + i] + bias[g * B + i];
                    k.gates[g * B + i] = g == 3 ? std::tanh(given) : squashed(given);
                }
                k.after[i] = c[l][i] = k.c[i] * k.gates[i] + k.gates[B + i] * k.gates[3 * B + i];
                k.bent[i] = std::tanh(k.after[i]);
                x[i] = h[l][i] = k.gates[2 * B + i] * k.bent[i];
            }
        }
        double total = 2;
        for (int i = 0; i < B; i++) last[t * B + i] = x[i], total += shares[t * B + i] = std::exp(x[i] * extra[B + i] + extra[2 * B + i]);
        for (int i = 0; i < B; i++) shares[t * B + i] /= total;
    }
    std::fill(of_w, of_w + 8 * LAYERS * B, 0.0), std::fill(of_extra, of_extra + 3 * B, 0.0);
    double of_h[LAYERS][B] = {}, of_c[LAYERS][B] = {}, of_x[B];
    const double scale = -1.0 / (B * (letters - 1));
    for (int t = letters - 2; t >= 0; t--) {
        double golden = 0;
        for (int i = 0; i < B; i++) golden += sequence[(t + 1) * B + i];
        for (int i = 0; i < B; i++) {
            const double of_y = scale * (sequence[(t + 1) * B + i] - golden * shares[t * B + i]);
            of_extra[2 * B + i] += of_y, of_extra[B + i] += of_y * last[t * B + i], of_x[i] = of_y * extra[B + i];
        }
        for (int l = LAYERS - 1; l >= 0; l--) {
            const Kept &k = kept[t * LAYERS + l];
            const double *weight = w + 8 * l * B;
            double *of_weight = of_w + 8 * l * B, *of_bias = of_weight + 4 * B;
            for (int i = 0; i < B; i++) {
                const double f = k.gates[i], in = k.gates[B + i], out = k.gates[2 * B + i], change = k.gates[3 * B + i];
                const double of_out = of_h[l][i] + of_x[i];
                const double of_after = of_c[l][i] + of_out * out * (1 - k.bent[i] * k.bent[i]);
                const double by[4] = {of_after * k.c[i] * f * (1 - f), of_after * change * in * (1 - in),
                                      of_out * k.bent[i] * out * (1 - out), of_after * in * (1 - change * change)};
                of_c[l][i] = of_after * f;
                of_x[i] = by[0] * weight[i] + by[2] * weight[2 * B + i];
                of_h[l][i] = by[1] * weight[B + i] + by[3] * weight[3 * B + i];
                for (int g = 0; g < 4; g++)
                    of_weight[g * B + i] += by[g] * (g % 2 ? k.h[i] : k.x[i]), of_bias[g * B + i] += by[g];
            }
        }
        for (int i = 0; i < B; i++) of_extra[i] += of_x[i] * sequence[t * B + i];
    }
}

extern "C" void lstm(int letters, const double *w, const double *extra, const double *state, const double *sequence,
                     double *of_w, double *of_extra) {
    layered<2>(letters, w, extra, state, sequence, of_w, of_extra);
}

// Residuals of cameras that observe points, residuals of the weights, and all derivatives. An observation has two
// residuals. They depend on eleven camera parameters (rotation, center, focal length, principal point, distortion), on
// three coordinates of the point, and on a weight. Eight observations can be computed side by side.
typedef double Eight __attribute__((vector_size(64)));

#define OF_EACH(function) \
    static inline Eight function(Eight x) { \
        Eight out; \
        for (int w = 0; w < 8; w++) out[w] = std::function(x[w]); \
        return out; \
    }
OF_EACH(sin) OF_EACH(cos) OF_EACH(sqrt)

template <class V> static void cross(const V *a, const V *b, V *out) {
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

template <class V> static V dot(const V *a, const V *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

template <class V>
static void observe(const V *camera, const V *point, V weight, const V *seen, V *error, V *slopes) {
    const V none = {}, one = none + 1;
    const V *r = camera, *radial = camera + 9, focal = camera[6];
    const V x[3] = {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]};
    const V square = dot(r, r), angle = sqrt(square), along = dot(r, x);
    const auto turns = square > none;
    const V cosine = cos(angle), a = turns ? sin(angle) / angle : one, b = turns ? (1 - cosine) / square : 0.5 * one;
    const V of_a = turns ? (cosine - a) / square : none, of_b = turns ? (a - 2 * b) / square : none;
    V across[3], turned[3], by_point[3][3], by_turn[3][3];  // the last two are stored by column
    cross(r, x, across);
    for (int i = 0; i < 3; i++) turned[i] = cosine * x[i] + a * across[i] + b * along * r[i];
    for (int j = 0; j < 3; j++) {
        V unit[3] = {}, around_unit[3], around_x[3];
        unit[j] = one;
        cross(r, unit, around_unit), cross(unit, x, around_x);
        for (int i = 0; i < 3; i++) {
            by_point[j][i] = cosine * unit[i] + a * around_unit[i] + b * r[j] * r[i];
            by_turn[j][i] = r[j] * (of_a * across[i] - a * x[i] + of_b * along * r[i]) + a * around_x[i] + b * (x[j] * r[i] + along * unit[i]);
        }
    }
    const V depth = 1 / turned[2], u[2] = {turned[0] * depth, turned[1] * depth};
    const V far = u[0] * u[0] + u[1] * u[1], scale = 1 + far * (radial[0] + far * radial[1]);
    const V of_scale = 2 * (radial[0] + 2 * far * radial[1]);
    for (int e = 0; e < 2; e++) {
        V *slope = slopes + 15 * e;
        const V bent = scale * u[e], at = focal * bent + camera[7 + e] - seen[e], w = weight * focal;
        const V by_u[2] = {w * (of_scale * u[e] * u[0] + (e == 0) * one * scale), w * (of_scale * u[e] * u[1] + (e == 1) * one * scale)};
        const V by_turned[3] = {by_u[0] * depth, by_u[1] * depth, -depth * (by_u[0] * u[0] + by_u[1] * u[1])};
        for (int j = 0; j < 3; j++) {
            slope[j] = dot(by_turned, by_turn[j]), slope[11 + j] = dot(by_turned, by_point[j]);
            slope[3 + j] = -slope[11 + j];
        }
        slope[6] = weight * bent, slope[7] = slope[8] = none, slope[7 + e] = weight;
        slope[9] = w * u[e] * far, slope[10] = w * u[e] * far * far, slope[14] = at;
        error[e] = weight * at;
    }
}

extern "C" void bundle(int n, const double *cameras, const double *points, const double *weights, const double *seen,
                       const int64_t *camera, const int64_t *point, double *errors, double *slopes) {
    for (int i = 0; i < n; i++)
        observe(cameras + 11 * camera[i], points + 3 * point[i], weights[i], seen + 2 * i, errors + 2 * i, slopes + 30 * i);
}

// The gradient of the log likelihood of k Gaussians in d dimensions, with a Wishart prior on their inverse covariances.
// Each inverse covariance is given by a lower triangle: the logarithms of its diagonal, then its columns below it.
extern "C" void gaussians(int n, int k, int d, const double *points, const double *alphas, const double *means, const double *triangles,
                          double gamma, double *of_alphas, double *of_means, double *of_triangles) {
    const int size = d * (d + 1) / 2;
    std::vector<double> diagonal(k * d), total(k), away(k * d), turned(k * d), term(k), back(d);
    std::fill(of_alphas, of_alphas + k, 0.0), std::fill(of_means, of_means + k * d, 0.0), std::fill(of_triangles, of_triangles + k * size, 0.0);
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) diagonal[c * d + j] = std::exp(triangles[c * size + j]), total[c] += triangles[c * size + j];
    for (int i = 0; i < n; i++) {
        for (int c = 0; c < k; c++) {
            double *x = &away[c * d], *y = &turned[c * d], square = 0;
            for (int j = 0; j < d; j++) x[j] = points[i * d + j] - means[c * d + j], y[j] = diagonal[c * d + j] * x[j];
            const double *column = triangles + c * size + d;
            for (int j = 0; j + 1 < d; column += d - ++j)
                for (int l = j + 1; l < d; l++) y[l] += column[l - j - 1] * x[j];
            for (int j = 0; j < d; j++) square += y[j] * y[j];
            term[c] = alphas[c] + total[c] - 0.5 * square;
        }
        const double most = *std::max_element(term.begin(), term.end());
        double sum = 0;
        for (int c = 0; c < k; c++) sum += term[c] = std::exp(term[c] - most);
        for (int c = 0; c < k; c++) {
            const double share = term[c] / sum, *x = &away[c * d], *y = &turned[c * d], *column = triangles + c * size + d;
            double *of_triangle = of_triangles + c * size, *of_column = of_triangle + d;
            of_alphas[c] += share;
            for (int j = 0; j < d; j++) of_triangle[j] += share * (1 - y[j] * diagonal[c * d + j] * x[j]), back[j] = diagonal[c * d + j] * y[j];
            for (int j = 0; j + 1 < d; column += d - 1 - j, of_column += d - 1 - j, j++)
                for (int l = j + 1; l < d; l++) of_column[l - j - 1] -= share * y[l] * x[j], back[j] += column[l - j - 1] * y[l];
            for (int j = 0; j < d; j++) of_means[c * d + j] += share * back[j];
        }
    }
    double sum = 0;
    const double most = *std::max_element(alphas, alphas + k);
    for (int c = 0; c < k; c++) sum += std::exp(alphas[c] - most);
    for (int c = 0; c < k; c++) {
        of_alphas[c] -= n * std::exp(alphas[c] - most) / sum;
        for (int j = 0; j < d; j++) of_triangles[c * size + j] -= gamma * gamma * diagonal[c * d + j] * diagonal[c * d + j];
        for (int j = d; j < size; j++) of_triangles[c * size + j] -= gamma * gamma * triangles[c * size + j];
    }
}
