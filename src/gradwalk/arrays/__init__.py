"""Large arrays as single operands: the program of one row is recorded once and runs on all rows."""
