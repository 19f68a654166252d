"""Batched evaluation: `vmap`, NumPy broadcasting, and batches larger than memory."""
