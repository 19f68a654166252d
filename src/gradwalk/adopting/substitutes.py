"""Versions of `math`, `cmath`, `float`, `complex` and the like that accept Values: `substitute_for`.

For plain numbers, each version calls the original function, so results and exceptions are the same.
"""

from __future__ import annotations

import cmath
import functools
import inspect
import math
import numbers
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

import gradwalk.cmath
import gradwalk.math
from gradwalk.adopting.switches import NumberKind, of_any_arguments, of_one_argument, of_two_arguments
from gradwalk.complex_numbers.complex_class import Complex
from gradwalk.value.arrays import WholeArray, as_array
from gradwalk.value.modes import is_abstract
from gradwalk.value.node import ValueNode

# Functions that return an int. Their derivative is 0, so that the number of a Value is enough, if it is known.
_WHOLE = ("floor", "ceil", "trunc")


def _for_values(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `on_values` if a positional argument is a Value, else `plain`."""
    try:
        count = len(inspect.signature(plain).parameters)
    except ValueError:  # `log` has one or two arguments, and `hypot` any number
        count = 2 if plain is math.log else 3
    of_arguments = {1: of_one_argument, 2: of_two_arguments}.get(count, of_any_arguments)
    function = of_arguments(plain, on_values)
    return functools.update_wrapper(function, plain)


def _whole(name: str) -> Callable[..., Any]:
    """Return `floor`, `ceil` or `trunc` for Values. The result is an int, or a Value if the number is not known."""
    on_values = getattr(gradwalk.math, name)
    return lambda x: on_values(x) if is_abstract() else int(on_values(x))


def _ldexp(x: Any, i: Any) -> Any:
    return x * 2.0 ** int(i)


def _frexp(x: Any) -> tuple[Any, int]:
    _, exponent = math.frexp(x.data)
    return _ldexp(x, -exponent), exponent


_OWN: dict[str, Callable[..., Any]] = {name: _whole(name) for name in _WHOLE} | {"ldexp": _ldexp, "frexp": _frexp}
_SAME = frozenset(
    ["comb", "factorial", "gcd", "isqrt", "lcm", "nextafter", "perm", "ulp"]
)  # functions of integers or bits


_SEQUENCES = frozenset(["dist", "fsum", "prod", "sumprod"])


def _functions() -> dict[str, Callable[..., Any]]:
    """Return the substitutes for the functions of `math`, by name."""
    found = {}
    for name, plain in vars(math).items():
        on_values = _OWN.get(name) or getattr(gradwalk.math, name, None)
        if callable(plain) and on_values is not None and name not in _SAME and not name.startswith("_"):
            found[name] = (_of_sequences if name in _SEQUENCES else _for_values)(plain, on_values)
    return found


class ComplexKind(NumberKind):
    """The substitute for `complex`: it also includes `Complex`, and makes a `Complex` of Values."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return a Complex if an argument contains a Value, and `complex` of the arguments otherwise."""
        if not any(isinstance(arg, (ValueNode, Complex)) for arg in (*args, *kwargs.values())):
            return complex(*args, **kwargs)
        return _complex(*args, **kwargs)

    def __instancecheck__(self, x: object) -> bool:
        return isinstance(x, (Complex, complex))

    def __subclasscheck__(self, kind: Any) -> bool:
        return issubclass(kind, (Complex, complex))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComplexKind) or other in (complex, Complex)

    def __hash__(self) -> int:
        return hash(complex)


def _complex(real: Any = 0.0, imag: Any = 0.0) -> Any:
    """Return real + imag·i. The arguments may be complex, as for Python's `complex`."""
    return real + imag * 1j if isinstance(real, Complex) or isinstance(imag, Complex) else Complex(real, imag)


