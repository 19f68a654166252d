"""A pendulum in a million steps of Euler's method as a loop: recorded once, differentiated with little memory.

The size of the recording does not depend on the number of steps. The peers are JAX with `scan`, whose gradient stores
all states, or some of them with `jax.checkpoint` around √n steps each; casadi's `fold`; and C++ with a handwritten
gradient. All start from numbers and return the final position, or its gradient with respect to the two initial values
and the two parameters. The same loop with 1,000 steps has a typical length.

Two other loops show nested loops and branches. The first solves Kepler's equation at 2,000 times by a `while_loop` of
about six steps of Newton's method, and differentiates through all these steps. JAX has no reverse mode for such loops,
so its gradient is computed by forward mode. The second loop selects one of two formulas in each of 200 steps, with
`cond` or with `where`, which computes both. The C++ code of these loops is compiled by `g++ -O2`. A batch of Newton's
methods has loops that end at different counts.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from ctypes import POINTER, c_double, c_long
from functools import cache, partial
from typing import Any

import numpy
from peers import cpp, jax, on_one_core
from timing import Row, at_most, beside, best_of, fastest, main, peer, seconds, within

from gradwalk import grad, jit, jvp, loops, vmap
from gradwalk import math as gradwalk_math

GIVEN = (0.3, 0.1, 1.0, 0.1)  # position, velocity, stiffness, damping
SECONDS = 10.0
KEPT = (None, "sqrt", "binomial")

ORBIT = (0.9, 0.01)  # eccentricity, and mean motion per step
DIRECTION = (1.0, 0.5)
TOLERANCE = 1e-12  # of Newton's method
ROOM = (0.2, 1.0, 0.3)  # temperature, strength of the heating, loss
THRESHOLD, STEP = 0.5, 0.05

Run = Callable[[], object]


def step(m: Any, dt: float, x: Any, v: Any, k: Any, c: Any) -> tuple[Any, Any]:
    """Apply a step of Euler's method to any kind of number."""
    return x + dt * v, v - dt * (k * m.sin(x) + c * v)


def pendulum(steps: int, kept: Any) -> Callable[..., Any]:
    """Return the final position as a gradwalk function."""
    dt = SECONDS / steps

    def last(x: Any, v: Any, k: Any, c: Any) -> Any:
        return loops.fori_loop(
            0, steps, lambda _, state: step(gradwalk_math, dt, *state, k, c), (x, v), checkpoint=kept
        )[0]

    return last


