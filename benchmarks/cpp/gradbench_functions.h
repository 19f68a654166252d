// The problems of gradbench.py as functions of a type `Number` that records operations. The including file must define
// this type, `larger` (the maximum of two Numbers), and `recorded`, which records a function of nx numbers and np
// parameters on a tape. The function receives arrays of Numbers: x, the parameters p, and the ny results.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

static Number logsumexp(int n, const Number *x) {
    Number most = x[0], total = 0;
    for (int i = 1; i < n; i++) most = larger(most, x[i]);
    for (int i = 0; i < n; i++) total += exp(x[i] - most);
    return most + log(total);
}

static Number squared(const Number &x) { return x * x; }

// The log density at the point p. Alphas, means and triangles are stored consecutively.
static void log_density(int k, int d, const Number *x, const Number *p, Number *y) {
    const Number *means = x + k, *triangle = means + k * d;
    std::vector<Number> term(k), away(d), turned(d);
    for (int c = 0; c < k; c++, means += d) {
        for (int j = 0; j < d; j++) away[j] = p[j] - means[j], turned[j] = exp(triangle[j]) * away[j];
        term[c] = x[c];
        for (int j = 0; j < d; j++) term[c] += *triangle++;
        for (int j = 0; j < d; j++)
            for (int l = j + 1; l < d; l++) turned[l] += *triangle++ * away[j];
        for (int j = 0; j < d; j++) term[c] -= 0.5 * squared(turned[j]);
    }
    *y = logsumexp(k, term.data());
}

// The remaining terms of the likelihood of n points: the sum of the weights, and the prior.
static void prior(int n, int k, int d, const Number *x, Number *y) {
    const Number *triangle = x + k + k * d;
    *y = -n * logsumexp(k, x);
    for (int c = 0; c < k; c++) {
        for (int j = 0; j < d; j++) *y -= 0.5 * squared(exp(*triangle++));
        for (int j = 0; j < d * (d - 1) / 2; j++) *y -= 0.5 * squared(*triangle++);
    }
}

// The residuals of a camera (rotation, center, focal length, principal point, distortion), a point and a weight.
static void observed(const Number *x, const Number *p, Number *y) {
    const Number *r = x, *point = x + 11;
    const Number square = squared(r[0]) + squared(r[1]) + squared(r[2]), angle = sqrt(square), cosine = cos(angle);
    const Number a = sin(angle) / angle, b = (1 - cosine) / square;
    Number away[3], turned[3];
    for (int i = 0; i < 3; i++) away[i] = point[i] - x[3 + i];
    const Number along = b * (r[0] * away[0] + r[1] * away[1] + r[2] * away[2]);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, l = (i + 2) % 3;
        turned[i] = cosine * away[i] + a * (r[j] * away[l] - r[l] * away[j]) + along * r[i];
    }
    const Number u = turned[0] / turned[2], v = turned[1] / turned[2], far = u * u + v * v;
    const Number scale = x[6] * (1 + far * (x[9] + far * x[10]));
    y[0] = x[14] * (scale * u + x[7] - p[0]);
    y[1] = x[14] * (scale * v + x[8] - p[1]);
}

// The residuals of all observations. Their numbers are stored consecutively in x: cameras, points, weights.
static void all_observed(int cameras, int points, int n, const Number *x, const double *p, Number *y) {
    const double *seen = p, *camera = p + 2 * n, *point = camera + n;
    for (int i = 0; i < n; i++) {
        const Number *its = x + 11 * static_cast<int>(camera[i]), *place = x + 11 * cameras + 3 * static_cast<int>(point[i]);
        Number numbers[15];
        const Number at[2] = {seen[2 * i], seen[2 * i + 1]};
        std::copy(its, its + 11, numbers), std::copy(place, place + 3, numbers + 11);
        numbers[14] = x[11 * cameras + 3 * points + i];
        observed(numbers, at, y + 2 * i);
        y[2 * n + i] = 1 - squared(numbers[14]);
    }
}

