"""`jit`: functions that are recorded once for each structure of their arguments."""
