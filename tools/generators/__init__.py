"""Generators of source files: each function yields the lines of one file."""
