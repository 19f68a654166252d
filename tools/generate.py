"""Print the table of `ops/table.py` into the files that follow from it: some whole, in others a marked block.

Another block has the package's public names for type checkers.

usage: python tools/generate.py [--check]

With --check nothing is written, and the exit code is 1 if a file is out of date. Without it, the steps that remain for
a new row are listed: its references in the tests, and its translations. Either way, a table that cannot be printed is
refused with a list of everything that is wrong with it.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace

ROOT = Path(__file__).parents[1]

# Import `gradwalk.ops` alone: the rest of the package holds the code that is about to be generated.
package = ModuleType("gradwalk")
package.__path__ = [str(ROOT / "src/gradwalk")]
sys.modules["gradwalk"] = package

from opcode_numbers import SCHEDULED, numbered, opcode_file  # noqa: E402  these need the line above

from gradwalk.ops.compiled.opcodes import OPCODES  # noqa: E402

OPCODES.update(numbered(OPCODES))  # what follows makes templates of all rows

from page_table import page  # noqa: E402
from public_names import public_names  # noqa: E402
from remaining_steps import remaining_steps  # noqa: E402
from table_checks import problems  # noqa: E402
from vector_constants import VECTOR_FUNCTIONS, vector_constants  # noqa: E402

from gradwalk.base import ieee  # noqa: E402
from gradwalk.ops.compiled.templates import OPERANDS as TEMPLATE_OPERANDS  # noqa: E402
from gradwalk.ops.compiled.templates import TOTAL, Template, expansion, taken_apart  # noqa: E402
from gradwalk.ops.definitions import DEFINITIONS  # noqa: E402
from gradwalk.ops.formula import (  # noqa: E402
    Formula,
    as_formula,
    computed,
    evaluated,
    is_choice_of_numbers,
    name,
    substituted,
    variables,
)
from gradwalk.ops.printing.printers import C_HELPERS, IN_C, c, python, text  # noqa: E402
from gradwalk.ops.printing.statements import javascript_body, lane_body, local_variables, python_body  # noqa: E402
from gradwalk.ops.rows import Fused, Gather, Operation, Reduction, is_arithmetic  # noqa: E402
from gradwalk.ops.table import FUSED, GATHERS, GRAPH_ROWS, REDUCTIONS, ROWS, TABLE, VARIADIC  # noqa: E402

Lines = Iterator[str]
Row = Operation | Reduction | Gather | Fused

OPERANDS = "xyz"
EXAMPLE = {"x": 0.5, "y": 2.0, "z": 3.0}  # operands for the examples in docstrings
EXAMPLE_SEQUENCES = ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
LONGEST_LINE = 100

# What formulas are evaluated with: definitions from their formulas, for ieee.py may not have them yet.
DEFINED = {
    function: lambda x, formula=formula: evaluated(formula, {"x": x}, ieee) for function, formula in DEFINITIONS.items()
}
FUNCTIONS = SimpleNamespace(**{**vars(ieee), **DEFINED})
# Functions of gradwalk.math that take other operands than their rows, too. See functions/extended.py.
WRITTEN_BY_HAND = ("hypot", "log", "maximum", "minimum")
COMMUTATIVE = (OPCODES["add"], OPCODES["mul"])


# Python and Cython: ieee.py and ieee.pxd


def definitions() -> Lines:
    """The block of ieee.py: the functions of definitions.py."""
    for function, formula in DEFINITIONS.items():
        yield from ("", "", f"def {function}(x: float) -> float:")
        yield f'    """Return {function} of a number; see definitions.py.'
        yield from ("", "    Args:", "        x: Any float.", "", "    Returns:", "        The value.", '    """')
        yield from (f"    {line.replace('ieee.', '')}" for line in python_body(formula))
    yield from ("", "")


def compiled_definitions() -> Lines:
    """The block of ieee.pxd: the same."""
    for function, formula in DEFINITIONS.items():
        body = [line.replace("ieee.", "") for line in python_body(formula)]
        yield from ("", "", f"cdef inline double {function}(double x) noexcept nogil:")
        for locals_of_a_line in textwrap.wrap(", ".join(local_variables(body)), 100):
            yield f"    cdef double {locals_of_a_line.removesuffix(',')}"
        yield from (f"    {line}" for line in body)
    yield from ("", "")


