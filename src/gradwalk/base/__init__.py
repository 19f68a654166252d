"""Helpers that every folder uses: Cython's names in plain Python, IEEE functions, locks."""
