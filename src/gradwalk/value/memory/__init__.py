"""Allocation, marks and deallocation of nodes."""
