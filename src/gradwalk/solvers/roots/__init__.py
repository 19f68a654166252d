"""Roots and fixed points, and their derivatives by the implicit function theorem."""