// The hand: see gradbench_problems/ht.py. Constants are stored consecutively in p.
struct Matrix {
    Number a[3][4];
};

static Matrix operator*(const Matrix &p, const Matrix &q) {
    Matrix out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            out.a[i][j] = p.a[i][0] * q.a[0][j] + p.a[i][1] * q.a[1][j] + p.a[i][2] * q.a[2][j];
            if (j == 3) out.a[i][j] += p.a[i][3];
        }
    return out;
}

static Matrix affine(const double *p) {
    Matrix out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) out.a[i][j] = p[4 * i + j];
    return out;
}

static Matrix turned_by(const Number *r) {
    const Number angle = sqrt(squared(r[0]) + squared(r[1]) + squared(r[2])), c = cos(angle), s = sin(angle), rest = 1 - c;
    const Number x = r[0] / angle, y = r[1] / angle, z = r[2] / angle;
    return {{{x * x * rest + c, x * y * rest - z * s, x * z * rest + y * s, r[3]},
             {x * y * rest + z * s, y * y * rest + c, y * z * rest - x * s, r[4]},
             {x * z * rest - y * s, y * z * rest + x * s, z * z * rest + c, r[5]}}};
}

static Matrix bent(const Number &x, const Number &z) {
    const Number cx = cos(x), sx = sin(x), cz = cos(z), sz = sin(z), zero = 0;
    return {{{cz, -sz * cx, sz * sx, zero}, {sz, cz * cx, -cz * sx, zero}, {zero, sx, cx, zero}}};
}

static void hand(int n, int vertices, const Number *x, const double *p, Number *y) {
    const int bones = 22;
    const double *base = p, *inverses = base + 16 * bones, *parents = inverses + 16 * bones, *weights = parents + bones;
    const double *positions = weights + bones * vertices, *triangles = positions + 4 * vertices, *points = triangles + 3 * n;
    const Matrix global = turned_by(x);
    std::vector<Matrix> absolute(bones), moved(bones);
    for (int b = 0; b < bones; b++) {
        const int joint = b && b < 21 ? (b - 1) % 4 : 0, parent = static_cast<int>(parents[b]);
        const Number *angle = x + 6 + (b - 1) / 4 * 4;
        Matrix relative = affine(base + 16 * b);
        if (joint) relative = relative * bent(angle[joint == 1 ? 0 : joint], joint == 1 ? angle[1] : Number(0));
        absolute[b] = parent < 0 ? relative : absolute[parent] * relative;
        moved[b] = global * (absolute[b] * affine(inverses + 16 * b));
    }
    std::vector<Number> skin(3 * vertices, Number(0));
    for (int v = 0; v < vertices; v++)
        for (int b = 0; b < bones; b++) {
            const double weight = weights[b * vertices + v];
            for (int i = 0; weight != 0 && i < 3; i++) {
                const Number *row = moved[b].a[i];
                Number place = row[3];
                for (int j = 0; j < 3; j++) place += row[j] * positions[j * vertices + v];
                skin[3 * v + i] += weight * place;
            }
        }
    for (int i = 0; i < n; i++) {
        const Number *u = x + 26 + 2 * i;
        const Number share[3] = {u[0], u[1], 1 - u[0] - u[1]};
        for (int j = 0; j < 3; j++) {
            y[3 * i + j] = points[3 * i + j];
            for (int v = 0; v < 3; v++) y[3 * i + j] -= share[v] * skin[3 * static_cast<int>(triangles[3 * i + v]) + j];
        }
    }
}

