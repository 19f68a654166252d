"""Sparse Jacobians and Hessians: sparsity patterns, graph coloring, and compressed derivatives."""
