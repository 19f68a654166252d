"""Run programs on a single sample."""
