"""Rows of floats: lists for uncompiled runs. Compiled modules use C arrays instead, from `buffer.pxd` beside this file."""

NOTHING: list[float] = []


def allocate(length: int) -> list[float]:
    """A row of `length` zeros."""
    return [0.0] * length


def release(row: list[float]) -> None:
    """Give a row back. Python does that by itself for lists."""
