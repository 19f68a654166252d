"""Gradients by `jit(value_and_grad(f))`: recorded at 300 ns per node, replayed at 4 ns per instruction.

The function integrates the Lorenz system with the midpoint rule, in plain scalar Python. casadi can record such a
program. JAX needs minutes to compile 10,000 unrolled operations, so it gets 1,000 of them. JAX without jit also runs
these 1,000, and its time per node is compared.

The sparse Hessian is measured on the chained Rosenbrock function. It is compared with the dense Hessian, by a
Hessian-vector product per variable, and with a replayed `hessian`, which skips zero entries but returns all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from timing import CALLS, Row, at_most, beside, best_of, faster, fastest, main, peer

from gradwalk import Value, hessian, hvp, jit, sparse_hessian, value_and_grad

START = (1.0, 2.0, 3.0, 10.0, 28.0, 8.0 / 3.0)  # x, y, z, sigma, rho, beta
ALL = tuple(range(len(START)))
NODES_A_STEP = 28

Function = Callable[..., Any]
Run = Callable[[], object]


def lorenz(steps: int) -> Function:
    """Integrate over one unit of time; return the squared distance from the origin, for any kind of number."""
    step = 1.0 / steps
    half = step / 2.0

    def squared_distance(x: Any, y: Any, z: Any, sigma: Any, rho: Any, beta: Any) -> Any:
        for _ in range(steps):
            u = x + half * (sigma * (y - x))
            v = y + half * (x * (rho - z) - y)
            w = z + half * (x * y - beta * z)
            x, y, z = x + step * (sigma * (v - u)), y + step * (u * (rho - w) - v), z + step * (u * v - beta * w)
        return x * x + y * y + z * z

    return squared_distance


def rosenbrock(x: Any) -> Any:
    """Return the chained Rosenbrock function, for any kind of number."""
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] * x[i]) ** 2 + (1.0 - x[i]) ** 2
    return total


class Casadi:
    """A casadi function, run through its buffers, which is the fastest way, or called."""

    def __init__(self, casadi: Any, function: Any, numbers: Sequence[float]) -> None:
        self._casadi = casadi
        self._function = function
        self._numbers = [float(number) for number in numbers]
        self._arguments: Any = numpy.array(self._numbers)
        self.results: list[Any] = [numpy.zeros(function.nnz_out(i)) for i in range(function.n_out())]
        self._buffer, self.run = function.buffer()
        self._buffer.set_arg(0, self._arguments.data)
        for i, result in enumerate(self.results):
            self._buffer.set_res(i, result.data)

    def call(self) -> Any:
        """Return the results as casadi matrices."""
        return self._function(self._numbers)

    @staticmethod
    def gradient(casadi: Any, f: Function, numbers: Sequence[float]) -> Casadi:
        """Record value and gradient of a function of numbers with the same Python loop."""
        symbols = [casadi.SX.sym("x") for _ in numbers]
        inputs = casadi.vertcat(*symbols)
        value = f(*symbols)
        function = casadi.Function("f", [inputs], [value, casadi.gradient(value, inputs)])
        return Casadi(casadi, function, numbers)

    @staticmethod
    def hessian(casadi: Any, f: Function, numbers: Any) -> Casadi:
        """Record the sparse Hessian of a function of a sequence."""
        symbols = [casadi.SX.sym("x") for _ in numbers]
        inputs = casadi.vertcat(*symbols)
        matrix, _ = casadi.hessian(f(symbols), inputs)
        return Casadi(casadi, casadi.Function("f", [inputs], [matrix]), numbers)


def scaled(times: dict[str, float], factor: float) -> dict[str, float]:
    """Convert times to another unit."""
    return {name: factor * time for name, time in times.items()}


def agree(*gradients: Any) -> None:
    """Raise `AssertionError` if the gradients of the peers differ."""
    for gradient in gradients[1:]:
        numpy.testing.assert_allclose(numpy.ravel(gradient), numpy.ravel(gradients[0]), rtol=1e-6)


def first_gradients(quick: bool) -> list[Row]:
    """Measure gradients that are computed once."""
    casadi = peer("casadi", "casadi")
    rows = []
    for size, turns in ((1000, 1),) if quick else ((10**5, 3), (10**6, 1)):
        f = lorenz(size // NODES_A_STEP)

        def by_casadi(f: Function = f) -> Casadi:
            function = Casadi.gradient(casadi, f, START)
            function.run()
            return function

        def by_jit(f: Function = f) -> Any:
            return jit(value_and_grad(f, ALL))(*START)

        def at_once(f: Function = f) -> Any:
            return value_and_grad(f, ALL)(*START)

        agree(by_casadi().results[1], by_jit()[1], at_once()[1])
        ns = scaled(best_of(turns, {"jit": by_jit, "at once": at_once, "casadi": by_casadi}), 1e9 / size)
        for name, what in (("jit", "first gradient by jit"), ("at once", "gradient without jit")):
            claim = f"{what}, {size:,} nodes, a node"
            rows.append(at_most(claim, "ns", ns[name], 300))
            rows.append(faster(claim, "ns", ns[name], ("casadi", ns["casadi"]), 1))
    return rows


def first_gradient_beside_jax(quick: bool) -> list[Row]:
    """Measure the first gradient of a program small enough for JAX to compile."""
    jax = peer("jax", "jax")
    size = 100 if quick else 1000
    f = lorenz(size // NODES_A_STEP)

    def by_jit() -> Any:
        return jit(value_and_grad(f, ALL))(*START)

    def by_jax() -> Any:
        jax.clear_caches()
        value, gradient = jax.jit(jax.value_and_grad(f, ALL))(*START)
        return float(value), [float(x) for x in gradient]

    agree(by_jax()[1], by_jit()[1])
    ms = scaled(best_of(1, {"ours": by_jit, "JAX": by_jax}), 1e3)
    return [faster(f"first gradient by jit, {size:,} nodes", "ms", ms["ours"], ("JAX", ms["JAX"]), 1000)]


def replayed_gradients(quick: bool) -> list[Row]:
    """Measure gradients that are computed repeatedly."""
    casadi, autograd, jax = peer("casadi", "casadi"), peer("autograd", "autograd"), peer("jax", "jax")
    size, few, turns, calls = (1000, 100, 1, 3) if quick else (10_000, 1000, 5, CALLS)
    f, shorter = lorenz(size // NODES_A_STEP), lorenz(few // NODES_A_STEP)
    replayed = jit(value_and_grad(f, ALL))
    function = Casadi.gradient(casadi, f, START)
    by_autograd = autograd.value_and_grad(lambda numbers: f(*numbers))
    by_jax = jax.value_and_grad(shorter, ALL)

    def on_values() -> list[float]:
        leaves = [Value(number) for number in START]
        f(*leaves).backward()
        return [leaf.grad for leaf in leaves]

    def unjitted() -> Any:
        with jax.disable_jit():
            return by_jax(*START)[1]

    function.run()
    agree(replayed(*START)[1], on_values(), function.results[1], by_autograd(START)[1])
    agree(value_and_grad(shorter, ALL)(*START)[1], unjitted())
    runs = {
        "ours": lambda: replayed(*START),
        "Value": on_values,
        "casadi": function.run,
        "casadi, called": function.call,
    }
    ns = scaled(fastest(turns, runs, calls), 1e9 / size)
    ns["autograd"] = 1e9 / size * best_of(1, {"": lambda: by_autograd(START)})[""]
    ns["JAX, not jitted"] = 1e9 / few * best_of(1, {"": unjitted})[""]
    instructions = replayed.statistics.instructions
    times = {"Value": 12, "casadi": 2, "casadi, called": 2, "autograd": 1000, "JAX, not jitted": 1000}
    claim = f"replayed gradient of {size:,} nodes"
    return [
        at_most(f"{claim}, an instruction of {instructions:,}", "ns", ns["ours"] * size / instructions, 4),
        *(faster(f"{claim}, a node", "ns", ns["ours"], (name, ns[name]), least) for name, least in times.items()),
    ]


def hessians(quick: bool) -> list[Row]:
    """Measure replayed sparse and dense Hessians."""
    casadi = peer("casadi", "casadi")
    n, turns, repeats = (10, 1, 3) if quick else (1000, 3, CALLS)
    x = numpy.linspace(0.5, 1.5, n)
    units = numpy.eye(n)
    sparse = sparse_hessian(rosenbrock)
    dense = jit(hessian(rosenbrock))
    product = jit(lambda x, v: hvp(rosenbrock, (x,), (v,)))
    function = Casadi.hessian(casadi, rosenbrock, x)

    def products() -> Any:
        return numpy.array([product(x, unit) for unit in units])

    function.run()
    matrix = sparse(x)
    agree(dense(x), products(), matrix.toarray())
    agree(matrix.T.tocsc().data, function.results[0])
    dense_us = scaled(best_of(1, {"replayed": lambda: dense(x), "products": products}), 1e6)
    runs = {"ours": lambda: sparse(x), "casadi": function.run, "casadi, called": function.call}
    us = scaled(fastest(turns, runs, repeats), 1e6)
    claim = f"sparse Hessian of {n:,} variables"
    return [
        faster(claim, "us", us["ours"], ("dense, a product a variable", dense_us["products"]), 100),
        beside(claim, "us", us["ours"], ("dense by jit, which leaves zeros out too", dense_us["replayed"])),
        faster(claim, "us", us["ours"], ("casadi", us["casadi"]), 1.5),
        faster(claim, "us", us["ours"], ("casadi, called", us["casadi, called"]), 1.5),
    ]


def measure(quick: bool) -> list[Row]:
    """Return the rows."""
    peer("jax", "jax").config.update("jax_enable_x64", True)
    rows = [
        *replayed_gradients(quick),
        *first_gradients(quick),
        *first_gradient_beside_jax(quick),
    ]
    return [*rows, *hessians(quick)]


if __name__ == "__main__":
    main(measure)
