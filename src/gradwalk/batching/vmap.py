"""`vmap`: a function of one sample, recorded once and computed for all samples of a batch together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from gradwalk.batching.axes import SUMS, Axes
from gradwalk.batching.reductions import Reduction
from gradwalk.batching.vmapped import Vmap

P = ParamSpec("P")


def vmap(f: Callable[P, Any], in_axes: Axes = 0, out_axes: Axes = 0, *, reduce: str | None = None) -> Vmap[P]:
    """Vectorize a function of one sample: compute it for all samples of a batch at once, as JAX's `vmap`.

    `f` is recorded by the rules of `jit`, so it may not ask for numbers: at every call here, once for each structure of
    a sample in `jit(vmap(f))`. The work is spread over the cores as `threads` says, with the same bits for any number
    of them. Results of `+ - * /` and `sqrt` are those of `f` itself; functions such as `exp` may differ by 4 ulp.

    Where Values come in, or where `f` uses some, Values come out, one sample after the other, unless that is under
    `no_grad()`.

    Args:
        f: A function of one sample.
        in_axes: Where the samples are in each positional argument: along this axis of NumPy arrays, or None for what
            all samples share. One for all arguments, or a tuple with one for each, which may be a tuple, list or dict
            again. Keyword arguments have the batch as axis 0.
        out_axes: Where the samples are to be in the results, in the same form.
        reduce: "sum", "mean", "max", "min", "prod" or "logsumexp" to return that over the batch of each number that `f`
            returns, or "argmax" or "argmin" for the first sample that has the largest or the smallest. What is a sum is
            added up while the results are computed, so a gradient takes memory for its parameters, not for all samples.
            Equal extremes share their derivative evenly.

    Returns:
        A function of batches, with `.program`, `.kernel` and `.lower(*args)`. It returns arrays of float64, of float32
        where all arrays that it is given are. It takes one keyword more than `f`, unless `f` has a parameter of that
        name itself: `out`, an array of the result's shape and type that the result is written to, of any strides; or a
        tree like the result with an array for each leaf, or None for one that is to be new. Then it returns the tree of
        these arrays. They may overlap with arguments, but not with one another. It raises `ValueError` and `TypeError`
        where arrays do not fit `in_axes` or, before anything is written, `out`; `TypeError` where there is `out` and
        Values would come out; and `RecordingError` as `jit` does.

    Raises:
        TypeError: `f` is no function, or `in_axes` no axes.
        ValueError: `reduce` is something else, or there are `out_axes` with it.

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