# Python: evaluate.py


def evaluate() -> Lines:
    """The block of evaluate.py: names, values and partials by opcode."""
    yield from _constants()
    yield from _value_function()
    yield from _partial_function()
    yield from _variadic_value_function()
    yield from _replace_by_partials_function()
    yield from _facts()
    yield from _fused_function()


def _constants() -> Lines:
    yield f"OPERATORS = frozenset(({', '.join(str(OPCODES[row.name]) for row in TABLE if row.operator)}))"
    yield f"FUSED = ({', '.join(str(OPCODES[row.name]) for row in FUSED)})"
    yield "# A character for each opcode: 0 plus the number of operands if it is fixed, plus 4 for rows with constant"
    yield "# partials, plus 8 for rows that are finite where their operands are."
    yield from ("_FACTS = cython.declare(", "    cython.p_char,", f'    b"{_facts_by_opcode()}",', ")")
    yield "ARITIES = tuple(_FACTS[opcode] & 3 for opcode in range(len(_FACTS)))"


def _facts_by_opcode() -> str:
    """A character for each opcode, from `0` to `?`."""
    facts = {OPCODES[row.name]: row.arity for row in ROWS}
    for row in TABLE:
        has_constants = all(is_choice_of_numbers(row.partial(i)) for i in range(row.arity))
        facts[OPCODES[row.name]] += 4 * has_constants + 8 * _is_tame(row)
    return "".join(chr(ord("0") + facts.get(opcode, 0)) for opcode in range(1 + max(OPCODES.values())))


def _value_function() -> Lines:
    yield from _c_function("value(opcode: cython.int, x: cython.double, y: cython.double, z: cython.double)", "double")
    yield '    """Return the value of a row for its operands; those that it does not take are ignored."""'
    for row in TABLE:
        yield from _case(row, "    ")
        yield f"        return {python(row.forward)}"
    yield "    return 0.0"


def _partial_function() -> Lines:
    parameters = ["opcode: cython.int", "position: cython.int", *(f"{x}: cython.double" for x in (*OPERANDS, "out"))]
    signature = "".join(f"    {parameter},\n" for parameter in parameters)
    yield from _c_function(f"partial(\n{signature})", "double")
    yield '    """Return the derivative of a row with respect to the operand at a position, given its result `out`."""'
    yield from (f"    {local}: cython.double" for local in _locals_of_partials())
    for row in TABLE:
        yield from _case(row, "    ")
        for position in range(row.arity - 1):
            yield f"        if position == {position}:"
            yield from _returned(computed(row.partial(position)), "            ")
        yield from _returned(computed(row.partial(row.arity - 1)), "        ")
    yield "    return 0.0"


def _returned(formula: Formula, indent: str) -> Lines:
    """The statements that return a formula: one where that fits into a line."""
    line = f"{indent}return {python(formula)}"
    if len(line) <= LONGEST_LINE:
        yield line
    else:
        yield from (indent + line for line in python_body(formula))


def _locals_of_partials() -> list[str]:
    """The local variables that partials need, by number."""
    partials = [computed(row.partial(position)) for row in TABLE for position in range(row.arity)]
    lines = [line.strip() for partial in partials for line in _returned(partial, "        ")]
    return sorted(local_variables(lines), key=lambda local: int(local[1:]))


def _variadic_value_function() -> Lines:
    signature = "variadic_value(opcode: cython.int, operands: cython.p_double, count: cython.Py_ssize_t)"
    yield from _c_function(signature, "double")
    yield '    """Return the value of a row that takes any number of operands, for so many of them."""'
    yield "    total: cython.double = 0.0"
    yield from _element_variables()
    for row in REDUCTIONS:
        yield from _case(row, "    ", first=REDUCTIONS[0])
        yield f"        total = {'operands[0]' if row.starts else python(as_formula(row.first))}"
        yield from _element_loop(row, variables(row.step))
        yield f"            total = {python(row.step)}"
    for gather in GATHERS:
        yield from _case(gather, "    ")
        yield "        i = position_of(operands[0], count - 1)"
        yield "        total = operands[1 + i] if i >= 0 else NAN"
    yield "    return total"


