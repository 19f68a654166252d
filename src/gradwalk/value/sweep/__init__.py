"""Traversals of the graph: orders, the backward pass, and recomputing."""
