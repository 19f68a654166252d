"""micrograd.engine, by gradwalk."""

from gradwalk.engine import Value

__all__ = ["Value"]
