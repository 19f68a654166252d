"""Calls: instructions that run programs (loops, switches, batches)."""
