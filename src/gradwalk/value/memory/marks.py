"""Marks that a traversal sets on nodes. Outside of traversals, every node has the mark NEW.

Compiled modules use the same constants from marks.pxd.
"""

NEW = 0
OPEN = 1  # the operands of the node are being visited
DONE = 2
REACHED = 3  # only in backward sweeps: a contribution has been added to the gradient of the node
