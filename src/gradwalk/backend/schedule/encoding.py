"""The instructions of a schedule as numbers: what only schedules have, and how an instruction is laid out.

An instruction is `WIDTH` numbers: `FORMS` times its opcode plus its form, where its result goes, and up to three
operands. Bit i of the form says that operand i is a scalar, the same for all lanes, and not a row of lanes. The result
goes to a slot or, for `STORE`, `SUM` and `DOT`, to the output at that position.
"""

from __future__ import annotations

from gradwalk.program.opcodes import SUBMUL

LOAD = SUBMUL + 1  # a column of the batch, into a row
STORE = SUBMUL + 2  # a row, to an output
SUM = SUBMUL + 3  # the sum of a row's lanes, added to an output's total
DOT = SUBMUL + 4  # the sum of the products of two rows, or of a row and a scalar, added to an output's total

WIDTH = 5
FORMS = 8
