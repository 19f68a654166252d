"""The programs of `ports.py`: public programs written for JAX, none of which is part of this repository.

`Program.updates` are changes that both versions need: names that JAX has removed, plots, and fewer steps. `changes` are
the lines that gradwalk needs besides other imports, each with the reason. `results` calls the functions of a program
that only defines functions, and returns the arrays to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

Names = dict[str, Any]


class Change(NamedTuple):
    """A pattern of lines to replace, the replacement, the reason, and the number of places."""

    pattern: str
    replacement: str
    reason: str
    places: int = 1


class Program(NamedTuple):
    """A program, where it is, and how to run it."""

    name: str
    url: str
    about: str
    results: Callable[[Names, Any], Any]
    updates: Sequence[Change] = ()
    changes: Sequence[Change] = ()


def on_github(path: str, commit: str, repository: str = "jax-ml/jax") -> str:
    """Return the address of a file."""
    return f"https://github.com/{repository}/blob/{commit}/{path}"


def random_walk(*shape: int) -> Any:
    """Return sums of standard normal numbers along the first axis."""
    return numpy.random.default_rng(0).normal(size=shape).cumsum(axis=0)


def run_control(names: Names, xp: Any) -> Any:
    """Drive the nonlinear problem of the program's tests to 0, once and with model-predictive control."""

    def cost(t: Any, x: Any, u: Any) -> Any:
        return (x[0] ** 2.0 + 1e-3 * u[0] ** 2.0) / (t + 1)

    def dynamics(t: Any, x: Any, u: Any) -> Any:
        return (x**2.0 - u**2.0) / (t + 1)

    steps = 10
    problem = names["ControlSpec"](cost, dynamics, steps, 1, 1)
    start, controls = xp.array([0.2]), 1e-5 * xp.ones((steps, 1))

    def solver(p: Any, x: Any, u: Any) -> Any:
        return names["ilqr"](7, p, x, u)

    return names["ilqr"](7, problem, start, controls), names["mpc_predict"](solver, problem, start, controls)


def run_hmm(names: Names, xp: Any) -> Any:
    """Fit a hidden Markov model with 4 states to 200 observations of 6 kinds."""
    draws = numpy.random.default_rng(0)
    params = [xp.array(draws.normal(size=shape)) for shape in ((4,), (4, 4), (4, 6))]
    observations = xp.array(draws.integers(0, 6, 200))
    return names["EM"](params, observations, 10)


def run_hmc(names: Names, xp: Any) -> Any:
    """Sample from a correlated normal distribution."""
    precision = xp.array([[2.0, 0.8], [0.8, 1.0]])
    key = numpy.array([0, 7], numpy.uint32)
    return names["hmc_sampler"](xp.array([1.0, -1.0]), lambda x: -0.5 * x @ precision @ x, 200, 10, 0.2, key)


