"""Flatten the arguments of compiled calls without computing treedefs."""
