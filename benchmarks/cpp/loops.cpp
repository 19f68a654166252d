// A damped pendulum by Euler's method, with a handwritten gradient of its final position. All states are stored.

#include <cmath>
#include <vector>

extern "C" double pendulum(const double *given, long steps) {
    double x = given[0], v = given[1];
    const double k = given[2], c = given[3], dt = 10.0 / steps;
    for (long t = 0; t < steps; t++) {
        double after = x + dt * v;
        v -= dt * (k * std::sin(x) + c * v);
        x = after;
    }
    return x;
}

extern "C" void gradient(const double *given, long steps, double *out) {
    static std::vector<double> states;
    states.resize(2 * steps);
    double x = given[0], v = given[1];
    const double k = given[2], c = given[3], dt = 10.0 / steps;
    for (long t = 0; t < steps; t++) {
        states[2 * t] = x;
        states[2 * t + 1] = v;
        double after = x + dt * v;
        v -= dt * (k * std::sin(x) + c * v);
        x = after;
    }
    double dx = 1, dv = 0, dk = 0, dc = 0;
    for (long t = steps - 1; t >= 0; t--) {
        x = states[2 * t];
        v = states[2 * t + 1];
        dk -= dt * std::sin(x) * dv;
        dc -= dt * v * dv;
        double before = dx - dt * k * std::cos(x) * dv;
        dv = dv - dt * c * dv + dt * dx;
        dx = before;
    }
    out[0] = dx, out[1] = dv, out[2] = dk, out[3] = dc;
}

// Kepler's equation by Newton's method for many times: the sum of the distances, and derivatives through all steps.

static const double TOLERANCE = 1e-12;

extern "C" double orbit(const double *given, long steps) {
    const double e = given[0], motion = given[1];
    double total = 0;
    for (long i = 0; i < steps; i++) {
        const double mean = motion * i;
        double x = mean, d = 1;
        while (std::fabs(d) > TOLERANCE) {
            d = (x - e * std::sin(x) - mean) / (1 - e * std::cos(x));
            x -= d;
        }
        total += 1 - e * std::cos(x);
    }
    return total;
}

// The total and its derivative in the direction (out[0], out[1]), by forward mode.
extern "C" void orbit_forward(const double *given, long steps, double *out) {
    const double e = given[0], motion = given[1], de = out[0], dmotion = out[1];
    double total = 0, dtotal = 0;
    for (long i = 0; i < steps; i++) {
        const double mean = motion * i, dmean = dmotion * i;
        double x = mean, dx = dmean, d = 1;
        while (std::fabs(d) > TOLERANCE) {
            const double s = std::sin(x), c = std::cos(x), slope = 1 - e * c;
            d = (x - e * s - mean) / slope;
            const double df = dx - (de * s + e * c * dx) - dmean, dslope = e * s * dx - de * c;
            x -= d;
            dx -= (df - d * dslope) / slope;
        }
        total += 1 - e * std::cos(x);
        dtotal += e * std::sin(x) * dx - de * std::cos(x);
    }
    out[0] = total, out[1] = dtotal;
}

// The gradient by reverse mode. The states of all steps of Newton's method are stored.
extern "C" void orbit_gradient(const double *given, long steps, double *out) {
    static std::vector<double> states;
    static std::vector<size_t> starts;
    states.clear();
    starts.clear();
    const double e = given[0], motion = given[1];
    for (long i = 0; i < steps; i++) {
        const double mean = motion * i;
        double x = mean, d = 1;
        starts.push_back(states.size());
        while (std::fabs(d) > TOLERANCE) {
            states.push_back(x);
            d = (x - e * std::sin(x) - mean) / (1 - e * std::cos(x));
            x -= d;
        }
        states.push_back(x);
    }
    double de = 0, dmotion = 0;
    size_t end = states.size();
    for (long i = steps - 1; i >= 0; i--) {
        const double mean = motion * i, last = states[end - 1];
        double dmean = 0, dx = e * std::sin(last);
        de -= std::cos(last);
        for (size_t at = end - 1; at-- > starts[i];) {
            const double x = states[at], s = std::sin(x), c = std::cos(x), slope = 1 - e * c;
            const double d = (x - e * s - mean) / slope, df = -dx / slope, dslope = dx * d / slope;
            dx += df * (1 - e * c) + dslope * (e * s);
            de -= df * s + dslope * c;
            dmean -= df;
        }
        dmotion += i * (dmean + dx);
        end = starts[i];
    }
    out[0] = de, out[1] = dmotion;
}

// A thermostat by Euler's method, which heats below a threshold and cools above it.

static const double STEP = 0.05, THRESHOLD = 0.5;

extern "C" double thermostat(const double *given, long steps) {
    double x = given[0];
    const double k = given[1], c = given[2];
    for (long t = 0; t < steps; t++)
        if (x < THRESHOLD)
            x += STEP * (k * std::exp(-x) + c);
        else
            x -= STEP * (k * std::sin(x) + c * x);
    return x;
}

extern "C" void thermostat_gradient(const double *given, long steps, double *out) {
    static std::vector<double> states;
    states.resize(steps);
    double x = given[0];
    const double k = given[1], c = given[2];
    for (long t = 0; t < steps; t++) {
        states[t] = x;
        if (x < THRESHOLD)
            x += STEP * (k * std::exp(-x) + c);
        else
            x -= STEP * (k * std::sin(x) + c * x);
    }
    double dx = 1, dk = 0, dc = 0;
    for (long t = steps - 1; t >= 0; t--) {
        x = states[t];
        if (x < THRESHOLD) {
            const double e = std::exp(-x);
            dk += STEP * e * dx;
            dc += STEP * dx;
            dx -= STEP * k * e * dx;
        } else {
            dk -= STEP * std::sin(x) * dx;
            dc -= STEP * x * dx;
            dx -= STEP * (k * std::cos(x) + c) * dx;
        }
    }
    out[0] = dx, out[1] = dk, out[2] = dc;
}
