"""Functions as code: record a function on a tape, simplify it, differentiate it and lower it to a program."""
