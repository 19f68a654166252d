"""Print a program as LLVM IR: one function that runs all instructions on the interpreter's array of numbers.

Every instruction is printed from the formula of its operation, as in C. The code calls the same functions of the C
library, such as `exp`, as the interpreter, so results are bitwise equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import TAKE
from gradwalk.program.native.expressions import PREFIX, Body, Type, arity_of, declaration, printed_functions, symbol

_TYPE = Type()


def ir_source(code: Code, *, contract: bool = False) -> str:
    """Print a program without calls as an LLVM module with the function `void run(double *values)`.

    `values` has an entry for each index of the program. The function reads the inputs and writes only the results that
    are outputs. `contract` says whether a product and a sum may be fused into one operation that is rounded once.
    """
    body = _Body(_TYPE, contract=contract)
    names = _Names(body, code)
    for index, row in enumerate(code.rows, code.first):
        names[index] = _instruction(body, code, row, names)
    for index in sorted(set(code.outputs)):
        if index >= code.first:
            body.store(names[index], index)
    text = ["define void @run(ptr %values) {", "begin:", *body.lines, "  ret void", "}"]
    return "\n".join([*printed_functions(body.called, _TYPE, _declared, contract=contract), *text, ""])


def called_by_address(source: str) -> list[str]:
    """Return the names of the C library functions that `source`, a result of `ir_source`, calls."""
    lines = [line for line in source.splitlines() if line.startswith(f"declare double @{PREFIX}")]
    return [line.partition(f"@{PREFIX}")[2].partition("(")[0] for line in lines]


class _Body(Body):
    """The LLVM instructions of the function that is being printed."""

    def loaded(self, index: int) -> str:
        """Append instructions that load the number at an index; return the name of the result."""
        return self.new(f"load double, ptr {self._address(index)}")

    def store(self, operand: str, index: int) -> None:
        """Append instructions that store an operand at an index."""
        self.lines.append(f"  store double {operand}, ptr {self._address(index)}")

    def _address(self, index: int) -> str:
        return self.new(f"getelementptr double, ptr %values, i64 {index}")

    def taken(self, index: str, table: Sequence[str]) -> str:
        """Append instructions that compute the table entry at an index, or nan if the index is out of range."""
        count = _TYPE.literal(float(len(table)))
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
        is_there = self.new(f"and i1 {is_inside}, {is_whole}")
        return self.new(f"select i1 {is_there}, double {picked}, double {_TYPE.literal(float('nan'))}")


class _Names(dict[int, str]):
    """Maps each index to its name in LLVM IR. Constants are literals. Inputs are loaded when they are first used."""

    def __init__(self, body: _Body, code: Code) -> None:
        super().__init__()
        self._body, self._code = body, code

    def __missing__(self, index: int) -> str:
        inputs = self._code.inputs
        is_input = index < inputs
        self[index] = self._body.loaded(index) if is_input else _TYPE.literal(self._code.constants[index - inputs])
        return self[index]


def _instruction(body: _Body, code: Code, row: Sequence[int], names: _Names) -> str:
    """Append the LLVM IR of one instruction to the function body; return the name of its result."""
    opcode, *operands = row
    if opcode == TAKE:
        return body.taken(names[operands[0]], [names[index] for index in code.tables[operands[1]]])
    return body.instruction(opcode, [names[index] for index in operands[: arity_of(opcode)]])


def _declared(function: str, arity: int) -> list[str]:
    return [declaration(symbol(function, _TYPE), _TYPE, arity)]