def _replace_by_partials_function() -> Lines:
    parameters = ["opcode: cython.int", "operands: cython.p_double", "count: cython.Py_ssize_t", "out: cython.double"]
    signature = "".join(f"    {parameter},\n" for parameter in parameters)
    yield from _c_function(f"replace_by_partials(\n{signature})", "void")
    yield '    """Replace the operands of a variadic row, whose result is `out`, by the derivatives."""'
    yield from _element_variables()
    for row in REDUCTIONS:
        partials = [as_formula(partial) for partial in row.partials]
        yield from _case(row, "    ", first=REDUCTIONS[0])
        if row.start_partial is not None:
            yield f"        operands[0] = {python(as_formula(row.start_partial))}"
        yield from _element_loop(row, {variable for partial in partials for variable in variables(partial)})
        for index, partial in zip(_indices(row), partials, strict=True):
            yield f"            operands[{index}] = {python(partial)}"
    for gather in GATHERS:
        yield from _case(gather, "    ")
        yield "        n = position_of(operands[0], count - 1)"
        yield "        for i in range(count):"
        yield "            operands[i] = 0.0 if i == 0 else NAN if n < 0 else 1.0 if i == n + 1 else 0.0"


def _element_variables() -> Lines:
    for operand in OPERANDS[: max(row.groups for row in REDUCTIONS)]:
        yield f"    {operand}: cython.double"
    yield "    n: cython.Py_ssize_t"
    yield "    i: cython.Py_ssize_t"


def _element_loop(row: Reduction, used: Collection[str]) -> Lines:
    """A loop over the elements of a reduction, in which x, y and z are the operands of the element if they are used."""
    given = f"(count - {row.starts})" if row.starts else "count"
    yield f"        n = {given} // {row.groups}" if row.groups > 1 else f"        n = {given.strip('()')}"
    yield f"        for i in range({f'{row.starts}, {row.starts} + n' if row.starts else 'n'}):"
    for operand, index in zip(OPERANDS, _indices(row), strict=False):
        if operand in used:
            yield f"            {operand} = operands[{index}]"


def _indices(row: Reduction) -> list[str]:
    """The index of the operand of each sequence in the element of the first sequence's operand at index i."""
    return ["i", "i + n", "i + 2 * n"][: row.groups]


def _facts() -> Lines:
    """What the sweeps have to know of a row, besides its numbers."""
    yield from _c_function("selects(opcode: cython.int)", "bint")
    yield '    """Return whether a row leaves operands out: a partial of 0 then passes nothing, not 0 · inf = nan."""'
    selecting = [str(OPCODES[row.name]) for row in TABLE if row.selects or row.non_differentiable]
    selecting += [str(OPCODES[row.name]) for row in VARIADIC if row.selects]
    yield f"    return opcode in ({', '.join(selecting)})"
    yield from _c_function("is_tame(opcode: cython.int)", "bint")
    yield '    """Return whether a row has finite numbers and partials where its operands are finite and not huge."""'
    yield "    return opcode > 0 and _FACTS[opcode] & 8 != 0"
    yield from _c_function("has_constant_partials(opcode: cython.int)", "bint")
    yield '    """Return whether the partials of a row are constants, or choices among constants."""'
    yield "    return opcode > 0 and _FACTS[opcode] & 4 != 0"
    yield from _c_function("non_differentiable(opcode: cython.int)", "int")
    yield '    """Return the operands that never get a gradient, as bits: bit i for the operand at position i."""'
    for row in GRAPH_ROWS:
        if row.non_differentiable:
            yield f"    if opcode == {OPCODES[row.name]}:  # {row.name}"
            yield f"        return {sum(1 << position for position in row.non_differentiable)}"
    yield "    return 0"
    yield from _fusion_function()
    yield from _c_function("is_variadic(opcode: cython.int)", "bint")
    yield '    """Return whether the opcode is that of a row for any number of operands."""'
    yield f"    return opcode in ({', '.join(str(OPCODES[row.name]) for row in VARIADIC)})"
    yield from _c_function("is_scalar(opcode: cython.int)", "bint")
    yield '    """Return whether the opcode is that of a row for one, two or three operands that is not fused."""'
    yield f"    return arity(opcode) > 0 and opcode not in ({', '.join(str(OPCODES[row.name]) for row in FUSED)})"
    yield from _c_function("arity(opcode: cython.int)", "int")
    yield '    """Return the number of operands; 0 for leaves, variadic rows and calls, which have no fixed one."""'
    yield "    return _FACTS[opcode] & 3 if opcode > 0 else 0"


