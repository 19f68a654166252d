"""Sums of products: nodes of any number of operands, computed in one pass over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwalk.value import convert
from gradwalk.value.node import ValueNode

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython


@cython.cfunc
def sum_products(node: ValueNode) -> cython.bint:
    """Compute a sum of products and its partials from its arguments: start, first factors, second factors.

    The partial of a factor is the other factor, so every number goes straight there. Returns whether a Value is among
    the arguments.
    """
    partials: cython.p_double = node._details.partials
    arguments: list = node._details.arguments
    n: cython.Py_ssize_t = len(arguments) // 2
    i: cython.Py_ssize_t = -1
    number: cython.double
    total: cython.double = 0.0
    connected: cython.bint = False
    for argument in arguments:
        i += 1
        if isinstance(argument, ValueNode):
            number = cython.cast(ValueNode, argument)._primal
            connected = True
        elif isinstance(argument, float):
            number = cython.cast(cython.double, argument)
        elif convert.is_real(argument):
            arguments[i] = number = convert.to_double(
                argument
            )  # a float, so that no code of the user's runs on refresh
        else:
            raise TypeError(f"sumprod() takes Values and real numbers, not {type(argument).__name__}")
        if i == 0:
            total = number
        elif i <= n:
            partials[i + n] = number
        else:
            partials[i - n] = number
            total += partials[i] * number
    partials[0] = 1.0
    node._primal = total
    return connected
