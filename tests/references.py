"""The operations of the table in other people's libraries: mpmath, PyTorch, and graphs drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import torch

mpmath.mp.dps = 50

# Written out from the definitions, not from the table.
MPMATH: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": mpmath.power,
    "neg": lambda x: -x,
    "abs": abs,
    "exp": mpmath.exp,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "log1p": mpmath.log1p,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "relu": lambda x: max(x, mpmath.mpf(0)),
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "erf": mpmath.erf,
    "atan2": mpmath.atan2,
    "hypot": mpmath.hypot,
    "maximum": max,
    "minimum": min,
    "where": lambda x, y, z: y if x else z,
    "sign": mpmath.sign,
    "less": lambda x, y: mpmath.mpf(x < y),
    "less_equal": lambda x, y: mpmath.mpf(x <= y),
    "equal": lambda x, y: mpmath.mpf(x == y),
    "stop_gradient": lambda x: x,
}

TORCH: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "pow": torch.pow,
    "neg": torch.neg,
    "abs": torch.abs,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "log1p": torch.log1p,
    "sqrt": torch.sqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    # torch's own softplus returns x itself from 20 on
    "softplus": lambda x: torch.logaddexp(x, torch.zeros((), dtype=torch.float64)),
    "erf": torch.erf,
    "atan2": torch.atan2,
    "hypot": torch.hypot,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "where": lambda x, y, z: torch.where(x != 0, y, z),
    "sign": lambda x: torch.where(x.isnan(), x.detach(), torch.sign(x)),  # torch's own gives 0 for nan
    "less": lambda x, y: (x < y).double(),
    "less_equal": lambda x, y: (x <= y).double(),
    "equal": lambda x, y: (x == y).double(),
    "stop_gradient": lambda x: x.detach(),
}


def torch_leaf(number: float) -> torch.Tensor:
    """A scalar that gradients are wanted for."""
    return torch.tensor(number, dtype=torch.float64, requires_grad=True)


def ulps_apart(a: float, b: float) -> float:
    """How far two numbers are apart in units of the last place of the larger one; 0 for two nans."""
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    return abs(a - b) / math.ulp(max(abs(a), abs(b)))
