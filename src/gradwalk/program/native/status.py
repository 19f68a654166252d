"""Return values of the function `run` of machine code: see `scalar_ir.ir_source`."""

# After `OUT_OF_MEMORY` and `TOO_MANY_STEPS` the program can be run in another way. After `INTERRUPTED` a signal handler
# has raised an exception.
DONE, OUT_OF_MEMORY, TOO_MANY_STEPS, INTERRUPTED = 0, 1, 2, -1
