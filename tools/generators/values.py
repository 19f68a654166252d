"""Generate the public functions: the operators and methods of `Value`, and the functions of `gradwalk.math`."""

from __future__ import annotations

import json

from generators.common import EXAMPLE, FUNCTIONS, OPERANDS, Lines, cython_imports, docstring, example, header
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.formula import as_formula, evaluated, name, substituted
from gradwalk.ops.printing.printers import python, text
from gradwalk.ops.rows import Operation, Reduction
from gradwalk.ops.table import REDUCTIONS, TABLE

EXAMPLE_SEQUENCES = ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])
# Functions of gradwalk.math that also take other operands than the operation. See functions/extended.py.
WRITTEN_BY_HAND = ("hypot", "log", "maximum", "minimum")


def methods() -> Lines:
    """Yield the lines of methods.py."""
    yield from header("the operators and methods of `Value`.")
    yield "from typing import TYPE_CHECKING, Self"
    yield ""
    yield "from gradwalk.base import _cython as cython"
    yield "from gradwalk.base import c_compat, ieee"
    yield "from gradwalk.value import apply"
    yield "from gradwalk.value.node import ValueNode"
    yield ""
    yield from cython_imports()
    yield from ("", "", "@cython.no_gc", "@cython.cclass", "class Methods(ValueNode):")
    yield '    """The operators and methods of all operations in the table. `Value` inherits from this class."""'
    yield from ("", "    __slots__ = ()")
    yield from _methods()


def _methods() -> Lines:
    for row in TABLE:
        opcode = OPCODES[row.name]
        if row.operator and row.arity == 1:
            yield from (
                "",
                f"    def __{row.operator}__(self) -> Self:",
                f"        return apply.unary({opcode}, self)",
            )
        elif row.operator == "pow":
            yield from _power(opcode)
        elif row.operator:
            yield from _binary_operator(opcode, row)
        if row.is_function:
            yield from _method(opcode, row)


def _binary_operator(opcode: int, row: Operation) -> Lines:
    """Yield an operator. For two Values the operation's formulas are inlined, which speeds up long chains."""
    yield ""
    yield f"    def __{row.operator}__(self, other: ValueNode | float) -> Self:"
    yield "        if c_compat.is_kind(other, ValueNode):"
    yield "            x: cython.double = self._primal"
    yield "            y: cython.double = cython.cast(ValueNode, other)._primal"
    yield f"            out: cython.double = {python(row.forward)}"
    partials = ", ".join(python(row.partial(position)) for position in (0, 1))
    yield f"            return apply.new_node({opcode}, self, cython.cast(ValueNode, other), out, {partials})"
    yield f"        return apply.binary({opcode}, self, other)"
    yield ""
    yield f"    def __r{row.operator}__(self, other: ValueNode | float) -> Self:"
    yield f"        return apply.binary({opcode}, other, self)"


def _power(opcode: int) -> Lines:
    """Yield the power operator, which must accept Python's third argument, the modulus, in order to refuse it."""
    for reflected, operands in (("", "self, other"), ("r", "other, self")):
        yield ""
        yield f"    def __{reflected}pow__(self, other: ValueNode | float, modulus: None = None) -> Self:"
        yield "        if modulus is not None:"
        yield '            raise TypeError("pow() of a Value does not support a modulus")'
        yield f"        return apply.binary({opcode}, {operands})"


def _method(opcode: int, row: Operation) -> Lines:
    """Yield a method under the operation's name, and under the ufunc's name, which NumPy calls for object arrays."""
    others = OPERANDS[1 : row.arity]
    parameters = "".join(f", {other}: ValueNode | float" for other in others)
    for method in dict.fromkeys([row.name, row.ufunc or row.name]):
        if row.operator and method != row.name:
            continue
        yield from ("", f"    def {method}(self{parameters}) -> Self:")
        called = f"Value({EXAMPLE['x']}).{method}({', '.join(str(EXAMPLE[other]) for other in others)}).data"
        yield from docstring(row, "        ", others, "A new `Value`.", called)
        if others:
            yield f"        result: Self = apply.apply({opcode}, self, {', '.join(others)})"
            yield "        return result"
        else:
            yield f"        return apply.unary({opcode}, self)"


def functions() -> Lines:
    """Yield the lines of pointwise.py."""
    yield from header("functions of numbers, Values and arrays.")
    yield "from typing import TypeVar"
    yield ""
    yield "from gradwalk.value.apply import apply"
    yield "from gradwalk.value.value import Value"
    yield ""
    names = [row.name for row in TABLE if row.is_function and row.name not in WRITTEN_BY_HAND]
    yield "__all__ = [  # noqa: RUF022  in the order of the table"
    yield from (*(f"    {json.dumps(name)}," for name in names), "]")
    yield from ("", 'Scalar = TypeVar("Scalar", float, Value)')
    for row in TABLE:
        if row.is_function and row.name not in WRITTEN_BY_HAND:
            operands = OPERANDS[: row.arity]
            scalar = "Scalar" if row.arity == 1 else "Scalar | float"
            yield from ("", "")
            yield f"def {row.name}({', '.join(f'{x}: {scalar}' for x in operands)}) -> Scalar:"
            result = "A new `Value`, or a float if no operand is a `Value`."
            called = f"{row.name}({', '.join(str(EXAMPLE[operand]) for operand in operands)})"
            yield from docstring(row, "    ", operands, result, called)
            yield f"    result: Scalar = apply({OPCODES[row.name]}, {', '.join(operands)})"
            yield "    return result"


def reductions() -> Lines:
    """Yield the lines of reductions.py."""
    yield from header("functions of sequences that create a single node.")
    yield "from collections.abc import Iterable"
    yield "from typing import TYPE_CHECKING, Any"
    yield ""
    yield "from gradwalk.base import _cython as cython"
    yield "from gradwalk.value import apply, variadic"
    yield ""
    yield from cython_imports()
    yield ""
    yield f"__all__ = {json.dumps(sorted(row.name for row in REDUCTIONS))}"
    for row in REDUCTIONS:
        opcode, parameters = OPCODES[row.name], row.parameters
        signature = ", ".join(f"{parameter}: Iterable[Any]" for parameter in parameters)
        default = f", start: Any = {python(as_formula(row.first))}" if row.starts else ""
        yield from ("", "")
        yield f"def {row.name}({signature}{default}) -> Any:"
        yield from _reduction_docstring(row)
        names = [f"all_{parameter}" for parameter in parameters]
        for parameter, listed in zip(parameters, names, strict=True):
            yield f"    {listed} = apply.listed({parameter})"
        for listed in names[1:]:
            yield f"    if len({names[0]}) != len({listed}):"
            yield f"        raise variadic.unequal({json.dumps(row.name)}, [{', '.join(names)}])"
        start = "start, " if row.starts else ""
        yield f"    return apply.variadic_node({opcode}, [{start}{', '.join('*' + listed for listed in names)}])"


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
    total = evaluated(as_formula(row.first), {}, FUNCTIONS)
    for element in zip(*EXAMPLE_SEQUENCES[: row.groups], strict=True):
        total = evaluated(row.step, {"total": total, **dict(zip(OPERANDS, element, strict=False))}, FUNCTIONS)
    called = f"{row.name}({', '.join(map(str, EXAMPLE_SEQUENCES[: row.groups]))})"
    yield from (f"        {line}" for line in example(called, total))
    yield '    """'
