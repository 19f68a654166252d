"""Run the user's function once and record the operations that it performs."""
