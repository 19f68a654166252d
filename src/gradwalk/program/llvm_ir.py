"""Programs as LLVM IR: one function of what a run of the interpreter works on, its instructions one after the other.

Every instruction is printed from its row's formula, as in C. Nothing is contracted or reordered, and functions such as
`exp` are those that the interpreter calls, under names that LLVM does not know: results are the same to the last bit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache

from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.formula import Formula, Functions, computed, equal, functions, name, where
from gradwalk.ops.numbering import OPCODES
from gradwalk.ops.table import ROWS
from gradwalk.program.code import Code
from gradwalk.program.opcodes import TAKE

PREFIX = "libm_"  # of functions that are called by address

_x, _y = name("x"), name("y")
_f = Functions()
_VARIABLES = ("x", "y", "z")
_ROWS = {OPCODES[row.name]: row for row in ROWS}

_INTRINSICS = {"fabs": "llvm.fabs.f64", "sqrt": "llvm.sqrt.f64", "copysign": "llvm.copysign.f64"}
_COMPARISONS = {"<": "olt", "<=": "ole", ">": "ogt", ">=": "oge", "==": "oeq"}
_ARITHMETIC = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
_CONDITIONS = {*_COMPARISONS, "and"}

_remainder = _f.fmod(_x, _y)
_is_on_other_side = where(name("m") < 0, where(_y < 0, 0, 1), where(_y < 0, 1, 0))
_quotient = (_x - name("m")) / _y - where(equal(name("m"), 0), 0, _is_on_other_side)
_below = _f.floor(name("q"))
# What ieee.py has besides the C library and the definitions. Parts that are used more than once have names.
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


def ir_source(code: Code) -> str:
    """Print a program without calls as LLVM IR.

    Args:
        code: The parts of the program.

    Returns:
        A module with the function `void run(double *values)`. Its argument holds what stands at each index; the inputs
        are read, and those results written that are outputs.
    """
    body = _Body()
    names = _Names(body, code)
    for index, row in enumerate(code.rows, code.first):
        names[index] = _instruction(body, code, row, names)
    for index in sorted(set(code.outputs)):
        if index >= code.first:
            body.store(names[index], index)
    text = ["define void @run(ptr %values) {", "begin:", *body.lines, "  ret void", "}"]
    return "\n".join([*_called(body.called), *text, ""])


def called_by_address(source: str) -> list[str]:
    """Return the functions of the C library that a module calls.

    Args:
        source: The module, as `ir_source` returns it.

    Returns:
        Their names in C.
    """
    lines = [line for line in source.splitlines() if line.startswith(f"declare double @{PREFIX}")]
    return [line.partition(f"@{PREFIX}")[2].partition("(")[0] for line in lines]


class _Body:
    """The lines of a function while they are printed, and the functions that it calls, with how many operands."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.called: dict[str, int] = {}
        self._count = 0
        self._block = "begin"

    def new(self, text: str) -> str:
        """Append an instruction, and return the name of its result."""
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def loaded(self, index: int) -> str:
        """Append that a value is read."""
        return self.new(f"load double, ptr {self._address(index)}")

    def store(self, operand: str, index: int) -> None:
        """Append that a value is written."""
        self.lines.append(f"  store double {operand}, ptr {self._address(index)}")

    def _address(self, index: int) -> str:
        return self.new(f"getelementptr double, ptr %values, i64 {index}")

    def number(self, formula: Formula, names: dict[str, str]) -> str:
        """Append what computes a formula, and return the name of the result."""
        parts = formula.arguments
        if formula.operator == "name":
            return names[str(formula.atom)]
        if formula.operator == "number":
            return _literal(float(formula.atom))
        if formula.operator in _CONDITIONS:
            return self.new(f"uitofp i1 {self.condition(formula, names)} to double")
        if formula.operator == "where":
            return self._choice(parts[0], parts[1:], names)
        operands = [self.number(part, names) for part in parts]
        if formula.operator == "negative":
            return self.new(f"fneg double {operands[0]}")
        if formula.operator in _ARITHMETIC:
            return self.new(f"{_ARITHMETIC[formula.operator]} double {', '.join(operands)}")
        self.called[formula.operator] = len(parts)
        given = ", ".join([f"double {operand}" for operand in operands])
        return self.new(f"call double @{_symbol(formula.operator)}({given})")

    def condition(self, formula: Formula, names: dict[str, str]) -> str:
        """Append what decides a condition, and return the name of the bit."""
        if formula.operator == "and":
            bits = [self.condition(part, names) for part in formula.arguments]
            return self.new(f"and i1 {', '.join(bits)}")
        if formula.operator in _COMPARISONS:
            operands = [self.number(part, names) for part in formula.arguments]
            return self.new(f"fcmp {_COMPARISONS[formula.operator]} double {', '.join(operands)}")
        return self.new(f"fcmp une double {self.number(formula, names)}, 0.0")

    def _choice(self, condition: Formula, branches: Sequence[Formula], names: dict[str, str]) -> str:
        bit = self.condition(condition, names)
        if not any(map(functions, branches)):
            chosen, otherwise = [self.number(branch, names) for branch in branches]
            return self.new(f"select i1 {bit}, double {chosen}, double {otherwise}")
        self._count += 1
        labels = [f"{what}{self._count}" for what in ("chosen", "otherwise", "end")]
        self.lines.append(f"  br i1 {bit}, label %{labels[0]}, label %{labels[1]}")
        ends = []
        for label, branch in zip(labels, branches, strict=False):
            self._begin(label)
            ends.append(f"[ {self.number(branch, names)}, %{self._block} ]")
            self.lines.append(f"  br label %{labels[2]}")
        self._begin(labels[2])
        return self.new(f"phi double {', '.join(ends)}")

    def _begin(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self._block = label

    def taken(self, index: str, table: Sequence[str]) -> str:
        """Append what an index picks from a table, nan where it picks nothing."""
        count = _literal(float(len(table)))
        cells = self.new(f"alloca [{len(table)} x double]")
        for i, entry in enumerate(table):
            self.lines.append(f"  store double {entry}, ptr {self.new(f'getelementptr double, ptr {cells}, i64 {i}')}")
        is_negative = self.new(f"fcmp olt double {index}, 0.0")
        from_end = self.new(f"fadd double {index}, {count}")
        position = self.new(f"select i1 {is_negative}, double {from_end}, double {index}")
        is_one = self.new(f"fcmp oge double {position}, 0.0")
        is_inside = self.new(f"and i1 {is_one}, {self.new(f'fcmp olt double {position}, {count}')}")
        safe = self.new(f"select i1 {is_inside}, double {position}, double 0.0")
        whole = self.new(f"fptosi double {safe} to i64")
        is_whole = self.new(f"fcmp oeq double {self.new(f'sitofp i64 {whole} to double')}, {position}")
        address = self.new(f"getelementptr double, ptr {cells}, i64 {whole}")
        picked = self.new(f"load double, ptr {address}")
        return self.new(
            f"select i1 {self.new(f'and i1 {is_inside}, {is_whole}')}, double {picked}, double {_literal(float('nan'))}"
        )


class _Names(dict[int, str]):
    """What stands at each index: constants as they are, and inputs read when they are first used."""

    def __init__(self, body: _Body, code: Code) -> None:
        super().__init__()
        self._body, self._code = body, code

    def __missing__(self, index: int) -> str:
        inputs = self._code.inputs
        is_input = index < inputs
        self[index] = self._body.loaded(index) if is_input else _literal(self._code.constants[index - inputs])
        return self[index]


def _instruction(body: _Body, code: Code, row: Sequence[int], names: _Names) -> str:
    """Append an instruction of a program, and return the name of its result."""
    opcode, *operands = row
    if opcode == TAKE:
        return body.taken(names[operands[0]], [names[index] for index in code.tables[operands[1]]])
    given = [names[index] for index in operands[: _ROWS[opcode].arity]]
    return body.number(_formula(opcode), dict(zip(_VARIABLES, given, strict=False)))


@cache
def _formula(opcode: int) -> Formula:
    return computed(_ROWS[opcode].forward)


def _called(called: dict[str, int]) -> Iterable[str]:
    """Print the functions that are called, and those that these call."""
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
        if helper is None:
            given = ", ".join(["double"] * arity)
            lines.append(f"declare double @{_symbol(function)}({given})")
            continue
        body = _Body()
        names = {variable: f"%{variable}" for variable in _VARIABLES[:arity]}
        for part, formula in helper[0].items():
            names[part] = body.number(formula, names)
        result = body.number(computed(helper[1]), names)
        given = ", ".join([f"double %{variable}" for variable in _VARIABLES[:arity]])
        lines += [f"define internal double @{_symbol(function)}({given}) {{", "begin:", *body.lines]
        lines += [f"  ret double {result}", "}"]
        pending |= body.called
    return lines


def _symbol(function: str) -> str:
    """Return what a function is called in the module."""
    if function in _INTRINSICS:
        return _INTRINSICS[function]
    is_defined = function in _HELPERS or function in DEFINITIONS
    return f"own_{function}" if is_defined else f"{PREFIX}{function.removeprefix(PREFIX)}"


def _literal(value: float) -> str:
    """Return a constant, bit by bit."""
    return f"0x{struct.pack('>d', value).hex().upper()}"
