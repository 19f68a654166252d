"""Run groups of instructions with the same opcode, called rows, as vector loops."""
