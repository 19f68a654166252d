"""Benchmarks that asv runs for each version, to track speed: `asv run`, then `asv publish`."""