def _is_tame(row: Operation) -> bool:
    """Whether a row's number and partials are finite at 0, ±1 and where exponentials overflow, for each operand."""
    for point in itertools.product((-3000.0, -1.0, 0.0, 1.0, 3000.0), repeat=row.arity):
        values = dict(zip(TEMPLATE_OPERANDS, point, strict=False))
        values["out"] = evaluated(row.forward, values, ieee)
        partials = [evaluated(row.partial(position), values, ieee) for position in range(row.arity)]
        if not all(map(math.isfinite, (values["out"], *partials))):
            return False
    return True


def _fusion_function() -> Lines:
    yield from _c_function("fusion(opcode: cython.int, position: cython.int, inner: cython.int)", "int")
    yield '    """Return the instruction that fuses a row with that of an operand, by position; 0 if there is none."""'
    for row in FUSED:
        inner, outer = taken_apart(row).instructions
        place = "" if outer.opcode in COMMUTATIVE else f" and position == {outer.operands.index(0)}"
        yield f"    if opcode == {outer.opcode} and inner == {inner.opcode}{place}:  # {row.name}"
        yield f"        return {OPCODES[row.name]}"
    yield "    return 0"


def _fused_function() -> Lines:
    yield from ("", "")
    yield "def fused(opcode: cython.int, x: Any, y: Any, z: Any) -> Any:"
    yield '    """Return the value of a fused instruction, for any operands that have +, - and *: Values, or arrays."""'
    for row in FUSED:
        yield from _case(row, "    ", first=FUSED[0])
        yield f"        return {python(row.forward)}"
    yield '    raise ValueError(f"{opcode} is no fused instruction")'
    yield from ("", "")


def _c_function(signature: str, result: str) -> Lines:
    """The head of a function that compiled modules call as a function of C."""
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(check=False)")
    yield f"def {signature} -> cython.{result}:"


def _case(row: Row, indent: str, first: Row = TABLE[0]) -> Lines:
    """The test of an opcode, as one of a chain that is a switch when compiled."""
    yield f"{indent}{'if' if row == first else 'elif'} opcode == {OPCODES[row.name]}:  # {row.name}"


# Python: load.py, interpreter.py, value.py and math.py


def expansions() -> Lines:
    """The block of load.py: what reductions and fused instructions are expanded into, by opcode."""
    store = "store: InstructionStore, opcode: cython.int"
    operands = "".join(f", {operand}: cython.int" for operand in OPERANDS)
    yield from _index_function(f"_first({store})", "Append the total of a reduction before its first element.")
    yield from _expanded_cases(REDUCTIONS, [expansion(row)[0] for row in REDUCTIONS])
    signature = f"_stepped(\n    {store}, total: cython.int{operands}\n)"
    yield from _index_function(signature, "Append a step of a reduction.")
    yield from _expanded_cases(REDUCTIONS, [expansion(row)[1] for row in REDUCTIONS])
    yield from _index_function(f"_unfused({store}{operands})", "Append a fused instruction as two rows.")
    yield from _expanded_cases(FUSED, [taken_apart(row) for row in FUSED])
    yield from _c_function("_groups(opcode: cython.int)", "int")
    yield '    """Return the number of sequences that a reduction takes."""'
    for row in REDUCTIONS:
        yield from _case(row, "    ", first=REDUCTIONS[0])
        yield f"        return {row.groups}"
    yield "    return 1"
    yield from _c_function("_starts(opcode: cython.int)", "int")
    yield '    """Return the number of operands before the first sequence, which is 1 where there is a start."""'
    for row in REDUCTIONS:
        yield from _case(row, "    ", first=REDUCTIONS[0])
        yield f"        return {row.starts}"
    yield "    return 0"
    yield from ("", "")


def _index_function(signature: str, docstring: str) -> Lines:
    """The head of a function of C that returns an index on the tape."""
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(-1)", f"def {signature} -> cython.int:")
    yield f'    """{docstring}"""'


