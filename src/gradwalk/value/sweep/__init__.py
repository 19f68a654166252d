"""Traversals of the graph: topological order, the backward pass, and recomputing."""
