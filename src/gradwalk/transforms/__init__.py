"""Functions of functions: `grad` and its kin, `jit`, sparse derivatives, rules of the user's own."""