def _expanded_cases(rows: Sequence[Row], templates: list[Template]) -> Lines:
    """The instructions that each row appends, and the index of the last one's result."""
    yield from (f"    v{i}: cython.int" for i in range(max(len(template.instructions) for template in templates)))
    for row, template in zip(rows, templates, strict=True):
        yield from _case(row, "    ", first=rows[0])
        yield from _instantiated(template)
    yield "    return _none"


def _instantiated(template: Template) -> Lines:
    """The instructions of a template, appended to the tape; what they refer to has the names of the formulas."""
    names = {**{reference: operand for operand, reference in TEMPLATE_OPERANDS.items()}, TOTAL: "total"}
    for index, (opcode, operands, number) in enumerate(template.instructions):
        names[index] = f"v{index}"
        given = [names[operand] for operand in operands] + ["0"] * (3 - len(operands))
        call = f"emit(store, {opcode}, {', '.join(given)})"
        code = f"simplify.{call}" if opcode else f"store.intern_constant({number!r})"
        yield f"        v{index} = {code}"
    yield f"        return {names[template.result]}"


def reductions() -> Lines:
    """The block of value.py: a function for each reduction."""
    for row in REDUCTIONS:
        opcode, parameters = OPCODES[row.name], row.parameters
        signature = ", ".join(f"{parameter}: Iterable[Any]" for parameter in parameters)
        default = f", start: Any = {python(as_formula(row.first))}" if row.starts else ""
        yield from ("", "")
        yield f"def {row.name}({signature}{default}) -> Any:"
        yield from _reduction_docstring(row)
        names = [f"all_{parameter}" for parameter in parameters]
        for parameter, listed in zip(parameters, names, strict=True):
            yield f"    {listed} = _listed({parameter})"
        for listed in names[1:]:
            yield f"    if len({names[0]}) != len({listed}):"
            yield f"        raise variadic.unequal({json.dumps(row.name)}, [{', '.join(names)}])"
        start = "start, " if row.starts else ""
        yield f"    return _variadic({opcode}, [{start}{', '.join('*' + listed for listed in names)}])"
    yield from ("", "")


def _reduction_docstring(row: Reduction) -> Lines:
    indexed = {operand: name(f"{p}[i]") for operand, p in zip(OPERANDS, row.parameters, strict=False)}
    yield f'    """Return {row.words}, as one node.'
    yield ""
    for parameter, partial in zip(row.parameters, row.partials, strict=True):
        yield f"    d/d{parameter}[i] = {text(substituted(as_formula(partial), indexed))}"
    if row.start_partial is not None:
        yield f"    d/dstart = {text(as_formula(row.start_partial))}"
    yield from ("", "    Args:")
    yield from (f"        {parameter}: `Value`s and real numbers." for parameter in row.parameters)
    if row.starts:
        yield "        start: A `Value` or a real number."
    yield from ("", "    Returns:", "        A new `Value`, or a float if no operand is a `Value`.", "", "    Raises:")
    yield "        TypeError: If an operand is neither a `Value` nor a real number."
    if row.groups > 1:
        yield "        ValueError: If the sequences differ in length."
    yield from ("", "    Example:")
    total = evaluated(as_formula(row.first), {}, ieee)
    for element in zip(*EXAMPLE_SEQUENCES[: row.groups], strict=True):
        total = evaluated(row.step, {"total": total, **dict(zip(OPERANDS, element, strict=False))}, ieee)
    called = f"{row.name}({', '.join(map(str, EXAMPLE_SEQUENCES[: row.groups]))})"
    yield from (f"        {line}" for line in _example(called, total))
    yield '    """'


def imports() -> Lines:
    """The block of math.py that imports the reductions."""
    names = sorted(row.name for row in REDUCTIONS)
    yield from (f"from gradwalk.value.value import {name} as {name}" for name in names)
    yield ""


