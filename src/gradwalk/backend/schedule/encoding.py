"""How an instruction of a schedule is laid out.

An instruction is `WIDTH` numbers: `FORMS` times its opcode plus its form, where its result goes, and up to three
operands. Bit i of the form says that operand i is a scalar, the same for all lanes, and not a row of lanes. The result
goes to a slot; for `STORE`, `SUM` and `DOT` to the output at that position, and for `SCATTER` to the outputs in the
list that begins there.

`TAKE` has as operands its index, and where its table begins in a list of all tables: the number of its entries, then
the entries. An entry is `KINDS` times where its number stands plus `IN_SLOT`, `SCALAR` or `COLUMN`. Bit 1 of the form
says that all entries are scalars.
"""

WIDTH = 5
FORMS = 8
KINDS = 4
IN_SLOT, SCALAR, COLUMN = range(3)
