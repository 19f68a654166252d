"""Programs as C99: one file that needs nothing but <math.h>."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from gradwalk.ops.printers import C_HELPERS
from gradwalk.ops.statements import c_definitions
from gradwalk.program.c_names import is_taken
from gradwalk.program.code import Code
from gradwalk.program.opcodes import INSTRUCTIONS, TAKE

# The most statements in a function. A compiler's time grows faster than a function's length.
_PIECE = 250

_OWN = "inputs outputs constants tables take kept PIECE"  # what the file defines, besides what its formulas call

_TAKE = """\
/* Number `index` of `count` numbers, each `stride` after the one before; negative ones count from the end. */
static inline double take(const double *table, long stride, long count, double index)
{
    const double k = index < 0.0 ? index + (double)count : index;
    return k >= 0.0 && k < (double)count && k == floor(k) ? table[stride * (long)k] : NAN;
}"""


class _Statement(NamedTuple):
    """A line of C.

    Attributes:
        result: The index of the result; None if the target is an output.
        target: What is set.
        text: What it is set to, with {0} and so on for the operands.
        operands: The indices of the operands.
        table: What the array of that name is to hold, with the same fields; "" where none is needed.
    """

    result: int | None
    target: str
    text: str
    operands: Sequence[int]
    table: str = ""

    def lines(self, operands: Sequence[str]) -> list[str]:
        """Return the lines of C, for operands of these names."""
        array = [f"const double table{self.result}[] = {{{self.table.format(*operands)}}};"] if self.table else []
        return [*array, f"{self.target} = {self.text.format(*operands)};"]


def c_source(code: Code, name: str) -> str:
    """Write a program as a file of C99 with the function `void name(const double *inputs, double *outputs)`.

    Args:
        code: The parts of the program.
        name: The name of the function.

    Returns:
        The text of the file.

    Raises:
        ProgramError: If the program calls a function of Python.
        ValueError: If C could have no function of that name.
    """
    _check_name(name)
    code.refuse_calls("which C does not have")
    writer = _Writer(code)
    definitions = writer.definitions(name)
    text = "\n".join(definitions)
    before = [*_comment(code, name, writer.cells), "#include <math.h>", ""]
    defined = c_definitions(text)
    called = "\n".join([text, *defined])
    known = {**C_HELPERS, "take": _TAKE}
    used = [definition for helper, definition in known.items() if re.search(rf"\b{helper}\(", called)]
    helpers = [*used, *defined]
    constants = _array("constants", code.constants) if "constants[" in text else []
    tables = _array("tables", _numbers_in_tables(code)) if "take(tables + " in text else []
    return "\n".join([*before, *helpers, *([""] if helpers else []), *constants, *tables, *definitions, ""])


class _Writer:
    """Writes the functions that run a program, piece after piece.

    Within a piece, results are variables. Those that a later piece needs are `kept` in cells of an array, which are
    used again when nothing needs them any more.

    Attributes:
        cells: How many cells the array has.
    """

    def __init__(self, code: Code) -> None:
        self.cells = 0
        self._code = code
        statements = _statements(code)
        self._pieces = [statements[i : i + _PIECE] for i in range(0, len(statements), _PIECE)] or [[]]
        self._last_piece = {
            index: i for i, piece in enumerate(self._pieces) for line in piece for index in line.operands
        }
        self._free: list[int] = []
        self._expiring: defaultdict[int, list[int]] = defaultdict(list)  # indices, by their last piece
        self._cell: dict[int, int] = {}  # of the results that are kept, by index

    def definitions(self, name: str) -> list[str]:
        """Write the function of that name, after those that it calls."""
        if len(self._pieces) == 1:
            return _function("void", name, self._body(0), ["const double *inputs", "double *outputs"])
        lines = [
            "/* In one function all pieces together would take a compiler long. */",
            *("#ifdef __GNUC__", "#define PIECE static __attribute__((noinline)) void", "#else"),
            *("#define PIECE static void", "#endif", ""),
        ]
        parameters = ["const double *inputs", "double *outputs", "double *kept"]
        for i in range(len(self._pieces)):
            lines += [*_function("PIECE", f"{name}_{i + 1}", self._body(i), parameters), ""]
        calls = [f"{name}_{i + 1}(inputs, outputs, kept);" for i in range(len(self._pieces))]
        return [*lines, *_function("void", name, [f"double kept[{max(self.cells, 1)}];", *calls], parameters[:2])]

    def _body(self, i: int) -> list[str]:
        """Write the statements of a piece, and those that keep its results for later ones."""
        piece = self._pieces[i]
        here = {line.result for line in piece}
        lines = [text for line in piece for text in line.lines([self._read(x, here) for x in line.operands])]
        self._free += [self._cell.pop(index) for index in self._expiring.pop(i, [])]
        later = [line.result for line in piece if line.result is not None and self._last_piece[line.result] > i]
        return [*lines, *(f"kept[{self._kept(index)}] = v{index};" for index in later)]

    def _read(self, index: int, here: set[int | None]) -> str:
        if index < self._code.inputs:
            return f"inputs[{index}]"
        if index < self._code.first:
            return f"constants[{index - self._code.inputs}]"
        return f"v{index}" if index in here else f"kept[{self._cell[index]}]"

    def _kept(self, index: int) -> int:
        """Return the cell that a result is kept in from now on."""
        if not self._free:
            self._free.append(self.cells)
            self.cells += 1
        self._cell[index] = self._free.pop()
        self._expiring[self._last_piece[index]].append(index)
        return self._cell[index]


def _statements(code: Code) -> list[_Statement]:
    """Return a statement for every instruction that an output needs, then one for every output."""
    rows = code.rows
    needed = set(code.outputs)
    statements = []
    tables = _constant_tables(code)
    for i in range(len(rows) - 1, -1, -1):
        index = code.first + i
        if index in needed:
            statement = (
                _taking(code, index, rows[i], tables) if rows[i][0] == TAKE else _computing(code, index, rows[i])
            )
            needed.update(statement.operands)
            statements.append(statement)
    outputs = [_Statement(None, f"outputs[{i}]", "{0}", [index]) for i, index in enumerate(code.outputs)]
    return statements[::-1] + outputs


def _computing(code: Code, index: int, row: list[int]) -> _Statement:
    return _Statement(index, f"const double v{index}", INSTRUCTIONS[row[0]].c, code.used(row))


def _taking(code: Code, index: int, row: list[int], offsets: dict[int, int]) -> _Statement:
    """Return the statement that takes from a table.

    Inputs at equal distances are taken where they lie, and constants from the array `tables`. All else is put into an
    array first.
    """
    _, x, which, _ = row
    table = code.tables[which]
    count = len(table)
    strides = {after - before for before, after in itertools.pairwise(table)} or {1}
    if max(table) < code.inputs and len(strides) == 1:
        text = f"take(inputs + {table[0]}, {strides.pop()}, {count}, {{0}})"
    elif which in offsets:
        text = f"take(tables + {offsets[which]}, 1, {count}, {{0}})"
    else:
        entries = ", ".join([f"{{{i}}}" for i in range(1, 1 + count)])
        text = f"take(table{index}, 1, {count}, {{0}})"
        return _Statement(index, f"const double v{index}", text, code.used(row), entries)
    return _Statement(index, f"const double v{index}", text, [x])


def _constant_tables(code: Code) -> dict[int, int]:
    """Return where each table of constants begins in the array `tables`."""
    offsets = {}
    offset = 0
    for which, table in enumerate(code.tables):
        if all(code.inputs <= index < code.first for index in table):
            offsets[which] = offset
            offset += len(table)
    return offsets


def _numbers_in_tables(code: Code) -> list[float]:
    """Return the numbers of all tables of constants, in the order of `_constant_tables`."""
    return [code.constants[index - code.inputs] for which in _constant_tables(code) for index in code.tables[which]]


def _function(kind: str, name: str, body: list[str], parameters: list[str]) -> list[str]:
    """Return a function's lines. Unused parameters are cast to void, so that no compiler warns of them."""
    text = "\n".join(body)
    names = [re.findall(r"\w+", parameter)[-1] for parameter in parameters]
    unused = [f"(void){parameter};" for parameter in names if not re.search(rf"\b{parameter}\b", text)]
    return [f"{kind} {name}({', '.join(parameters)})", "{", *(f"    {line}" for line in [*unused, *body]), "}"]


