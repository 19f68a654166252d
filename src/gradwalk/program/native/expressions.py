"""Print formulas as LLVM instructions, for one sample (scalars) or for several samples at once (lanes).

Unless `contract` is set, LLVM may not fuse or reorder operations. Functions such as `exp` get names that LLVM does not
recognize. So results are bitwise equal to the results of the same formula in C.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy

from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, Functions, computed, equal, functions, name, where
from gradwalk.ops.table import ROWS

PREFIX = "libm_"  # prefix of functions that are called by address
VARIABLES = ("x", "y", "z")

_x, _y = name("x"), name("y")
_f = Functions()
_ROWS = {OPCODES[row.name]: row for row in ROWS}

_INTRINSICS = ("fabs", "sqrt", "copysign")
# Functions that round to whole numbers. Their results are exact. They are LLVM intrinsics in lane code and calls of the
# C library in scalar code.
_ROUNDINGS = ("floor", "ceil", "trunc", "rint")
_COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq"}
_ARITHMETIC = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_CONDITIONS = {*_COMPARISONS, "and"}

_remainder = _f.fmod(_x, _y)
_is_on_other_side = where(name("m") < 0, where(_y < 0, 0, 1), where(_y < 0, 1, 0))
_quotient = (_x - name("m")) / _y - where(equal(name("m"), 0), 0, _is_on_other_side)
_below = _f.floor(name("q"))
# Formulas of the functions in ieee.py that are neither in the C library nor in `DEFINITIONS`. Shared subexpressions
# have names.
_HELPERS: dict[str, tuple[dict[str, Formula], Formula]] = {
    "pow": ({}, where(equal(_y, 2), _x * _x, _f.libm_pow(_x, _y))),
    "sign": ({}, where(_x > 0, 1, where(_x < 0, -1, _x))),
    "mod": (
        {"m": _remainder},
        where(equal(name("m"), 0), _f.copysign(0, _y), name("m") + where(equal(_is_on_other_side, 1), _y, 0)),
    ),
    "floor_divide": (
        {"m": _remainder, "q": _quotient, "b": _below},
        where(
            equal(_y, 0),
            _x / _y,
            where(
                equal(name("q"), 0),
                _f.copysign(0, _x / _y),
                where(name("q") - name("b") > 0.5, name("b") + 1, name("b")),
            ),
        ),
    ),
}


class Type(NamedTuple):
    """Type of a value in LLVM IR.

    Attributes:
        real: LLVM type of an element: "double" or "float".
        lanes: Number of elements; 1 for a scalar.
    """

    real: str = "double"
    lanes: int = 1

    @property
    def numbers(self) -> str:
        """LLVM type of a value of this type."""
        return self.real if self.lanes == 1 else f"<{self.lanes} x {self.real}>"

    @property
    def bytes(self) -> int:
        """Size of a value of this type."""
        return self.lanes * (8 if self.real == "double" else 4)

    @property
    def bits(self) -> str:
        """LLVM type of a condition, with a bit per lane."""
        return self.of("i1")

    def of(self, element: str) -> str:
        """Return the LLVM type with the same number of lanes and elements of the given type."""
        return element if self.lanes == 1 else f"<{self.lanes} x {element}>"

    def spaced(self, step: int, first: int = 0, integer: str = "i64") -> str:
        """Return an LLVM constant: a vector of integers with `first`, plus `step` times the number of each lane."""
        return f"<{', '.join([f'{integer} {first + step * lane}' for lane in range(self.lanes)])}>"

    def intrinsic(self, function: str) -> str:
        """Return LLVM's name of an intrinsic function for values of this type."""
        size = "f64" if self.real == "double" else "f32"
        return f"llvm.{function}.{size}" if self.lanes == 1 else f"llvm.{function}.v{self.lanes}{size}"

    def literal(self, value: float) -> str:
        """Return an exact LLVM constant. Constants of type float are written as doubles, as LLVM requires."""
        if self.real == "float":
            with numpy.errstate(over="ignore"):
                value = float(numpy.float32(value))
        number = f"0x{struct.pack('>d', value).hex().upper()}"
        return number if self.lanes == 1 else f"splat ({self.real} {number})"


