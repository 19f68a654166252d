"""The number of every instruction. It is decided here alone, for Python and for C.

The rows of the table come first, in its order and from 1 on, then those for any number of operands, then what only
programs or schedules have. Files and pickles know instructions by name, so that numbers may change from one version to
the next. An opcode of 0 stands for leaves and hand-made nodes.
"""

from __future__ import annotations

from gradwalk.ops.table import FUSED, GRAPH_ROWS

# What only schedules have: to load a column of the batch, store a row to an output, add the sum of a row, or of the
# products of two rows, to the total of an output, add each number of a row to that of the output that an index picks,
# and run machine code.
SCHEDULED = ("load", "store", "sum", "dot", "scatter", "machine")

# `call` is a call of a function of Python.
INSTRUCTIONS = (*(row.name for row in GRAPH_ROWS), "call", *(row.name for row in FUSED), *SCHEDULED)
OPCODES = {name: opcode for opcode, name in enumerate(INSTRUCTIONS, start=1)}

# Every `Value` keeps its opcode in a signed char.
LARGEST_OPCODE = 127
