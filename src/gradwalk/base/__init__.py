"""Helpers for all other packages: replacements of Cython's names in plain Python, IEEE 754 functions, and locks."""
