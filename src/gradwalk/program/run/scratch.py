"""Scratch memory of one run. Compiled modules use the C versions in `scratch.pxd`."""


def few_doubles() -> list[float]:
    """Return an empty list. In C this is the type of a stack array, which holds the numbers of small programs."""
    return []


def acquire(length: int, few: list[float]) -> list[float]:
    """Return memory for `length` numbers. In C this is `few` if it is large enough, and NULL if malloc fails."""
    return [0.0] * length


def release(numbers: list[float], few: list[float]) -> None:
    """Free memory returned by `acquire`. In Python this does nothing."""
