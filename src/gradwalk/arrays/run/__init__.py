"""Runs tapes with arrays: which calls run, in which order, and in which memory."""
