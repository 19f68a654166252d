"""Opcodes, immutable program data (`Code`), validation, and checkpoint plans of loops."""
