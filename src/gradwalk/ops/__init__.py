"""What an operation is: one table of formulas, and the code that is printed from it."""
