"""Helpers for all other packages: Cython names in plain Python, IEEE 754 functions and locks."""
