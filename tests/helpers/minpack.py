"""The 35 nonlinear least-squares problems of Moré, Garbow and Hillstrom.

The formulas and numbers are taken from "Testing Unconstrained Optimization Software", ACM Transactions on
Mathematical Software 7, 1981, pages 17-41. The set is complete, and no problem branches on its arguments. All
functions are smooth where they are used; Gulf is smooth while its second variable is below 25, which holds
between the start and the minimum.
"""

from __future__ import annotations

import math as numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gradwalk import math

Residuals = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True)
class Problem:
    """A least-squares problem.

    `minima` holds the published minima of the sum of squares to six digits, smallest first. `minimizer` is the
    point of the first one, if it has a closed form.
    """

    name: str
    residuals: Residuals
    x0: list[float]
    minima: list[float]
    minimizer: list[float] | None = None

    def sum_of_squares(self, x: Sequence[Any]) -> Any:
        return sum(f * f for f in self.residuals(x))

    def __str__(self) -> str:
        return f"{self.name}-{len(self.x0)}"


def rosenbrock(x: Sequence[Any]) -> list[Any]:  # problem 1, and 21 with more than two variables
    residuals = []
    for i in range(0, len(x), 2):
        residuals += [10.0 * (x[i + 1] - x[i] ** 2), 1.0 - x[i]]
    return residuals


def freudenstein_and_roth(x: Sequence[Any]) -> list[Any]:  # 2
    x1, x2 = x
    return [
        -13.0 + x1 + ((5.0 - x2) * x2 - 2.0) * x2,
        -29.0 + x1 + ((x2 + 1.0) * x2 - 14.0) * x2,
    ]


def powell_badly_scaled(x: Sequence[Any]) -> list[Any]:  # 3
    x1, x2 = x
    return [1e4 * x1 * x2 - 1.0, math.exp(-x1) + math.exp(-x2) - 1.0001]


def brown_badly_scaled(x: Sequence[Any]) -> list[Any]:  # 4
    x1, x2 = x
    return [x1 - 1e6, x2 - 2e-6, x1 * x2 - 2.0]


def beale(x: Sequence[Any]) -> list[Any]:  # 5
    x1, x2 = x
    return [y - x1 * (1.0 - x2**i) for i, y in enumerate([1.5, 2.25, 2.625], start=1)]


def jennrich_and_sampson(x: Sequence[Any]) -> list[Any]:  # 6
    x1, x2 = x
    return [2.0 + 2.0 * i - (math.exp(i * x1) + math.exp(i * x2)) for i in range(1, 11)]


def helical_valley(x: Sequence[Any]) -> list[Any]:  # 7
    x1, x2, x3 = x
    # atan(x2 / x1) / tau, plus 1/2 if x1 < 0: atan2(x2, x1) would jump at the start, where x1 < 0 and x2 = 0
    turns = 0.25 - math.atan2(x1, x2) / math.tau
    return [10.0 * (x3 - 10.0 * turns), 10.0 * (math.sqrt(x1**2 + x2**2) - 1.0), x3]


BARD_Y = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]


def bard(x: Sequence[Any]) -> list[Any]:  # 8
    x1, x2, x3 = x
    return [y - (x1 + u / ((16 - u) * x2 + min(u, 16 - u) * x3)) for u, y in enumerate(BARD_Y, start=1)]


GAUSSIAN_Y = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989]


def gaussian(x: Sequence[Any]) -> list[Any]:  # 9
    x1, x2, x3 = x
    ys = GAUSSIAN_Y + GAUSSIAN_Y[-2::-1]
    return [x1 * math.exp(-x2 * ((8 - i) / 2 - x3) ** 2 / 2.0) - y for i, y in enumerate(ys, start=1)]


MEYER_Y = [34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872]


def meyer(x: Sequence[Any]) -> list[Any]:  # 10
    x1, x2, x3 = x
    return [x1 * math.exp(x2 / (45 + 5 * i + x3)) - y for i, y in enumerate(MEYER_Y, start=1)]


def gulf(x: Sequence[Any]) -> list[Any]:  # 11, with y - x2 for the paper's misprint "y m i x2"
    x1, x2, x3 = x
    residuals = []
    for i in range(1, 100):
        y = 25.0 + (-50.0 * numbers.log(i / 100)) ** (2 / 3)
        residuals.append(math.exp(-(math.abs(y - x2) ** x3) / x1) - i / 100)
    return residuals


def box(x: Sequence[Any]) -> list[Any]:  # 12
    x1, x2, x3 = x
    return [
        math.exp(-t * x1) - math.exp(-t * x2) - x3 * (numbers.exp(-t) - numbers.exp(-10 * t))
        for t in [i / 10 for i in range(1, 11)]
    ]


