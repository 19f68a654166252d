"""Encoding of the instructions of a schedule.

An instruction is `WIDTH` numbers: `FORMS * opcode + form`, the destination, and up to three operands. Bit i of the form
is set if operand i is a scalar (the same for all lanes) instead of a row of lanes. The destination is usually a slot.
For `STORE`, `SUM` and `DOT` it is the position of an output, and for `SCATTER` the start of a list of outputs.

The operands of `TAKE` are the index and the start of its table in the list of all tables. A table is the number of its
entries, followed by the entries. An entry is `KINDS * n + kind`, where n is the number of a slot if kind is `IN_SLOT`,
of a scalar if it is `SCALAR`, or of a column if it is `COLUMN`. Bit 1 of the form is set if all entries are scalars.

The form of a `SUM` is `PARTIAL` if its slot holds 16 partial sums, which machine code has computed.
"""

WIDTH = 5
FORMS = 8
KINDS = 4
IN_SLOT, SCALAR, COLUMN = range(3)
PARTIAL = 2
