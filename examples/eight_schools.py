"""Sample the posterior of a hierarchical model by NUTS, and compare it with the exact posterior.

    python examples/eight_schools.py --draws 1000 --output eight_schools.png

The data are the effects of coaching on test scores in eight schools, with standard errors (Rubin, 1981; Gelman et al.,
"Bayesian Data Analysis", section 5.5). The log-density is plain Python with `gradwalk.stats`, in the non-centered form:
each effect is `mean + spread * z`. nutpie samples it with the recorded value and gradient. If `spread` is known, the
posterior is normal, so one integral over `spread` gives the exact means. Requires nutpie:
`pip install gradwalk[examples,interop]`; benchmarks/eight_schools.py compares with PyMC.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
import nutpie
from matplotlib.figure import Figure
from numpy.typing import NDArray
from nutpie.compiled_pyfunc import from_pyfunc

from gradwalk import jit, math, value_and_grad
from gradwalk.stats import cauchy, norm

Array = NDArray[np.float64]

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
SCALE = 5.0  # of the priors: normal for the mean, half-Cauchy for the spread
CHAINS = 4
SPREADS = np.exp(np.linspace(-10.0, 10.0, 4001))  # nodes of the exact integrals
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "#888888"  # color-blind safe


def log_density(point: Any) -> Any:
    """Return the logarithm of the posterior density up to a constant, at the mean, the log of the spread, and all z."""
    mean, log_spread, z = point[0], point[1], point[2:]
    spread = math.exp(log_spread)
    total = norm.logpdf(mean, 0.0, SCALE) + cauchy.logpdf(spread, 0.0, SCALE) + log_spread
    for own, effect, error in zip(z, EFFECTS, ERRORS, strict=True):
        total = total + norm.logpdf(own) + norm.logpdf(effect, mean + spread * own, error)
    return total


class Posterior(NamedTuple):
    """Draws of the mean, the spread, and the effects of all schools, with one row for each draw."""

    mean: Array
    spread: Array
    effects: Array


def sampler(f: Any) -> Any:
    """Return nutpie's model for a function that returns the log-density and its gradient."""
    size = 2 + len(EFFECTS)
    expand = lambda *_: lambda point: {"point": np.array(point)}  # noqa: E731
    return from_pyfunc(size, lambda: f, expand, [np.dtype("float64")], [(size,)], ["point"])


def sample(model: Any, draws: int, seed: int) -> Posterior:
    """Return the draws of all chains, which run one after the other."""
    trace = nutpie.sample(model, draws=draws, tune=draws, chains=CHAINS, cores=1, seed=seed, progress_bar=False)
    points = trace.posterior["point"].to_numpy().reshape(-1, 2 + len(EFFECTS))
    mean, spread = points[:, 0], np.exp(points[:, 1])
    return Posterior(mean, spread, mean[:, None] + spread[:, None] * points[:, 2:])


def exact() -> tuple[Array, Array, Array]:
    """Return the weights of all `SPREADS`, and the expected mean and effects for each of them."""
    precisions = 1.0 / (ERRORS**2 + SPREADS[:, None] ** 2)
    precision = 1.0 / SCALE**2 + precisions.sum(1)
    means = (precisions @ EFFECTS) / precision
    logs = (np.log(precisions).sum(1) - np.log(precision) - precisions @ EFFECTS**2 + means**2 * precision) / 2.0
    weights = np.exp(logs - logs.max()) * SPREADS / (1.0 + (SPREADS / SCALE) ** 2)
    effects = means[:, None] + SPREADS[:, None] ** 2 * precisions * (EFFECTS - means[:, None])
    return weights / weights.sum(), means, effects


def draw(posterior: Posterior, output: str) -> None:
    """Save a picture of the effects, before and after, and of the density of the spread."""
    weights, _, effects = exact()
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.3, 1.0])
    rows = np.arange(len(EFFECTS))
    left.errorbar(EFFECTS, rows - 0.15, xerr=ERRORS, fmt="o", color=GRAY, label="data ± standard error")
    found, deviations = posterior.effects.mean(0), posterior.effects.std(0)
    left.errorbar(found, rows + 0.15, xerr=deviations, fmt="o", color=BLUE, label="posterior ± deviation")
    left.plot(weights @ effects, rows + 0.15, "|", color=ORANGE, markersize=14.0, label="exact mean")
    left.set(xlabel="points in the test", yticks=rows, yticklabels=list("ABCDEFGH"), ylim=(9.9, -0.6))
    left.set_title("Effects of coaching in eight schools", loc="left")
    left.legend(fontsize="small", loc="lower right")
    right.hist(posterior.spread, np.linspace(0.0, 20.0, 41), density=True, color=BLUE, alpha=0.6, label="NUTS")
    density = weights / np.gradient(SPREADS)
    right.plot(SPREADS, density, color=ORANGE, label="exact density")
    right.set(xlabel="spread of the effects", xlim=(0.0, 20.0))
    right.set_title("How much schools differ", loc="left")
    right.legend(fontsize="small")
    figure.savefig(output, dpi=150)


def main() -> None:
    """Parse the command line, sample, and print the means beside the exact ones."""
    parser = argparse.ArgumentParser(description="Sample the posterior of the eight schools.")
    parser.add_argument("--draws", type=int, default=1000, help="draws of each of 4 chains (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sampler (default: %(default)s)")
    parser.add_argument("--output", default="eight_schools.png", help="path of the picture (default: %(default)s)")
    options = parser.parse_args()

    begin = time.perf_counter()
    model = sampler(jit(value_and_grad(log_density)))
    posterior = sample(model, options.draws, options.seed)
    first = time.perf_counter()
    sample(model, options.draws, options.seed)
    again = time.perf_counter()
    weights, means, effects = exact()
    print(f"{CHAINS} chains of {options.draws} draws: first {first - begin:.2f} s, then {again - first:.2f} s")
    print(f"{'':10}{'data':>8}{'NUTS':>8}{'exact':>8}")
    print(f"{'mean':10}{'':8}{posterior.mean.mean():8.2f}{weights @ means:8.2f}")
    print(f"{'spread':10}{'':8}{posterior.spread.mean():8.2f}{weights @ SPREADS:8.2f}")
    for i, name in enumerate("ABCDEFGH"):
        print(f"school {name:3}{EFFECTS[i]:8.0f}{posterior.effects[:, i].mean():8.2f}{weights @ effects[:, i]:8.2f}")
    draw(posterior, options.output)
    print(f"picture: {options.output}")


if __name__ == "__main__":
    main()
