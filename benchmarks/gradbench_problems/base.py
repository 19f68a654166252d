"""What the problems share: a case is one problem of one size, with what makes the function that each library runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ctypes import c_double, c_void_p
from functools import cache, partial
from typing import Any, NamedTuple

import numpy
from peers import cpp, jax, pointers
from suites import Library
from timing import peer

from gradwalk import jit

Run = Callable[[], Any]
Maker = Callable[[], Run]


class Case(NamedTuple):
    """A problem of one size: by the name of a library, what makes a function that returns the derivatives.

    Making it and calling it once is what a first result takes: recording, compiling or tracing, by the library. The
    results agree with one that GradBench publishes, where `published` is one.
    """

    problem: str
    size: str
    makers: dict[str, Maker]
    published: Any = None


@cache
def torch() -> Any:
    """PyTorch on one core, with float64."""
    module = peer("torch", "torch")
    module.set_num_threads(1)
    module.set_default_dtype(module.float64)
    return module


@cache
def of_torch() -> Library:
    """What the functions of suites.py take from PyTorch, which has no loops of its own."""
    t = torch()
    return Library(t, t, None, None, t.func.grad, None, None, t.stack, t.cat, t.func.jacrev, t.rsqrt)


def recorded(f: Any, *given: Any) -> Maker:
    """A function in gradwalk, recorded when it is first called."""
    return lambda: partial(jit(f), *given)


def in_jax(f: Any, *given: Any) -> Maker:
    """A function in JAX, compiled when it is first called."""
    arrays = [jax().numpy.asarray(x) for x in given]

    def made() -> Run:
        jax().clear_caches()
        compiled = jax().jit(f)
        return lambda: jax().block_until_ready(compiled(*arrays))

    return made


def in_torch(f: Any, *given: Any) -> Maker:
    """A function in PyTorch, which builds its graph at each call."""
    tensors = [torch().as_tensor(x) for x in given]
    return lambda: partial(f, *tensors)


def slopes_in_torch(f: Any, count: int, *given: Any) -> Maker:
    """The gradient of a function in PyTorch by the first so many arguments."""
    tensors = [torch().as_tensor(x).clone().requires_grad_(i < count) for i, x in enumerate(given)]
    return lambda: lambda: torch().autograd.grad(f(*tensors), tensors[:count])


@cache
def by_hand() -> Any:
    """The functions of `cpp/gradbench.cpp`."""
    return cpp("gradbench")


def in_cpp(name: str, given: Sequence[Any], shapes: Iterable[Any]) -> Maker:
    """A function written by hand: it takes these numbers and arrays, and writes to arrays of these shapes."""

    def made() -> Run:
        found = [numpy.zeros(shape) for shape in shapes]
        kept = [numpy.ascontiguousarray(x) if isinstance(x, numpy.ndarray) else x for x in given]
        arguments = [c_void_p(x.ctypes.data) if isinstance(x, numpy.ndarray) else x for x in kept]
        function = getattr(by_hand(), name)

        def run() -> Any:
            function(*arguments, *pointers(found))
            return found, kept

        return lambda: run()[0]

    return made


def number_in_cpp(name: str, given: float) -> Maker:
    """A function written by hand, of a number, that returns one."""

    def made() -> Run:
        function = getattr(by_hand(), name)
        function.restype, function.argtypes = c_double, [c_double]
        return partial(function, given)

    return made
