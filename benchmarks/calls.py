"""Call overhead of functions with almost no computation: at most 1.5 us for trees and for batches of a few samples.

Measured are recorded functions of floats, lists, dicts, dataclasses, arrays and Modules, batches of 1 and 16 samples,
and gradients that are not recorded. The peers are JAX on the same arguments and, for floats, casadi. Each function is
called many times in a row. Cold gradients are gradients of new functions, which are called once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy
from peers import jax
from timing import Row, at_most, beside, faster, fastest, main, peer

from gradwalk import grad, jit, vmap
from gradwalk.nn import MLP

Function = Callable[..., Any]


@dataclass
class Rates:
    """A few named numbers."""

    domestic: Any
    foreign: Any
    spread: Any


def ten_operations(x: Any, y: Any) -> Any:
    """Apply ten operations to any kind of number."""
    for _ in range(5):
        y = y * x + x
    return y


def norm(x: Any) -> Any:
    """Return the sum of squares of a sequence, with two operations per number."""
    total = 0.0
    for number in x:
        total = total + number * number
    return total


def norm_of_array(x: Any) -> Any:
    """Return the sum of squares of a JAX array."""
    return (x * x).sum()


def discount(rates: Rates) -> Any:
    """Apply three operations to the numbers of a dataclass."""
    return rates.domestic * rates.foreign + rates.spread * rates.spread


def norm_of_items(rates: Any) -> Any:
    """Return the sum of squares of the values of a dict."""
    return norm(rates.values())


def square(x: Any) -> Any:
    """Apply one operation to any kind of number."""
    return x * x


def norm_of(model: Any) -> Any:
    """Return the sum of squares of the parameters of a model."""
    return norm(model.parameters())


def numbered(f: Function, *arguments: Any) -> float:
    """Call a JAX function and wait for its result, as a float."""
    return float(f(*arguments))


def of_trees(library: Any, calls: int, turns: int) -> Iterator[Row]:
    """Measure calls of recorded functions by type of argument."""
    library.tree_util.register_dataclass(Rates, ["domestic", "foreign", "spread"], [])
    ten = numpy.linspace(0.0, 1.0, 10).tolist()
    named = {f"rate {i}": x for i, x in enumerate(ten)}
    cases: dict[str, tuple[Function, Any, Function]] = {
        "a list of 10": (norm, ten, norm),
        "a dict of 10": (norm_of_items, named, norm_of_items),
        "a dataclass of 3": (discount, Rates(0.02, 0.03, 0.01), discount),
        "an array of 100": (norm, numpy.linspace(0.0, 1.0, 100), norm_of_array),
    }
    for name, (f, argument, by_library) in cases.items():
        ours, theirs = jit(f), library.jit(by_library)
        numpy.testing.assert_allclose(ours(argument), theirs(argument))
        runs: dict[str, Callable[[], object]] = {
            "ours": partial(ours, argument),
            "JAX": partial(numbered, theirs, argument),
        }
        us = {who: 1e6 * time for who, time in fastest(turns, runs, calls).items()}
        claim = f"call of a jitted function of {name}"
        yield at_most(claim, "us", us["ours"], 1.5)
        yield beside(claim, "us", us["ours"], ("JAX", us["JAX"]))


def of_numbers(library: Any, calls: int, turns: int) -> Iterator[Row]:
    """Measure calls with floats, and a gradient of a Module."""
    casadi = peer("casadi", "casadi")
    symbols = casadi.SX.sym("x"), casadi.SX.sym("y")
    by_casadi = casadi.Function("f", symbols, [ten_operations(*symbols)])
    ours, by_jax = jit(ten_operations), library.jit(ten_operations)
    model = MLP(2, [16, 16, 1])
    layers = [numpy.array([p.data for p in layer.parameters()]) for layer in model.layers]
    of_model, of_layers = (
        jit(grad(norm_of)),
        library.jit(library.grad(lambda layers: sum((x * x).sum() for x in layers))),
    )
    runs: dict[str, Callable[[], object]] = {
        "floats": lambda: ours(0.5, 1.0),
        "floats, JAX": partial(numbered, by_jax, 0.5, 1.0),
        "floats, casadi": lambda: float(by_casadi(0.5, 1.0)),
        "Module": lambda: of_model(model),
        "Module, JAX": lambda: library.block_until_ready(of_layers(layers)),
    }
    us = {who: 1e6 * time for who, time in fastest(turns, runs, calls).items()}
    claim = "call of a jitted function of 10 operations"
    yield at_most(claim, "us", us["floats"], 2)
    yield faster(claim, "us", us["floats"], ("JAX", us["floats, JAX"]), 1)
    yield faster(claim, "us", us["floats"], ("casadi", us["floats, casadi"]), 1)
    yield beside(
        "call of a jitted gradient of a Module of 337", "us", us["Module"], ("JAX, 3 arrays", us["Module, JAX"])
    )


def of_batches(library: Any, calls: int, turns: int) -> Iterator[Row]:
    """Measure calls with batches of one, 16 and many samples."""
    squares, by_vmap = jit(vmap(square)), library.jit(library.vmap(square))
    summed = jit(vmap(square, reduce="sum"))
    one, few, out, many = numpy.ones(1), numpy.ones(16), numpy.empty(16), numpy.ones(10_000)
    runs: dict[str, Callable[[], object]] = {
        "one": lambda: squares(one),
        "one, JAX": lambda: numpy.asarray(by_vmap(one)),
        "16 samples": lambda: squares(few),
        "16 samples with out=": lambda: squares(few, out=out),
        "16 samples with reduce=": lambda: summed(few),
        "many": lambda: squares(many),
        "many, JAX": lambda: numpy.asarray(by_vmap(many)),
        "many, NumPy": lambda: many * many,
    }
    us = {who: 1e6 * time for who, time in fastest(turns, runs, calls).items()}
    yield at_most("call of jit(vmap(f)) on one sample", "us", us["one"], 1.5)
    for who in ("16 samples", "16 samples with out=", "16 samples with reduce="):
        yield at_most(f"call of jit(vmap(f)) on {who}", "us", us[who], 1.5)
    yield beside("call of jit(vmap(f)) on one sample", "us", us["one"], ("JAX", us["one, JAX"]))
    for who in ("JAX", "NumPy"):
        yield beside("call of jit(vmap(f)) on 10,000 numbers", "us", us["many"], (who, us[f"many, {who}"]))


def of_gradients(library: Any, calls: int, turns: int) -> Iterator[Row]:
    """Measure gradients that are not recorded, of a function seen before and of new functions."""
    ours, by_jax = grad(square), library.grad(square)
    runs: dict[str, Callable[[], object]] = {"ours": lambda: ours(3.0), "JAX": partial(numbered, by_jax, 3.0)}
    us = {who: 1e6 * time for who, time in fastest(turns, runs, calls).items()}
    yield at_most("gradient of a tiny function, not jitted", "us", us["ours"], 3)
    yield beside("gradient of a tiny function, not jitted", "us", us["ours"], ("JAX", us["JAX"]))
    yield at_most("the first gradient of a tiny function, not jitted", "us", 1e6 * cold(calls), 30)


def cold(calls: int) -> float:
    """Return the median time in seconds to create and call the gradient of a new function."""
    times = []
    for _ in range(calls):
        f: Function = eval("lambda x: x * x")  # a new function, for which nothing is cached
        start = perf_counter()
        grad(f)(3.0)
        times.append(perf_counter() - start)
    return sorted(times)[len(times) // 2]


def measure(quick: bool) -> list[Row]:
    """Return the rows for trees, numbers, batches and gradients."""
    library = jax()
    calls, turns = (10, 1) if quick else (1000, 5)
    return [row for rows in (of_trees, of_numbers, of_batches, of_gradients) for row in rows(library, calls, turns)]


if __name__ == "__main__":
    main(measure)
