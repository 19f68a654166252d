"""Quantiles, covariances, and counts in bins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy

from gradwalk import math
from gradwalk.numpy.arrays import are_known, holds_values, numbers, untyped
from gradwalk.numpy.creation import array
from gradwalk.numpy.elementwise import isnan, less, less_equal, logical_and, logical_not, where
from gradwalk.numpy.names.ufuncs import sqrt
from gradwalk.numpy.ordering import sort
from gradwalk.numpy.reductions import average, sum
from gradwalk.value.arrays import Axis, as_array, counted_axes

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Return quantiles of the elements. They have derivatives with respect to the elements and q.

    Args:
        a: An array of Values or numbers.
        q: A probability from 0 to 1, or an array of probabilities. Values are allowed.
        axis: An axis or several axes; None for all axes.
        method: "linear", "lower", "higher", "midpoint" or "nearest"; for arrays of numbers, also the other methods of
            `numpy.quantile`.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, with the axes of `q` first. A quantile is nan if an element is nan. For Values, an infinite element is
        a quantile like any other; for numbers, `numpy.quantile` returns nan in some cases.

    Raises:
        ValueError: The method is unknown, or the array is empty.

    Example:
        >>> from gradwalk import grad
        >>> grad(lambda x: quantile(x, 0.25))(numpy.array([3.0, 1.0, 2.0])).tolist()
        [0.0, 0.5, 0.5]
    """
    return _quantiles(numpy.quantile, 1.0, a, q, axis, method, keepdims, ignores_nan=False)


def percentile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Return percentiles of the elements: quantiles at q / 100.

    Args:
        a: An array of Values or numbers.
        q: A percentage from 0 to 100, or an array of percentages. Values are allowed.
        axis: An axis or several axes; None for all axes.
        method: As for `quantile`.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, with the axes of `q` first. A percentile is nan if an element is nan.

    Raises:
        ValueError: The method is unknown, or the array is empty.
    """
    return _quantiles(numpy.percentile, 100.0, a, q, axis, method, keepdims, ignores_nan=False)


def median(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return the median: the middle element, or the mean of the two middle elements.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a single element if all axes are reduced. A median is nan if an element is nan.

    Example:
        >>> from gradwalk import grad
        >>> grad(median)(numpy.array([3.0, 1.0, 2.0, 9.0])).tolist()
        [0.5, 0.0, 0.5, 0.0]
    """
    if not holds_values(as_array(a)):
        return numpy.median(a, axis=axis, keepdims=keepdims)
    return quantile(a, 0.5, axis, keepdims=keepdims)


