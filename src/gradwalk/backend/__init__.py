"""Code that runs programs on batches: schedules, kernels, threads, and functions for C."""