def _of_complex(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `on_values` if an argument is a Value or a Complex, else `plain`."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            if isinstance(arg, (ValueNode, Complex)):
                return on_values(*args, **kwargs)
        return plain(*args, **kwargs)

    return function


_COMPLEX_FUNCTIONS = {
    name: _of_complex(plain, getattr(gradwalk.cmath, name))
    for name, plain in vars(cmath).items()
    if callable(plain) and not name.startswith("_")
}

Float = NumberKind(float, numpy.dtype(float))
ComplexNumber = ComplexKind(complex, numpy.dtype(complex))
Real = NumberKind(numbers.Real)
AnyComplex = NumberKind(numbers.Complex)
Number = NumberKind(numbers.Number)


def _converting(plain: Callable[..., Any], of_whole: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function such as `numpy.asarray` that makes an object array of Values if floats are wanted.

    `of_whole` converts a large array of a recorded function, which stays whole.
    """

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        is_whole = bool(args) and isinstance(args[0], WholeArray)
        if is_whole and (dtype is None or _is_inexact(dtype)) and len(args) <= 2 and not kwargs.keys() - {"dtype"}:
            return of_whole(args[0])
        if args and dtype is not None and _is_inexact(dtype) and _has_value(args[0]):
            return plain(args[0], object, *args[2:], **{name: x for name, x in kwargs.items() if name != "dtype"})
        return plain(*args, **kwargs)

    return function


def _of_sequences(plain: Callable[..., Any], on_values: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of sequences that calls `on_values` if one of them has a Value, else `plain`."""

    @functools.wraps(plain)
    def function(*args: Any, **kwargs: Any) -> Any:
        given = [
            arg if isinstance(arg, (list, tuple, numpy.ndarray)) or not _is_iterable(arg) else list(arg) for arg in args
        ]
        return (on_values if _has_value(given) else plain)(*given, **kwargs)

    return function


def _is_iterable(x: Any) -> bool:
    """Return whether an argument can be iterated, such as a generator."""
    return hasattr(x, "__iter__")


def _is_inexact(dtype: Any) -> bool:
    """Return whether a dtype, in one of the forms that NumPy accepts, is float64 or complex128."""
    return dtype in _NAMES if isinstance(dtype, str) else id(dtype) in _INEXACT


def _has_value(x: Any) -> bool:
    """Return whether a number, an array, or nested lists and tuples hold a Value."""
    waiting = [x]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (ValueNode, Complex, WholeArray)):
            return True
        if isinstance(one, (list, tuple)):
            waiting += one
        elif isinstance(one, numpy.ndarray) and one.dtype == object:
            waiting += one.ravel().tolist()
    return False


class _Module(ModuleType):
    """A module like another module, with some names replaced."""

    def __init__(self, original: ModuleType, replaced: dict[str, Any]) -> None:
        super().__init__(original.__name__, original.__doc__)
        vars(self).update(vars(original) | replaced)
        vars(self)["__getattr__"] = functools.partial(getattr, original)  # names that the original imports later


_OF_FLOAT = (float, Float, numpy.float64, numpy.dtype(float))
_INEXACT = frozenset(map(id, [*_OF_FLOAT, complex, ComplexNumber, numpy.complex128, numpy.dtype(complex)]))
_NAMES = frozenset(["float", "float64", "d", "complex", "complex128", "D"])
_FUNCTIONS = _functions()
_OF_NUMPY: dict[str, Any] = {
    "array": _converting(numpy.array, numpy.copy),
    "asarray": _converting(numpy.asarray, as_array),
    "asanyarray": _converting(numpy.asanyarray, as_array),
}
_SUBSTITUTES: list[tuple[Any, Any]] = [
    (math, _Module(math, _FUNCTIONS)),
    (cmath, _Module(cmath, _COMPLEX_FUNCTIONS)),
    (numbers, _Module(numbers, {"Real": Real, "Complex": AnyComplex, "Number": Number})),
    (numpy, _Module(numpy, _OF_NUMPY)),
    *((getattr(numpy, name), function) for name, function in _OF_NUMPY.items()),
    (numbers.Real, Real),
    (numbers.Complex, AnyComplex),
    (numbers.Number, Number),
    (float, Float),
    (complex, ComplexNumber),
    *((getattr(math, name), function) for name, function in _FUNCTIONS.items()),
    *((getattr(cmath, name), function) for name, function in _COMPLEX_FUNCTIONS.items()),
]
_BY_ID = {id(original): substitute for original, substitute in _SUBSTITUTES}


def substitute_for(x: Any) -> Any:
    """Return the substitute for a module, function or class, or for a tuple of classes; None if there is none."""
    if type(x) is tuple and any(id(item) in _BY_ID for item in x):
        return tuple(_BY_ID.get(id(item), item) for item in x)
    return _BY_ID.get(id(x))


_ORIGINALS = {id(substitute): original for original, substitute in _SUBSTITUTES}


def original_of(x: Any) -> Any:
    """Return the object that a substitute replaces; None for any other object."""
    return _ORIGINALS.get(id(x))