def run_runge_kutta(names: Names, xp: Any) -> Any:
    """Solve Lorenz's equations."""

    def lorenz(_t: Any, y: Any) -> Any:
        return xp.array([10.0 * (y[1] - y[0]), y[0] * (28.0 - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])

    return names["odeint_rk4"](lorenz, xp.array([1.0, 1.0, 1.0]), xp.linspace(0.0, 5.0, 501))


def run_scaling(names: Names, xp: Any) -> Any:
    """Fit the critical point and the exponent of a curve with Adam."""
    x = xp.linspace(0.0, 2.0, 40)
    y = xp.abs(x - 1.1) ** 1.5

    def loss(params: Any) -> Any:
        c, p = params["critical"]
        return xp.mean((xp.sqrt((x - c) ** 2 + 1e-4) ** p - y) ** 2)

    adam = names["optax"].adam(1e-2)
    return names["fit"](loss, adam, {"critical": xp.array([0.8, 1.0])}, 300)


def variables(*wanted: str) -> Callable[[Names, Any], Any]:
    """Return a function that returns variables of a program that runs when it is imported."""
    return lambda names, _xp: [names[name] for name in wanted]


_REMOVED = "JAX has removed this name"
_PLOT = "nothing is plotted"
_SHORTER = "a shorter run"
_AT = "NumPy arrays do not have the property `at`"
_RANDOM = "gradwalk does not have random numbers: `ports_random` returns those of JAX"

_NO_PLOTS = Change(r"import matplotlib\.pyplot as plt", "from unittest import mock; plt = mock.MagicMock()", _PLOT)
_NO_CONFIG = Change(r"from jax\.config import config\n", "", _REMOVED)

_MOMENTUM = """  optimizer = optimizers.sgd(step_size, mass)

  @jit
  def update(x, state):
    updates, state = optimizer.update(grad(f)(x), state)
    return optimizers.apply_updates(x, updates), state

  state = optimizer.init(x)
  for _ in range(num_steps):
    x, state = update(x, state)
  return x
"""


def updated(places: int) -> Change:
    """Return the change of `x.at[i]` to `jnp.at(x)[i]`."""
    return Change(r"(\w+)\.at\[", r"jnp.at(\1)[", _AT, places)


PROGRAMS = [
    Program(
        "gaussian_process",
        on_github("examples/gaussian_process_regression.py", "085f5173589959ab088640d5cc461ce7cfe6bf87"),
        "Gaussian process regression",
        variables("result"),
        updates=[
            _NO_CONFIG,
            _NO_PLOTS,
            Change(r"  config\.config_with_absl\(\)\n  app\.run\(main\)", "  result = main(None)", _REMOVED),
            Change(r"  plt\.plot\(x, y.*", "  return params, mu, std", _PLOT),
            Change(r"range\(1000\)", "range(600)", "later steps amplify rounding errors, in JAX, too"),
        ],
    ),
    Program(
        "kernel_lsq",
        on_github("examples/kernel_lsq.py", "a3156dda2ac43691daed71bc44cf1c2f3e14e308"),
        "kernel least squares with momentum",
        lambda names, _xp: names["predict"](names["xs"]),
        updates=[
            _NO_CONFIG,
            Change(r"jax\.experimental import optimizers", "jax.example_libraries import optimizers", _REMOVED),
            Change(r"  def gram_jaxpr.*\n.*\n", "", "prints instructions"),
            Change(r"  print\(gram_jaxpr.*\n", "", "prints instructions", 2),
            Change(r" make_jaxpr,", "", "prints instructions"),
        ],
        changes=[
            Change(
                r"  opt_init, opt_update(?s:.*?)  return get_params\(opt_state\)\n",
                _MOMENTUM,
                "optimizers have the interface of optax",
            ),
        ],
    ),
    Program(
        "control",
        on_github("examples/control.py", "02d7d837e6f95c101c6cf0a37d315590b7dc2054"),
        "model-predictive control",
        run_control,
        changes=[
            updated(10),
            Change(
                r"spec\.Q\[T \+ 1\], spec\.q\[T \+ 1\]",
                "spec.Q[T], spec.q[T]",
                "the index is out of range, and JAX uses the last index",
            ),
        ],
    ),
    Program(
        "newton",
        on_github("examples/newton_method.py", "1b4bb05bc410229f84ddc51b23fcdfed58afbdc3"),
        "Newton's method with a line search",
        lambda _names, _xp: [],
    ),
    Program(
        "hmm_em",
        on_github("examples/hmm_em.py", "83d540ef4ff4203a49ea823e26269166b8545b7a"),
        "expectation maximization of a hidden Markov model",
        run_hmm,
        updates=[Change("if __name__ == '__main__':", "if __name__ == 'demo':", _SHORTER)],
        changes=[Change(r"log_B\[:, obs\]", "np.take(log_B, obs, axis=1)", "an index that is data")],
    ),
    Program(
        "backboard",
        on_github("examples/physical_optimization.py", "786247fabfc403e8d1a2ee0bd8ff09abff098af6"),
        "shape of a basketball backboard",
        variables("board"),
        updates=[
            _NO_PLOTS,
            Change(
                "from random import uniform", "from random import Random; uniform = Random(0).uniform", "the same runs"
            ),
            Change(r"tqdm\(range\(3000\)\)", "range(100)", _SHORTER),
        ],
        changes=[
            Change("vmap, device_put", "vmap", "there is one device"),
            Change(r"device_put\((onp\.random\.rand\(N\))\)", r"\1", "there is one device"),
        ],
    ),
    Program(
        "hmc",
        on_github("hmc.py", "0094b4f9a7b8858f0a7975f1a656447ef3eb92a3", "martin-marek/mini-hmc-jax"),
        "Hamiltonian Monte Carlo",
        run_hmc,
        changes=[
            Change("import gradwalk as jax\n", "import gradwalk as jax\nimport ports_random as random\n", _RANDOM),
            Change(r"jax\.random\.", "random.", _RANDOM, 3),
            updated(1),
        ],
    ),
    Program(
        "runge_kutta",
        on_github("hflow/data/ode.py", "312ccab6ce05f88184c05a28e552d1779b47af37", "julesberman/hflow"),
        "Runge-Kutta method (Lorenz's equations)",
        run_runge_kutta,
    ),
    Program(
        "mlp",
        on_github("demos/mlp.py", "4d299ccc57690034a953190d11093d8597d35c5b", "wendao/jax_is_all_you_need_to_learn"),
        "regression with a network of 16,897 parameters",
        variables("params"),
        updates=[
            _NO_PLOTS,
            Change(r"return jax\.tree_map\(", "return jax.tree.map(", _REMOVED),
            Change(r"print\(jax\.tree_map.*\n", "", "prints dicts, whose order differs"),
            Change(r"range\(1000\)", "range(20)", _SHORTER),
        ],
    ),
    Program(
        "finite_size_scaling",
        on_github("src/jaxfss/train.py", "21641d20a6c59acbe3f0c3bbbd6bfba1ef19ea63", "yonesuke/jaxfss"),
        "fitting with Adam of optax",
        run_scaling,
        changes=[updated(2)],
    ),
]
