# Makes the interpreter's C methods available to c_abi.py.
from gradwalk.program.run.interpreter cimport Interpreter
