"""Computation graphs of Values as flat arrays, the basis of walks, checks and drawings."""
