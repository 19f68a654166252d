"""`vmap`: record a function of one sample once and compute it for all samples of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

from gradwalk.batching.axes import SUMS, Axes
from gradwalk.batching.reductions import Reduction
from gradwalk.batching.vmapped import Vmap

P = ParamSpec("P")


def vmap(
    f: Callable[P, Any],
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_name: str | None = None,
    axis_size: int | None = None,
    *,
    reduce: str | None = None,
) -> Vmap[P]:
    """Vectorize a function of one sample over a batch axis, with the interface of `jax.vmap`.

    `f` is recorded as by `jit`. If it branches on its arguments, the samples are grouped by the path that they take
    through the branches, and each path is recorded from its first sample. `vmap(f)` records at every call;
    `jit(vmap(f))` records once for each structure of a sample and each path. `threads` sets the number of threads,
    which does not change the results. Compared with calling `f` on each sample, results of `+ - * /` and `sqrt` are
    bitwise equal, and functions such as `exp` differ by at most 4 ulp.

    If an argument contains Values, or `f` captures Values, the results are Values that can be differentiated. The
    samples are then computed one by one, unless a transform such as `grad` is recording a long batch. Under `no_grad()`
    the batch is computed on plain numbers instead.

    Args:
        f: A function of one sample.
        in_axes: One entry for all positional arguments, or a tuple with one entry per argument. An entry is an int (the
            batch axis), None (all samples share the argument), or a nested tuple, list or dict of such entries with the
            structure of the argument. Keyword arguments have batch axis 0.
        out_axes: The batch axes of the results, in the same format. None is allowed for results that are the same for
            all samples.
        axis_name: Must be None: functions that combine samples, such as `jax.lax.psum`, do not exist. Use `reduce`, or
            combine the stacked results.
        axis_size: The number of samples; by default, the length of the batch axes. It is needed if no argument has a
            batch axis.
        reduce: The reduction over the batch, applied to each number that `f` returns. "sum", "mean", "max", "min",
            "prod" and "logsumexp" return numbers. "argmax" and "argmin" return the index of the first sample with the
            largest or smallest number. Sums and means are accumulated, so the sum of all samples' gradients needs
            memory for one gradient only. At a tie, "max" and "min" share the derivative equally.

    Returns:
        A function of batches with the attributes `.program`, `.kernel` and `.lower(*args)`. It returns float64 arrays,
        or float32 arrays if all array arguments are float32.

        The function has an additional keyword `out`, unless `f` has a parameter of this name. `out` is the array to
        write the result to, with the result's shape and dtype and any strides; `out` is also returned. If `f` returns a
        tree, `out` is a tree with an array for each leaf, or None for a new array. The arrays may overlap with
        arguments, but not with each other. All arrays are checked before anything is written.

    Raises:
        TypeError: `f` is not a function, `in_axes` is not an axis or a tree of axes, or `axis_name` is given. When the
            returned function is called: an argument does not match `in_axes`, or `out` is given and the results would
            be Values.
        ValueError: `reduce` is unknown, or is combined with `out_axes`, or `axis_size` is invalid. When the returned
            function is called: the arrays do not match `in_axes` or `out`, or have batches of different sizes, or
            samples have results of different structures.
        RecordingError: When the returned function is called: `f` converts an argument with `float`, or the samples take
            more than 1,000 paths through its branches.

    Example:
        >>> import numpy
        >>> x = numpy.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> vmap(lambda row: row[0] * row[2])(x), vmap(lambda column: column[0] * column[1], in_axes=1)(x)
        (array([ 3., 24.]), array([ 4., 10., 18.]))
        >>> vmap(lambda rate, x: rate * x, in_axes=(None, 0))(2.0, numpy.array([1.0, 2.0, 3.0]))
        array([2., 4., 6.])
        >>> vmap(lambda x: x * x, reduce="mean")(numpy.array([1.0, 2.0, 4.0]))
        7.0
        >>> vmap(lambda x: -x * x, reduce="max")(numpy.array([1.0, 2.0, 4.0]))
        -1.0
        >>> vmap(lambda x: x * x if x > 0 else -x)(numpy.array([-1.0, 2.0, 3.0]))
        array([1., 4., 9.])
        >>> table = numpy.zeros((3, 2))
        >>> table[:, 0] = [1.0, 2.0, 3.0]
        >>> vmap(lambda x: x * x)(table[:, 0], out=table[:, 1])
        array([1., 4., 9.])
        >>> table.tolist()
        [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0]]
    """
    if axis_name is not None:
        raise TypeError(
            f"axis_name={axis_name!r}: a function of one sample cannot use other samples of the batch. Use vmap(f, "
            'reduce="sum") or another reduction, or combine the stacked results of vmap(f)'
        )
    if reduce is None or reduce in SUMS:
        return Vmap(f, in_axes, out_axes, reduce, axis_size=axis_size)
    return Reduction(f, in_axes, out_axes, reduce, axis_size=axis_size)
