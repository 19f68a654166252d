# The constants of marks.py, for compiled modules.
cdef enum:
    NEW = 0
    OPEN = 1
    DONE = 2
    REACHED = 3
