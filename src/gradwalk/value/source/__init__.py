"""Source lines and variable names of Values, and messages that quote the user's program."""
