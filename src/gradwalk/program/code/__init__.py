"""Opcodes, the immutable record of a program, its validation, and checkpoint plans of loops."""
