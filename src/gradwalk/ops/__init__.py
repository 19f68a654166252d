"""The table of operations, and the code generated from it."""