def run() -> Lines:
    """The block of interpreter.py: what an instruction computes, by opcode."""
    commonest = FUSED[0]
    fields = {operand: name(f"value[code[k + {i}]]") for i, operand in enumerate(OPERANDS, start=1)}
    yield "        # The commonest instruction comes before the switch: the processor then predicts branches better."
    yield from _case(commonest, "        ", first=commonest)
    yield f"            value[index] = {python(substituted(commonest.forward, fields))}"
    yield "            index += 1"
    yield "            continue"
    yield from (f"        {operand} = {field.atom}" for operand, field in fields.items())
    for row in [row for row in ROWS if row != commonest]:
        yield from _case(row, "        ")
        yield f"            out = {python(row.forward)}"


def methods() -> Lines:
    """The block in the body of `Value`: operators and methods."""
    for row in TABLE:
        opcode = OPCODES[row.name]
        if row.operator and row.arity == 1:
            yield from (f"    def __{row.operator}__(self) -> Value:", f"        return _unary({opcode}, self)", "")
        elif row.operator == "pow":
            yield from _power(opcode)
        elif row.operator:
            yield from _binary_operator(opcode, row)
        if row.is_function:
            yield from _method(opcode, row)


def _binary_operator(opcode: int, row: Operation) -> Lines:
    """An operator, with the row's own formulas where both operands are Values: the speed of chains depends on it."""
    yield f"    def __{row.operator}__(self, other: Value | float) -> Value:"
    yield "        if isinstance(other, Value):"
    yield "            x: cython.double = self._primal"
    yield "            y: cython.double = cython.cast(Value, other)._primal"
    yield f"            out: cython.double = {python(row.forward)}"
    yield f"            return _node({opcode}, self, other, out, {python(row.partial(0))}, {python(row.partial(1))})"
    yield f"        return _binary({opcode}, self, other)"
    yield ""
    yield f"    def __r{row.operator}__(self, other: Value | float) -> Value:"
    yield f"        return _binary({opcode}, other, self)"
    yield ""


def _power(opcode: int) -> Lines:
    """Python's power takes a modulus, which real numbers do not have."""
    for reflected, operands in (("", "self, other"), ("r", "other, self")):
        yield f"    def __{reflected}pow__(self, other: Value | float, modulus: None = None) -> Value:"
        yield "        if modulus is not None:"
        yield '            raise TypeError("pow() of a Value takes no modulus")'
        yield f"        return _binary({opcode}, {operands})"
        yield ""


def _method(opcode: int, row: Operation) -> Lines:
    """A method under the name of the row, and under that of the ufunc, by which NumPy calls it for arrays of Values."""
    others = OPERANDS[1 : row.arity]
    parameters = "".join(f", {other}: Value | float" for other in others)
    for method in dict.fromkeys([row.name, row.ufunc or row.name]):
        if row.operator and method != row.name:
            continue
        yield f"    def {method}(self{parameters}) -> Value:"
        called = f"Value({EXAMPLE['x']}).{method}({', '.join(str(EXAMPLE[other]) for other in others)}).data"
        yield from _docstring(row, "        ", others, "A new `Value`.", called)
        if others:
            yield f"        result: Value = apply({opcode}, self, {', '.join(others)})"
            yield "        return result"
        else:
            yield f"        return _unary({opcode}, self)"
        yield ""


def functions() -> Lines:
    """The block of math.py."""
    for row in TABLE:
        if row.is_function and row.name not in WRITTEN_BY_HAND:
            operands = OPERANDS[: row.arity]
            scalar = "Scalar" if row.arity == 1 else "Scalar | float"
            yield from ("", "")
            yield f"def {row.name}({', '.join(f'{x}: {scalar}' for x in operands)}) -> Scalar:"
            result = "A new `Value`, or a float if no operand is a `Value`."
            called = f"{row.name}({', '.join(str(EXAMPLE[operand]) for operand in operands)})"
            yield from _docstring(row, "    ", operands, result, called)
            yield f"    result: Scalar = apply({OPCODES[row.name]}, {', '.join(operands)})"
            yield "    return result"
    yield from ("", "")


