"""Allocation and deallocation of nodes, and the marks that traversals set on nodes."""
