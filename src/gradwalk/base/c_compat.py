"""Python versions of C functions, for uncompiled runs: arrays of doubles, bits of floats, and type objects.

Compiled modules use the C functions of the same names in c_compat.pxd.
"""

import struct
from collections.abc import Callable
from typing import Any

NO_FLOATS: list[float] = []
NO_RUN: Any = None  # in C, a NULL pointer to a function


def allocate(length: int) -> list[float]:
    """Allocate an array of zeros (a list; in C, a pointer), to be freed by `release`."""
    return [0.0] * length


def release(row: list[float]) -> None:
    """Free an array from `allocate`. Does nothing in Python."""


def low_bits(number: float) -> int:
    """Return the lower 32 bits of a float64 as an int32."""
    return int(struct.unpack("<ii", struct.pack("<d", number))[0])


def high_bits(number: float) -> int:
    """Return the upper 32 bits of a float64 as an int32."""
    return int(struct.unpack("<ii", struct.pack("<d", number))[1])


def from_bits(low: int, high: int) -> float:
    """Build a float64 from its lower and upper 32 bits, each an int32."""
    return float(struct.unpack("<d", struct.pack("<ii", low, high))[0])


def cells(array: Any) -> Any:
    """Return a contiguous array (in C, a void pointer to its memory, valid only while the array is alive)."""
    return array


def doubles(array: Any) -> Any:
    """Return a view of a contiguous float64 array (in C, a pointer, valid only while the array is alive)."""
    return memoryview(array)


def integers(array: Any) -> Any:
    """Return a view of a contiguous int32 array (in C, a pointer, valid only while the array is alive)."""
    return memoryview(array)


def copy(to: Any, at: int, source: Any, start: int, count: int) -> None:
    """Copy `count` numbers of an array, from index `start` on, to index `at` of another array."""
    for i in range(count):
        to[at + i] = source[start + i]


# Functions that run machine code. Only compiled modules call them.


def adopt_run(cell: Any, address: int) -> None:
    """Store the address of a function `int run(double *values)`, which returns 0 after success, in a cell."""


def run_code(cell: Any, executed: Any, length: int, values: Any) -> int:
    """Run the function in a cell and return its result.

    If the cell is empty, add `length` to `executed` and return 1.
    """
    raise NotImplementedError


def is_due(executed: Any, hot: int, never: int) -> bool:
    """Return whether `executed` has reached `hot`, and if so, set it to `never`. Only one thread gets True."""
    raise NotImplementedError


def fetch_item(items: list[Any], i: int) -> None:
    """Prefetch item i of a list if i >= 0. Does nothing in Python."""


def count(number: Any, by: int) -> None:
    """Add to a number atomically, because other threads may add to the same number."""
    raise NotImplementedError


def untrack(container: object) -> None:
    """Stop the garbage collector from tracking an acyclic dict, list or tuple. Does nothing in Python."""


def is_kind(x: object, base: type) -> bool:
    """Return isinstance(x, base). In C, this is fast for extension types."""
    return isinstance(x, base)


def construct_by(cls: type, one: Callable[[Any], Any], three: Callable[[Any, Any, Any], Any]) -> None:
    """Register fast constructors for calls of a class with one or three positional arguments.

    If `three` returns None, the class is called as usual. Does nothing in Python.
    """


def open_to_assignment(cls: type, attributes: Callable[[Any, int], Any]) -> None:
    """Allow assignment to attributes of an extension type and its instances: `Value.cube = lambda v: v**3`.

    Does nothing in Python, where classes always allow such assignments. `attributes(instance, made)` returns the dict
    of the instance's attributes. If the instance has no dict, `attributes` creates one if `made` is true, and returns
    None otherwise.
    """
