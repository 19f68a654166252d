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
