"""Find loops in straight-line code."""
