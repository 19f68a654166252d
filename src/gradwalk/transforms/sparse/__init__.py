"""Sparse Jacobians and Hessians: patterns, colors, and compressed derivatives."""
