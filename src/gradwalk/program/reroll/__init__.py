"""Reroll straight-line code: find its loops."""