def _docstring(row: Operation, indent: str, parameters: str, result: str, called: str) -> Lines:
    """The docstring of a method or function: what it computes, its derivatives, its parameters, its result, a call."""
    first = row.words.split()[0]
    begins_with_a_word = len(first) > 1 and "(" not in first
    lines = [f'"""{row.words[0].upper() + row.words[1:] if begins_with_a_word else row.words}.', ""]
    lines += [f"d/d{operand} = {text(row.partial(i))}" for i, operand in enumerate(OPERANDS[: row.arity])]
    if parameters:
        lines += ["", "Args:", *(f"    {parameter}: A `Value` or a real number." for parameter in parameters)]
    lines += ["", "Returns:", f"    {result}", "", "Example:"]
    lines += [f"    {line}" for line in _example(called, evaluated(row.forward, EXAMPLE, FUNCTIONS))]
    yield from (f"{indent}{line}".rstrip() for line in [*lines, '"""'])


def _example(called: str, number: float) -> Lines:
    """A doctest. The last bits of a number may differ from one C library to the next, so it is rounded."""
    rounded = round(number, 6)
    yield f">>> {called}" if rounded == number else f">>> round({called}, 6)"
    yield repr(rounded)


# C: lanes.h and lane_loops.h


def instructions() -> Lines:
    """The block of lanes.h: the numbers of the instructions that it knows by name."""
    known = [*(row.name for row in GATHERS), "muladd", *SCHEDULED]
    yield f"enum {{ {', '.join(f'{name.upper()} = {OPCODES[name]}' for name in known)} }};"


def lanes() -> Lines:
    """The block of lane_loops.h: a loop for each form of each operation."""
    for row in ROWS:
        value = c(row.forward)
        if value in {f"{function}(x)" for function in VECTOR_FUNCTIONS}:
            yield f"        FUNCTION({OPCODES[row.name]}, {row.name})"
            continue
        form = ("ONE", "TWO", "THREE")[row.arity - 1]
        yield f"        {form}({OPCODES[row.name]}, {_for_lanes(value)}) /* {row.name} */"


def rows() -> Lines:
    """The block of row_loops.h: the forms of each operation that vectors compute with the same bits."""
    for row in ROWS:
        if is_arithmetic(row):
            form = ("ONE", "TWO", "THREE")[row.arity - 1]
            yield f"        {form}({OPCODES[row.name]}, {c(row.forward)}) /* {row.name} */"


def _for_lanes(code: str) -> str:
    """C for a macro's type of number: its constants and its functions."""
    code = re.sub(r"\b(\d[\d.]*(?:e[-+]?\d+)?)", r"R(\1)", code)
    return re.sub(r"\b([a-z]\w*)\(", _lane_function, code)


def _lane_function(call: re.Match[str]) -> str:
    """A function of C's library by its name for the type, a macro of lane_loops.h for a helper, or a definition."""
    if call[1] in C_HELPERS:
        return f"{call[1].upper()}("
    if call[1] in VECTOR_FUNCTIONS:
        return f"V({call[1]})("
    return f"NAME({call[1]})(" if call[1] in map(IN_C.get, DEFINITIONS) else f"F({call[1]})("


def lane_definitions() -> Lines:
    """The block of lane_loops.h before the loops: the functions of definitions.py."""
    for function, formula in DEFINITIONS.items():
        yield f"static inline REAL NAME({IN_C[function]})(REAL x) {{"
        yield from (f"    {_for_lanes(line)}" for line in lane_body(formula))
        yield "}"


# The reference


def page_definitions() -> Lines:
    """The block of ieee.js: the functions of definitions.py."""
    for function, formula in DEFINITIONS.items():
        yield ""
        yield "/** @param {number} x */"
        yield f"export function {function}(x) {{"
        yield from (f"  {line.replace('ieee.', '')}" for line in javascript_body(formula))
        yield "}"
    yield ""


def reference() -> Lines:
    """The table of docs/operations.md."""
    yield ""
    yield "| name | symbol | value | d out / dx | d out / dy | d out / dz | what it is |"
    yield "|---|---|---|---|---|---|---|"
    for row in TABLE:
        partials = [f"`{text(row.partial(position))}`" for position in range(row.arity)] + [""] * (3 - row.arity)
        yield f"| `{row.name}` | `{row.symbol}` | `{text(row.forward)}` | {' | '.join(partials)} | {row.words} |"
    yield ""
    yield "Reductions take any number of operands, of which `x` and `y` are those of one element, and make one node."
    yield "Each starts with a total and changes it by one element after the other."
    yield ""
    yield "| function | first total | next total | d out / dx | d out / dy | d out / dstart | what it is |"
    yield "|---|---|---|---|---|---|---|"
    for reduction in REDUCTIONS:
        yield _reference_of(reduction)
    yield ""
    yield "An index, which may be data, picks one of the numbers of a table."
    yield ""
    yield "| function | d out / dvalues[i] | d out / dindex | what it is |"
    yield "|---|---|---|---|"
    for gather in GATHERS:
        yield f"| `{gather.name}(values, index)` | `1 if i = index, else 0` | `0` | {gather.words} |"
    yield ""


