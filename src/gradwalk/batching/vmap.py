"""`vmap`: record a function of one sample once and compute it for all samples of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from gradwalk.batching.axes import SUMS, Axes
from gradwalk.batching.reductions import Reduction
from gradwalk.batching.vmapped import Vmap

P = ParamSpec("P")


def vmap(f: Callable[P, Any], in_axes: Axes = 0, out_axes: Axes = 0, *, reduce: str | None = None) -> Vmap[P]:
    """Vectorize a function of one sample over a batch axis, as `jax.vmap` does.

    `f` is recorded under the rules of `jit`, so it may not ask for the numbers in its arguments. `vmap(f)` records at
    every call; `jit(vmap(f))` records once for each structure of a sample. The work is divided among the number of
    threads set by `threads`, which does not affect the results. Results computed with `+ - * /` and `sqrt` equal the
    results of `f`; functions such as `exp` may differ by 4 ulp.

    If the arguments hold Values, or `f` uses Values, the results are Values and the samples are computed one by one,
    unless `no_grad()` is active.

    Args:
        f: A function of one sample.
        in_axes: The batch axis of each positional argument: an int, None if all samples share the argument, or a tuple
            with one entry per argument, which may be a nested tuple, list or dict. Keyword arguments have batch axis 0.
        out_axes: The batch axes of the results, in the same format.
        reduce: The reduction over the batch of each number that `f` returns: "sum", "mean", "max", "min", "prod" or
            "logsumexp", or "argmax" or "argmin" for the index of the first sample with the largest or smallest number.
            Sums and means are accumulated while the results are computed, so a gradient needs memory for the parameters
            only, not for all samples. The derivative of "max" and "min" is shared equally among ties.

    Returns:
        A function of batches with the attributes `.program`, `.kernel` and `.lower(*args)`. It returns float64 arrays,
        or float32 arrays if all array arguments are float32.

        Unless `f` has a parameter `out`, the function takes an additional keyword `out`: an array of the result's shape
        and type, with any strides, that the result is written to, or a tree of such arrays like the result, with None
        for leaves to allocate. The arrays may overlap with arguments, but not with each other. The tree of arrays is
        returned.

        The function raises `ValueError` or `TypeError` if arrays do not match `in_axes`, or `out`, which is checked
        before anything is written; `TypeError` if `out` is given and the results would be Values; and `RecordingError`
        as `jit` does.

    Raises:
        TypeError: `f` is not a function, or `in_axes` is not an axis or a tree of axes.
        ValueError: `reduce` is unknown, or is combined with `out_axes`.

    Example:
        >>> import numpy
        >>> vmap(lambda rate, x: rate * x, in_axes=(None, 0))(2.0, numpy.array([1.0, 2.0, 3.0]))
        array([2., 4., 6.])
        >>> vmap(lambda x: x * x, reduce="mean")(numpy.array([1.0, 2.0, 4.0]))
        7.0
        >>> vmap(lambda x: -x * x, reduce="max")(numpy.array([1.0, 2.0, 4.0]))
        -1.0
        >>> table = numpy.zeros((3, 2))
        >>> table[:, 0] = [1.0, 2.0, 3.0]
        >>> vmap(lambda x: x * x)(table[:, 0], out=table[:, 1])
        array([1., 4., 9.])
        >>> table.tolist()
        [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0]]
    """
    if reduce is None or reduce in SUMS:
        return Vmap(f, in_axes, out_axes, reduce)
    return Reduction(f, in_axes, out_axes, reduce)
