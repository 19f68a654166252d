"""Functions as code: recorded on a tape, simplified, differentiated, and written as a program."""
