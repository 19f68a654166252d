"""Function transforms: `grad`, `jacobian`, `jvp`, `jit`, sparse derivatives, and user-defined derivatives."""
