# What compiled modules see under the names of marks.py.
cdef enum:
    NEW = 0
    OPEN = 1
    DONE = 2
    REACHED = 3
