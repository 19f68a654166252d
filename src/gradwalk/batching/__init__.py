"""Many samples at once: `vmap`, NumPy's broadcasting, and batches larger than memory."""
