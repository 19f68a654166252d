"""Shared code of the problems: a case is one problem of one size, with a maker of each library's function."""

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
Maker = Callable[..., Run]


class Case(NamedTuple):
    """A problem of one size. `makers` maps a library to a function that makes a function that returns the derivatives.

    The maker of gradwalk's function takes the option `contract` of `jit`.

    The time of a first result includes making and calling that function. The results must agree with `published`, which
    is a result published by GradBench or None.
    """

    problem: str
    size: str
    makers: dict[str, Maker]
    published: Any = None


@cache
def torch() -> Any:
    """Import PyTorch and set it to one core and float64."""
    module = peer("torch", "torch")
    module.set_num_threads(1)
    module.set_default_dtype(module.float64)
    return module


@cache
def of_torch() -> Library:
    """Return the functions of PyTorch for suites.py, without loops, which PyTorch lacks."""
    t = torch()
    return Library(t, t, None, None, t.func.grad, None, None, t.stack, t.cat, t.func.jacrev, t.rsqrt)


def recorded(f: Any, *given: Any) -> Maker:
    """Return a function in gradwalk, recorded at its first call."""
    return lambda *, contract=False: partial(jit(f, contract=contract), *given)


def in_jax(f: Any, *given: Any) -> Maker:
    """Return a function in JAX, compiled at its first call."""
    arrays = [jax().numpy.asarray(x) for x in given]

    def made() -> Run:
        jax().clear_caches()
        compiled = jax().jit(f)
        return lambda: jax().block_until_ready(compiled(*arrays))

    return made


def in_torch(f: Any, *given: Any) -> Maker:
    """Return a function in PyTorch, which builds its graph at each call."""
    tensors = [torch().as_tensor(x) for x in given]
    return lambda: partial(f, *tensors)


def slopes_in_torch(f: Any, count: int, *given: Any) -> Maker:
    """Return the gradient of a function in PyTorch with respect to its first `count` arguments."""
    tensors = [torch().as_tensor(x).clone().requires_grad_(i < count) for i, x in enumerate(given)]
    return lambda: lambda: torch().autograd.grad(f(*tensors), tensors[:count])


@cache
def by_hand() -> Any:
    """Compile `cpp/gradbench.cpp`."""
    return cpp("gradbench")


def in_cpp(name: str, given: Sequence[Any], shapes: Iterable[Any]) -> Maker:
    """Return a handwritten function that takes numbers and arrays and writes to arrays of these shapes."""

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
    """Return a handwritten function from a number to a number."""

    def made() -> Run:
        function = getattr(by_hand(), name)
        function.restype, function.argtypes = c_double, [c_double]
        return partial(function, given)

    return made
