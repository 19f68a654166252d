"""What C does and Python does otherwise, for uncompiled runs: arrays of doubles, bits of numbers, type objects.

Compiled modules use `c_compat.pxd` beside this file instead, where the same names are functions in C.
"""

import struct
from collections.abc import Callable
from typing import Any

NO_FLOATS: list[float] = []
NO_RUN: Any = None  # in C, a NULL pointer to a function


def allocate(length: int) -> list[float]:
    """Return an array of zeros, to be freed by `release`.

    Args:
        length: The number of doubles.

    Returns:
        A list; in C, a pointer.
    """
    return [0.0] * length


def release(row: list[float]) -> None:
    """Free an array that `allocate` returned. Lists are freed by Python itself.

    Args:
        row: The array.
    """


def low_bits(number: float) -> int:
    """Return the lower half of a float64.

    Args:
        number: The float64.

    Returns:
        The lower 32 bits as an int32.
    """
    return int(struct.unpack("<ii", struct.pack("<d", number))[0])


def high_bits(number: float) -> int:
    """Return the upper half of a float64.

    Args:
        number: The float64.

    Returns:
        The upper 32 bits as an int32.
    """
    return int(struct.unpack("<ii", struct.pack("<d", number))[1])


def from_bits(low: int, high: int) -> float:
    """Return the float64 that consists of two halves.

    Args:
        low: The lower 32 bits as an int32.
        high: The upper 32 bits as an int32.

    Returns:
        The float64.
    """
    return float(struct.unpack("<d", struct.pack("<ii", low, high))[0])


def cells(array: Any) -> Any:
    """Return the memory of a contiguous array.

    Args:
        array: The array. It has to be kept for as long as its memory is used.

    Returns:
        The array itself; in C, a pointer without a type.
    """
    return array


def doubles(array: Any) -> Any:
    """Return the memory of a contiguous array of float64.

    Args:
        array: The array. It has to be kept for as long as its memory is used.

    Returns:
        A view; in C, a pointer.
    """
    return memoryview(array)


def integers(array: Any) -> Any:
    """Return the memory of a contiguous array of int32.

    Args:
        array: The array. It has to be kept for as long as its memory is used.

    Returns:
        A view; in C, a pointer.
    """
    return memoryview(array)


# Of machine code, which only compiled modules run: these are not called in Python.


def adopt_run(cell: Any, address: int) -> None:
    """Write the address of a function `void run(double *values)` to a cell.

    Args:
        cell: The address of the cell.
        address: That of the function.
    """


def ran(cell: Any, executed: Any, length: int, values: Any) -> bool:
    """Run the function that a cell has, or add to a count where it has none.

    Args:
        cell: The address of the cell.
        executed: The address of the count.
        length: What is added to it.
        values: The argument of the function.

    Returns:
        Whether it has been run.
    """
    raise NotImplementedError


def is_due(executed: Any, hot: int, never: int) -> bool:
    """Return, once, whether a count has come to a number.

    Args:
        executed: The address of the count.
        hot: The number.
        never: What the count is set to then.

    Returns:
        True or False.
    """
    raise NotImplementedError


def fetch_item(items: list[Any], i: int) -> None:
    """Have the memory of an item fetched before its turn comes. Python has no say in that.

    Args:
        items: The list.
        i: The position; below 0 there is none.
    """


def count(number: Any, by: int) -> None:
    """Add to a number that other threads may add to at the same time.

    Args:
        number: The address of the number.
        by: What is added.
    """
    raise NotImplementedError


def untrack(container: object) -> None:
    """Take a container that is in no cycle out of the garbage collector's lists. In Python it stays there.

    Args:
        container: A dict, list or tuple.
    """


def is_kind(x: object, base: type) -> bool:
    """Return whether x is an instance of a class, quickly where its class is one in C that extends that class.

    Args:
        x: Any object.
        base: The class.

    Returns:
        What isinstance returns.
    """
    return isinstance(x, base)


def construct_by(cls: type, one: Callable[[Any], Any], three: Callable[[Any, Any, Any], Any]) -> None:
    """Have a class called with one or three positional arguments make its instance by a function.

    That is shorter in compiled runs. In Python the class is called as ever.

    Args:
        cls: The class.
        one: Makes an instance of one argument.
        three: Makes an instance of three, or returns None where the class is to be called.
    """


def open_to_assignment(cls: type, attributes: Callable[[Any, int], Any]) -> None:
    """Allow attributes of a class and of its instances to be set, as in `Value.cube = lambda v: v**3`.

    Extension types refuse that by themselves, while Python's own classes always allow it.

    Args:
        cls: The class.
        attributes: Returns the dict of the attributes that an instance has been given, and makes one where asked to;
            else None where there is none. Not called in plain Python.
    """
