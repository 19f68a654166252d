# Lets the compiled program.py call the interpreter's methods as C functions.
from gradwalk.program.run.interpreter cimport Interpreter
