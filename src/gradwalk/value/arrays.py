"""Functions of Values and numbers, applied to the elements of arrays."""

from __future__ import annotations

import inspect
import math
import operator
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Protocol

import numpy
from numpy.exceptions import AxisError

from gradwalk.base.public import public
from gradwalk.value.modes import RecordingError
from gradwalk.value.node import ValueNode, level_of, number_type_of, with_number_type
from gradwalk.value.source.source_line import users_frame

COMPARISONS: dict[Any, Callable[[Any, Any], Any]] = {
    numpy.less: operator.lt,
    numpy.less_equal: operator.le,
    numpy.greater: operator.gt,
    numpy.greater_equal: operator.ge,
    numpy.equal: operator.eq,
    numpy.not_equal: operator.ne,
}

# The predicates of NumPy for one Value. The result is a bool or, in a recorded function, a Value that is 1 or 0.
PREDICATES: dict[Any, Callable[[Any], Any]] = {
    numpy.isnan: lambda x: negated(x <= x),
    numpy.isinf: lambda x: abs(x) >= math.inf,
    numpy.isfinite: lambda x: abs(x) < math.inf,
}

trapezoid = getattr(numpy, "trapezoid", None) or numpy.trapz  # type: ignore[attr-defined]  # NumPy 1's name


def negated(holds: Any) -> Any:
    """Return the negation of a bool, or of a Value that is 1 or 0."""
    if not isinstance(holds, ValueNode):
        return not holds
    return with_number_type(1.0 - holds, bool)  # type: ignore[operator, arg-type]  # a Value


# Functions that return recorded conditions or counts, which are Values, so that a result with them has bools or ints.
as_bools = numpy.frompyfunc(lambda x: with_number_type(x, bool) if isinstance(x, ValueNode) else bool(x), 1, 1)
as_ints = numpy.frompyfunc(lambda x: with_number_type(x, int) if isinstance(x, ValueNode) else int(x), 1, 1)


Axis = int | tuple[int, ...] | None


class WholeArray:
    """An array that a recorded function treats as one operand: see `gradwalk.arrays`. NumPy's functions accept it."""

    ndim: int
    shape: tuple[int, ...]
    number_type: type  # of all elements: bool, int or float

    def numbers(self) -> Any:
        """Return the array as float64. The numbers must be known."""
        raise NotImplementedError

    def mapped(self, function: Callable[..., Any], operands: Sequence[Any]) -> Any:
        """Broadcast the operands, which include this array, and apply a function to each element: see `elementwise`."""
        raise NotImplementedError

    @property
    def elements(self) -> Any:
        """The array as an ordinary array of Values."""
        raise NotImplementedError

    def vmapped(self, f: Callable[..., Any], batch: Any, batching: Any) -> Any:
        """Apply a function to each sample of a batch, which includes this array; return None if this is impossible."""
        raise NotImplementedError

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes in another order, as NumPy does."""
        raise NotImplementedError

    def reduced(self, function: Callable[[list[Any]], Any], axis: Axis, keepdims: bool) -> Any:
        """Reduce some axes of the array with a function of a list of elements: see `reduced`."""
        raise NotImplementedError

    def along(self, function: Callable[[list[Any]], Sequence[Any]], axis: Axis) -> Any:
        """Apply a function of a list of elements along some axes: see `along`."""
        raise NotImplementedError


class ArrayMaker(Protocol):
    """Makes the whole arrays of a recording."""

    def is_large(self, array: Any) -> bool:
        """Return whether an array of real numbers is large enough to be one operand."""
        ...

    def constant(self, array: Any) -> WholeArray:
        """Return such an array as a whole array."""
        ...


# The maker of the innermost recording. None if nothing is being recorded, or if the recording has numbers only.
array_maker: ContextVar[ArrayMaker | None] = ContextVar("array_maker", default=None)

_MANY = 4  # numbers per Value: with fewer, elements are computed one by one
_NUMBERS = (complex, float, int, numpy.generic)


def are_there(operands: tuple[Any, ...]) -> bool:
    """Return whether any operand is a list, a tuple, or an array with at least one dimension."""
    return any(isinstance(x, (list, tuple)) or getattr(x, "ndim", 0) for x in operands)


def elementwise(function: Callable[..., Any], operands: tuple[Any, ...], dtype: type = float) -> Any:
    """Broadcast the operands and apply a function to each element.

    Returns an object array if a result is a Value, or if the dtype is float and an operand is a `ValueArray`; else an
    array of the given dtype. Raises `ValueError` if the shapes cannot be broadcast.
    """
    operands = with_constants(operands)
    for operand in operands:
        if isinstance(operand, WholeArray):
            return operand.mapped(function, operands)
    with numpy.errstate(all="ignore"):  # 1/0 gives inf without a warning, as it does for scalars
        found: Any = numpy.frompyfunc(function, len(operands), 1)(*map(as_array, operands))
    return _of_numbers_or_values(found, dtype, operands)


def with_constants(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace large arrays of numbers by whole arrays, if a recording that has those combines them with its Values."""
    if not any(type(x) is numpy.ndarray and not x.dtype.hasobject for x in operands):  # most operations
        return operands
    maker = array_maker.get()
    if maker is None:
        return operands
    are_large = [type(x) is numpy.ndarray and maker.is_large(x) for x in operands]
    size = max([x.size for x, is_large in zip(operands, are_large, strict=True) if is_large], default=0)
    if not size or not _have_few_values(operands, size) or _is_called_by_pandas():
        return operands
    return tuple([maker.constant(x) if is_large else x for x, is_large in zip(operands, are_large, strict=True)])


