"""The command line, and support for programs written for micrograd."""
