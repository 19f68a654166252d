"""Printers of generated files: each yields the lines of a file."""