def method(name: str) -> Any:
    """Return a method of arrays that calls gradwalk's function of this name if `_is_replaced` says so, else NumPy's."""
    function = getattr(numpy, name)

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = replaced(function, (self, *args), kwargs) if _is_replaced(function, kwargs) else NotImplemented
        return getattr(numpy.ndarray, name)(self, *args, **kwargs) if found is NotImplemented else found

    return called


def _is_replaced(function: Any, kwargs: dict[str, Any]) -> bool:
    """Return whether `gradwalk.numpy` replaces a function before it is called.

    NumPy's reductions of objects have no neutral element for places where the condition `where` does not hold.
    """
    return function in _REPLACED or "where" in kwargs


class ValueArray(numpy.ndarray[Any, Any]):
    """An array of Values of a recording.

    `gradwalk.numpy` replaces functions and methods of NumPy that need numbers. Large arrays of numbers that are not
    among the arguments of the recorded function become whole where they are combined with this array, as in `X @ w`.
    """

    all, any, clip, max, min, nonzero = map(method, ("all", "any", "clip", "max", "min", "nonzero"))
    argmax, argmin = method("argmax"), method("argmin")
    mean, prod, std, sum, var = map(method, ("mean", "prod", "std", "sum", "var"))

    @property  # type: ignore[misc]  # it cannot be set
    def real(self) -> Any:
        """The real parts. NumPy would return complex Values themselves."""
        return _with_class(public("numpy.real")(plain(self)))

    @property  # type: ignore[misc]  # it cannot be set
    def imag(self) -> Any:
        """The imaginary parts. NumPy would return zeros for complex Values."""
        return _with_class(public("numpy.imag")(plain(self)))

    def sort(self, *args: Any, **kwargs: Any) -> None:
        """Sort the array in place, as `gradwalk.numpy.sort` does."""
        found = replaced(numpy.sort, (self, *args), kwargs)
        if found is NotImplemented:
            super().sort(*args, **kwargs)
        else:
            self[...] = found

    def __array_ufunc__(self, ufunc: numpy.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc. Its results are arrays of this class, too."""
        if method == "__call__" and not kwargs:
            return _with_class(applied(ufunc, inputs))
        given = map(plain, inputs)
        options = {name: plain(option) for name, option in kwargs.items()}
        if "out" not in options:
            return _with_class(getattr(ufunc, method)(*given, **options))
        targets = options.pop("out")
        if not all(isinstance(target, numpy.ndarray) for target in targets):
            raise TypeError("return arrays must be of ArrayType")
        getattr(ufunc, method)(*given, out=tuple(map(plain, targets)), **options)
        return targets[0] if len(targets) == 1 else targets

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a function of NumPy. If the result is an array of Values, it has this class, too."""
        given = with_constants(args)
        if _is_replaced(function, kwargs) and are_arrays(types):
            found = replaced(function, args, kwargs)
            if found is not NotImplemented:
                return found
        if given is not args:
            return function(*map(plain, given), **kwargs)
        try:
            return _with_class(super().__array_function__(function, types, args, kwargs))
        except (TypeError, AttributeError) as error:
            found = replaced(function, args, kwargs, error)
            if found is NotImplemented:
                raise
            return found

    def __repr__(self) -> str:
        return repr(plain(self))


def applied(ufunc: numpy.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Apply a ufunc to arrays and Values of a recording."""
    given = with_constants(inputs)
    types = [type(x) for x in inputs if hasattr(x, "__array_ufunc__")]
    if ufunc in _REPLACED and given is inputs and are_arrays(types):
        found = replaced(ufunc, inputs, {})
        if found is not NotImplemented:
            return found
    try:
        return ufunc(*[of_object(plain(x)) for x in given])
    except (TypeError, AttributeError) as error:
        found = replaced(ufunc, inputs, {}, error)
        if found is NotImplemented:
            raise
        return found


def replaced(function: Any, args: Sequence[Any], kwargs: dict[str, Any], error: Exception | None = None) -> Any:
    """Call the function in `gradwalk.numpy` that replaces a function of NumPy, which needs numbers.

    Returns `NotImplemented` if there is none, if it does not accept these arguments, if it calls NumPy's function
    itself, or if it was not NumPy that raised the `error`, but for example a function among the arguments.
    """
    own = _own(function)
    if own is None or function in _replacing.get() or (error is not None and not _is_of_numpy(error)):
        return NotImplemented
    if function in _ORDERING and _are_integers(args):
        return NotImplemented
    bound = _bound(function, own, args, kwargs)
    if bound is None:
        if error is not None:
            module = own.__module__.partition(".")[0]
            error.add_note(f"{module}.numpy has a {function.__name__} for arrays of Values, with fewer parameters")
        return NotImplemented
    token = _replacing.set(_replacing.get() | {function})
    try:
        found = own(*bound.args, **bound.kwargs)
        return _with_classes(found) if function not in _SELECTING else _decided(found, _SELECTING[function])
    except (TypeError, AxisError) as refusal:  # NumPy's function may accept more
        if error is not None or isinstance(refusal, RecordingError):
            raise
        return NotImplemented
    finally:
        _replacing.reset(token)


def _are_integers(args: Sequence[Any]) -> bool:
    """Return whether all Values in some arrays are integers, which may be indices and must remain integers."""
    elements = [x for arg in args if isinstance(arg, ValueArray) for x in plain(arg).ravel().tolist()]
    types = {number_type_of(x) for x in elements if isinstance(x, ValueNode)}
    return types == {int}


@lru_cache
def _signature(function: Any) -> inspect.Signature | None:
    """Return the signature of a function. Ufuncs and some functions in C have none."""
    try:
        return None if isinstance(function, numpy.ufunc) else inspect.signature(function)
    except ValueError:
        return None


def _bound(function: Any, own: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> inspect.BoundArguments | None:
    """Return arguments of a function of NumPy as arguments of gradwalk's, or None if it lacks one of the parameters."""
    theirs, ours = _signature(function), _signature(own) or inspect.Signature()
    try:
        return ours.bind(*args, **kwargs) if theirs is None else _renamed(theirs.bind(*args, **kwargs), ours)
    except TypeError:
        return None


def _renamed(given: inspect.BoundArguments, ours: inspect.Signature) -> inspect.BoundArguments:
    """Pass required arguments by position and other arguments by name; leave out defaults."""
    required: list[Any] = []
    optional: dict[str, Any] = {}
    for name, argument in given.arguments.items():
        parameter = given.signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            required += argument
        elif parameter.kind is parameter.VAR_KEYWORD:
            optional |= argument
        elif parameter.default is parameter.empty:
            required.append(argument)
        elif argument is not parameter.default:
            optional[name] = argument
    return ours.bind(*required, **optional)


def _decided(found: Any, dtype: type) -> Any:
    """Return recorded indices or conditions as numbers. The recording is a path for these numbers."""
    array = plain(as_array(found))
    if not array.dtype.hasobject:
        return found
    return numpy.array([dtype(x) for x in array.ravel().tolist()], dtype).reshape(array.shape)[()]


def _is_of_numpy(error: Exception) -> bool:
    """Return whether NumPy raised an error, and no function that it called."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    name = "" if frame is None else frame.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "numpy" or name in _CALLERS


@lru_cache
def _own(function: Any) -> Any:
    """Return the function in `gradwalk.numpy` that has the name of a function of NumPy, or None."""
    module = getattr(function, "__module__", None) or "numpy"  # ufuncs of NumPy 1 have no module
    if module.partition(".")[0] != "numpy" or getattr(sys.modules.get(module), function.__name__, None) is not function:
        return None
    own = public(f"{module}.{function.__name__}")
    return None if own is function else own


# Functions of NumPy that are always replaced. The functions in the last row need real numbers. The functions above
# compare objects or test their truth, which branches, and gives other results if elements are equal, 0 or nan.
_REPLACED = frozenset(
    [
        *(numpy.all, numpy.any, numpy.argmax, numpy.argmin, numpy.argwhere, numpy.array_equal, numpy.average),
        *(numpy.clip, numpy.compress, numpy.count_nonzero, numpy.extract, numpy.flatnonzero, numpy.fmax, numpy.fmin),
        *(numpy.intersect1d, numpy.isin, numpy.logical_and, numpy.logical_not, numpy.logical_or, numpy.logical_xor),
        *(numpy.max, numpy.maximum, numpy.median, numpy.min, numpy.minimum, numpy.nan_to_num, numpy.nanargmax),
        *(numpy.nanargmin, numpy.nancumprod, numpy.nancumsum, numpy.nanmax, numpy.nanmean, numpy.nanmedian),
        *(numpy.nanmin, numpy.nanprod, numpy.nanstd, numpy.nansum, numpy.nanvar, numpy.nonzero, numpy.ptp),
        *(numpy.select, numpy.setdiff1d, numpy.setxor1d, numpy.sign, numpy.sinc, numpy.sort, numpy.trim_zeros),
        *(numpy.union1d, numpy.unique, numpy.where),
        *(numpy.angle, numpy.gradient, numpy.i0, numpy.iscomplex, numpy.isreal, numpy.linalg.norm, numpy.linalg.qr),
    ]
)

# Functions of NumPy that return some of the elements. They are not replaced for integers.
_ORDERING = frozenset(
    [
        *(numpy.clip, numpy.fmax, numpy.fmin, numpy.max, numpy.maximum, numpy.min, numpy.minimum),
        *(numpy.nanmax, numpy.nanmin, numpy.ptp, numpy.sort),
    ]
)

# Functions of NumPy whose results select elements of any array, and the dtypes of the results.
_SELECTING: dict[Any, type] = {
    **dict.fromkeys([numpy.argmax, numpy.argmin, numpy.nanargmax, numpy.nanargmin, numpy.digitize], int),
    numpy.isin: bool,
}

# Modules that call functions of NumPy. Compiled functions have no Python frames.
_CALLERS = (
    "gradwalk.value.arrays",
    "gradwalk.value.value",
    "gradwalk.complex_numbers.complex_array",
    "gradwalk.arrays.traced_array",
)

# The functions of NumPy that are being replaced by gradwalk's.
_replacing: ContextVar[frozenset[Any]] = ContextVar("replacing", default=frozenset())


def of_recording(array: Any) -> Any:
    """Return an array with Values of an open recording as a `ValueArray`, and any other object unchanged."""
    return _with_class(array) if type(array) is numpy.ndarray and _has_recorded(array) else array


def are_arrays(types: Sequence[type]) -> bool:
    """Return whether no argument of a function of NumPy has a class of somebody else that implements this function."""
    own = __name__.partition(".")[0]
    return all(
        each is numpy.ndarray
        or issubclass(each, (WholeArray, ValueNode, numpy.generic))
        or each.__module__.partition(".")[0] == own
        for each in types
    )


def _with_classes(found: Any) -> Any:
    """Return plain arrays of Values, which may be the items of a tuple, as `ValueArray`s."""
    if not isinstance(found, tuple):
        return _with_class(found)
    items = map(_with_class, found)
    return type(found)(*items) if hasattr(found, "_fields") else tuple(items)


def _with_class(found: Any) -> Any:
    """Return a plain array of Values as a `ValueArray`, and any other object unchanged."""
    return found.view(ValueArray) if type(found) is numpy.ndarray and found.dtype.hasobject else found


def plain(operand: Any) -> Any:
    """Return a `ValueArray` as an array of NumPy's class, and any other object unchanged."""
    return operand.view(numpy.ndarray) if type(operand) is ValueArray else operand


def _have_few_values(operands: tuple[Any, ...], size: int) -> bool:
    """Return whether operands have Values of an open recording, and few, compared with an array of some size."""
    arrays = [as_array(x) for x in operands if isinstance(x, (ValueNode, list, tuple, numpy.ndarray))]
    counts = [x.size for x in arrays if x.dtype.hasobject]
    return max(counts, default=size) <= size // _MANY and any(map(_has_recorded, operands))


def _is_called_by_pandas() -> bool:
    """Return whether the operation is one of pandas, whose compiled code needs NumPy's arrays."""
    name: str = users_frame(sys._getframe()).f_globals.get("__name__", "")
    return name.partition(".")[0] == "pandas"


def _has_recorded(operand: Any) -> bool:
    """Return whether an operand is a Value of an open recording, or an array with such a Value."""
    if isinstance(operand, ValueNode):
        return level_of(operand) > 0
    if isinstance(operand, (list, tuple)) or (isinstance(operand, numpy.ndarray) and operand.dtype == object):
        return any(map(_has_recorded, plain(as_array(operand)).ravel().tolist()))
    return False


def along(function: Callable[[list[Any]], Sequence[Any]], operand: Any, axis: Axis) -> Any:
    """Apply a function along some axes of an array; `axis=None` means all axes.

    The function must map a list of elements to a list of the same length. The result has the same shape as the operand;
    it is an object array if it holds Values, else a float array. Raises the errors of `counted_axes`.
    """
    if isinstance(operand, WholeArray):
        return operand.along(function, axis)
    array = as_array(operand)
    axes = counted_axes(axis, array.ndim)
    last = range(-len(axes), 0)
    moved = numpy.moveaxis(array, axes, last)
    flat = of_objects([x for row in _rows(moved, len(axes)) for x in function(row)], (moved.size,))
    return numpy.moveaxis(_of_numbers_or_values(flat, float, [operand]).reshape(moved.shape), last, axes)


def reduced(function: Callable[[list[Any]], Any], array: Any, axis: Axis, keepdims: bool = False) -> Any:
    """Reduce some axes of an array; `axis=None` means all axes.

    The function must map a list of elements to a single result. If `keepdims` is true, the reduced axes are kept with
    length 1. Returns an object array if there are Values, else a float array. If all axes are reduced and `keepdims` is
    false, returns the function's single result instead of an array.
    """
    if isinstance(array, WholeArray):
        return array.reduced(function, axis, keepdims)
    axes = counted_axes(axis, array.ndim)
    moved = numpy.moveaxis(array, axes, range(-len(axes), 0))
    results = [function(row) for row in _rows(moved, len(axes))]
    if len(axes) == array.ndim and not keepdims:
        return results[0]
    found = _of_numbers_or_values(of_objects(results, (len(results),)), float, [array])
    kept = found.reshape(moved.shape[: array.ndim - len(axes)])
    return numpy.expand_dims(kept, axes) if keepdims else kept


def counted_axes(axis: Axis, dimensions: int) -> tuple[int, ...]:
    """Convert axes to a tuple of integers >= 0. None means all axes, and negative axes count from the end.

    Raises `AxisError` for an axis out of range, `TypeError` for other types than integers, and `ValueError` for
    duplicates.
    """
    if axis is None:
        return tuple(range(dimensions))
    try:
        given = [operator.index(each) for each in (axis if isinstance(axis, tuple) else (axis,))]
    except TypeError:
        raise TypeError(f"axis must be an integer, a tuple of integers, or None for all axes, got {axis!r}") from None
    for each in given:
        if not -dimensions <= each < dimensions:
            raise AxisError(each, dimensions)
    axes = tuple([each % dimensions for each in given])
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis={axis!r} has duplicates for an array of dimension {dimensions}")
    return axes


def of_objects(elements: Sequence[Any], shape: Sequence[int]) -> Any:
    """Return an object array with the given elements and shape. If the shape is (), return the only element."""
    array = numpy.empty(len(elements), dtype=object)
    array[:] = elements
    return array.reshape(tuple(shape))[()]


def without_dimensions(operand: Any) -> Any:
    """Return the element of a zero-dimensional array, and any other object unchanged."""
    return operand[()] if isinstance(operand, numpy.ndarray) and not operand.ndim else operand


def as_array(operand: Any) -> Any:
    """Convert an operand to an array. Unlike `numpy.asarray`, this does not call methods of a Value.

    A `WholeArray` is returned unchanged.
    """
    if isinstance(operand, WholeArray):
        return operand
    if type(operand) is ValueArray:
        return operand
    array = numpy.empty((), dtype=object)
    array[()] = operand
    return array if isinstance(operand, ValueNode) else numpy.asarray(operand)


def _rows(array: Any, gone: int) -> list[list[Any]]:
    """Split an array into lists: one per index of the leading axes, with the elements along the last `gone` axes."""
    kept = array.shape[: array.ndim - gone]
    rows = array.reshape(*kept, math.prod(array.shape[array.ndim - gone :]))
    return [rows[at].tolist() for at in numpy.ndindex(kept)]


def _of_numbers_or_values(objects: Any, dtype: type, operands: Sequence[Any]) -> Any:
    """Convert an array of results to complex numbers or another dtype, if all of them are numbers.

    Real numbers that were computed from a `ValueArray` remain objects. A recorded function may assign a Value to this
    array, and it must not depend on the numbers whether that is possible.
    """
    kinds = set(map(type, plain(objects).flat))
    if any(issubclass(kind, ValueNode) or not issubclass(kind, _NUMBERS) for kind in kinds):
        return objects
    numbers = plain(objects).astype(complex if complex in kinds else dtype)
    is_recorded = any(type(x) is ValueArray for x in operands) and numbers.dtype == float
    return numbers.astype(object).view(ValueArray) if is_recorded else numbers


def of_object(x: Any) -> Any:
    """Return a Value as a zero-dimensional object array, and any other object unchanged."""
    if not isinstance(x, ValueNode):
        return x
    array = numpy.empty((), dtype=object)
    array[()] = x
    return array
