"""Functions with user-defined derivatives, with the protocol of `jax.custom_jvp` and `jax.custom_vjp`."""