def _comment(code: Code, name: str, cells: int) -> list[str]:
    """Return what stands at the top of the file."""
    stack = [f"   It needs {8 * cells:,} bytes of the stack."] if cells else []
    return [
        f"/* void {name}(const double *inputs, double *outputs): a program of {len(code)} instructions.",
        "",
        *_described("inputs", code.inputs, code.input_names),
        *_described("outputs", len(code.outputs), code.output_names),
        "",
        "   The two arrays may not overlap.",
        *stack,
        f"   Compile it with cc -std=c99 -O2 -ffp-contract=off -fno-math-errno -c {name}.c, and link with -lm. With",
        "   -fno-builtin too it gives the same bits as gradwalk does on this C library. -ffast-math loses nan and inf.",
        "   Written by gradwalk. */",
    ]


def _described(array: str, count: int, names: Sequence[str]) -> list[str]:
    """Return how many numbers an array has and, where that is known, which."""
    width = len(f"{array}[{count - 1}]")
    # Neither /* nor */ nor a backslash, not even as a trigraph, may stand in a comment.
    shown = [re.sub(r"[^ -~]|[/\\?]", "_", name) for name in names]
    return [f"   {array}: {count}", *(f"   {f'{array}[{i}]':<{width}}  {name}" for i, name in enumerate(shown) if name)]


def _array(name: str, numbers: Sequence[float]) -> list[str]:
    """Return an array of constants: exact, in hexadecimal, with decimal numbers in the comments."""
    lines = [f"    {_exactly(number)}, /* {number!r} */" for number in numbers]
    return [f"static const double {name}[] = {{", *lines, "};", ""]


def _exactly(number: float) -> str:
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return number.hex()


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise ValueError(f"a function in C has a name of letters, digits and _, and begins with no digit; not {name!r}")
    functions = " ".join([instruction.c for instruction in INSTRUCTIONS.values()])
    if is_taken(name) or name in re.findall(r"\w+", f"{_OWN} {functions}"):
        raise ValueError(f"{name} means something else in C, or in that file: give the function another name")
