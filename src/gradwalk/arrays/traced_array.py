"""`TracedArray`: a large array in a recorded function. Functions of it are recorded once, for the numbers of one row.

A `TracedArray` stands for a NumPy array of Values. One axis of the array, with one index for each row, is not stored:
`rows` has the other axes, and its elements are placeholders for the numbers of any row. Elementwise functions and
reductions of the other axes compute with `rows`. Reductions of the axis of rows, and anything that needs the array as a
whole, record one call. A function that knows nothing of these arrays gets an ordinary array of Values instead.
"""

from __future__ import annotations

import inspect
import math
import operator
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import numpy
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from gradwalk.arrays import rows
from gradwalk.arrays.elements import Elements
from gradwalk.arrays.handles import ROW_LEVEL, Handle, apply_call, apply_layout, step_level
from gradwalk.arrays.keys import MOST_WIDTH, are_same, as_row_indices, can_be_whole, last_writes, places_in
from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Gather, LayoutCall, MoveRows, Replace, Reshape, Slice, Unpack, selection
from gradwalk.batching.vmap import vmap
from gradwalk.program.tracing.array_handle import RecordedArray
from gradwalk.trees.tree import type_of
from gradwalk.value import arrays
from gradwalk.value.arrays import Axis, are_arrays, as_array, counted_axes, of_recording, replaced
from gradwalk.value.modes import depth, with_gradient
from gradwalk.value.node import number_type_of, with_number_type
from gradwalk.value.value import Value

MOST_TAKEN = 64  # small parts that are taken out of an array before it becomes an array of Values
_MOST_UNPACKED = 8  # rows or columns of an array that is unpacked, as in `a, b = x.T`
_SMALL = 1000  # a part with fewer elements is small

NOT_HANDLED = object()  # the result of a function that needs an array of Values

# Functions of NumPy and Python, and functions of lists in gradwalk.math, that are implemented for these arrays: the
# package `functions` adds them. Each takes the arguments of the function, and may return `NOT_HANDLED`.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}

F = TypeVar("F", bound=Callable[..., Any])


def implements(*functions: Any) -> Callable[[F], F]:
    """Make a function the implementation of other functions for whole arrays."""

    def registered(function: F) -> F:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return registered