def powell_singular(x: Sequence[Any]) -> list[Any]:  # 13, and 22 with more than four variables
    residuals = []
    for i in range(0, len(x), 4):
        a, b, c, d = x[i : i + 4]
        residuals += [a + 10.0 * b, 5.0**0.5 * (c - d), (b - 2.0 * c) ** 2, 10.0**0.5 * (a - d) ** 2]
    return residuals


def wood(x: Sequence[Any]) -> list[Any]:  # 14
    x1, x2, x3, x4 = x
    return [
        10.0 * (x2 - x1**2),
        1.0 - x1,
        90.0**0.5 * (x4 - x3**2),
        1.0 - x3,
        10.0**0.5 * (x2 + x4 - 2.0),
        (x2 - x4) / 10.0**0.5,
    ]


KOWALIK_AND_OSBORNE = [
    *[(0.1957, 4.0), (0.1947, 2.0), (0.1735, 1.0), (0.1600, 0.5), (0.0844, 0.25), (0.0627, 0.167)],
    *[(0.0456, 0.125), (0.0342, 0.1), (0.0323, 0.0833), (0.0235, 0.0714), (0.0246, 0.0625)],
]


def kowalik_and_osborne(x: Sequence[Any]) -> list[Any]:  # 15
    x1, x2, x3, x4 = x
    return [y - x1 * (u**2 + u * x2) / (u**2 + u * x3 + x4) for y, u in KOWALIK_AND_OSBORNE]


def brown_and_dennis(x: Sequence[Any]) -> list[Any]:  # 16
    x1, x2, x3, x4 = x
    return [
        (x1 + t * x2 - numbers.exp(t)) ** 2 + (x3 + x4 * numbers.sin(t) - numbers.cos(t)) ** 2
        for t in [i / 5 for i in range(1, 21)]
    ]


OSBORNE_1_Y = [
    *[0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751],
    *[0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490],
    *[0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420, 0.414, 0.411, 0.406],
]


def osborne_1(x: Sequence[Any]) -> list[Any]:  # 17
    x1, x2, x3, x4, x5 = x
    return [y - (x1 + x2 * math.exp(-10 * i * x4) + x3 * math.exp(-10 * i * x5)) for i, y in enumerate(OSBORNE_1_Y)]


def biggs(x: Sequence[Any]) -> list[Any]:  # 18
    x1, x2, x3, x4, x5, x6 = x
    residuals = []
    for t in [i / 10 for i in range(1, 14)]:
        y = numbers.exp(-t) - 5.0 * numbers.exp(-10 * t) + 3.0 * numbers.exp(-4 * t)
        residuals.append(x3 * math.exp(-t * x1) - x4 * math.exp(-t * x2) + x6 * math.exp(-t * x5) - y)
    return residuals


OSBORNE_2_Y = [
    *[1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608],
    *[0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661],
    *[0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428],
    *[0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559],
    *[0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054],
]


def osborne_2(x: Sequence[Any]) -> list[Any]:  # 19
    residuals = []
    for i, y in enumerate(OSBORNE_2_Y):
        t = i / 10
        peaks = [x[k] * math.exp(-((t - x[k + 7]) ** 2) * x[k + 4]) for k in (1, 2, 3)]
        residuals.append(y - (x[0] * math.exp(-t * x[4]) + sum(peaks)))
    return residuals


def watson(x: Sequence[Any]) -> list[Any]:  # 20
    residuals = []
    for t in [i / 29 for i in range(1, 30)]:
        slope = sum(j * x[j] * t ** (j - 1) for j in range(1, len(x)))
        value = sum(x[j] * t**j for j in range(len(x)))
        residuals.append(slope - value**2 - 1.0)
    return [*residuals, x[0], x[1] - x[0] ** 2 - 1.0]


def penalty_1(x: Sequence[Any]) -> list[Any]:  # 23
    return [*(1e-5**0.5 * (xi - 1.0) for xi in x), sum(xi**2 for xi in x) - 0.25]


def penalty_2(x: Sequence[Any]) -> list[Any]:  # 24
    n, a = len(x), 1e-5**0.5
    exps = [math.exp(xi / 10.0) for xi in x]
    sums = [a * (exps[i] + exps[i - 1] - (numbers.exp((i + 1) / 10) + numbers.exp(i / 10))) for i in range(1, n)]
    firsts = [a * (exps[i] - numbers.exp(-0.1)) for i in range(1, n)]
    return [x[0] - 0.2, *sums, *firsts, sum((n - j) * x[j] ** 2 for j in range(n)) - 1.0]


