"""Names of `jax.scipy.special`: functions of `gradwalk.math`."""

from __future__ import annotations

from typing import Any

from gradwalk import math
from gradwalk.math import betainc as betainc
from gradwalk.math import betaln as betaln
from gradwalk.math import digamma as digamma
from gradwalk.math import entr as entr
from gradwalk.math import erf as erf
from gradwalk.math import erfc as erfc
from gradwalk.math import erfcx as erfcx
from gradwalk.math import erfinv as erfinv
from gradwalk.math import exp1 as exp1
from gradwalk.math import expi as expi
from gradwalk.math import expit as expit
from gradwalk.math import gamma as gamma
from gradwalk.math import gammainc as gammainc
from gradwalk.math import gammaincc as gammaincc
from gradwalk.math import i0 as i0
from gradwalk.math import i0e as i0e
from gradwalk.math import i1 as i1
from gradwalk.math import i1e as i1e
from gradwalk.math import kl_div as kl_div
from gradwalk.math import lgamma as gammaln
from gradwalk.math import log_ndtr as log_ndtr
from gradwalk.math import logit as logit
from gradwalk.math import logsumexp as logsumexp
from gradwalk.math import ndtr as ndtr
from gradwalk.math import ndtri as ndtri
from gradwalk.math import owens_t as owens_t
from gradwalk.math import polygamma as polygamma
from gradwalk.math import rel_entr as rel_entr
from gradwalk.math import xlog1py as xlog1py
from gradwalk.math import xlogy as xlogy
from gradwalk.math import zeta as zeta

__all__ = [
    "betainc",
    "betaln",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "gamma",
    "gammainc",
    "gammaincc",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "kl_div",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "ndtr",
    "ndtri",
    "owens_t",
    "polygamma",
    "rel_entr",
    "softmax",
    "xlog1py",
    "xlogy",
    "zeta",
]


def softmax(x: Any, axis: Any = None) -> Any:
    """Compute exp(x) divided by its sum: see `gradwalk.math.softmax`, whose `axis` is the last axis by default.

    Args:
        x: An array of Values or numbers.
        axis: The axis of the sum; None for all elements.

    Returns:
        An array with the shape of `x`.

    Example:
        >>> import numpy
        >>> softmax(numpy.zeros((2, 2))).tolist()
        [[0.25, 0.25], [0.25, 0.25]]
    """
    return math.softmax(x, axis=axis)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Compute the logarithm of `softmax`, without underflow.

    Args:
        x: An array of Values or numbers.
        axis: The axis of the sum; None for all elements.

    Returns:
        An array with the shape of `x`.

    Example:
        >>> import numpy
        >>> log_softmax(numpy.zeros((2, 2))).round(6).tolist()
        [[-1.386294, -1.386294], [-1.386294, -1.386294]]
    """
    return math.log_softmax(x, axis=axis)
