// Black-Scholes price and five derivatives of European calls, with handwritten derivatives.

#include <cmath>

static double normal(double x) { return 0.5 + 0.5 * std::erf(x * M_SQRT1_2); }

extern "C" void black_scholes(long options, const double *__restrict spot, const double *__restrict strike,
                              const double *__restrict rate, const double *__restrict volatility,
                              const double *__restrict years, double *__restrict price, double *__restrict by_spot,
                              double *__restrict by_strike, double *__restrict by_rate,
                              double *__restrict by_volatility, double *__restrict by_years) {
    const double density_at_0 = 0.5 * M_SQRT1_2 * M_2_SQRTPI;
    for (long i = 0; i < options; i++) {
        double root = std::sqrt(years[i]), deviation = volatility[i] * root;
        double discount = std::exp(-rate[i] * years[i]);
        double d1 = (std::log(spot[i] / strike[i]) + rate[i] * years[i]) / deviation + 0.5 * deviation;
        double up = normal(d1), down = normal(d1 - deviation);
        double density = spot[i] * density_at_0 * std::exp(-0.5 * d1 * d1), paid = strike[i] * discount * down;
        price[i] = spot[i] * up - paid;
        by_spot[i] = up;
        by_strike[i] = -discount * down;
        by_rate[i] = years[i] * paid;
        by_volatility[i] = density * root;
        by_years[i] = 0.5 * density * volatility[i] / root + rate[i] * paid;
    }
}
