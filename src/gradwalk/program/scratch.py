"""Scratch memory of one run. Compiled modules use `scratch.pxd` beside this file."""


def few_doubles() -> list[float]:
    """Nothing. In C, the type of an array on the stack, in which small programs run."""
    return []


def taken(length: int, few: list[float]) -> list[float]:
    """Memory for `length` numbers. In C it is `few` where they fit, and NULL if there is no memory."""
    return [0.0] * length


def given_back(numbers: list[float], few: list[float]) -> None:
    """Free what was taken. Python does that by itself."""