class TracedArray(NDArrayOperatorsMixin, RecordedArray):
    """A large array in a recorded function.

    Args:
        rows: An object array with the numbers of one row.
        count: Number of rows.
        axis: The position of the axis of rows among the axes of the array.
        steps: Number of functions that have been applied to the rows since the array was stored.
        handle: The handle of the array whose columns are the numbers in `rows`, if there is one.
    """

    def __init__(self, rows: Any, count: int, axis: int, steps: int = 0, handle: Handle | None = None) -> None:
        self.rows, self.count, self.axis = rows, count, axis
        self.steps, self._handle = steps, handle
        self._level = step_level()  # of the step or branch that computes the rows
        self._taken = 0  # number of elements and slices that were taken
        self._in_order: Handle | None = None  # see `in_order`
        self._elements: Any = None  # the array of Values, once something has needed it
        self.source: Elements | None = None  # computes the elements if they depend on no other array
        self._views: list[weakref.ref[TracedArray]] = []  # arrays that share their elements with this one
        self._base: tuple[TracedArray, Callable[[Any], Any]] | None = None  # the array that this one is a view of
        self.is_read_only = False  # as the results of `broadcast_to` and `diagonal`

    # Attributes of an array

    @property  # type: ignore[misc]  # read-only
    def __class__(self) -> Any:
        return numpy.ndarray  # for functions that ask `isinstance(x, numpy.ndarray)`

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        if self._elements is not None:
            return tuple(self._elements.shape)  # which `resize` changes
        shape: tuple[int, ...] = self.rows.shape
        return (*shape[: self.axis], self.count, *shape[self.axis :])

    @shape.setter
    def shape(self, shape: Any) -> None:
        self.elements.shape = shape

    @property
    def ndim(self) -> int:  # type: ignore[override]
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of an array of Values: object."""
        return numpy.dtype(object)

    @property
    def number_type(self) -> type:  # type: ignore[override]
        """The type that all elements have: bool, int or float."""
        return type_of(self.rows if self.is_whole else self.elements)

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        if self.size > 1:
            raise ValueError(
                "the truth value of an array with more than one element is ambiguous: use a.any() or a.all()"
            )
        return bool(self.elements)

    def __float__(self) -> float:
        return float(self.elements)

    def __int__(self) -> int:
        return int(self.elements)

    def __contains__(self, x: Any) -> bool:
        return x in self.elements

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    def __repr__(self) -> str:
        return f"<array of shape {self.shape} that is being recorded>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(numpy.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        function = getattr(numpy, name, None)
        if self.is_whole and callable(function) and function in FUNCTIONS and name not in ("sort", "resize"):
            return lambda *args, **kwargs: self.__array_function__(function, (), (self, *args), kwargs)
        return getattr(self.elements, name)

    # The two other forms of the array

    @property
    def elements(self) -> Any:
        """The array as a NumPy array of Values. From now on, this array is used, because it may be changed."""
        if self._elements is None and not self.size:
            self._elements = numpy.empty(self.shape, dtype=object)
        if self._elements is None:
            if self._base is not None:
                base, view = self._base
                self._elements = view(base.elements)
            elif self.source is not None:
                self._elements = self.source.values.copy()
            else:
                array = arrays.of_objects(self.unpacked(), self._stored_shape)
                in_c_order = numpy.ascontiguousarray(numpy.moveaxis(array, 0, self.axis))  # its ravel() is a view
                self._elements = self.noted(in_c_order)
            for reference in self._views:
                shared = reference()
                if shared is not None and shared._base is not None:
                    _ = shared.elements
        return self._elements

    def truths(self) -> Any:
        """Return conditions as an array of bools. The recorded function branches on each of them."""
        if self.is_whole and self.source is None:
            array = arrays.of_objects(self.unpacked(), self._stored_shape)
            elements = self.noted(numpy.moveaxis(array, 0, self.axis))
        else:
            elements = self.elements
        return numpy.array([bool(x) for x in elements.flat], bool).reshape(self.shape)

    def unpacked(self) -> list[Any]:
        """Return the numbers of all rows as Values."""
        handle = self.stored()
        return apply_layout(Unpack(handle.kind, is_input=self.note[1]), [handle])

    def stored(self) -> Handle:
        """Return the handle of an array with these rows. Record the call that computes it, if needed."""
        if self._handle is None:
            call, operands = rows.mapped([], [self.rows.ravel().tolist()], self.count)
            with with_gradient():  # the rows were computed before
                [self._handle] = apply_call(call, operands, min(self._level, depth()))
            self.rows = rows.row_of(self._handle, self.rows.shape, self.number_type)
            self.steps = 0
        return self._handle

    def in_order(self) -> Handle | None:
        """Return the handle of an array with these elements in C order, or None: see `RecordedArray.in_order`."""
        if not self.is_whole:
            return None
        if self._in_order is None and math.prod(self.rows.shape[: self.axis]) == 1:
            self._in_order = self.stored()
        if self._in_order is None:
            [self._in_order] = apply_layout(MoveRows(self.shape, self.axis, is_back=True), [self.stored()])
        return self._in_order

    @property
    def is_whole(self) -> bool:
        """Whether the array has elements and is still one operand. If not, its elements are ordinary Values.

        It never is in a function of one row, where the numbers of another array's row are given.
        """
        return self._elements is None and depth() < ROW_LEVEL and self.size > 0

    @property
    def _stored_shape(self) -> tuple[int, ...]:
        return (self.count, *self.rows.shape)

    def noted(self, array: Any, index: int | None = None) -> Any:
        """Note the type and the label of new elements. They are the row with an index, or all elements."""
        (number_type, _), label = self.note, self._label
        for at, x in numpy.ndenumerate(array) if label or number_type is not float else ():
            if number_type is not float:
                with_number_type(x, number_type)
            if label:
                place = at if index is None else (*at[: self.axis], index, *at[self.axis :])
                x.label = f"{label}[{', '.join(map(str, place))}]"
        return array

    @property
    def note(self) -> tuple[type, bool]:
        """The type that is noted on all numbers of a row, and whether they belong to an argument: see `row_of`."""
        notes = {number_type_of(x) if isinstance(x, Value) else None for x in self.rows.flat}
        note: Any = notes.pop() if len(notes) == 1 else None
        return note or float, all(isinstance(x, Value) and not x.op for x in self.rows.flat)

    @property
    def _label(self) -> str:
        """The name of the array if it is an argument, else ""."""
        return "" if self._in_order is None or self._base is not None else self._in_order.label

    def as_view(self, other: TracedArray, view: Callable[[Any], Any]) -> TracedArray:
        """Note that another array is a view of this one, which NumPy would make with `view`."""
        other._base = self, view
        if self.source is not None:
            other.source = Elements.of(view, [self.source])
        self._views.append(weakref.ref(other))
        return other

    def numbers(self) -> Any:
        """Return the array as float64: see `WholeArray.numbers`."""
        return numpy.moveaxis(self.stored().numbers.reshape(self._stored_shape), 0, self.axis)

    # Elementwise functions

    def mapped(self, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
        """Broadcast the operands and apply a function to each element: see `WholeArray.mapped`."""
        found = FUNCTIONS[map](numpy.frompyfunc(function, len(operands), 1), operands)
        return arrays.elementwise(function, tuple(map(elements_of, operands))) if found is NOT_HANDLED else found

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc of NumPy to each element."""
        try:
            return of_recording(self._applied(ufunc, method, inputs, dict(kwargs)))
        except (TypeError, AttributeError) as error:
            found = replaced(ufunc, inputs, kwargs, error) if method == "__call__" else NotImplemented
            if found is NotImplemented:
                raise
            return found

    def _applied(self, ufunc: numpy.ufunc, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        out = kwargs.pop("out", ())
        found: Any = (
            NOT_HANDLED if kwargs and method == "__call__" else FUNCTIONS[numpy.ufunc](ufunc, method, inputs, kwargs)
        )
        if found is NOT_HANDLED or any(target.shape != numpy.shape(found) for target in out):
            given = [elements_of(x) for x in inputs]
            targets = {"out": tuple(map(elements_of, out))} if out else {}
            return getattr(ufunc, method)(*given, **_plain(kwargs), **targets)
        if not out:
            return found
        [target] = out
        if isinstance(target, TracedArray):
            return target.become(found)
        target[...] = elements_of(found)
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a function of NumPy."""
        found = called(function, args, kwargs)
        if found is not NOT_HANDLED:
            return of_recording(found)
        found = replaced(function, args, kwargs) if are_arrays(types) else NotImplemented
        return function(*map(elements_of, args), **_plain(kwargs)) if found is NotImplemented else found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.is_whole and self.number_type is bool:  # an array of bools, as in a short array
            return self.truths().astype(dtype or bool)
        array = self.elements if dtype is None else self.elements.astype(dtype)
        return array.copy() if copy else array

    # Parts

    def __iter__(self) -> Any:
        if (
            self.source is None
            and self.is_whole
            and self.ndim == 1
            and len(self) <= MOST_TAKEN
            and self.note[0] is float
        ):
            return iter(self.unpacked())  # not ints, which may be used as indices if they are arguments
        if self.is_whole and self.ndim > 1 and len(self) <= _MOST_UNPACKED:
            return iter([self[i] for i in range(len(self))])
        return iter(self.elements)

    def __getitem__(self, key: Any) -> Any:
        return FUNCTIONS[operator.getitem](self, key)

    def takes(self, size: int, most: int = MOST_TAKEN) -> bool:
        """Return whether a part may be taken out of the array, and count it if it is small."""
        self._taken += size < _SMALL
        return self._taken <= max(most, self.size // 1000)

    def at(self, places: NDArray[numpy.intp]) -> Any:
        """Return a copy of the elements at some places in C order, or None if it cannot be whole."""
        if not can_be_whole(places):
            return None
        column = self.column()
        [made] = apply_layout(selection(column.kind, as_row_indices(places.ravel())), [column])
        return self.ordered(made, places.shape)

    def column(self) -> Handle:
        """Return the handle of a column with the elements of the array, which must be whole, in C order."""
        handle, kind = self.in_order(), ArrayKind(self.size, 1)
        assert handle is not None
        return handle if handle.kind == kind else apply_layout(Reshape(handle.kind, kind), [handle])[0]

    def ordered(self, handle: Handle, shape: Sequence[int]) -> TracedArray:
        """Return an array of a shape whose elements are in the order of a handle, with the notes of this array."""
        number_type, is_input = self.note
        longest = list(shape).index(max(shape))
        return of_ordered(handle, tuple(shape), longest, number_type, is_input=is_input)

    # Assignments

    def __setitem__(self, key: Any, value: Any) -> None:
        self._refuse_read_only()
        FUNCTIONS[operator.setitem](self, key, value)

    def write(self, places: NDArray[numpy.intp], part: Handle, number_type: type) -> bool:
        """Replace the elements at some places, and return True, if the arrays that share them can stay whole.

        Args:
            places: Places of elements in C order.
            part: The new elements, as a column.
            number_type: The type of the new elements.
        """
        owner, own = self._located()
        if not owner._views_can_change():
            return False
        chosen = as_row_indices(places.ravel())
        if owner is not self:
            chosen = as_row_indices(own.ravel()[chosen])
        if not isinstance(chosen, slice):
            kept = last_writes(chosen)
            chosen = chosen[kept]
            [part] = apply_layout(Gather(part.kind, kept), [part])
        [made] = apply_layout(Replace(owner.size, chosen), [owner.column(), part])
        common = number_type if number_type is owner.number_type else float
        owner._take_over(of_ordered(made, owner.shape, owner.axis, common))
        return True

    def become(self, other: Any) -> TracedArray:
        """Replace all elements, as an assignment to `self[...]` does."""
        self._refuse_read_only()
        is_like_other = isinstance(other, TracedArray) and other.is_whole and other.shape == self.shape
        if not (self.is_whole and is_like_other and self._became(other)):
            self.elements[...] = other
        return self

    def _refuse_read_only(self) -> None:
        if self.is_read_only:
            raise ValueError("assignment destination is read-only")

    def _became(self, other: TracedArray) -> bool:
        if self._base is None and self._views_can_change():
            self._take_over(other)
        elif not self.write(places_in(self.shape), other.column(), other.number_type):
            return False
        return True

    def is_part(self, base: TracedArray, places: NDArray[numpy.intp]) -> bool:
        """Return whether this array is the view of the elements of another array at some places."""
        if not self.is_whole or self._base is None or self._base[0] is not base:
            return False
        return are_same(self._base[1](places_in(base.shape)), places)

    def _located(self) -> tuple[TracedArray, NDArray[numpy.intp]]:
        """Return the array that owns the elements, and the places of the elements in it."""
        own = places_in(self.shape)
        if self._base is None:
            return self, own
        base, view = self._base
        owner, places = base._located()
        found = view(places)
        if numpy.may_share_memory(found, places):
            return owner, found
        self._base = None  # a copy, as of a reshaped transpose
        return self, own

    def _sharing(self) -> list[tuple[TracedArray, NDArray[numpy.intp]]]:
        """Return the arrays that share elements with this one, and the places of the elements in it."""
        found: list[tuple[TracedArray, NDArray[numpy.intp]]] = []
        self._forget_views()
        pending = [(self, places_in(self.shape))] if self._views else []
        while pending:
            array, places = pending.pop()
            array._forget_views()
            for reference in array._views:
                view = reference()
                if view is None or view._base is None:
                    continue
                at = view._base[1](places)
                if not numpy.may_share_memory(at, places):
                    view._base = None  # a copy, or empty
                elif at.size:
                    found.append((view, at))
                    pending.append((view, at))
        return found

    def _forget_views(self) -> None:
        """Forget the views that nothing refers to any more."""
        self._views = [reference for reference in self._views if reference() is not None]

    def _views_can_change(self) -> bool:
        return all(can_be_whole(places) for _, places in self._sharing())

    def _take_over(self, other: TracedArray) -> None:
        """Replace all elements by the elements of another array of the same shape, also in views."""
        sharing = self._sharing()
        self._replace_by(other)
        for view, places in sharing:
            view._replace_by(self.at(places))

    def _replace_by(self, other: TracedArray) -> None:
        self.rows, self.count, self.axis, self.steps = other.rows, other.count, other.axis, other.steps
        self._handle, self._in_order, self._level = other._handle, other._in_order, other._level
        self.source = other.source

    def sliced(self, selected: slice) -> TracedArray:
        """Return the selected rows."""
        return self.with_rows(lambda kind: Slice(kind, selected))

    def with_rows(self, call_of: Callable[[ArrayKind], LayoutCall]) -> TracedArray:
        """Return the array whose rows a call selects or reorders. The axis of rows stays where it is."""
        handle = self.stored()
        [made] = apply_layout(call_of(handle.kind), [handle])
        number_type, is_input = self.note
        return of_handle(made, self.rows.shape, self.axis, number_type, is_input=is_input)

    # Shapes

    @property
    def T(self) -> Any:  # noqa: N802  # the name in NumPy
        """The array with its axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes in another order, as NumPy does."""
        if not self.is_whole:
            return self.elements.transpose(*axes)
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = counted_axes(tuple(given), self.ndim) if given else tuple(range(self.ndim))[::-1]
        if len(order) != self.ndim:
            return self.elements.transpose(*axes)
        inner = [a - (a > self.axis) for a in order if a != self.axis]
        made = TracedArray(self.rows.transpose(inner), self.count, order.index(self.axis), self.steps)
        return self.as_view(made, lambda elements: elements.transpose(order))

    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        """Return the array in another shape, as NumPy does."""
        wanted = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        sizes: list[int] = [operator.index(length) for length in wanted] if not kwargs and self.is_whole else []
        given = math.prod(sizes)
        if sizes.count(-1) == 1 and given:
            sizes[sizes.index(-1)] = self.size // -given
        is_possible = bool(sizes) and math.prod(sizes) == self.size and min(sizes) > 0
        if not is_possible or self.size // max(sizes) > MOST_WIDTH:
            return self.elements.reshape(*shape, **kwargs)
        return self.as_view(self._in_shape(sizes), lambda elements: elements.reshape(sizes))

    def _in_shape(self, sizes: Sequence[int]) -> TracedArray:
        """Return an array of another shape with the same elements in C order."""
        longest = list(sizes).index(max(sizes))
        if sizes[longest] == self.count and math.prod(sizes[:longest]) == math.prod(self.shape[: self.axis]) == 1:
            inner = (*sizes[:longest], *sizes[longest + 1 :])
            return TracedArray(self.rows.reshape(inner), self.count, longest, self.steps, self._handle)
        handle = self.in_order()
        assert handle is not None
        return self.ordered(handle, sizes)

    def ravel(self, order: str = "C") -> Any:
        """Return the array with one axis. Unlike in `reshape(-1)`, it is a copy where elements are not adjacent."""
        if order == "F" and self.is_whole:
            return self.T.copy().ravel()
        if order != "C" or not self.is_whole:
            return self.elements.ravel(order)
        return self.as_view(self._in_shape([self.size]), lambda elements: elements.ravel())

    def flatten(self, order: str = "C") -> Any:
        """Return a copy of the array with one axis."""
        return self.ravel().copy() if order == "C" else self.elements.flatten(order)

    def copy(self, order: str = "C") -> Any:
        """Return a copy of the array."""
        if not self.is_whole:
            return self.elements.copy(order)
        made = TracedArray(self.rows.copy(), self.count, self.axis, self.steps, self._handle)
        made.source = self.source
        return made

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a copy of the array. Its elements stay Values for `object`; other dtypes are as for an array."""
        kind = numpy.dtype(dtype).kind
        if self.is_whole and kind == "O":
            return self.copy() if kwargs.get("copy", True) else self
        if self.is_whole and self.number_type is bool and kind in "fiub":
            return self.copy() if kind == "b" else self * (1.0 if kind == "f" else 1)
        return self.elements.astype(dtype, *args, **kwargs)

    # Functions of lists

    def reduced(self, function: Callable[[list[Any]], Any], axis: Axis, keepdims: bool) -> Any:
        """Reduce some axes with a function of a list of elements: see `WholeArray.reduced`."""
        axes = counted_axes(axis, self.ndim)
        if not self.is_whole or (self.axis in axes and function not in FUNCTIONS):
            return arrays.reduced(function, self.elements, axis, keepdims)
        if self.axis in axes:
            return FUNCTIONS[function](self, axes, keepdims)
        return self.of_inner(lambda row, inner: arrays.reduced(function, row, inner, keepdims), axes, keepdims)

    def along(self, function: Callable[[list[Any]], Sequence[Any]], axis: Axis) -> Any:
        """Apply a function of a list of elements along some axes: see `WholeArray.along`."""
        axes = counted_axes(axis, self.ndim)
        if not self.is_whole or (self.axis in axes and function not in FUNCTIONS):
            return arrays.along(function, self.elements, axis)
        if self.axis in axes:
            return FUNCTIONS[function](self, axes)
        return self.of_inner(lambda row, inner: arrays.along(function, row, inner), axes, keepdims=True)

    def vmapped(self, f: Callable[..., Any], batch: Any, batching: Any) -> Any:
        """Apply a function to each sample of a batch, which includes this array: see `WholeArray.vmapped`."""
        return FUNCTIONS[vmap](f, batch, batching)

    def of_inner(self, function: Callable[[Any, tuple[int, ...]], Any], axes: Sequence[int], keepdims: bool) -> Any:
        """Apply a function to axes of each row. The function takes a row and the positions of the axes in a row."""
        inner = tuple([a - (a > self.axis) for a in axes])
        found = rows.in_rows(lambda: function(self.rows, inner))
        axis = self.axis if keepdims else self.axis - sum(a < self.axis for a in axes)
        return TracedArray(as_objects(found), self.count, axis, self.steps + 1)


def of_handle(
    handle: Handle, inner: Sequence[int], axis: int, number_type: type = float, *, is_input: bool = False
) -> TracedArray:
    """Return the array with a handle. `inner` is the shape of a row, and `axis` the position of the axis of rows."""
    row = rows.row_of(handle, inner, number_type, is_input=is_input)
    return TracedArray(row, handle.kind.rows, axis, 0, handle)


def of_ordered(
    handle: Handle, shape: tuple[int, ...], axis: int, number_type: type = float, *, is_input: bool = False
) -> TracedArray:
    """Return an array of a given shape, with rows along an axis. The handle has the same elements in C order.

    `is_input` tells whether the array is an argument: see `row_of`.
    """
    inner = (*shape[:axis], *shape[axis + 1 :])
    if math.prod(shape[:axis]) == 1:
        kind = ArrayKind(shape[axis], handle.kind.size // shape[axis])
        [moved] = [handle] if kind == handle.kind else apply_layout(Reshape(handle.kind, kind), [handle])
    else:
        kind = ArrayKind(shape[0], handle.kind.size // shape[0])
        [given] = [handle] if kind == handle.kind else apply_layout(Reshape(handle.kind, kind), [handle])
        [moved] = apply_layout(MoveRows(shape, axis), [given])
    array = of_handle(moved, inner, axis, number_type, is_input=is_input)
    array._in_order = handle
    return array


def is_whole(x: Any) -> bool:
    """Return whether something is an array that is still one operand."""
    return isinstance(x, TracedArray) and x.is_whole


def elements_of(x: Any) -> Any:
    """Replace arrays that are whole by arrays of Values, also in lists and tuples."""
    if isinstance(x, TracedArray):
        return x.elements
    if type(x) in (list, tuple) and any(isinstance(item, (TracedArray, list, tuple)) for item in x):
        return type(x)(map(elements_of, x))
    return x


def _plain(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments with arrays of Values. NumPy needs bools for `where`."""
    return {
        name: x.truths() if name == "where" and isinstance(x, TracedArray) else elements_of(x)
        for name, x in keywords.items()
    }


def as_objects(found: Any) -> Any:
    """Return a number or an array as an object array."""
    array = as_array(found)
    return array if array.dtype == object else array.astype(object)


_signature = lru_cache(inspect.signature)


def called(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call the implementation of a function; return `NOT_HANDLED` if there is none for these arguments."""
    implementation = FUNCTIONS.get(function)
    if implementation is None:
        return NOT_HANDLED
    try:
        _signature(implementation).bind(*args, **kwargs)
    except TypeError:  # an argument that the implementation does not have
        return NOT_HANDLED
    return implementation(*args, **kwargs)
