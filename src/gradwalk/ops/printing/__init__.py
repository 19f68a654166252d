"""Print formulas as Python, C and JavaScript code, and in mathematical notation."""
