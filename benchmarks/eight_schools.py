"""Eight schools: the gradient of a log-density, and 4 chains of NUTS, beside PyMC, nutpie and BlackJAX, on one core.

The program is `examples/eight_schools.py`. gradwalk's gradient is sampled by nutpie. The peers are the same model in
PyMC, with PyMC's own NUTS and with nutpie, which compiles the model with Numba, and in JAX with BlackJAX, whose
adaptation and sampling are one compiled function for all chains. "first" is the time from the model to the draws of a
new process, with recording and compilation; the others are later runs with another seed. All posterior means must agree
with the exact ones. Requires `pip install gradwalk[interop]`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
from peers import jax, on_one_core
from timing import CALLS, Row, beside, example, fastest, in_fresh_process, main, peer

from gradwalk import jit, value_and_grad

Sampler = Callable[[int], Any]  # from a seed to the draws of the mean


def in_gradwalk(program: Any, draws: int) -> Sampler:
    """Return a sampler by nutpie and gradwalk."""
    model = program.sampler(jit(value_and_grad(program.log_density)))
    return lambda seed: program.sample(model, draws, seed).mean


def model_in_pymc(program: Any) -> Any:
    """Return the model as its users write it."""
    pymc = peer("pymc", "pymc")
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with pymc.Model() as model:
        mean, spread = pymc.Normal("mean", 0.0, program.SCALE), pymc.HalfCauchy("spread", program.SCALE)
        z = pymc.Normal("z", 0.0, 1.0, shape=len(program.EFFECTS))
        pymc.Normal("effects", mean + spread * z, program.ERRORS, observed=program.EFFECTS)
    return model


def in_pymc(program: Any, draws: int) -> Sampler:
    """Return PyMC's own sampler."""
    model, sample = model_in_pymc(program), peer("pymc", "pymc").sample
    settings = {"cores": 1, "progressbar": False, "compute_convergence_checks": False}

    def run(seed: int) -> Any:
        found = sample(draws, tune=draws, chains=program.CHAINS, random_seed=seed, model=model, **settings)
        return found.posterior["mean"].to_numpy()

    return run


def in_nutpie(program: Any, draws: int) -> Sampler:
    """Return nutpie's sampler for PyMC's model."""
    nutpie = peer("nutpie", "nutpie")
    model = nutpie.compile_pymc_model(model_in_pymc(program))
    settings = {"draws": draws, "tune": draws, "chains": program.CHAINS, "cores": 1, "progress_bar": False}
    return lambda seed: nutpie.sample(model, seed=seed, **settings).posterior["mean"].to_numpy()


def density_in_jax(program: Any) -> Any:
    """Return the log-density with the functions of JAX, on arrays."""
    j = jax()
    norm, cauchy = j.scipy.stats.norm, j.scipy.stats.cauchy

    def log_density(point: Any) -> Any:
        mean, log_spread, z = point[0], point[1], point[2:]
        spread = j.numpy.exp(log_spread)
        prior = norm.logpdf(mean, 0.0, program.SCALE) + cauchy.logpdf(spread, 0.0, program.SCALE) + log_spread
        likelihood = norm.logpdf(program.EFFECTS, mean + spread * z, program.ERRORS)
        return prior + norm.logpdf(z).sum() + likelihood.sum()

    return log_density


def in_blackjax(program: Any, draws: int) -> Sampler:
    """Return BlackJAX's sampler."""
    j, blackjax = jax(), peer("blackjax", "blackjax")
    density = density_in_jax(program)
    size = 2 + len(program.EFFECTS)

    def chain(key: Any) -> Any:
        at_start, while_tuning, while_sampling = j.random.split(key, 3)
        adaptation = blackjax.window_adaptation(blackjax.nuts, density)
        (state, tuned), _ = adaptation.run(while_tuning, j.random.normal(at_start, (size,)), draws)
        kernel = blackjax.nuts(density, **tuned)

        def step(state: Any, key: Any) -> Any:
            state, _ = kernel.step(key, state)
            return state, state.position[0]

        return j.lax.scan(step, state, j.random.split(while_sampling, draws))[1]

    run = j.jit(j.vmap(chain))
    return lambda seed: numpy.asarray(run(j.random.split(j.random.key(seed), program.CHAINS)))


SAMPLERS = {  # and the modules that are imported before the time is measured
    "gradwalk": (in_gradwalk, ("nutpie",)),
    "PyMC": (in_pymc, ("pymc",)),
    "nutpie, PyMC's model": (in_nutpie, ("pymc", "nutpie")),
    "BlackJAX": (in_blackjax, ("jax", "blackjax")),
}


def times_of(name: str, draws: int, runs: int) -> tuple[float, float]:
    """Return the time from the model to the first draws, and the median time of later runs."""
    on_one_core()
    program = example("eight_schools")
    sampler_of, modules = SAMPLERS[name]
    for module in modules:
        peer(module, module)
    begin = time.perf_counter()
    sampler = sampler_of(program, draws)
    sampler(0)
    first = time.perf_counter() - begin
    later = []
    for seed in range(1, 1 + runs):
        begin = time.perf_counter()
        means = sampler(seed)
        later.append(time.perf_counter() - begin)
        weights, expected, _ = program.exact()
        assert abs(means.mean() - weights @ expected) < 10.0 / numpy.sqrt(means.size) + 0.1, (name, means.mean())
    return first, float(numpy.median(later))


def gradients(program: Any, turns: int) -> list[Row]:
    """Measure one call of the value and gradient."""
    point = 0.1 * numpy.arange(1.0, 11.0)
    recorded = jit(value_and_grad(program.log_density))
    in_pymc = model_in_pymc(program).logp_dlogp_function(ravel_inputs=True)
    in_pymc.set_extra_values({})
    in_jax = jax().jit(jax().value_and_grad(density_in_jax(program)))
    given = jax().numpy.asarray(point)
    runs: dict[str, Callable[[], object]] = {
        "ours": partial(recorded, point),
        "PyMC": partial(in_pymc, point),
        "JAX": lambda: jax().block_until_ready(in_jax(given)),
    }
    numpy.testing.assert_allclose(recorded(point)[1], in_jax(given)[1], rtol=1e-10)
    us = {name: 1e6 * taken for name, taken in fastest(turns, runs, CALLS).items()}
    claim = "eight schools, value and gradient"
    return [beside(claim, "us", us["ours"], (name, us[name])) for name in ("PyMC", "JAX")]


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    draws, runs = (50, 1) if quick else (1000, 3)
    rows = in_fresh_process(calls, quick)
    names = list(SAMPLERS)[: 1 if quick else None]  # the peers compile for a minute
    times = {name: in_fresh_process(times_of, name, draws, runs) for name in names}
    first, later = times.pop("gradwalk")
    claim = f"eight schools, {4 * draws:,} draws by nutpie"
    for name, (its_first, its_later) in times.items():
        rows.append(beside(f"{claim}, first", "s", first, (name, its_first)))
        rows.append(beside(claim, "s", later, (name, its_later)))
    return rows


def calls(quick: bool) -> list[Row]:
    """Measure gradients in a process of their own, on one core."""
    on_one_core()
    return gradients(example("eight_schools"), 1 if quick else 7)


if __name__ == "__main__":
    main(measure)
