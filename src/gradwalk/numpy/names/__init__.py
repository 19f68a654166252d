"""Names of NumPy that are passed on, built from lists, or missing with advice."""
