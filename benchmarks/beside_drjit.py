"""The jobs of `beside.py` in Dr.Jit, on its LLVM backend. Importing this module imports Dr.Jit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import asian
import drjit as dr
import numpy
from beside_peers import LORENZ, POINT, Data, expression, lorenz
from drjit.llvm.ad import Float64, TensorXf64, UInt32

Run = Callable[[], Any]


def with_gradients(numbers: Any) -> list[Any]:
    """Return variables whose derivatives are computed in reverse mode."""
    variables = [Float64(number) for number in numbers]
    for variable in variables:
        dr.enable_grad(variable)
    return variables


def evaluated(value: Any, variables: list[Any]) -> list[Any]:
    """Return the numbers of a value and its derivatives, computed by one kernel where that is possible."""
    dr.backward(value)
    slopes = [dr.grad(variable) for variable in variables]
    dr.eval(value, *slopes)
    return [value.numpy()[0], *(slope.numpy()[0] for slope in slopes)]


def expressions() -> Run:
    """Return the gradient of the expression."""

    def run() -> Any:
        a, b = with_gradients(POINT)
        return evaluated(expression(a, b, lambda x: dr.select(x > 0.0, x, 0.0)), [a, b])

    return run


@dr.syntax  # type: ignore[untyped-decorator]
def repeated(state: Any, parameters: Any, steps: int) -> Any:
    """Return the state after some steps."""
    i = dr.zeros(UInt32, dr.width(state[0]))
    while dr.hint(i < steps, mode="symbolic"):
        state = lorenz(state, parameters)
        i = i + 1
    return state


def loop(steps: int) -> Run:
    """Return the derivatives of the loop in forward mode, side by side."""

    def run() -> Any:
        variables = [Float64(number) + dr.zeros(Float64, 6) for number in LORENZ]
        for k, variable in enumerate(variables):
            dr.enable_grad(variable)
            dr.set_grad(variable, Float64([float(i == k) for i in range(6)]))
        x, _, _ = repeated(tuple(variables[:3]), tuple(variables[3:]), steps)
        slope = dr.forward_to(x)
        dr.eval(x, slope)
        return x.numpy()[0], slope.numpy()

    return run


@dr.syntax  # type: ignore[untyped-decorator]
def totals(log_spot: Any, drift: Any, diffusion: Any, cumulated: Any, lanes: Any) -> Any:
    """Return the sum of the prices of each path."""
    total, i = dr.zeros(Float64, dr.width(lanes)), dr.zeros(UInt32, dr.width(lanes))
    while dr.hint(i < asian.STEPS, mode="symbolic", max_iterations=-1, exclude=[cumulated, lanes]):
        shocks = dr.gather(Float64, cumulated, i * dr.width(lanes) + lanes)
        total = total + dr.exp(log_spot + drift * Float64(i + 1) + diffusion * shocks)
        i = i + 1
    return total


def paths(shocks: Any) -> Run:
    """Return the gradient of the Asian option in reverse mode."""
    cumulated = Float64(asian.step_by_step(shocks).cumsum(0).ravel())
    lanes = dr.arange(UInt32, len(shocks))

    def run() -> Any:
        variables = with_gradients(asian.MARKET)
        spot, strike, rate, volatility, years = variables
        dt = years / asian.STEPS
        drift, diffusion = (rate - volatility * volatility / 2.0) * dt, volatility * dr.sqrt(dt)
        pay = totals(dr.log(spot), drift, diffusion, cumulated, lanes) / asian.STEPS - strike
        return evaluated(dr.mean(dr.exp(-rate * years) * dr.select(pay > 0.0, pay, 0.0)), variables)

    return run


def layer(weights: Any, samples: Any) -> Run:
    """Return the gradient of the layer, whose products are Dr.Jit's own."""
    given = TensorXf64(samples)

    def run() -> Any:
        variable = TensorXf64(weights)
        dr.enable_grad(variable)
        loss = dr.mean(dr.square(dr.tanh(dr.matmul(given, variable))), axis=None)
        dr.backward(loss)
        slope = dr.grad(variable)
        dr.eval(loss, slope)
        return loss.numpy(), slope.numpy()

    return run


def jobs(data: Data) -> dict[str, Callable[[], Run]]:
    """Return the jobs that Dr.Jit can do. Raises `ImportError` if it does not find LLVM."""
    if not dr.has_backend(dr.JitBackend.LLVM):
        raise ImportError("Dr.Jit needs a shared library of LLVM 15 or later: set DRJIT_LIBLLVM_PATH")
    dr.set_thread_count(1)
    dr.eval(dr.arange(Float64, 2) + numpy.pi)
    return {
        "expression": expressions,
        "loop": lambda: loop(data.steps),
        "paths": lambda: paths(data.shocks),
        "layer": lambda: layer(data.weights, data.samples),
    }
