# Makes the interpreter's C methods available to program.py.
from gradwalk.program.run.interpreter cimport Interpreter
