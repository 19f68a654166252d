// Handwritten versions of those problems of gradbench.py that suites.cpp does not contain. Derivatives are written out,
// samples are stored side by side, and memory is allocated only in the first run of each size.

#include "suites.cpp"

// Linear least squares: the sum of (sign(t) - x[0] - x[1] t - x[2] t² - ...)² / 2 over n points t from -1 to 1.
extern "C" void llsq(int n, int m, const double *x, double *gradient) {
    const int W = 32;
    std::fill(gradient, gradient + m, 0.0);
    for (int begin = 0; begin < n; begin += W) {
        double t[W], away[W], sum[W];
        for (int w = 0; w < W; w++) t[w] = -1 + 2.0 * (begin + w) / (n - 1), sum[w] = x[m - 1];
        for (int j = m - 2; j >= 0; j--)
            for (int w = 0; w < W; w++) sum[w] = sum[w] * t[w] + x[j];
        for (int w = 0; w < W; w++) away[w] = begin + w < n ? sum[w] - (t[w] > 0) + (t[w] < 0) : 0;
        for (int j = 0; j < m; j++) {
            double total = 0;
            for (int w = 0; w < W; w++) total += away[w], away[w] *= t[w];
            gradient[j] += total;
        }
    }
}

// The determinant by expansion by minors, starting with the first row. The product of the elements chosen so far is the
// derivative with respect to the next minor. `next` is a linked list of the remaining columns; its head is the last entry.
template <int N> static double minor(int row, double product, const double *a, int *next, double *gradient) {
    if (row == N - 1) {
        gradient[row * N + next[N]] += product;
        return a[row * N + next[N]];
    }
    double total = 0, sign = 1;
    for (int before = N; next[before] < N; before = next[before], sign = -sign) {
        const int column = next[before];
        next[before] = next[column];
        const double signed_element = sign * a[row * N + column];
        const double found = minor<N>(row + 1, product * signed_element, a, next, gradient);
        next[before] = column;
        gradient[row * N + column] += product * sign * found;
        total += signed_element * found;
    }
    return total;
}

template <int N> static void expanded(const double *a, double *gradient) {
    int next[N + 1];
    for (int i = 0; i < N; i++) next[i] = i + 1;
    next[N] = 0;
    std::fill(gradient, gradient + N * N, 0.0);
    minor<N>(0, 1, a, next, gradient);
}

extern "C" void det(int n, const double *a, double *gradient) {
    n == 5 ? expanded<5>(a, gradient) : n == 7 ? expanded<7>(a, gradient) : expanded<9>(a, gradient);
}

extern "C" void ode2(int n, int steps, const double *x, double *of_x) { solved(2, n, steps, x, of_x); }

extern "C" void lstm4(int letters, const double *w, const double *extra, const double *state, const double *sequence,
                      double *of_w, double *of_extra) {
    layered<4>(letters, w, extra, state, sequence, of_w, of_extra);
}

// The best aim of the particle, by gradient descent starting at w. The second of the two numbers has no effect.
extern "C" double particle_by_descent(double w) {
    const double start[2] = {w, 0};
    double at[2];
    descend([](double w, double, double &slope, double &none) {
        const Jet found = crossing(w);
        slope = found.d, none = 0;
        return found.v;
    }, start, at);
    return at[0];
}

