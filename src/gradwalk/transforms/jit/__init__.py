"""`jit`: functions recorded once per structure of their arguments, and replayed."""
