"""What C has and Python has otherwise, for uncompiled runs. Compiled modules use `native.pxd` beside this file."""

import struct
from collections.abc import Callable
from typing import Any

NO_FLOATS: list[float] = []


def allocate(length: int) -> list[float]:
    """A row of `length` zeros, to be given back with `release`: an array in C."""
    return [0.0] * length


def release(row: list[float]) -> None:
    """Give a row back. Python does that by itself for lists."""


def borrowed(length: int) -> list[float]:
    """The same, with any numbers, for C functions that have no interpreter lock: NULL without memory."""
    return allocate(length)


def give_back(row: list[float]) -> None:
    """Give such a row back."""


def low_bits(number: float) -> int:
    """The lower half of a float64 as an int32."""
    return int(struct.unpack("<ii", struct.pack("<d", number))[0])


def high_bits(number: float) -> int:
    """The upper half."""
    return int(struct.unpack("<ii", struct.pack("<d", number))[1])


def from_bits(low: int, high: int) -> float:
    """The float64 of two halves."""
    return float(struct.unpack("<d", struct.pack("<ii", low, high))[0])


def cells(array: Any) -> Any:
    """What an array holds: a pointer in C."""
    return array


def doubles(array: Any) -> Any:
    """The cells of a contiguous array of float64: a pointer in C. The array has to be kept as long as that is used."""
    return memoryview(array)


def integers(array: Any) -> Any:
    """The same for an array of int32."""
    return memoryview(array)


def untrack(container: object) -> None:
    """Take a container that is in no cycle out of the garbage collector's lists. Uncompiled, it may stay there."""


def construct_by(cls: type, function: Callable[[Any], Any]) -> None:
    """Have a class called with one positional argument make its instance by a function: shorter in compiled runs."""


def open_to_assignment(cls: type) -> None:
    """Let attributes of a class and its instances be set, as in `Value.cube = lambda v: v**3` and `v.name = "v"`.

    Python's own classes allow that anyway.
    """
