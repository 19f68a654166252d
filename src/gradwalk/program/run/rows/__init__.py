"""Run groups of identical operations, called rows, as vector loops."""
