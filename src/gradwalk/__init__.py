"""Scalar reverse-mode automatic differentiation: micrograd's interface, machine speed.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10.0).tanh()
>>> loss.backward()
>>> round(a.grad, 6)  # d loss / d a
-0.004023
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwalk import math, nn
from gradwalk.blocks import checkpoint, primitive, stop_gradient
from gradwalk.check import check, gradcheck
from gradwalk.draw import draw, draw_dot, trace
from gradwalk.engine import (
    RecordingError,
    Value,
    debug_nans,
    no_grad,
    refresh,
    source_lines,
    topological_order,
    zero_grad,
)
from gradwalk.graph import Graph
from gradwalk.jit import jit
from gradwalk.low_level import low_level_callable, low_level_filter
from gradwalk.micrograd import as_micrograd
from gradwalk.program import Program, ProgramError
from gradwalk.sparse import sparse_hessian, sparse_jacobian
from gradwalk.stream import stream
from gradwalk.transforms import grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, value_and_grad, vjp
from gradwalk.vectorize import vectorize
from gradwalk.vmap import vmap
from gradwalk.walk import Walk, walk
from gradwalk.workers import threads

if TYPE_CHECKING:
    from gradwalk.notebook import WalkWidget

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Program",
    "ProgramError",
    "RecordingError",
    "Value",
    "as_micrograd",
    "check",
    "checkpoint",
    "debug_nans",
    "draw",
    "draw_dot",
    "grad",
    "gradcheck",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "low_level_callable",
    "low_level_filter",
    "math",
    "nn",
    "no_grad",
    "primitive",
    "refresh",
    "source_lines",
    "sparse_hessian",
    "sparse_jacobian",
    "stop_gradient",
    "stream",
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


def _widget(walk: Walk) -> WalkWidget:
    from gradwalk.notebook import WalkWidget  # when the first is shown: anywidget takes longer to import than gradwalk

    return WalkWidget(walk)


Walk.make_widget = staticmethod(_widget)
