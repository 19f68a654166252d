"""Log-likelihoods as functions of flat parameters, with exact derivatives."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk.batching.vmap import vmap
from gradwalk.transforms.grad import grad, value_and_grad
from gradwalk.transforms.jacobian import hessian
from gradwalk.transforms.jit.jit import jit
from gradwalk.trees.tree import Parameters, flatten, of_numpy, refuse_static, scalars

Floats = NDArray[numpy.float64]
_LONGEST = 200  # maximum length of the parameters in messages, in characters


class Likelihood:
    """The log-likelihood of all observations.

    Args:
        loglik: The log-likelihood of one observation, or of all observations if `data` is None.
        start: The parameters to start from: a tree of numbers.
        data: One array or tree of arrays per argument of `loglik` after the parameters, or None.

    Attributes:
        start: The parameters to start from, as a flat array.
        treedef: The treedef of the parameters.
        names: A name for each parameter.
        order: The positions of the parameters in the order of `start`; flat arrays have the keys of dicts sorted.
        observations: The number of observations; None if `loglik` is the log-likelihood of all observations.
    """

    def __init__(self, loglik: Callable[..., Any], start: Any, data: tuple[Any, ...] | None) -> None:
        root = Parameters(loglik).first(1)[0]
        refuse_static(start, "start")
        leaves, self.treedef = flatten(start, "start")
        self.start: Floats = numpy.array([float(x) for x in scalars(leaves)])
        if not len(self.start):
            raise ValueError(f"start must have at least one number, got {start!r:.60}")
        self.names = [_parameter_name(name, root) for name in self.treedef.names(root)]
        self.order = _given_order(self.treedef.filled(numpy.arange(float(len(self.start)))))
        self.data = data
        self._data_names = Parameters(loglik).first(1 + len(data or ()))[1:]
        self.observations = None if data is None else _count(data, self._data_names)
        treedef = self.treedef

        def of_flat(flat: Any, *observation: Any) -> Any:
            result = loglik(treedef.filled(flat), *observation)
            has_one_number = isinstance(result, numpy.ndarray) and result.size == 1
            return result.reshape(())[()] if has_one_number else result

        axes = (None, *[0] * len(data or ()))
        self._of_flat, self._axes = of_flat, axes
        self._value_and_gradient = self._summed(value_and_grad(of_flat))
        self._hessian = self._summed(hessian(of_flat))

    def tree(self, flat: Any) -> Any:
        """Return one number per parameter as a tree like `start`."""
        return self.treedef.filled(numpy.asarray(flat, numpy.float64))

    def shown(self, flat: Floats) -> str:
        """Return the names and numbers of parameters, for messages."""
        return ", ".join(f"{name}={x:.6g}" for name, x in zip(self.names, flat, strict=True))[:_LONGEST]

    def value_and_gradient(self, flat: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood and its gradient."""
        value, gradient = self._value_and_gradient(flat, *(self.data or ()))
        return float(value), gradient

    def hessian(self, flat: Floats) -> Floats:
        """Return the Hessian of the log-likelihood."""
        matrix: Floats = self._hessian(flat, *(self.data or ()))
        return matrix

    def score_products(self, flat: Floats) -> Floats:
        """Return the sum over the observations of s s^T, where s is the gradient of an observation's log-likelihood."""
        score = grad(self._of_flat)

        def product(flat: Any, *observation: Any) -> Any:
            gradient = score(flat, *observation)
            return numpy.outer(gradient, gradient)

        matrix: Floats = self._summed(product)(flat, *(self.data or ()))
        return matrix

    def check(self, flat: Floats) -> None:
        """Raise `ValueError` if the log-likelihood or its derivatives are not finite at a point."""
        value, gradient = self.value_and_gradient(flat)
        shown = self.shown(flat)
        if not math.isfinite(value):
            raise ValueError(
                f"the log-likelihood at the start must be finite, got {value}{self._culprit(flat)}. The start is "
                f"{shown}: pass a start inside the domain of the parameters"
            )
        is_finite = numpy.isfinite(gradient) & numpy.isfinite(self.hessian(flat)).all(axis=0)
        if not is_finite.all():
            names = ", ".join(name for name, is_right in zip(self.names, is_finite, strict=True) if not is_right)
            raise ValueError(
                "the log-likelihood at the start must have finite derivatives, but they are inf or nan with respect to "
                f"{names:.200}. The start is {shown}: pass another start"
            )

    def _culprit(self, flat: Floats) -> str:
        """Describe the first observation whose log-likelihood is not finite; empty for a total log-likelihood."""
        if self.data is None:
            return ""
        terms = vmap(self._of_flat, in_axes=self._axes)(flat, *self.data)
        [wrong] = numpy.nonzero(~numpy.isfinite(terms))
        if not len(wrong):
            return ""
        observation = []
        for argument, name in zip(self.data, self._data_names, strict=True):
            leaves, treedef = flatten(argument, name)
            paths = treedef.paths(name)
            observation += [f"{path}={leaf[wrong[0]]!s:.60}" for leaf, path in zip(leaves, paths, strict=True)]
        return (
            f": it is {terms[wrong[0]]} for observation {wrong[0]} (counted from 0; {', '.join(observation):.200}), "
            f"and not finite for {len(wrong)} of {len(terms)} observations"
        )

    def _summed(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a recorded function that sums the results of `f` over the observations."""
        if self.data is None:
            return jit(f)
        summed: Callable[..., Any] = jit(vmap(f, in_axes=self._axes, reduce="sum"))
        return summed


def as_data(data: Any) -> tuple[Any, ...] | None:
    """Return the arguments of a log-likelihood after the parameters; lists of numbers become arrays.

    Raises `TypeError` if `data` is a list of arrays, which may be meant as a tuple.
    """
    if data is None:
        return None
    if isinstance(data, list) and any(numpy.ndim(item) for item in data):
        raise TypeError(
            "data must be a tuple with an array for each argument of the log-likelihood, got a list: write (y, x), or "
            "numpy.array(data) for a single array"
        )
    arguments = data if isinstance(data, tuple) else (data,)
    return tuple([numpy.asarray(x) if isinstance(x, list) else of_numpy(x) for x in arguments])


def _count(data: tuple[Any, ...], names: Sequence[str]) -> int:
    """Return the number of observations. Raises `ValueError` if arrays have different lengths."""
    lengths: dict[str, int] = {}
    for argument, name in zip(data, names, strict=True):
        leaves, treedef = flatten(argument, name)
        for leaf, path in zip(leaves, treedef.paths(name), strict=True):
            if not numpy.ndim(leaf):
                raise ValueError(
                    f"{path} must be an array whose first axis is the observation, got the number {leaf!r:.40}: bind "
                    "numbers that all observations share with functools.partial or a closure"
                )
            lengths[path] = len(leaf)
    if not lengths:
        raise ValueError(
            "data must hold at least one array; leave data out if loglik(params) is the total log-likelihood"
        )
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{path} has {length}" for path, length in lengths.items())
        raise ValueError(f"the arrays in data must have one element per observation, but {shown}")
    count = next(iter(lengths.values()))
    if not count:
        raise ValueError("data must hold at least one observation, got arrays of length 0")
    return count


def _given_order(numbered: Any) -> list[int]:
    """Return the numbers in a tree, in the order in which its containers hold them."""
    found: list[int] = []
    waiting = [numbered]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, (list, tuple)):
            waiting.extend(reversed(item))
        else:
            found += map(int, scalars(flatten(item, "start")[0]))
    return found


def _parameter_name(path: str, root: str) -> str:
    """Return the name of a parameter without the name of the tree, such as `beta[0]` for `params['beta'][0]`."""
    found = re.fullmatch(rf"{re.escape(root)}(?:\['([^']*)'\]|\.(\w+))(.*)", path)
    return f"{found[1] or found[2]}{found[3]}" if found else path
