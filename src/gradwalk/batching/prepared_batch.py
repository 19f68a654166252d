"""`PreparedBatch`: a fast path in C for batches whose arguments have the same structure as an earlier batch.

Batches that the fast path does not support are computed by the general path, `BatchedTrace.results`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.backend.base import MachineCodeError
from gradwalk.backend.columns import Columns, new_columns
from gradwalk.backend.cpu import column_table
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.base import _cython as cython
from gradwalk.base import c_compat
from gradwalk.batching.axes import Batch, Batching, spread
from gradwalk.batching.out_argument import put, targets_of, written
from gradwalk.program.run import scratch
from gradwalk.program.run.fast_call import MISSED
from gradwalk.program.tracing.trace_cache import TraceCache
from gradwalk.trees.fast import form
from gradwalk.trees.fast.forms import form_of
from gradwalk.trees.tree import TreeDef, size
from gradwalk.value import modes

if not TYPE_CHECKING and cython.compiled:
    import cython

_ndarray = cython.declare(object, numpy.ndarray)  # faster than an attribute of a module
_empty = cython.declare(object, numpy.empty)
_NOTHING = cython.declare(Columns, new_columns(False, True))


@cython.final
@cython.cclass
class ColumnForm(form.Form):
    """The form of a batched array. The array is converted to `kind`, the dtype of the computation."""

    # The types of the fields of all classes are declared in prepared_batch.pxd.

    def __init__(self, dtype: Any, kind: Any, axis: int, shape: tuple[int, ...]) -> None:
        self._dtype = dtype
        self._kind = kind
        self._is_converted = dtype != kind
        self._axis = axis
        self._shape = shape

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        found: Columns = columns
        if type(tree) is not _ndarray:
            return False
        if not self._is_converted:  # `Columns.add` checks the dtype
            return found.add(tree, self._axis, self._shape)
        return tree.dtype == self._dtype and found.add(tree.astype(self._kind), self._axis, self._shape)


@cython.final
@cython.cclass
class SharedForm(form.Form):
    """The form of an array that all samples share.

    The dtype of the array is checked, because the dtype of the computation depends on it.
    """

    def __init__(self, dtype: Any, inner: form.Form) -> None:
        self._dtype = dtype
        self._form = inner

    def read(self, tree: Any, row: cython.p_double, columns: Any) -> cython.bint:
        """See `Form.read`."""
        return type(tree) is _ndarray and tree.dtype == self._dtype and self._form.read(tree, row, columns)


@cython.cclass
class Maker:
    """Base class of `Stacked` and `Summed`, which compute the result of a batch."""

    def of(self, kernel: LaneKernel, shared: cython.p_double, columns: Columns, out: Any) -> object:
        """Return the result of a batch, or `MISSED` if the batch or `out` needs the general path.

        Args:
            kernel: The kernel that computes the result.
            shared: The numbers that all samples share.
            columns: The batched arrays.
            out: Arrays to write the result to, or None: see `vmap`.
        """
        raise NotImplementedError


@cython.final
@cython.cclass
class Stacked(Maker):
    """Makes results with a batch axis. `axes` gives the batch axis of each leaf; `kind` is the dtype of the results."""

    def __init__(self, treedef: TreeDef, axes: list[Any], kind: Any) -> None:
        self._treedef = treedef
        self._kind = numpy.dtype(kind)
        shapes = treedef.array_shapes
        places = [axis % (len(shape) + 1) for shape, axis in zip(shapes, axes, strict=True)]
        self._leaves = [(shape[:place], shape[place:], place) for shape, place in zip(shapes, places, strict=True)]
        leaves = [ColumnForm(self._kind, self._kind, *at) for at in zip(places, shapes, strict=True)]
        is_plain = not (treedef.types or treedef.pairs)
        self._targets = form_of(treedef, leaves) if is_plain else None
        self._is_leaf = treedef.spec is None and is_plain

    def of(self, kernel: LaneKernel, shared: cython.p_double, columns: Columns, out: Any) -> object:
        """See `Maker.of`."""
        outputs = new_columns(columns.single, True)
        if out is None:
            self._allocate(outputs, columns.table[0].count)
        elif not self._fits(out, outputs, columns):
            return MISSED
        elif outputs.overlap(columns):
            return self._copied(kernel, shared, columns, outputs)
        self._compute(kernel, shared, columns, outputs)
        if self._is_leaf:
            return column_table.array_at(outputs.table, 0)
        return self._treedef.unflatten(outputs.arrays())

    def _allocate(self, outputs: Columns, count: cython.Py_ssize_t) -> None:
        """Add new arrays to the outputs."""
        for before, after, place in self._leaves:
            shape = (*before, count, *after) if before or after else count
            outputs.add(_empty(shape, self._kind), place, None)

    def _compute(self, kernel: LaneKernel, shared: cython.p_double, columns: Columns, outputs: Columns) -> object:
        """Compute the result and write it to the outputs."""
        few = cython.declare(scratch.few_doubles)
        fixed: cython.p_double = scratch.acquire(kernel.results + 1, few)
        i: cython.Py_ssize_t
        try:
            if not fixed:
                raise MemoryError
            kernel.launch(shared, columns, outputs, columns.table[0].count, fixed, False)
            for i in range(kernel.results):
                outputs.fill(kernel.schedule.fixed[i], fixed[i])
        finally:
            scratch.release(fixed, few)
        return None

    def _fits(self, out: Any, outputs: Columns, columns: Columns) -> cython.bint:
        """Add the arrays of `out` to the outputs; return whether they fit exactly and do not overlap each other."""
        if self._targets is None or not self._targets.read(out, c_compat.NO_FLOATS, outputs):
            return False
        return outputs.table[0].count == columns.table[0].count and not outputs.overlap(outputs)

    def _copied(self, kernel: LaneKernel, shared: cython.p_double, columns: Columns, targets: Columns) -> object:
        """Compute the result in new arrays, and copy it to the targets. Used if the targets overlap with the inputs."""
        outputs = new_columns(columns.single, True)
        self._allocate(outputs, columns.table[0].count)
        self._compute(kernel, shared, columns, outputs)
        return self._treedef.unflatten(written(targets.arrays(), outputs.arrays()))


@cython.final
@cython.cclass
class Summed(Maker):
    """Makes results of dtype `kind` that are sums or means over a batch."""

    def __init__(self, treedef: TreeDef, is_mean: bool, kind: Any) -> None:
        treedef = treedef.as_floats()
        self._treedef = treedef
        self._is_mean = is_mean
        self._kind = kind
        self._form = form_of(treedef) if kind == numpy.float64 else None
        self._arrays = treedef.with_shapes(treedef.array_shapes)

    def of(self, kernel: LaneKernel, shared: cython.p_double, columns: Columns, out: Any) -> object:
        """Return the result, or `MISSED` if a sum is not finite: see `Maker.of`."""
        targets = None if out is None else targets_of(out, self._arrays, self._kind)
        sums = numpy.empty(kernel.results)
        row: cython.p_double = c_compat.doubles(sums)
        if not kernel.launch(shared, columns, _NOTHING, columns.table[0].count, row, self._is_mean):
            return MISSED
        if self._form is not None:
            result = self._form.build(row)
        else:
            with numpy.errstate(over="ignore"):
                result = self._treedef.filled(sums.astype(self._kind))
        return result if targets is None else put(result, targets)


@cython.final
@cython.cclass
class PreparedBatch:
    """A kernel with the forms of its arguments and the maker of its results.

    Args:
        kernel: The kernel.
        takes: The form of the tuple of positional arguments.
        keywords: The form of the dict of keyword arguments, or None if there are no keyword arguments.
        maker: The maker of the results.
        kind: The dtype of the computation.
        guards: Prepared batches whose first results are the means of the positions at which samples leave the path of
            the kernel: see `guards_of`.
        conditions: The number of conditions of the path, which is the mean position if all samples take the path.
    """

    def __init__(
        self,
        kernel: LaneKernel,
        takes: form.Form,
        keywords: form.Form | None,
        maker: Maker,
        kind: Any,
        guards: list[Any],
        conditions: float,
    ) -> None:
        self._kernel = kernel
        self._takes = takes
        self._keywords = keywords
        self._maker = maker
        self._single = kind == numpy.float32
        self._uniform = kernel.uniform_inputs
        self._guards = guards
        self._conditions = conditions

    def result(self, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
        """Return the result, or `MISSED` if the arguments or `out` need the general path."""
        if (self._keywords is None) != (not kwargs) or (modes.open_switches and modes.refuses_nans()):
            return MISSED
        guard: PreparedBatch
        for guard in self._guards:
            found = guard.result(args, kwargs, None)
            if found is MISSED or found[0] != self._conditions:
                return MISSED
        columns = new_columns(self._single, False)
        few = cython.declare(scratch.few_doubles)
        shared: cython.p_double = scratch.acquire(self._uniform + 1, few)
        try:
            if not shared:
                raise MemoryError
            if not self._takes.read(args, shared, columns):
                return MISSED
            if self._keywords is not None and not self._keywords.read(kwargs, shared, columns):
                return MISSED
            return self._maker.of(self._kernel, shared, columns, out) if columns.table[0].count > 0 else MISSED
        except MachineCodeError:
            return MISSED
        finally:
            scratch.release(shared, few)


@cython.cclass
class BatchFunction:
    """Base class of `Vmap`. It calls the prepared batches of a function, because methods in C are called faster.

    Attributes:
        batching: The axes and the reduction.
    """

    def __init__(self, batching: Batching, cache: TraceCache[Any]) -> None:
        self.batching = batching
        self._cache = cache
        self._calls = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results for a batch, written to `out` if it is given: see `vmap`."""
        self._calls += 1
        out: object = self.batching.take_out(kwargs) if kwargs else None
        prepared: PreparedBatch
        for prepared in self._cache.prepared:
            result = prepared.result(args, kwargs, out)
            if result is not MISSED:
                return result
        return self._call(args, kwargs, out)

    def _call(self, args: Any, kwargs: dict[str, Any], out: Any) -> Any:
        """Return the results for a batch without a prepared batch."""
        raise NotImplementedError


