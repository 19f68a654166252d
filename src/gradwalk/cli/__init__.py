"""The command line, and programs written for micrograd."""
