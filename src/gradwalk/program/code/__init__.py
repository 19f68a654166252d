"""Opcodes, the immutable record of a program, and which steps of its loops are stored."""
