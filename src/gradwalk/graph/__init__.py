"""Computation graphs: the nodes of Values as flat arrays, from which all displays are made."""
