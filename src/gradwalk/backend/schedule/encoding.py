"""How an instruction of a schedule is laid out.

An instruction is `WIDTH` numbers: `FORMS` times its opcode plus its form, where its result goes, and up to three
operands. Bit i of the form says that operand i is a scalar, the same for all lanes, and not a row of lanes. The result
goes to a slot or, for `STORE`, `SUM` and `DOT`, to the output at that position.
"""

WIDTH = 5
FORMS = 8