def variably_dimensioned(x: Sequence[Any]) -> list[Any]:  # 25
    total = sum(j * (xj - 1.0) for j, xj in enumerate(x, start=1))
    return [*(xi - 1.0 for xi in x), total, total**2]


def trigonometric(x: Sequence[Any]) -> list[Any]:  # 26
    total = len(x) - sum(math.cos(xj) for xj in x)
    return [total + i * (1.0 - math.cos(xi)) - math.sin(xi) for i, xi in enumerate(x, start=1)]


def brown_almost_linear(x: Sequence[Any]) -> list[Any]:  # 27
    total = sum(x)
    return [*(xi + total - (len(x) + 1) for xi in x[:-1]), numbers.prod(x) - 1.0]


def discrete_boundary_value(x: Sequence[Any]) -> list[Any]:  # 28
    h = 1.0 / (len(x) + 1)
    padded = [0.0, *x, 0.0]
    return [
        2.0 * padded[i] - padded[i - 1] - padded[i + 1] + h**2 * (padded[i] + i * h + 1.0) ** 3 / 2.0
        for i in range(1, len(x) + 1)
    ]


def discrete_integral_equation(x: Sequence[Any]) -> list[Any]:  # 29
    h = 1.0 / (len(x) + 1)
    ts = [j * h for j in range(1, len(x) + 1)]
    cubes = [(xj + t + 1.0) ** 3 for xj, t in zip(x, ts, strict=True)]
    residuals = []
    for i, t in enumerate(ts):
        before = sum(ts[j] * cubes[j] for j in range(i + 1))
        after = sum((1.0 - ts[j]) * cubes[j] for j in range(i + 1, len(x)))
        residuals.append(x[i] + h * ((1.0 - t) * before + t * after) / 2.0)
    return residuals


def broyden_tridiagonal(x: Sequence[Any]) -> list[Any]:  # 30
    padded = [0.0, *x, 0.0]
    return [
        (3.0 - 2.0 * padded[i]) * padded[i] - padded[i - 1] - 2.0 * padded[i + 1] + 1.0 for i in range(1, len(x) + 1)
    ]


def broyden_banded(x: Sequence[Any]) -> list[Any]:  # 31
    residuals = []
    for i, xi in enumerate(x):
        band = [x[j] for j in range(max(0, i - 5), min(len(x), i + 2)) if j != i]
        residuals.append(xi * (2.0 + 5.0 * xi**2) + 1.0 - sum(xj * (1.0 + xj) for xj in band))
    return residuals


LINEAR_M = 10


def linear_full_rank(x: Sequence[Any]) -> list[Any]:  # 32
    rest = -2.0 / LINEAR_M * sum(x) - 1.0
    return [*(xi + rest for xi in x), *[rest] * (LINEAR_M - len(x))]


def linear_rank_1(x: Sequence[Any]) -> list[Any]:  # 33
    total = sum(j * xj for j, xj in enumerate(x, start=1))
    return [i * total - 1.0 for i in range(1, LINEAR_M + 1)]


def linear_rank_1_with_zeros(x: Sequence[Any]) -> list[Any]:  # 34, its first and last residual are constants
    total = sum(j * xj for j, xj in enumerate(x[1:-1], start=2))
    return [-1.0, *((i - 1) * total - 1.0 for i in range(2, LINEAR_M)), -1.0]


def chebyquad(x: Sequence[Any]) -> list[Any]:  # 35, by Chebyshev's recurrence, shifted to [0, 1]
    n = len(x)
    before: list[Any] = [1.0] * n
    now = [2.0 * xj - 1.0 for xj in x]
    residuals = []
    for i in range(1, n + 1):
        integral = -1.0 / (i**2 - 1) if i % 2 == 0 else 0.0
        residuals.append(sum(now) / n - integral)
        before, now = now, [2.0 * (2.0 * xj - 1.0) * t - s for xj, t, s in zip(x, now, before, strict=True)]
    return residuals


def grid(n: int) -> list[float]:
    return [j / (n + 1) for j in range(1, n + 1)]


