"""Flatten the arguments of compiled calls without treedefs."""
