"""Scalar reverse-mode automatic differentiation: micrograd's interface, machine speed.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10.0).tanh()
>>> loss.backward()
>>> round(a.grad, 6)  # d loss / d a
-0.004023
"""

from __future__ import annotations

from gradwalk import loops, math, nn, numpy, optim
from gradwalk.backend.scipy_callable import low_level_callable, low_level_filter
from gradwalk.backend.thread_pool import threads
from gradwalk.batching.stream import stream
from gradwalk.batching.vectorize import vectorize
from gradwalk.batching.vmap import vmap
from gradwalk.cli.micrograd import as_micrograd
from gradwalk.explain.check.check import check, gradcheck
from gradwalk.explain.draw.draw import draw, draw_dot, trace
from gradwalk.explain.walk import Walk, walk
from gradwalk.graph.graph import Graph
from gradwalk.graph.opening import opened
from gradwalk.program.program import Program, ProgramError
from gradwalk.program.trace_cache import RecordingWarning
from gradwalk.transforms.caches import clear_caches
from gradwalk.transforms.checkpoint import checkpoint
from gradwalk.transforms.custom_derivatives import primitive, stop_gradient
from gradwalk.transforms.grad import grad, value_and_grad
from gradwalk.transforms.jacobian import hessian, jacfwd, jacobian, jacrev
from gradwalk.transforms.jit import jit
from gradwalk.transforms.jvp import hvp, jvp, vjp
from gradwalk.transforms.sparse import sparse_hessian, sparse_jacobian
from gradwalk.value.backward import zero_grad
from gradwalk.value.modes import RecordingError, debug_nans, no_grad, source_lines
from gradwalk.value.order import topological_order
from gradwalk.value.refresh import refresh
from gradwalk.value.tables import interp, one_hot, pchip, searchsorted, take
from gradwalk.value.value import Value

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Program",
    "ProgramError",
    "RecordingError",
    "RecordingWarning",
    "Value",
    "Walk",
    "as_micrograd",
    "check",
    "checkpoint",
    "clear_caches",
    "debug_nans",
    "draw",
    "draw_dot",
    "grad",
    "gradcheck",
    "hessian",
    "hvp",
    "interp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "loops",
    "low_level_callable",
    "low_level_filter",
    "math",
    "nn",
    "no_grad",
    "numpy",
    "one_hot",
    "opened",
    "optim",
    "pchip",
    "primitive",
    "refresh",
    "searchsorted",
    "source_lines",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "stream",
    "take",
    "threads",
    "topological_order",
    "trace",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
    "walk",
    "zero_grad",
]
