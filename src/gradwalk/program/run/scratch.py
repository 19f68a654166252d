"""Scratch memory for one run of a program. Compiled modules use the C versions in `scratch.pxd`."""

FEW = 0  # in C, the length of the stack array


def few_doubles() -> list[float]:
    """Return an empty list. In C, `few_doubles` is the type of a stack array that is used for small programs."""
    return []


def acquire(length: int, few: list[float]) -> list[float]:
    """Return memory for `length` numbers. In C: the array `few` if it is large enough, NULL if malloc fails."""
    return [0.0] * length


def release(numbers: list[float], few: list[float]) -> None:
    """Free memory returned by `acquire`. In Python this does nothing."""
