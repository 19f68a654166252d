"""Batch kernels for programs with loops: each step runs for all samples before the next step."""
