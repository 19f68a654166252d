"""Scalar reverse-mode automatic differentiation: micrograd's interface, machine speed.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10.0).tanh()
>>> loss.backward()
>>> round(a.grad, 6)  # d loss / d a
-0.004023
"""

from gradwalk import math, nn
from gradwalk.check import check, gradcheck
from gradwalk.draw import draw, draw_dot, trace
from gradwalk.engine import Value, debug_nans, no_grad, refresh, source_lines, topological_order, zero_grad
from gradwalk.graph import Graph
from gradwalk.micrograd import as_micrograd
from gradwalk.walk import walk

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Value",
    "as_micrograd",
    "check",
    "debug_nans",
    "draw",
    "draw_dot",
    "gradcheck",
    "math",
    "nn",
    "no_grad",
    "refresh",
    "source_lines",
    "topological_order",
    "trace",
    "walk",
    "zero_grad",
]
