"""micrograd.engine, implemented by gradwalk."""

from gradwalk.value.value import Value

__all__ = ["Value"]