// The gradient of the Gaussian mixture likelihood, as in `gaussians`, for W points side by side.
extern "C" void gmm(int n, int k, int d, const double *points, const double *alphas, const double *means, const double *triangles,
                    double gamma, double *of_alphas, double *of_means, double *of_triangles) {
    const int W = 32, size = d * (d + 1) / 2;
    typedef double Lanes[W];
    static std::vector<double> memory;
    memory.assign(k * d + k + ((2 * k + 1) * d + k) * W, 0.0);
    double *diagonal = memory.data(), *total = diagonal + k * d;
    Lanes *away = reinterpret_cast<Lanes *>(total + k), *turned = away + k * d, *back = turned + k * d, *term = back + d;
    std::fill(of_alphas, of_alphas + k, 0.0), std::fill(of_means, of_means + k * d, 0.0), std::fill(of_triangles, of_triangles + k * size, 0.0);
    for (int c = 0; c < k; c++)
        for (int j = 0; j < d; j++) diagonal[c * d + j] = std::exp(triangles[c * size + j]), total[c] += triangles[c * size + j];
    for (int begin = 0; begin < n; begin += W) {
        Lanes most, sum, counts;
        for (int w = 0; w < W; w++) most[w] = -1e300, sum[w] = 0, counts[w] = begin + w < n;
        for (int c = 0; c < k; c++) {
            Lanes *x = away + c * d, *y = turned + c * d, square = {};
            for (int j = 0; j < d; j++)
                for (int w = 0; w < W; w++) {
                    x[j][w] = points[std::min(begin + w, n - 1) * d + j] - means[c * d + j];
                    y[j][w] = diagonal[c * d + j] * x[j][w];
                }
            const double *entry = triangles + c * size + d;
            for (int j = 0; j < d; j++)
                for (int l = j + 1; l < d; l++, entry++)
                    for (int w = 0; w < W; w++) y[l][w] += *entry * x[j][w];
            for (int j = 0; j < d; j++)
                for (int w = 0; w < W; w++) square[w] += y[j][w] * y[j][w];
            for (int w = 0; w < W; w++) term[c][w] = alphas[c] + total[c] - 0.5 * square[w], most[w] = std::max(most[w], term[c][w]);
        }
        for (int c = 0; c < k; c++)
            for (int w = 0; w < W; w++) sum[w] += term[c][w] = std::exp(term[c][w] - most[w]);
        for (int w = 0; w < W; w++) sum[w] = counts[w] / sum[w];
        for (int c = 0; c < k; c++) {
            Lanes *x = away + c * d, *y = turned + c * d, share;
            double *of_triangle = of_triangles + c * size, all = 0;
            for (int w = 0; w < W; w++) all += share[w] = term[c][w] * sum[w];
            of_alphas[c] += all;
            for (int j = 0; j < d; j++) {
                double one = 0;
                for (int w = 0; w < W; w++) y[j][w] *= share[w], back[j][w] = diagonal[c * d + j] * y[j][w], one += y[j][w] * x[j][w];
                of_triangle[j] += all - diagonal[c * d + j] * one;
            }
            const double *entry = triangles + c * size + d;
            double *of_entry = of_triangle + d;
            for (int j = 0; j < d; j++)
                for (int l = j + 1; l < d; l++, entry++, of_entry++) {
                    double one = 0;
                    for (int w = 0; w < W; w++) one += y[l][w] * x[j][w], back[j][w] += *entry * y[l][w];
                    *of_entry -= one;
                }
            for (int j = 0; j < d; j++) {
                double one = 0;
                for (int w = 0; w < W; w++) one += back[j][w];
                of_means[c * d + j] += one;
            }
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

// The bundle adjustment of suites.cpp, eight observations side by side, with the residuals 1 - w² of the weights.
extern "C" void ba(int n, const double *cameras, const double *points, const double *weights, const double *seen,
                   const int64_t *camera, const int64_t *point, double *slopes, double *of_weights) {
    for (int begin = 0; begin < n; begin += 8) {
        Eight its[11], place[3], at[2], weight, error[2], found[30];
        for (int w = 0; w < 8; w++) {
            const int i = std::min(begin + w, n - 1);
            for (int j = 0; j < 11; j++) its[j][w] = cameras[11 * camera[i] + j];
            for (int j = 0; j < 3; j++) place[j][w] = points[3 * point[i] + j];
            for (int j = 0; j < 2; j++) at[j][w] = seen[2 * i + j];
            weight[w] = weights[i];
        }
        observe(its, place, weight, at, error, found);
        for (int w = 0; w < 8 && begin + w < n; w++) {
            for (int j = 0; j < 30; j++) slopes[30 * (begin + w) + j] = found[j][w];
            of_weights[begin + w] = -2 * weight[w];
        }
    }
}

// A hand of 22 bones. The second to fourth bones of each of the five fingers bend.
static const int BONES = 22, ANGLES = 26;

struct Affine {
    double a[3][4];
};

static Affine operator*(const Affine &p, const Affine &q) {
    Affine out;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            out.a[i][j] = j == 3 ? p.a[i][3] : 0;
            for (int l = 0; l < 3; l++) out.a[i][j] += p.a[i][l] * q.a[l][j];
        }
    return out;
}

static Affine linear_part(Affine p) {  // the derivative of p * q with respect to q
    for (int i = 0; i < 3; i++) p.a[i][3] = 0;
    return p;
}

static void bent(double x, double z, Affine &turn, Affine &by_x, Affine &by_z) {
    const double cx = std::cos(x), sx = std::sin(x), cz = std::cos(z), sz = std::sin(z);
    turn = {{{cz, -sz * cx, sz * sx, 0}, {sz, cz * cx, -cz * sx, 0}, {0, sx, cx, 0}}};
    by_x = {{{0, sz * sx, sz * cx, 0}, {0, -cz * sx, -cz * cx, 0}, {0, cx, -sx, 0}}};
    by_z = {{{-sz, -cz * cx, cz * sx, 0}, {cz, -sz * cx, sz * sx, 0}, {0, 0, 0, 0}}};
}

static void turned_by(const double *r, double turn[3][3], double slopes[3][3][3]) {
    const double angle = std::sqrt(dot(r, r)), c = std::cos(angle), s = std::sin(angle);
    const double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle};
    auto crossed = [](const double *v, int i, int j) {
        return i == j ? 0.0 : (j == (i + 1) % 3 ? -1 : 1) * v[3 - i - j];
    };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            turn[i][j] = (i == j) * c + (1 - c) * u[i] * u[j] + s * crossed(u, i, j);
            for (int p = 0; p < 3; p++) {
                double du[3];
                for (int l = 0; l < 3; l++) du[l] = ((l == p) - u[l] * u[p]) / angle;
                slopes[p][i][j] = u[p] * (s * (u[i] * u[j] - (i == j)) + c * crossed(u, i, j)) +
                                  (1 - c) * (du[i] * u[j] + u[i] * du[j]) + s * crossed(du, i, j);
            }
        }
}