static void lstm(int layers, int letters, const Number *x, const double *p, Number *y) {
    const int b = 14;
    const double *sequence = p + 2 * layers * b;
    const Number *extra = x + 8 * layers * b;
    std::vector<Number> state(p, sequence), out(b);
    const auto squashed = [](const Number &x) { return 1 / (1 + exp(-x)); };
    *y = 0;
    for (int t = 0; t + 1 < letters; t++) {
        Number total = 2, golden = 0;
        for (int i = 0; i < b; i++) {
            out[i] = sequence[t * b + i] * extra[i];
            for (int l = 0; l < layers; l++) {
                const Number *w = x + 8 * l * b + i;
                Number &h = state[2 * l * b + i], &c = state[(2 * l + 1) * b + i];
                const Number forget = squashed(out[i] * w[0] + w[4 * b]), enter = squashed(h * w[b] + w[5 * b]);
                const Number leave = squashed(out[i] * w[2 * b] + w[6 * b]), change = tanh(h * w[3 * b] + w[7 * b]);
                c = c * forget + enter * change;
                out[i] = h = leave * tanh(c);
            }
            out[i] = out[i] * extra[b + i] + extra[2 * b + i];
            total += exp(out[i]);
        }
        total = log(total);
        for (int i = 0; i < b; i++)
            if (sequence[(t + 1) * b + i] != 0) golden += sequence[(t + 1) * b + i] * (out[i] - total);
        *y -= golden / (b * (letters - 1.0));
    }
}

static void ode(int n, int steps, const Number *x, Number *y) {
    const double h = 2.0 / steps, ahead[4] = {h / 2, h / 2, h, 0}, part[4] = {h / 6, h / 3, h / 3, h / 6};
    std::vector<Number> state(n, Number(0)), z(n), sum(n), k(n);
    for (int t = 0; t < steps; t++) {
        z = sum = state;
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < n; i++) k[i] = i ? x[i] * z[i - 1] : x[0];
            for (int i = 0; i < n; i++) sum[i] += part[j] * k[i];
            for (int i = 0; j < 3 && i < n; i++) z[i] = state[i] + ahead[j] * k[i];
        }
        state = sum;
    }
    *y = state[n - 1];
}

static Number minor(int n, int row, const Number *a, std::vector<int> &next) {
    if (row == n - 1) return a[row * n + next[n]];
    Number total = 0;
    bool is_odd = false;
    for (int before = n; next[before] < n; before = next[before], is_odd = !is_odd) {
        const int column = next[before];
        next[before] = next[column];
        const Number product = a[row * n + column] * minor(n, row + 1, a, next);
        next[before] = column;
        if (is_odd) total -= product; else total += product;
    }
    return total;
}

static void llsq(int n, int m, const Number *x, Number *y) {
    *y = 0;
    for (int i = 0; i < n; i++) {
        const double t = -1 + 2.0 * i / (n - 1);
        Number total = x[m - 1];
        for (int j = m - 2; j >= 0; j--) total = total * t + x[j];
        *y += 0.5 * squared((t > 0) - (t < 0) - total);
    }
}

// Records the named problem for numbers x and parameters p. Constants are passed without recording.
extern "C" void *record(const char *name, const long *size, long nx, const double *x, long np, const double *p, long ny,
                        const double *constants) {
    const std::string problem = name;
    const int a = size[0], b = size[1], c = size[2];
    return recorded(nx, x, np, p, ny, [&](const Number *x, const Number *p, Number *y) {
        if (problem == "gmm") log_density(b, c, x, p, y);
        if (problem == "gmm_prior") prior(a, b, c, x, y);
        if (problem == "ba") observed(x, p, y);
        if (problem == "ba_weight") *y = 1 - squared(*x);
        if (problem == "ba_all") all_observed(a, b, c, x, constants, y);
        if (problem == "ht") hand(a, b, x, constants, y);
        if (problem == "lstm") lstm(a, b, x, constants, y);
        if (problem == "ode") ode(a, b, x, y);
        if (problem == "llsq") llsq(a, b, x, y);
        if (problem == "lse") *y = logsumexp(a, x);
        if (problem == "det") {
            std::vector<int> next(a + 1);
            for (int i = 0; i < a; i++) next[i] = i + 1;
            next[a] = 0;
            *y = minor(a, 0, x, next);
        }
        if (problem == "kmeans") {
            *y = 0;
            for (int j = 0; j < nx; j++) *y += squared(x[j] - constants[j]);
        }
    });
}