PROBLEMS = [
    Problem("rosenbrock", rosenbrock, [-1.2, 1.0], [0.0], [1.0, 1.0]),
    Problem("freudenstein-and-roth", freudenstein_and_roth, [0.5, -2.0], [0.0, 48.9842], [5.0, 4.0]),
    Problem("powell-badly-scaled", powell_badly_scaled, [0.0, 1.0], [0.0]),
    Problem("brown-badly-scaled", brown_badly_scaled, [1.0, 1.0], [0.0], [1e6, 2e-6]),
    Problem("beale", beale, [1.0, 1.0], [0.0], [3.0, 0.5]),
    Problem("jennrich-and-sampson", jennrich_and_sampson, [0.3, 0.4], [124.362]),
    Problem("helical-valley", helical_valley, [-1.0, 0.0, 0.0], [0.0], [1.0, 0.0, 0.0]),
    Problem("bard", bard, [1.0, 1.0, 1.0], [8.21487e-3, 17.4286]),
    Problem("gaussian", gaussian, [0.4, 1.0, 0.0], [1.12793e-8]),
    Problem("meyer", meyer, [0.02, 4000.0, 250.0], [87.9458]),
    Problem("gulf", gulf, [5.0, 2.5, 0.15], [0.0], [50.0, 25.0, 1.5]),
    Problem("box", box, [0.0, 10.0, 20.0], [0.0], [1.0, 10.0, 1.0]),
    Problem("powell-singular", powell_singular, [3.0, -1.0, 0.0, 1.0], [0.0], [0.0] * 4),
    Problem("wood", wood, [-3.0, -1.0, -3.0, -1.0], [0.0], [1.0] * 4),
    Problem("kowalik-and-osborne", kowalik_and_osborne, [0.25, 0.39, 0.415, 0.39], [3.07505e-4, 1.02734e-3]),
    Problem("brown-and-dennis", brown_and_dennis, [25.0, 5.0, -5.0, -1.0], [85822.2]),
    Problem("osborne-1", osborne_1, [0.5, 1.5, -1.0, 0.01, 0.02], [5.46489e-5]),
    Problem("biggs", biggs, [1.0, 2.0, 1.0, 1.0, 1.0, 1.0], [0.0, 5.65565e-3], [1.0, 10.0, 1.0, 5.0, 4.0, 3.0]),
    Problem("osborne-2", osborne_2, [1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5], [4.01377e-2]),
    Problem("watson", watson, [0.0] * 6, [2.28767e-3]),
    Problem("watson", watson, [0.0] * 9, [1.39976e-6]),
    Problem("watson", watson, [0.0] * 12, [4.72238e-10]),
    Problem("extended-rosenbrock", rosenbrock, [-1.2, 1.0] * 5, [0.0], [1.0] * 10),
    Problem("extended-powell-singular", powell_singular, [3.0, -1.0, 0.0, 1.0] * 3, [0.0], [0.0] * 12),
    Problem("penalty-1", penalty_1, [1.0, 2.0, 3.0, 4.0], [2.24997e-5]),
    Problem("penalty-1", penalty_1, [float(j) for j in range(1, 11)], [7.08765e-5]),
    Problem("penalty-2", penalty_2, [0.5] * 4, [9.37629e-6]),
    Problem("penalty-2", penalty_2, [0.5] * 10, [2.93660e-4]),
    Problem("variably-dimensioned", variably_dimensioned, [1.0 - j / 10 for j in range(1, 11)], [0.0], [1.0] * 10),
    Problem("trigonometric", trigonometric, [0.1] * 10, [0.0, 2.79506e-5], [0.0] * 10),
    Problem("brown-almost-linear", brown_almost_linear, [0.5] * 10, [0.0, 1.0], [1.0] * 10),
    Problem("discrete-boundary-value", discrete_boundary_value, [t * (t - 1.0) for t in grid(10)], [0.0]),
    Problem("discrete-integral-equation", discrete_integral_equation, [t * (t - 1.0) for t in grid(10)], [0.0]),
    Problem("broyden-tridiagonal", broyden_tridiagonal, [-1.0] * 10, [0.0]),
    Problem("broyden-banded", broyden_banded, [-1.0] * 10, [0.0]),
    Problem("linear-full-rank", linear_full_rank, [1.0] * 5, [5.0], [-1.0] * 5),
    Problem("linear-rank-1", linear_rank_1, [1.0] * 5, [10 * 9 / (2 * 21)]),
    Problem("linear-rank-1-with-zeros", linear_rank_1_with_zeros, [1.0] * 5, [(10**2 + 3 * 10 - 6) / (2 * 17)]),
    Problem("chebyquad", chebyquad, grid(7), [0.0]),
    Problem("chebyquad", chebyquad, grid(8), [3.51687e-3]),
    Problem("chebyquad", chebyquad, grid(9), [0.0]),
    # the smaller minimum is not in the paper, which lists the one near the start; SciPy also finds it by differences
    Problem("chebyquad", chebyquad, grid(10), [4.77271e-3, 6.50395e-3]),
]
