"""Run a program on one sample."""