class Text:
    """The lines of a function that is being printed.

    Args:
        block: Label of the first basic block.

    Attributes:
        lines: The lines of LLVM IR.
        block: Label of the current basic block.
        count: Number of names that `new` has defined.
    """

    def __init__(self, block: str) -> None:
        self.lines: list[str] = []
        self.block = block
        self.count = 0

    def new(self, text: str) -> str:
        """Append an instruction; return the name of its result."""
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def begin(self, label: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{label}:")
        self.block = label


class Body:
    """The LLVM instructions of a function that is being printed.

    Args:
        kind: Type of the values in the function.
        contract: Whether a product and a sum may be fused into one operation that is rounded once, and whether
            divisions by the same number may share its reciprocal.
        text: The lines of the function, if they are shared with another body.

    Attributes:
        text: The lines of the function.
        lines: The lines of LLVM IR.
        called: Maps the name of each function that the lines call to the function's number of operands.
        kind: Type of the values in the function.
    """

    def __init__(self, kind: Type, *, contract: bool = False, text: Text | None = None) -> None:
        self.text = text or Text("begin")
        self.lines, self.new, self.begin = self.text.lines, self.text.new, self.text.begin
        self.called: dict[str, int] = {}
        self.kind = kind
        self._flags = "contract " if contract else ""

    def splat(self, kind: str, number: str) -> str:
        """Append the instructions that copy a number of an LLVM type to all lanes; return the name of the vector."""
        numbers, lanes = self.kind.of(kind), self.kind.lanes
        first = self.new(f"insertelement {numbers} poison, {kind} {number}, i64 0")
        return self.new(f"shufflevector {numbers} {first}, {numbers} poison, <{lanes} x i32> zeroinitializer")

    def number(self, formula: Formula, names: dict[str, str]) -> str:
        """Append the instructions of a formula; return the name of its result."""
        parts, numbers = formula.arguments, self.kind.numbers
        if formula.operator == "name":
            return names[str(formula.atom)]
        if formula.operator == "number":
            return self.kind.literal(float(formula.atom))
        if formula.operator in _CONDITIONS:
            return self.new(f"uitofp {self.kind.bits} {self.condition(formula, names)} to {numbers}")
        if formula.operator == "where":
            return self._choice(parts[0], parts[1:], names)
        operands = [self.number(part, names) for part in parts]
        if formula.operator == "negative":
            return self.new(f"fneg {numbers} {operands[0]}")
        if formula.operator == "/" and self._flags:
            return self.new(f"fdiv arcp {self._flags}{numbers} {', '.join(operands)}")
        if formula.operator in _ARITHMETIC:
            return self.new(f"{_ARITHMETIC[formula.operator]} {self._flags}{numbers} {', '.join(operands)}")
        self.called[formula.operator] = len(parts)
        given = ", ".join([f"{numbers} {operand}" for operand in operands])
        return self.new(f"call {numbers} @{symbol(formula.operator, self.kind)}({given})")

    def instruction(self, opcode: int, operands: Sequence[str]) -> str:
        """Append an instruction of a program; return the name of its result."""
        return self.number(_formula(opcode), dict(zip(VARIABLES, operands, strict=False)))

    def condition(self, formula: Formula, names: dict[str, str]) -> str:
        """Append the instructions of a condition; return the name of its result, which has an i1 per lane."""
        numbers = self.kind.numbers
        if formula.operator == "and":
            bits = [self.condition(part, names) for part in formula.arguments]
            return self.new(f"and {self.kind.bits} {', '.join(bits)}")
        if formula.operator in _COMPARISONS:
            operands = [self.number(part, names) for part in formula.arguments]
            return self.new(f"fcmp {_COMPARISONS[formula.operator]} {numbers} {', '.join(operands)}")
        return self.new(f"fcmp une {numbers} {self.number(formula, names)}, {self.kind.literal(0.0)}")

    def _choice(self, condition: Formula, branches: Sequence[Formula], names: dict[str, str]) -> str:
        bit, numbers = self.condition(condition, names), self.kind.numbers
        if self.kind.lanes > 1 or not any(map(functions, branches)):
            chosen, otherwise = [self.number(branch, names) for branch in branches]
            return self.new(f"select {self.kind.bits} {bit}, {numbers} {chosen}, {numbers} {otherwise}")
        self.text.count += 1
        labels = [f"formula_{what}{self.text.count}" for what in ("chosen", "otherwise", "end")]
        self.lines.append(f"  br i1 {bit}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, branch in zip(labels, branches, strict=False):
            self.begin(label)
            ends.append(f"[ {self.number(branch, names)}, %{self.text.block} ]")
            self.lines.append(f"  br label %{labels[2]}")
        self.begin(labels[2])
        return self.new(f"phi {numbers} {', '.join(ends)}")


@cache
def calls_functions(opcode: int) -> bool:
    """Return whether an instruction calls a function that is not a single instruction of the processor."""
    return any(function not in _INTRINSICS for function in functions(_formula(opcode)))


@cache
def _formula(opcode: int) -> Formula:
    return computed(_ROWS[opcode].forward)


def printed_functions(
    called: dict[str, int], kind: Type, library: Callable[[str, int], Iterable[str]], *, contract: bool = False
) -> list[str]:
    """Return the lines that define or declare all functions that are called, directly or indirectly.

    Args:
        called: Maps function names to their number of operands.
        kind: Type of the functions' operands and results.
        library: Function that returns the lines for a function of the C library, given its name and number of operands.
        contract: See `Body`.
    """
    pending, printed = dict(called), set()
    lines: list[str] = []
    while pending:
        function, arity = pending.popitem()
        if function in printed:
            continue
        printed.add(function)
        helper = _HELPERS.get(function)
        if helper is None and function in DEFINITIONS:
            helper = {}, DEFINITIONS[function]
        if helper is not None:
            body = Body(kind, contract=contract)
            lines += _defined(body, function, arity, helper)
            pending |= body.called
        elif _is_intrinsic(function, kind):
            lines.append(declaration(symbol(function, kind), kind, arity))
        else:
            lines += library(function, arity)
    return lines


def declaration(symbol: str, kind: Type, arity: int) -> str:
    """Return the LLVM declaration of a function."""
    return f"declare {kind.numbers} @{symbol}({', '.join([kind.numbers] * arity)})"


def declared_once(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with only the first declaration of each function."""
    known = set()
    for line in lines:
        name = line.split("(")[0]
        if line.startswith("declare") and name in known:
            continue
        known.add(name)
        yield line


def signature(symbol: str, kind: Type, arity: int) -> str:
    """Return the first line of the LLVM definition of a function, whose operands are named x, y and z."""
    given = ", ".join([f"{kind.numbers} %{variable}" for variable in VARIABLES[:arity]])
    return f"define internal {kind.numbers} @{symbol}({given}) {{"


def _defined(body: Body, function: str, arity: int, helper: tuple[dict[str, Formula], Formula]) -> list[str]:
    names = {variable: f"%{variable}" for variable in VARIABLES[:arity]}
    for part, formula in helper[0].items():
        names[part] = body.number(formula, names)
    result = body.number(computed(helper[1]), names)
    head = signature(symbol(function, body.kind), body.kind, arity)
    return [head, "begin:", *body.lines, f"  ret {body.kind.numbers} {result}", "}"]


def symbol(function: str, kind: Type) -> str:
    """Return the name that a function has in an LLVM module."""
    if _is_intrinsic(function, kind):
        return kind.intrinsic(function)
    if function in _HELPERS or function in DEFINITIONS:
        return f"{'own' if kind.lanes == 1 else f'lanes_{kind.lanes}_own'}_{function}"
    return f"{PREFIX if kind.lanes == 1 else f'lanes_{kind.lanes}_'}{function.removeprefix(PREFIX)}"


def _is_intrinsic(function: str, kind: Type) -> bool:
    return function in _INTRINSICS or (kind.lanes > 1 and function in _ROUNDINGS)