def nanquantile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Return quantiles of the elements that are not nan.

    Args:
        a: An array of Values or numbers.
        q: A probability from 0 to 1, or an array of probabilities. Values are allowed.
        axis: An axis or several axes; None for all axes.
        method: As for `quantile`.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, with the axes of `q` first. A quantile is nan if all elements are nan.

    Raises:
        ValueError: The method is unknown, or the array is empty.
    """
    return _quantiles(numpy.nanquantile, 1.0, a, q, axis, method, keepdims, ignores_nan=True)


def nanpercentile(a: Any, q: Any, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Any:
    """Return percentiles of the elements that are not nan.

    Args:
        a: An array of Values or numbers.
        q: A percentage from 0 to 100, or an array of percentages. Values are allowed.
        axis: An axis or several axes; None for all axes.
        method: As for `quantile`.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, with the axes of `q` first. A percentile is nan if all elements are nan.

    Raises:
        ValueError: The method is unknown, or the array is empty.
    """
    return _quantiles(numpy.nanpercentile, 100.0, a, q, axis, method, keepdims, ignores_nan=True)


def nanmedian(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """Return the median of the elements that are not nan.

    Args:
        a: An array of Values or numbers.
        axis: An axis or several axes; None for all axes.
        keepdims: Whether to keep the reduced axes, with length 1.

    Returns:
        An array, or a single element if all axes are reduced. A median is nan if all elements are nan.
    """
    if not holds_values(as_array(a)):
        return numpy.nanmedian(a, axis=axis, keepdims=keepdims)
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def partition(a: Any, kth: int, axis: int = -1) -> Any:
    """Move elements smaller than the k-th smallest element before it, and larger elements behind it.

    Args:
        a: An array of Values or numbers.
        kth: The index k of the element that is moved to its sorted position.
        axis: The axis to partition.

    Returns:
        An array. An array of Values is sorted.
    """
    a = as_array(a)
    return sort(a, axis) if holds_values(a) else numpy.partition(a, kth, axis)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> Any:
    """Return the covariance matrix of variables.

    Args:
        m: The observations: an array with one axis, or a matrix with one variable in each row.
        y: Further variables, as in `m`.
        rowvar: Whether rows are variables; otherwise columns are.
        bias: Whether to divide by n instead of n - 1.
        ddof: The sums of products are divided by n - ddof; None for 1, or 0 if `bias` is true.
        fweights: The number of times that each observation occurs, or None.
        aweights: The weight of each observation, or None.

    Returns:
        A matrix, or a number for a single variable.

    Example:
        >>> from gradwalk import grad
        >>> grad(cov)(numpy.array([1.0, 2.0, 6.0])).tolist()
        [-2.0, -1.0, 3.0]
    """
    if not holds_values(*[as_array(x) for x in (m, y, fweights, aweights) if x is not None]):
        return numpy.cov(m, y, rowvar, bias, ddof, fweights, aweights)
    rows = _variables(m, rowvar)
    if y is not None:
        rows = numpy.concatenate([rows, _variables(y, rowvar)])
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights: Any = None
    for each in (fweights, aweights):
        if each is not None:
            weights = as_array(each) * (1.0 if weights is None else weights)
    if weights is None:
        weights, norm = 1.0, rows.shape[1] - ddof
        middle = numpy.mean(rows, axis=1)
    else:
        total = numpy.sum(weights)
        middle = average(rows, 1, weights)
        squares = total if aweights is None else numpy.sum(weights * as_array(aweights))
        norm = total - ddof * squares / (1.0 if aweights is None else total)
        norm = total - ddof if aweights is None else norm
    deviations = rows - middle[:, numpy.newaxis]
    return numpy.squeeze(numpy.dot(deviations, numpy.conjugate(deviations * weights).T) / math.maximum(norm, 0.0))[()]


def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Any:
    """Return the matrix of correlation coefficients of variables.

    Args:
        x: The observations: an array with one axis, or a matrix with one variable in each row.
        y: Further variables, as in `x`.
        rowvar: Whether rows are variables; otherwise columns are.

    Returns:
        A matrix, or a number for a single variable.
    """
    if not holds_values(*[as_array(each) for each in (x, y) if each is not None]):
        return numpy.corrcoef(x, y, rowvar)
    covariance = cov(x, y, rowvar)
    if not numpy.ndim(covariance):
        return covariance / covariance
    deviations = sqrt(numpy.diagonal(covariance))
    return covariance / deviations[:, numpy.newaxis] / deviations


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Return the index at which to insert a number into a sorted array.

    Args:
        a: A sorted array of Values or numbers.
        v: An array of Values or numbers.
        side: "left" for the index before elements that equal `v`, "right" for the index after them.
        sorter: Indices that sort `a`, or None if it is sorted.

    Returns:
        An int, or an array of ints. In a recorded function, Values with derivative 0.

    Raises:
        ValueError: `side` is neither "left" nor "right".
    """
    a, v = as_array(a), as_array(v)
    if are_known(a, v):
        return untyped.searchsorted(numbers(a), numbers(v), side, sorter)
    return math.searchsorted(a if sorter is None else a[as_array(sorter)], v[()], side)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """Return the index of the bin of each element.

    Args:
        x: An array of Values or numbers.
        bins: The edges, ascending or descending.
        right: Whether bins include their right edge instead of their left edge.

    Returns:
        An array of ints. In a recorded function, Values with derivative 0.
    """
    x, bins = as_array(x), as_array(bins)
    if are_known(x, bins):
        return numpy.digitize(numbers(x), numbers(bins), right)
    side = "left" if right else "right"
    if not are_known(bins) or len(bins) < 2 or numbers(bins)[0] <= numbers(bins)[-1]:
        return searchsorted(bins, x, side)
    return len(bins) - searchsorted(bins[::-1], x, side)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Count how often each whole number occurs, or sum the weights of its occurrences.

    Args:
        x: An array of whole numbers >= 0. In a recorded function, they must not be Values.
        weights: An array of Values or numbers; None to count.
        minlength: The minimum length of the result.

    Returns:
        An array.

    Raises:
        TypeError: `x` contains Values whose numbers are not known, so the length of the result is not known either.
    """
    x = as_array(x)
    if not are_known(x):
        raise TypeError("bincount() needs the numbers of x, which a recorded function does not know: use one_hot")
    x = numbers(x).astype(int)
    if weights is None or not holds_values(as_array(weights)):
        return numpy.bincount(x, weights, minlength)
    totals: list[Any] = [0.0] * max(minlength, int(x.max(initial=-1)) + 1)
    for i, weight in zip(x.tolist(), as_array(weights).tolist(), strict=True):
        totals[i] = totals[i] + weight
    return numpy.array(totals, object)


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> Any:
    """Count the elements in bins, or sum their weights. The counts have derivative 0; the sums depend on the weights.

    Args:
        a: An array of Values or numbers.
        bins: The edges of the bins, as numbers, or the number of bins of equal width.
        range: The lowest and the highest edge, if `bins` is a count; None for the smallest and the largest element. In
            a recorded function, `range` or edges must be given.
        weights: An array of Values or numbers with the shape of `a`; None to count.
        density: Whether to divide by the width of the bin and by the total.

    Returns:
        The counts, and the edges as an array of numbers.

    Raises:
        TypeError: The edges depend on numbers that are not known in a recorded function.
    """
    a = as_array(a)
    if not holds_values(a, as_array(weights if weights is not None else 1.0)):
        return numpy.histogram(a, bins, range, density, weights)
    if not are_known(a) and range is None and not numpy.ndim(bins):
        raise TypeError("histogram() of a recorded array needs range=(low, high) or the edges of the bins")
    known = numbers(a) if are_known(a) else numpy.zeros(0)
    edges = numpy.histogram_bin_edges(known, bins, range)
    each = numpy.ones(a.shape) if weights is None else as_array(weights)
    counts = []
    for i, (low, high) in enumerate(pairwise(edges)):
        is_below = less_equal(a, high) if i == len(edges) - 2 else less(a, high)
        counts.append(sum(each, where=logical_and(less_equal(low, a), is_below)))
    found = numpy.array(counts)
    return (found / numpy.diff(edges) / numpy.sum(found) if density else found), edges


def _variables(m: Any, rowvar: bool) -> Any:
    """Return observations as a matrix with one variable in each row."""
    rows = array(m, ndmin=2)
    return rows if rowvar or len(rows) == 1 else rows.T


def _quantiles(
    of_numbers: Callable[..., Any],
    whole: float,
    a: Any,
    q: Any,
    axis: Axis,
    method: str,
    keepdims: bool,
    *,
    ignores_nan: bool,
) -> Any:
    """Return quantiles at q / whole."""
    a, q = as_array(a), as_array(q)
    if not holds_values(a, q):
        return of_numbers(a, q, axis=axis, method=method, keepdims=keepdims)
    if method not in _METHODS:
        raise ValueError(f"method must be one of {', '.join(_METHODS)} for arrays of Values, got {method!r}")
    axes = counted_axes(axis, a.ndim)
    moved = numpy.moveaxis(a, axes, range(len(axes)))
    rows = sort(moved.reshape(-1, *moved.shape[len(axes) :]), 0)
    if not len(rows):
        raise ValueError("quantiles need at least one element, got an empty array")
    last = numpy.sum(logical_not(isnan(rows)), axis=0) - 1 if ignores_nan else numpy.full(rows.shape[1:], len(rows) - 1)
    with numpy.errstate(invalid="ignore"):  # the products of infinite elements and weights of 0 are not selected
        found = [_interpolated(rows, last, x / whole, method) for x in q.ravel()]
    if not ignores_nan:
        found = [where(isnan(rows[-1]), rows[-1], x) for x in found]
    shaped = numpy.array(found, object).reshape(q.shape + rows.shape[1:])
    return numpy.expand_dims(shaped, [q.ndim + each for each in axes]) if keepdims else shaped[()]


def _interpolated(rows: Any, last: Any, q: Any, method: str) -> Any:
    """Return the element of sorted rows at the position q * last, interpolated if the position is not whole."""
    position = q * last
    low, high = math.floor(position), math.ceil(position)
    if method == "nearest":
        low = high = math.rint(position)
    at_low, at_high = _at(rows, high if method == "higher" else low), _at(rows, low if method == "lower" else high)
    if method == "linear":
        part = position - low
        return where(math.equal(low, high), at_low, at_low * (1.0 - part) + at_high * part)
    return (at_low + at_high) * 0.5 if method == "midpoint" else at_low


def _at(rows: Any, indices: Any) -> Any:
    """Return the element of each column of rows at an index, which may be data; nan if it is out of range."""
    indices = as_array(indices)
    if are_known(indices):
        known = numbers(indices).astype(int)
        found = numpy.take_along_axis(rows, numpy.maximum(known, 0)[numpy.newaxis], 0)[0]
        return where(known >= 0, found, numpy.nan)
    columns = rows.reshape(len(rows), -1)
    found = [math.take(columns[:, i].tolist(), index) for i, index in enumerate(indices.ravel().tolist())]
    return numpy.array(found, object).reshape(indices.shape)