def _reference_of(row: Reduction) -> str:
    """A row of the table of reductions."""
    first = text(as_formula(row.first))
    signature = f"{row.name}({', '.join(row.parameters)}{f', start={first}' if row.starts else ''})"
    derivatives = [text(as_formula(partial)) for partial in row.partials] + [""] * (2 - row.groups)
    derivatives.append("" if row.start_partial is None else text(as_formula(row.start_partial)))
    cells = [signature, "start" if row.starts else first, text(row.step), *derivatives]
    return f"| {' | '.join(f'`{cell}`' if cell else '' for cell in cells)} | {row.words} |"


# Writing

BLOCKS: list[tuple[str, Callable[[], Lines]]] = [
    ("src/gradwalk/__init__.py", public_names),
    ("src/gradwalk/base/ieee.py", definitions),
    ("src/gradwalk/base/ieee.pxd", compiled_definitions),
    ("src/gradwalk/ops/compiled/evaluate.py", evaluate),
    ("src/gradwalk/value/value.py", methods),
    ("src/gradwalk/value/value.py", reductions),
    ("src/gradwalk/program/instructions/load.py", expansions),
    ("src/gradwalk/program/run/interpreter.py", run),
    ("src/gradwalk/program/run/rows/row_loops.h", rows),
    ("src/gradwalk/backend/cpu/lanes.h", instructions),
    ("src/gradwalk/backend/cpu/vector_functions.h", vector_constants),
    ("src/gradwalk/backend/cpu/lane_loops.h", lane_definitions),
    ("src/gradwalk/backend/cpu/lane_loops.h", lanes),
    ("src/gradwalk/math.py", imports),
    ("src/gradwalk/math.py", functions),
    ("docs/operations.md", reference),
    ("web/src/core/ieee.js", page_definitions),
]
FILES: list[tuple[str, Callable[[], Lines]]] = [
    ("src/gradwalk/ops/compiled/opcodes.py", lambda: opcode_file(OPCODES)),
    ("web/src/core/table.js", page),
]


def main() -> int:
    """Write the files, or check them; the exit code."""
    if wrong := problems(ROOT):
        print("generate.py refuses ops/table.py:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    checking = "--check" in sys.argv
    stale = []
    for described, file, new in _generated():
        path = ROOT / file
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            stale.append(described)
            if not checking:
                path.write_text(new, encoding="utf-8")
    if stale and checking:
        print("out of date:", ", ".join(stale), "- run: python tools/generate.py", file=sys.stderr)
    if not checking and (steps := [*remaining_steps(ROOT)]):
        print("what remains to be done by hand:", *steps, sep="\n  ")
    return 1 if stale and checking else 0


def _generated() -> Iterator[tuple[str, str, str]]:
    """What each block or file is called, where it stands, and its new text. A file may have several blocks."""
    for file, block in BLOCKS:
        old = (ROOT / file).read_text(encoding="utf-8")
        content = "\n".join(block()).lstrip("\n")
        yield f"{file} ({block.__name__})", file, _with_block(old, block.__name__, content)
    for file, whole in FILES:
        yield file, file, "\n".join(whole()) + "\n"


def _with_block(file: str, block: str, content: str) -> str:
    # Up to the first end mark: a lost mark must not cost the code between two blocks.
    pattern = rf"(generated by tools/generate\.py from \S+: {block} -[^\n]*\n).*?([^\n]*- end of generated code -)"
    if not re.search(pattern, file, re.S):
        sys.exit(f"generate.py: no block '{block}' to write into")
    return re.sub(pattern, lambda match: match.group(1) + content + "\n" + match.group(2), file, count=1, flags=re.S)


if __name__ == "__main__":
    sys.exit(main())