def prepared_batch(
    batching: Batching, batch: Batch, trace: Any, kernel: LaneKernel, guards: list[PreparedBatch]
) -> PreparedBatch | None:
    """Return a `PreparedBatch` for batches like this one, which `kernel` runs if all samples pass the guards.

    Returns None if such batches need the general path, for example because an argument has no form or a lane kernel
    alone cannot compute the results.
    """
    if trace.captured or any(x.dtype == object for x in batch.arrays):
        return None
    result = _result(batching, batch, trace.treedef, is_guard=trace.is_guard)
    forms = list(_argument_forms(batching, batch))
    if result is None or None in forms:
        return None
    takes = form.SequenceForm(tuple, forms[: batch.positional])
    names = batch.names[batch.positional :]
    keywords = form.DictForm(names, forms[batch.positional :], names) if names else None
    kind = numpy.dtype(batch.kind)
    return PreparedBatch(kernel, takes, keywords, result, kind, guards, len(trace.outcomes))


def _result(batching: Batching, batch: Batch, treedef: TreeDef, *, is_guard: bool) -> Stacked | Summed | None:
    """Return the maker of the result, or None if a result does not have a batch axis."""
    if batching.reduce is not None:
        # The means of guards must not be rounded: they tell whether all samples pass.
        kind = numpy.float64 if is_guard else batch.kind
        return Summed(treedef, batching.reduce == "mean", kind)
    axes = spread(batching.out_axes, treedef, "out_axes")
    return None if None in axes else Stacked(treedef, axes, batch.kind)


def _argument_forms(batching: Batching, batch: Batch) -> Iterator[Any]:
    """Yield the form of each argument, or None for an argument without a form."""
    axes = [*batching.axes(batch.positional), *[0] * (len(batch.names) - batch.positional)]
    given = iter(batch.leaves)
    position = 0
    for element, own_axes in zip(batch.elements, axes, strict=True):
        leaves: list[form.Form] = []
        for shape, axis in zip(element.shapes, spread(own_axes, element, "in_axes"), strict=True):
            leaf = next(given)
            if axis is not None:
                sample = () if isinstance(shape, str) else shape
                leaves.append(ColumnForm(leaf.dtype, numpy.dtype(batch.kind), axis % (len(sample) + 1), sample))
            elif isinstance(shape, str):
                leaves.append(form.NumberForm(position))
            else:
                leaves.append(SharedForm(leaf.dtype, form.ArrayForm(position, shape)))
            position += 0 if axis is not None else size(shape)
        yield form_of(element, leaves)
