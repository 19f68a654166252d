# Lets the compiled c_abi.py call the interpreter's methods as C functions.
from gradwalk.program.run.interpreter cimport Interpreter
