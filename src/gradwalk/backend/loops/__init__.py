"""Kernels of programs with loops that run a step at a time."""
