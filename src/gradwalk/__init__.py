"""Scalar reverse-mode automatic differentiation: micrograd's interface, machine speed.

>>> from gradwalk import Value
>>> a, b = Value(2.0), Value(-3.0)
>>> loss = (a * b + 10.0).tanh()
>>> loss.backward()
>>> round(a.grad, 6)  # d loss / d a
-0.004023
"""

from gradwalk import math, nn
from gradwalk.engine import Value, debug_nans, no_grad, refresh, topological_order, zero_grad
from gradwalk.micrograd import as_micrograd

__version__ = "0.1.0"

__all__ = [
    "Value",
    "as_micrograd",
    "debug_nans",
    "math",
    "nn",
    "no_grad",
    "refresh",
    "topological_order",
    "zero_grad",
]
