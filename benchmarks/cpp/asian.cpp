// Price and five derivatives of an arithmetic Asian call, averaged over paths, with a handwritten adjoint.

#include <cmath>
#include <vector>

struct Market {
    double spot, strike, rate, volatility, years;
};

struct Path {
    double dt, root, drift, diffusion, discount;

    Path(const Market &m, int steps)
        : dt(m.years / steps), root(std::sqrt(dt)), drift((m.rate - 0.5 * m.volatility * m.volatility) * dt),
          diffusion(m.volatility * root), discount(std::exp(-m.rate * m.years)) {}

    // Adds a path with a positive payoff: the adjoints of `drift`, `diffusion` and `spot` from the backward sweep.
    void add(double *out, const Market &m, double pay, double on, double spot, double drift_bar, double diffusion_bar,
             int steps) const {
        double value = discount * pay;
        double dt_bar = drift_bar * (m.rate - 0.5 * m.volatility * m.volatility)
                        + diffusion_bar * 0.5 * m.volatility / root;
        out[0] += value;
        out[1] += spot / m.spot;
        out[2] -= on;
        out[3] += drift_bar * dt - m.years * value;
        out[4] += diffusion_bar * root - drift_bar * m.volatility * dt;
        out[5] += dt_bar / steps - m.rate * value;
    }
};

// The straightforward version, one path after another: shocks[path][step]. The exponentials are computed in a separate
// loop over time, which the compiler vectorizes.
extern "C" void path_by_path(const double *shocks, long paths, int steps, const Market *market, double *out) {
    const Market m = *market;
    const Path p(m, steps);
    std::vector<double> s(steps);
    double sum[6] = {};
    for (long path = 0; path < paths; path++, shocks += steps) {
        double x = std::log(m.spot), total = 0;
        for (int t = 0; t < steps; t++) s[t] = x += p.drift + p.diffusion * shocks[t];
        for (int t = 0; t < steps; t++) total += s[t] = std::exp(s[t]);
        double pay = total / steps - m.strike;
        if (pay <= 0) continue;
        double s_bar = p.discount / steps, x_bar = 0, drift_bar = 0, diffusion_bar = 0;
        for (int t = steps - 1; t >= 0; t--) {
            x_bar += s_bar * s[t];
            drift_bar += x_bar;
            diffusion_bar += x_bar * shocks[t];
        }
        p.add(sum, m, pay, p.discount, x_bar, drift_bar, diffusion_bar, steps);
    }
    for (int i = 0; i < 6; i++) out[i] = sum[i] / paths;
}

// The tuned version, with W paths side by side: shocks[path / W][step][path % W].
template <int W>
static void side_by_side(const double *__restrict shocks, long paths, int steps, const Market &m, double *out) {
    const Path p(m, steps);
    std::vector<double> prices(steps * W);
    double *__restrict s = prices.data();
    double sum[6] = {};
    for (long path = 0; path + W <= paths; path += W, shocks += steps * W) {
        double x[W], total[W] = {}, pay[W], on[W], x_bar[W] = {}, drift_bar[W] = {}, diffusion_bar[W] = {};
        for (int w = 0; w < W; w++) x[w] = std::log(m.spot);
        for (int t = 0; t < steps; t++)
            for (int w = 0; w < W; w++) {
                x[w] += p.drift + p.diffusion * shocks[t * W + w];
                double price = std::exp(x[w]);
                s[t * W + w] = price;
                total[w] += price;
            }
        for (int w = 0; w < W; w++) {
            pay[w] = total[w] / steps - m.strike;
            on[w] = pay[w] > 0 ? p.discount : 0;
            pay[w] = pay[w] > 0 ? pay[w] : 0;
        }
        for (int t = steps - 1; t >= 0; t--)
            for (int w = 0; w < W; w++) {
                x_bar[w] += on[w] / steps * s[t * W + w];
                drift_bar[w] += x_bar[w];
                diffusion_bar[w] += x_bar[w] * shocks[t * W + w];
            }
        for (int w = 0; w < W; w++) p.add(sum, m, pay[w], on[w], x_bar[w], drift_bar[w], diffusion_bar[w], steps);
    }
    for (int i = 0; i < 6; i++) out[i] = sum[i] / paths;
}

extern "C" void side_by_side_16(const double *shocks, long paths, int steps, const Market *market, double *out) {
    side_by_side<16>(shocks, paths, steps, *market, out);
}

extern "C" void side_by_side_32(const double *shocks, long paths, int steps, const Market *market, double *out) {
    side_by_side<32>(shocks, paths, steps, *market, out);
}

extern "C" void side_by_side_64(const double *shocks, long paths, int steps, const Market *market, double *out) {
    side_by_side<64>(shocks, paths, steps, *market, out);
}
