"""Print formulas as Python, C, JavaScript and mathematics."""
