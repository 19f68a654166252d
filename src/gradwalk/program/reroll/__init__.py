"""Find the loops in straight-line code."""
