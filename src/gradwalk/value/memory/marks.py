"""How far a traversal has come with a node. Outside of traversals every node is NEW.

Compiled modules see these as constants of C: see marks.pxd.
"""

NEW = 0
OPEN = 1  # its operands are being visited
DONE = 2
REACHED = 3  # in a backward sweep: a contribution has arrived at it
