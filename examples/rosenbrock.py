"""Minimize the chained Rosenbrock function in 1,000 dimensions with sparse Hessians and Hessian-vector products.

    python examples/rosenbrock.py --output rosenbrock.png

f(x) is the sum over i of 100 (x[i+1] - x[i]²)² + (1 - x[i])². SciPy's Newton-CG uses its sparse Hessian, trust-krylov
uses Hessian-vector products, and L-BFGS-B uses only the gradient. The minimum is f = 0, where all x[i] are 1. Requires
matplotlib and scipy: `pip install gradwalk[examples]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, LogNorm, SymLogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from gradwalk import grad, hvp, jit, sparse_hessian

Array = NDArray[np.float64]

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"  # color-blind safe
LIGHT_BLUE, DARK_BLUE = "#66AAD1", "#002B44"
CORNER = 12  # rows of the Hessian that are drawn


class Run(NamedTuple):
    """A minimization: its method, the derivatives it was given, its result, and x and f of each iteration."""

    method: str
    knows: str
    result: OptimizeResult
    path: list[Array]
    values: list[float]


def rosenbrock(x: Any) -> Any:
    """Return the chained Rosenbrock function, a curved valley between each pair of neighbors."""
    return sum(100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2 for a, b in pairwise(x))


def times(x: Any, vector: Any) -> Any:
    """Return the Hessian at x times a vector, without forming the Hessian."""
    return hvp(rosenbrock, (x,), (vector,))


def start(n: int) -> Array:
    """Return the standard starting point: -1.2, 1, -1.2, 1, and so on."""
    return np.where(np.arange(n) % 2 == 0, -1.2, 1.0)


def run(method: str, knows: str, f: Callable[..., Any], x: Array, options: dict[str, float], **kwargs: Any) -> Run:
    """Minimize f and record every iteration."""
    path, values = [x], [float(f(x))]

    def callback(intermediate_result: OptimizeResult) -> None:
        path.append(intermediate_result.x.copy())
        values.append(float(intermediate_result.fun))

    result = minimize(f, x, method=method, callback=callback, options={"maxiter": 10_000, **options}, **kwargs)
    return Run(method, knows, result, path, values)


def runs(x: Array, hess: Callable[[Array], Any]) -> list[Run]:
    """Minimize f with the Hessian, with Hessian-vector products, and with the gradient only."""
    f, jac, hessp = jit(rosenbrock), jit(grad(rosenbrock)), jit(times)
    patience = {"ftol": 1e-15, "gtol": 1e-7, "maxfun": 100_000}
    return [
        run("Newton-CG", "sparse Hessian", f, x, {"xtol": 1e-10}, jac=jac, hess=hess),
        run("trust-krylov", "Hessian times vector", f, x, {"gtol": 1e-7}, jac=jac, hessp=hessp),
        run("L-BFGS-B", "gradient", f, x, patience, jac=jac),
    ]


def draw_corner(axes: Axes, hessian: Any) -> None:
    """Draw the first rows and columns of the Hessian, coloring the stored entries."""
    corner = hessian[:CORNER, :CORNER].toarray()
    colors = LinearSegmentedColormap.from_list("signs", [ORANGE, "white", BLUE])
    image = axes.imshow(corner, cmap=colors, norm=SymLogNorm(100, vmin=-2000, vmax=2000))
    axes.set(title=f"Hessian: first {CORNER} of {hessian.shape[0]:,} rows", xlabel="column", ylabel="row")
    label = f"entry ({hessian.nnz:,} of {hessian.shape[0] ** 2:,} stored)"
    axes.figure.colorbar(image, ax=axes, label=label, shrink=0.9, ticks=[-1000, -100, 0, 100, 1000], format="{x:,.0f}")


def draw_wave(axes: Axes, found: Run) -> None:
    """Draw the distance of each x[i] from 1 by iteration."""
    distances = np.abs(np.array(found.path) - 1.0).T
    colors = LinearSegmentedColormap.from_list("distances", ["white", LIGHT_BLUE, BLUE, DARK_BLUE])
    extent = (0, distances.shape[1], distances.shape[0], 0)
    norm = LogNorm(1e-6, 1, clip=True)
    image = axes.imshow(distances, cmap=colors, norm=norm, aspect="auto", extent=extent, interpolation="nearest")
    axes.set(title="Newton-CG turns x into ones", xlabel="iteration", ylabel="index i")
    axes.figure.colorbar(image, ax=axes, label="distance of x[i] from 1", extend="both")


def draw(found: list[Run], hessian: Any, output: str) -> None:
    """Save a picture of f by iteration, of the Hessian, and of how the solution spreads."""
    figure = Figure(figsize=(9, 7), layout="constrained")
    axes = figure.subplot_mosaic([["values", "values"], ["hessian", "wave"]], height_ratios=[0.8, 1])
    for its, color, style in zip(found, (BLUE, ORANGE, GREEN), ("-", "--", "-."), strict=True):
        axes["values"].semilogy(its.values, color=color, linestyle=style, linewidth=2.5)
        name = f"{its.method},\n{its.knows}".replace(" ", "\n", 1)
        offset: Any = {"xytext": (-8, 0), "textcoords": "offset points", "ha": "right", "va": "center"}
        axes["values"].annotate(name, (its.result.nit, 1e-8), color=color, **offset)
    title = f"Rosenbrock's chained function of {len(found[0].path[0]):,} numbers"
    axes["values"].set(title=title, xlabel="iteration", ylabel="f", ylim=(1e-16, None))
    axes["values"].grid(alpha=0.3)
    draw_corner(axes["hessian"], hessian)
    draw_wave(axes["wave"], found[0])
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, minimize, and print the comparison."""
    parser = argparse.ArgumentParser(description="Minimize the chained Rosenbrock function with second derivatives.")
    parser.add_argument("--n", type=int, default=1000, help="number of dimensions (default: %(default)s)")
    parser.add_argument("--output", default="rosenbrock.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    x = start(options.n)
    hess = sparse_hessian(rosenbrock)
    hessian = hess(x)
    print(f"{options.n} dimensions; initial f {rosenbrock(x.tolist()):g}; Hessian of {hessian.nnz} stored entries")
    print("method        given                 iterations  gradients  Hessians        final f   max |x[i] - 1|")
    found = runs(x, hess)
    for its in found:
        counts = f"{its.result.nit:10} {its.result.njev:10} {its.result.get('nhev', 0):9}"
        farthest = np.abs(its.result.x - 1.0).max()
        print(f"{its.method:13} {its.knows:21} {counts} {its.result.fun:14.1e} {farthest:16.1e}")
    print(f"{'known answer':66} {0:14} {0:16}")
    draw(found, hessian, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
