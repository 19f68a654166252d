"""micrograd.engine, by gradwalk."""

from gradwalk.value.value import Value

__all__ = ["Value"]
