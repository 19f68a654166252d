"""Marks of nodes during a traversal. Outside of traversals every node is NEW.

Compiled modules use the constants of marks.pxd.
"""

NEW = 0
OPEN = 1  # its operands are being visited
DONE = 2
REACHED = 3  # in a backward sweep: a contribution has been added to its gradient
