"""Generate parts of the engine: the expansions of instructions, and the loop of the interpreter."""

from __future__ import annotations

from collections.abc import Sequence

from generators.common import OPERANDS, Lines, Row, c_function, case, cython_imports, header
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.compiled.templates import OPERANDS as TEMPLATE_OPERANDS
from gradwalk.ops.compiled.templates import TOTAL, Template, expansion, taken_apart
from gradwalk.ops.formula import name, substituted
from gradwalk.ops.printing.printers import python
from gradwalk.ops.table import FUSED, REDUCTIONS, ROWS


def expansions() -> Lines:
    """Yield the lines of expansions.py."""
    yield from header("expansions of reductions and fused instructions.")
    yield "from typing import TYPE_CHECKING"
    yield ""
    yield "from gradwalk.base import _cython as cython"
    yield "from gradwalk.program.instructions import simplify"
    yield "from gradwalk.program.instructions.instruction_store import NO_INDEX, InstructionStore"
    yield ""
    yield from cython_imports()
    yield ""
    yield "_none = cython.declare(cython.int, NO_INDEX)"
    store = "store: InstructionStore, opcode: cython.int"
    operands = "".join(f", {operand}: cython.int" for operand in OPERANDS)
    yield from _index_function(f"first_total({store})", "Append the initial total of a reduction.")
    yield from _expanded_cases(REDUCTIONS, [expansion(row)[0] for row in REDUCTIONS])
    signature = f"append_step(\n    {store}, total: cython.int{operands}\n)"
    yield from _index_function(signature, "Append one step of a reduction.")
    yield from _expanded_cases(REDUCTIONS, [expansion(row)[1] for row in REDUCTIONS])
    signature = f"append_unfused(\n    {store}{operands}\n)"
    yield from _index_function(signature, "Append a fused instruction as two simpler ones.")
    yield from _expanded_cases(FUSED, [taken_apart(row) for row in FUSED])
    yield from c_function("groups(opcode: cython.int)", "int")
    yield '    """Return the number of sequences of a reduction."""'
    for row in REDUCTIONS:
        yield from case(row, "    ", first=REDUCTIONS[0])
        yield f"        return {row.groups}"
    yield "    return 1"
    yield from c_function("starts(opcode: cython.int)", "int")
    yield '    """Return the number of operands before the first sequence: 1 if the reduction has a start, else 0."""'
    for row in REDUCTIONS:
        yield from case(row, "    ", first=REDUCTIONS[0])
        yield f"        return {row.starts}"
    yield "    return 0"


def _index_function(signature: str, docstring: str) -> Lines:
    """Yield the head of a C function that returns an index on the tape."""
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(-1)", f"def {signature} -> cython.int:")
    yield f'    """{docstring}"""'


def _expanded_cases(rows: Sequence[Row], templates: list[Template]) -> Lines:
    """Yield the code that appends the instructions of each operation and returns the index of the last result."""
    yield from (f"    v{i}: cython.int" for i in range(max(len(template.instructions) for template in templates)))
    for row, template in zip(rows, templates, strict=True):
        yield from case(row, "    ", first=rows[0])
        yield from _instantiated(template)
    yield "    return _none"


def _instantiated(template: Template) -> Lines:
    """Yield the code that appends the instructions of a template to the tape."""
    names = {**{reference: operand for operand, reference in TEMPLATE_OPERANDS.items()}, TOTAL: "total"}
    for index, (opcode, operands, number) in enumerate(template.instructions):
        names[index] = f"v{index}"
        given = [names[operand] for operand in operands] + ["0"] * (3 - len(operands))
        call = f"emit(store, {opcode}, {', '.join(given)})"
        code = f"simplify.{call}" if opcode else f"store.intern_constant({number!r})"
        yield f"        v{index} = {code}"
    yield f"        return {names[template.result]}"


_LOOP = '''

@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def run_until_call(
    code: cython.p_int,
    start: cython.int,
    length: cython.int,
    value: cython.p_double,
    first: cython.int,
    table_start: cython.p_int,
    table: cython.p_int,
) -> cython.int:
    """Run instructions from `start` until a call or the end, and return the position reached.

    `value` has the numbers by index, and `first` is the index of the first instruction's result. The operands of table
    i are `table[table_start[i] : table_start[i + 1]]`.
    """
    opcode: cython.int
    k: cython.int
    index: cython.int = first + start // 4
    x: cython.double
    y: cython.double
    z: cython.double
    out: cython.double
    begin: cython.int
    position: cython.Py_ssize_t
    for k in range(start, length, 4):
        opcode = code[k]'''
_LOOP_END = f"""        elif opcode == {OPCODES["take"]}:  # take
            begin = table_start[code[k + 2]]
            position = evaluate.position_of(x, table_start[code[k + 2] + 1] - begin)
            out = value[table[begin + position]] if position >= 0 else evaluate.NAN
        else:
            return k
        value[index] = out
        index += 1
    return length"""


def instruction_loop() -> Lines:
    """Yield the lines of instruction_loop.py."""
    yield from header("the loop of the interpreter.")
    yield "from typing import TYPE_CHECKING"
    yield ""
    yield "from gradwalk.base import _cython as cython"
    yield "from gradwalk.base import ieee"
    yield "from gradwalk.ops.compiled import evaluate"
    yield ""
    yield from cython_imports()
    yield from _LOOP.splitlines()
    commonest = FUSED[0]
    fields = {operand: name(f"value[code[k + {i}]]") for i, operand in enumerate(OPERANDS, start=1)}
    yield "        # The most common instruction is tested before the switch, which improves branch prediction."
    yield from case(commonest, "        ", first=commonest)
    yield f"            value[index] = {python(substituted(commonest.forward, fields))}"
    yield "            index += 1"
    yield "            continue"
    yield from (f"        {operand} = {field.atom}" for operand, field in fields.items())
    for row in [row for row in ROWS if row != commonest]:
        yield from case(row, "        ")
        yield f"            out = {python(row.forward)}"
    yield from _LOOP_END.splitlines()
