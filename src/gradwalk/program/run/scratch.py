"""Scratch memory of one run. Compiled modules use `scratch.pxd` beside this file."""


def few_doubles() -> list[float]:
    """Return an empty list. In C this is the type of an array on the stack, in which small programs run."""
    return []


def acquire(length: int, few: list[float]) -> list[float]:
    """Return memory for `length` numbers. In C it is `few` where they fit, and NULL if there is no memory.

    Args:
        length: How many numbers.
        few: The array on the stack.

    Returns:
        The memory.
    """
    return [0.0] * length


def release(numbers: list[float], few: list[float]) -> None:
    """Free memory that `taken` returned. Python does that by itself.

    Args:
        numbers: The memory.
        few: The array on the stack.
    """
