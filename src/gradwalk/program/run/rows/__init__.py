"""Run like instructions of a program together, in rows."""