def in_jax(steps: int, checkpointed: bool) -> Callable[..., Any]:
    """Return the final position as a JAX function: one scan, or scans of about √n steps that store nothing inside."""
    j = jax()
    dt = SECONDS / steps
    inner = max(n for n in range(1, math.isqrt(steps) + 1) if steps % n == 0) if checkpointed else steps

    def last(given: Any) -> Any:
        def one(state: Any, _: Any) -> tuple[Any, None]:
            return step(j.numpy, dt, state[0], state[1], given[2], given[3]), None

        def some(state: Any, _: Any) -> tuple[Any, None]:
            return j.lax.scan(one, state, None, length=inner)[0], None

        several = j.checkpoint(some) if checkpointed else some
        return j.lax.scan(several, (given[0], given[1]), None, length=steps // inner)[0][0]

    return last


def jax_runs(steps: int) -> tuple[Run, Run, Run]:
    """Return value, gradient, and gradient with checkpoints in JAX, compiled."""
    j = jax()
    given = j.numpy.array(GIVEN)
    compiled = [j.jit(f) for f in (in_jax(steps, False), j.grad(in_jax(steps, False)), j.grad(in_jax(steps, True)))]

    def run_of(f: Any) -> Run:
        return lambda: f(given).block_until_ready()

    runs = [run_of(f) for f in compiled]
    for run in runs:
        run()
    return runs[0], runs[1], runs[2]


def casadi_runs(steps: int) -> tuple[Run, Run]:
    """Return value and gradient by casadi's fold."""
    casadi = peer("casadi", "casadi")
    x, p = casadi.SX.sym("x", 2), casadi.SX.sym("p", 2)
    one = casadi.Function("one", [x, p], [casadi.vertcat(*step(casadi, SECONDS / steps, x[0], x[1], p[0], p[1]))])
    start, parameters = casadi.MX.sym("start", 2), casadi.MX.sym("parameters", 2)
    last = one.fold(steps)(start, parameters)[0]
    value = casadi.Function("value", [start, parameters], [last])
    slopes = [casadi.gradient(last, start), casadi.gradient(last, parameters)]
    gradient = casadi.Function("gradient", [start, parameters], slopes)
    return lambda: value(GIVEN[:2], GIVEN[2:]), lambda: gradient(GIVEN[:2], GIVEN[2:])


def cpp_runs(steps: int) -> tuple[Run, Run]:
    """Return value and gradient in C++."""
    library = cpp("loops")
    library.pendulum.restype = c_double
    given, out = (c_double * 4)(*GIVEN), (c_double * 4)()
    for function in (library.pendulum, library.gradient):
        function.argtypes = [POINTER(c_double), c_long, *([POINTER(c_double)] if function is library.gradient else [])]

    def gradient() -> Any:
        library.gradient(given, steps, out)
        return list(out)

    return lambda: library.pendulum(given, steps), gradient


def check(runs: dict[str, Run], expected: Any) -> None:
    """Raise `AssertionError` if the results differ by more than rounding errors."""
    for name, run in runs.items():
        result: Any = run()
        parts = result if isinstance(result, (tuple, list)) else [result]
        found = numpy.concatenate([numpy.asarray(part, float).ravel() for part in parts])
        assert numpy.allclose(found, expected, rtol=1e-6, atol=1e-9), (name, found, expected)


def peak(run: Run) -> float:
    """Return the peak memory of a run in bytes."""
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(most)


def runs_of(steps: int) -> tuple[dict[str, Run], dict[str, Run]]:
    """Return the runs for the final position and the runs for its gradient, by name."""
    value = jit(pendulum(steps, None))
    in_jax_value, in_jax_gradient, in_jax_checkpointed = jax_runs(steps)
    in_casadi_value, in_casadi_gradient = casadi_runs(steps)
    in_cpp_value, in_cpp_gradient = cpp_runs(steps)
    gradwalk = partial(value, *GIVEN)
    values: dict[str, Run] = {"gradwalk": gradwalk, "JAX": in_jax_value, "casadi": in_casadi_value, "C++": in_cpp_value}
    slopes: dict[str, Run] = {
        **{f"gradwalk {kept}": partial(jit(grad(pendulum(steps, kept), (0, 1, 2, 3))), *GIVEN) for kept in KEPT},
        "JAX": in_jax_gradient,
        "JAX with checkpoint": in_jax_checkpointed,
        "casadi": in_casadi_gradient,
        "C++": in_cpp_gradient,
    }
    check(values, in_cpp_value())
    check(slopes, in_cpp_gradient())
    return values, slopes


def rows_of(steps: int, turns: int) -> list[Row]:
    """Return the rows for one number of steps."""
    values, slopes = runs_of(steps)
    calls = max(20_000 // steps, 1)  # calls per timing, where one call is too short to time

    def repeated(run: Run) -> Run:
        return lambda: [run() for _ in range(calls)]

    runs = {name: repeated(run) for name, run in [*values.items(), *((f"d {n}", run) for n, run in slopes.items())]}
    times = {name: 1e9 * time / calls / steps for name, time in best_of(turns, runs).items()}
    claim = f"pendulum, {steps:,} steps"
    pairs = [("a step", "gradwalk", other) for other in ("JAX", "casadi", "C++")]
    kept_all = "a step of the gradient, checkpoint=None"
    pairs += [(kept_all, "d gradwalk None", other) for other in ("d JAX", "d casadi", "d C++")]
    pairs += [("a step of the gradient, checkpoint=sqrt", "d gradwalk sqrt", "d JAX with checkpoint")]
    pairs += [("a step of the gradient, checkpoint=binomial", "d gradwalk binomial", "gradwalk")]
    found = [
        beside(f"{claim}, {what}", "ns", times[ours], (other.removeprefix("d "), times[other]))
        for what, ours, other in pairs
    ]
    forward = ("forward", times["gradwalk"])
    found.append(within(f"{claim}, gradient with checkpoint=sqrt", "ns", times["d gradwalk sqrt"], forward, 3.5))
    for kept in KEPT:
        most = peak(slopes[f"gradwalk {kept}"]) / 1e3
        found.append(at_most(f"{claim}, memory of the gradient, checkpoint={kept}", "kB", most, 30_000))
    return found


def recording(steps: int) -> float:
    """Return the seconds to record a gradient: its first call minus a later call."""

    def once() -> float:
        gradient = jit(grad(pendulum(steps, "sqrt"), argnums=(0, 1, 2, 3)))
        first = seconds(lambda: gradient(*GIVEN))
        return first - min(seconds(lambda: gradient(*GIVEN)) for _ in range(3))

    once()  # leaves out the imports of the first recording
    return min(once() for _ in range(5))


def planet(m: Any, library: Any) -> Callable[..., Any]:
    """Return the distance of a planet from the sun, by Newton's method; `library` has the loops of `jax.lax`."""

    def distance(e: Any, mean: Any) -> Any:
        def improved(state: Any) -> Any:
            x = state[0]
            d = (x - e * m.sin(x) - mean) / (1.0 - e * m.cos(x))
            return x - d, d

        x = library.while_loop(lambda state: abs(state[1]) > TOLERANCE, improved, (mean, 1.0))[0]
        return 1.0 - e * m.cos(x)

    return distance


def orbit(m: Any, library: Any, steps: int) -> Callable[..., Any]:
    """Return the sum of the distances of a planet at many times."""
    distance = planet(m, library)
    return lambda e, motion: library.fori_loop(0, steps, lambda i, total: total + distance(e, motion * i), 0.0)


def thermostat(m: Any, library: Any, steps: int, selects: bool = False) -> Callable[..., Any]:
    """Return the last temperature of a room, with `cond` in each step, or with `where` if `selects`."""

    def last(x: Any, k: Any, c: Any) -> Any:
        def heated(x: Any) -> Any:
            return x + STEP * (k * m.exp(-x) + c)

        def cooled(x: Any) -> Any:
            return x - STEP * (k * m.sin(x) + c * x)

        def after(_: Any, x: Any) -> Any:
            is_cold = x < THRESHOLD
            return m.where(is_cold, heated(x), cooled(x)) if selects else library.cond(is_cold, heated, cooled, x)

        return library.fori_loop(0, steps, after, x)

    return last


@cache
def plain_cpp() -> Any:
    """Compile and load the C++ functions without the options of -Ofast."""
    return cpp("loops", ("-O2",))


def in_cpp(name: str, given: Any, steps: int, out: Any = None) -> Run:
    """Return the run of a C++ function that returns a number, or that writes to a copy of `out`."""
    function = getattr(plain_cpp(), name)
    numbers = (c_double * len(given))(*given)
    function.argtypes = [POINTER(c_double), c_long, *([POINTER(c_double)] if out is not None else [])]
    function.restype = c_double if out is None else None
    if out is None:
        return lambda: function(numbers, steps)

    def run() -> Any:
        results = (c_double * len(out))(*out)
        function(numbers, steps, results)
        return list(results)

    return run


def with_jax(f: Callable[..., Any], *given: float) -> Run:
    """Return the run of a compiled JAX function."""
    j = jax()
    compiled, arrays = j.jit(f), [j.numpy.array(x, float) for x in given]
    return lambda: j.block_until_ready(compiled(*arrays))


def checked(peers: dict[str, dict[str, Run]]) -> dict[str, Run]:
    """Check that all runs of each derivative agree with C++; return them by the names of derivative and library."""
    for runs in peers.values():
        expected: Any = runs["C++"]()
        check(runs, expected)
    return {f"{what}, {name}": run for what, runs in peers.items() for name, run in runs.items()}


def orbit_rows(steps: int, turns: int) -> list[Row]:
    """Return the rows for the loop with a loop inside."""
    j = jax()
    ours, theirs = orbit(gradwalk_math, loops, steps), orbit(j.numpy, j.lax, steps)
    runs: dict[str, dict[str, Run]] = {
        "value": {
            "gradwalk": partial(jit(ours), *ORBIT),
            "JAX": with_jax(theirs, *ORBIT),
            "C++": in_cpp("orbit", ORBIT, steps),
        },
        "forward mode": {
            "gradwalk": partial(jit(lambda *given: jvp(ours, given, DIRECTION)), *ORBIT),
            "JAX": with_jax(lambda *given: j.jvp(theirs, given, DIRECTION), *ORBIT),
            "C++": in_cpp("orbit_forward", ORBIT, steps, DIRECTION),
        },
        "gradient": {
            "gradwalk": partial(jit(grad(ours, (0, 1))), *ORBIT),
            "JAX in forward mode": with_jax(j.jacfwd(theirs, (0, 1)), *ORBIT),
            "C++": in_cpp("orbit_gradient", ORBIT, steps, DIRECTION),
        },
    }
    times = fastest(turns, checked(runs), 1 if turns == 1 else 5)
    return [
        beside(f"Newton's method in a loop of {steps:,} steps, {what}", "us", 1e6 * times[f"{what}, gradwalk"], peer)
        for what, libraries in runs.items()
        for peer in [(name, 1e6 * times[f"{what}, {name}"]) for name in libraries if name != "gradwalk"]
    ]


def batch_rows(samples: int, turns: int) -> list[Row]:
    """Return the rows for batches of loops that end at different counts."""
    j = jax()
    rng = numpy.random.default_rng(0)
    columns = rng.uniform(0.0, 0.6, samples), rng.uniform(0.5, 6.0, samples)
    theirs = [j.numpy.array(column) for column in columns]
    ours = jit(vmap(planet(gradwalk_math, loops)), backend="llvm")
    other = j.jit(j.vmap(planet(j.numpy, j.lax)))
    runs: dict[str, Run] = {
        "gradwalk": partial(ours, *columns),
        "JAX": lambda: j.block_until_ready(other(*theirs)),
        "gradwalk, gradient": partial(jit(vmap(grad(planet(gradwalk_math, loops))), backend="llvm"), *columns),
    }
    numpy.testing.assert_allclose(numpy.array(runs["gradwalk"]()), numpy.array(runs["JAX"]()), rtol=1e-9)
    times = fastest(turns, runs, 1 if turns == 1 else 20)
    peers = [(name, 1e6 * times[name]) for name in ("JAX", "gradwalk, gradient")]
    claim = f"Newton's method on a batch of {samples:,}"
    return [beside(claim, "us", 1e6 * times["gradwalk"], peer) for peer in peers]


def thermostat_rows(steps: int, turns: int) -> list[Row]:
    """Return the rows for the loop with a branch inside."""
    j = jax()
    ours, selecting = (thermostat(gradwalk_math, loops, steps, selects) for selects in (False, True))
    theirs = thermostat(j.numpy, j.lax, steps)
    arguments = (0, 1, 2)
    runs: dict[str, dict[str, Run]] = {
        "value": {
            "gradwalk": partial(jit(ours), *ROOM),
            "where": partial(jit(selecting), *ROOM),
            "JAX": with_jax(theirs, *ROOM),
            "C++": in_cpp("thermostat", ROOM, steps),
        },
        "gradient": {
            "gradwalk": partial(jit(grad(ours, arguments)), *ROOM),
            "where": partial(jit(grad(selecting, arguments)), *ROOM),
            "JAX": with_jax(j.grad(theirs, arguments), *ROOM),
            "C++": in_cpp("thermostat_gradient", ROOM, steps, ROOM),
        },
    }
    times = fastest(turns, checked(runs))
    return [
        beside(f"cond in a loop of {steps} steps, {what}", "us", 1e6 * times[f"{what}, gradwalk"], peer)
        for what, libraries in runs.items()
        for peer in [(name, 1e6 * times[f"{what}, {name}"]) for name in libraries if name != "gradwalk"]
    ]


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table of claims."""
    on_one_core()
    longest = 10_000 if quick else 1_000_000
    recorded = [
        at_most(f"pendulum, {steps:,} steps, recording the gradient", "ms", 1e3 * recording(steps), 5.0)
        for steps in (100, 10_000)
    ]
    pendulums = [*rows_of(longest, 1 if quick else 5), *rows_of(1000, 1 if quick else 20)]
    turns = 1 if quick else 10
    batches = [row for samples in (64, 20_000) for row in batch_rows(samples, turns)]
    return [*recorded, *pendulums, *orbit_rows(100 if quick else 2000, turns), *thermostat_rows(200, turns), *batches]


if __name__ == "__main__":
    main(measure)
