"""`jit`: record functions once for each structure of arguments, and replay the recordings."""
