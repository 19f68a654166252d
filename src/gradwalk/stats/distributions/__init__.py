"""Probability distributions: log-densities, and distribution functions where gradwalk has them."""