static Affine read(const double *matrix) {
    Affine out;
    for (int i = 0; i < 3; i++) std::copy(matrix + 4 * i, matrix + 4 * i + 4, out.a[i]);
    return out;
}

// The derivatives of n residuals of three numbers with respect to 26 angles and to two triangle coordinates u each.
extern "C" void ht(int n, int vertices, const double *theta, const double *us, const double *base, const double *inverses,
                   const int64_t *parents, const double *weights, const double *positions, const int64_t *triangles, double *slopes) {
    Affine absolute[BONES], unturned[BONES], moved[BONES], by[BONES][4];  // by: derivatives for the four angles of the finger
    double turn[3][3], of_turn[3][3][3];
    turned_by(theta, turn, of_turn);
    Affine global = {};
    for (int i = 0; i < 3; i++) std::copy(turn[i], turn[i] + 3, global.a[i]);
    for (int b = 0; b < BONES; b++) {
        Affine relative = read(base + 16 * b);
        std::fill(by[b], by[b] + 4, Affine{});
        const int joint = b && b < 21 ? (b - 1) % 4 : 0, finger = (b - 1) / 4, first = joint == 1 ? 0 : joint;
        if (joint) {
            Affine bend, by_x, by_z;
            const double *angle = theta + 6 + 4 * finger;
            bent(angle[first], joint == 1 ? angle[1] : 0, bend, by_x, by_z);
            const Affine before = absolute[parents[b]] * relative;
            by[b][first] = linear_part(before) * by_x;
            if (joint == 1) by[b][1] = linear_part(before) * by_z;
            relative = relative * bend;
            for (int p = 0; joint > 1 && p < first; p++) by[b][p] = by[parents[b]][p] * relative;
        }
        absolute[b] = parents[b] < 0 ? relative : absolute[parents[b]] * relative;
    }
    for (int b = 0; b < BONES; b++) {
        const Affine inverse = read(inverses + 16 * b);
        unturned[b] = absolute[b] * inverse, moved[b] = global * unturned[b];
        for (int p = 0; p < 4; p++) by[b][p] = global * (by[b][p] * inverse);
    }
    for (int i = 0; i < n; i++) {
        const double share[3] = {us[2 * i], us[2 * i + 1], 1 - us[2 * i] - us[2 * i + 1]};
        double corner[3][3] = {}, middle[3] = {}, *slope = slopes + 3 * (ANGLES + 2) * i;
        std::fill(slope, slope + 3 * (ANGLES + 2), 0.0);
        for (int v = 0; v < 3; v++) {
            const int64_t vertex = triangles[3 * i + v];
            const double place[4] = {positions[vertex], positions[vertices + vertex], positions[2 * vertices + vertex], 1};
            for (int b = 0; b < BONES; b++) {
                const double weight = weights[b * vertices + vertex], part = weight * share[v];
                if (weight == 0) continue;
                for (int r = 0; r < 3; r++)
                    for (int l = 0; l < 4; l++) {
                        corner[v][r] += weight * moved[b].a[r][l] * place[l];
                        middle[r] += part * unturned[b].a[r][l] * place[l];
                    }
                const int joint = b && b < 21 ? (b - 1) % 4 : 0, finger = (b - 1) / 4;
                for (int p = 0; p < (joint ? joint + 1 : 0); p++)
                    for (int r = 0; r < 3; r++) {
                        const double *row = by[b][p].a[r];
                        slope[r * (ANGLES + 2) + 6 + 4 * finger + p] -=
                            part * (row[0] * place[0] + row[1] * place[1] + row[2] * place[2] + row[3]);
                    }
            }
        }
        for (int r = 0; r < 3; r++) {
            double *row = slope + r * (ANGLES + 2);
            for (int p = 0; p < 3; p++) row[p] = -dot(of_turn[p][r], middle), row[3 + p] = -(r == p);
            row[ANGLES] = corner[2][r] - corner[0][r], row[ANGLES + 1] = corner[2][r] - corner[1][r];
        }
    }
}
