"""Print the table of `ops/table.py` into the files that follow from it: some whole, in others a marked block.

usage: python tools/generate.py [--check]

With --check nothing is written, and the exit code is 1 where a file is not what the table says.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

from gradwalk.ops.formula import C_HELPERS, Formula, c, code, javascript, text, variables  # noqa: E402  after the path to it
from gradwalk.ops.table import TABLE, Operation  # noqa: E402

OPERANDS = "xyz"
INSTRUCTIONS = ("MULADD", "MULSUB", "SUBMUL", "LOAD", "STORE", "SUM", "DOT")  # the first three stand in programs, too


def rules() -> Iterator[str]:
    """The block of rules.py: names, values and partials by opcode."""
    yield from _words("NAMES", [*(row.name for row in TABLE), "sumprod"])
    yield from _words("SYMBOLS", [*(row.symbol for row in TABLE), "sumprod"])
    arities = f"0{''.join(str(row.arity) for row in TABLE)}0"
    yield f'ARITIES = tuple(map(int, "{arities}"))'
    yield from _words("_UFUNCS", [row.ufunc or "-" for row in TABLE])
    yield "UFUNCS = {ufunc: opcode for opcode, ufunc in enumerate(_UFUNCS)}"
    yield f"SUMPROD = {len(TABLE) + 1}"
    yield from ("", "")
    yield from _rule("evaluate(opcode: cython.int, x: cython.double, y: cython.double, z: cython.double)")
    yield '    """The value of an operation."""'
    for opcode, row in _numbered():
        yield f"    {'if' if opcode == 1 else 'elif'} opcode == {opcode}:  # {row.name}"
        yield f"        return {code(row.forward)}"
    yield "    return 0.0"
    yield from ("", "")
    yield from _rule("partial(")
    yield '    """The derivative of an operation with respect to the operand at a position."""'
    for opcode, row in _numbered():
        yield f"    {'if' if opcode == 1 else 'elif'} opcode == {opcode}:  # {row.name}"
        for position in range(row.arity - 1):
            yield f"        if position == {position}:"
            yield f"            return {code(row.partial(position))}"
        yield f"        return {code(row.partial(row.arity - 1))}"
    yield "    return 0.0"
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(check=False)")
    yield "def selects(opcode: cython.int) -> cython.bint:"
    yield '    """Whether an operation leaves operands out: a partial of 0 then passes nothing, not 0 · inf = nan."""'
    selecting = [str(opcode) for opcode, row in _numbered() if row.selects or row.inert]
    yield f"    return opcode in ({', '.join(selecting)})"
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(check=False)")
    yield "def inert(opcode: cython.int) -> cython.int:"
    yield '    """The operands that an operation never passes anything to: bit i for the one at position i."""'
    for opcode, row in _numbered():
        if row.inert:
            yield f"    if opcode == {opcode}:  # {row.name}"
            yield f"        return {sum(1 << position for position in row.inert)}"
    yield "    return 0"
    yield from ("", "", "@cython.cfunc", "@cython.exceptval(check=False)")
    yield "def arity(opcode: cython.int) -> cython.int:"
    yield '    """How many operands a row takes; 0 for leaves, and for sums of products, which take any number."""'
    yield f'    arities: cython.p_char = b"{arities}"'
    yield '    return arities[opcode] - ord("0") if opcode > 0 else 0'
    yield from ("", "")


def run() -> Iterator[str]:
    """The block of interpreter.py: an instruction, by opcode."""
    for opcode, row in _numbered():
        yield f"        {'if' if opcode == 1 else 'elif'} opcode == {opcode}:  # {row.name}"
        yield f"            out = {code(row.forward)}"


def instructions() -> Iterator[str]:
    """The block of lanes.h: the numbers of instructions that are no rows, as program.py counts them."""
    first = len(TABLE) + 3  # past sums of products and calls
    numbers = [f"{name} = {opcode}" for opcode, name in enumerate(INSTRUCTIONS, start=first)]
    yield f"enum {{ {', '.join(numbers)} }};"


def lanes() -> Iterator[str]:
    """The block of lane_loops.h: a loop for each form of each operation."""
    for opcode, row in _numbered():
        value = re.sub(r"\b(\d[\d.]*(?:e[-+]?\d+)?)", r"R(\1)", c(row.forward))
        value = re.sub(r"\b([a-z]\w*)\(", _function, value)
        yield f"        {('ONE', 'TWO', 'THREE')[row.arity - 1]}({opcode}, {value}) /* {row.name} */"


def _function(call: re.Match[str]) -> str:
    """A function of C's library by its name for the type, or a macro of lane_loops.h in place of a helper."""
    return f"{call[1].upper()}(" if call[1] in C_HELPERS else f"F({call[1]})("


def methods() -> Iterator[str]:
    """The block of engine.py in the body of `Value`: operators and methods."""
    for opcode, row in _numbered():
        if row.operator and row.arity == 1:
            yield from (f"    def __{row.operator}__(self) -> Value:", f"        return _unary({opcode}, self)", "")
        elif row.operator == "pow":
            yield from _power(opcode)
        elif row.operator:
            yield from _binary_operator(opcode, row)
        if row.is_function:
            yield from _method(opcode, row)


def functions() -> Iterator[str]:
    """The block of math.py."""
    for opcode, row in _numbered():
        if row.is_function:
            operands = OPERANDS[: row.arity]
            scalar = "Scalar" if row.arity == 1 else "Scalar | float"
            yield from ("", "")
            yield f"def {row.name}({', '.join(f'{x}: {scalar}' for x in operands)}) -> Scalar:"
            yield from _described(row, "    ")
            yield f"    result: Scalar = apply({opcode}, {', '.join(operands)})"
            yield "    return result"
    yield from ("", "")


def reference() -> Iterator[str]:
    """The table of docs/operations.md."""
    yield ""
    yield "| name | symbol | value | d out / dx | d out / dy | d out / dz | what it is |"
    yield "|---|---|---|---|---|---|---|"
    for row in TABLE:
        partials = [f"`{text(row.partial(position))}`" for position in range(row.arity)] + [""] * (3 - row.arity)
        yield f"| `{row.name}` | `{row.symbol}` | `{text(row.forward)}` | {' | '.join(partials)} | {row.words} |"
    yield ""


def page() -> Iterator[str]:
    """The whole of the page's table.js: `TABLE`, a list of Row as web/src/types.js has it, and `BY_NAME`."""
    yield "// What gradwalk knows about its operations, one row each. Generated by tools/generate.py: edit ops.py."
    yield ""
    yield '/** @import { Row } from "../types.js" */'
    yield ""
    yield 'import * as ieee from "./ieee.js";'
    yield ""
    yield "/** @type {readonly Row[]} */"
    yield "export const TABLE = ["
    for row in TABLE:
        yield "  {"
        for key, value in (
            ("name", row.name),
            ("symbol", row.symbol),
            ("arity", row.arity),
            ("isOperator", bool(row.operator) and row.symbol != row.name),
            ("isFunction", row.is_function),
            ("selects", row.selects),
            ("inert", row.inert),
            ("isExact", row.is_exact),
            ("words", row.words),
        ):
            yield f"    {key}: {json.dumps(value, ensure_ascii=False)},"
        partials = [row.partial(position) for position in range(row.arity)]
        yield f"    forward: {_arrow(row.forward)},"
        yield from _list("partials", [_arrow(partial) for partial in partials])
        yield from _list("formulas", [_literal(partial) for partial in partials])
        yield "  },"
    yield "];"
    yield ""
    yield "/** @type {ReadonlyMap<string, Row>} */"
    yield "export const BY_NAME = new Map(TABLE.map((row) => [row.name, row]));"


BLOCKS: list[tuple[str, str, Callable[[], Iterator[str]]]] = [
    ("src/gradwalk/ops/evaluate.py", "rules", rules),
    ("src/gradwalk/value/value.py", "methods", methods),
    ("src/gradwalk/program/interpreter.py", "run", run),
    ("src/gradwalk/backend/cpu/lanes.h", "instructions", instructions),
    ("src/gradwalk/backend/cpu/lane_loops.h", "lanes", lanes),
    ("src/gradwalk/math.py", "functions", functions),
    ("docs/operations.md", "reference", reference),
]
FILES: list[tuple[str, Callable[[], Iterator[str]]]] = [("web/src/core/table.js", page)]


def main() -> int:
    """Write the files, or check them; the exit code."""
    stale = []
    for name, file, new in _generated():
        path = ROOT / file
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    if stale and "--check" in sys.argv:
        print("not what ops.py says:", ", ".join(stale), "- run: python tools/generate.py", file=sys.stderr)
        return 1
    return 0


def _generated() -> Iterator[tuple[str, str, str]]:
    """What to call it, where it stands, and what stands there, one after the other: a file may have several blocks."""
    for file, block, lines in BLOCKS:
        old = (ROOT / file).read_text(encoding="utf-8")
        yield f"{file} ({block})", file, _with_block(old, block, "\n".join(lines()).lstrip("\n"))
    for file, lines in FILES:
        yield file, file, "\n".join(lines()) + "\n"


def _with_block(file: str, block: str, content: str) -> str:
    # up to the first end mark: a lost mark must not cost the code between two blocks
    pattern = rf"(generated by tools/generate\.py from ops\.py: {block} -[^\n]*\n).*?([^\n]*- end of generated code -)"
    if not re.search(pattern, file, re.S):
        sys.exit(f"generate.py: no block '{block}' to write into")
    return re.sub(pattern, lambda match: match.group(1) + content + "\n" + match.group(2), file, count=1, flags=re.S)


def _numbered() -> Iterator[tuple[int, Operation]]:
    return enumerate(TABLE, start=1)


def _words(constant: str, words: list[str]) -> Iterator[str]:
    """A tuple of words by opcode, several to a line."""
    yield f"{constant} = ("
    yield '    "",'
    lines = textwrap.wrap(" ".join(words), 104)
    yield "    *("
    yield from (f'        "{line} "' for line in lines)
    yield "    ).split(),"
    yield ")"


def _rule(signature: str) -> Iterator[str]:
    yield "@cython.cfunc"
    yield "@cython.exceptval(check=False)"
    if signature.endswith("("):
        yield f"def {signature}"
        yield "    opcode: cython.int,"
        yield "    position: cython.int,"
        yield from (f"    {operand}: cython.double," for operand in (*OPERANDS, "out"))
        yield ") -> cython.double:"
    else:
        yield f"def {signature} -> cython.double:"


def _binary_operator(opcode: int, row: Operation) -> Iterator[str]:
    """An operator: by its own formulas where both operands are Values, which is what speed hangs on."""
    yield f"    def __{row.operator}__(self, other: Value | float) -> Value:"
    yield "        if isinstance(other, Value):"
    yield "            x: cython.double = self._primal"
    yield "            y: cython.double = cython.cast(Value, other)._primal"
    yield f"            out: cython.double = {code(row.forward)}"
    yield f"            return _node({opcode}, self, other, out, {code(row.partial(0))}, {code(row.partial(1))})"
    yield f"        return _binary({opcode}, self, other)"
    yield ""
    yield f"    def __r{row.operator}__(self, other: Value | float) -> Value:"
    yield f"        return _binary({opcode}, other, self)"
    yield ""


def _power(opcode: int) -> Iterator[str]:
    """Python's power takes a modulus, which real numbers do not have."""
    for reflected, operands in (("", "self, other"), ("r", "other, self")):
        yield f"    def __{reflected}pow__(self, other: Value | float, modulus: None = None) -> Value:"
        yield "        if modulus is not None:"
        yield '            raise TypeError("pow() of a Value takes no modulus")'
        yield f"        return _binary({opcode}, {operands})"
        yield ""


def _method(opcode: int, row: Operation) -> Iterator[str]:
    others = OPERANDS[1 : row.arity]
    parameters = "".join(f", {other}: Value | float" for other in others)
    for method in dict.fromkeys([row.name, row.ufunc or row.name]):
        if row.operator and method != row.name:
            continue
        yield f"    def {method}(self{parameters}) -> Value:"
        yield from _described(row, "        ")
        if others:
            yield f"        result: Value = apply({opcode}, self, {', '.join(others)})"
            yield "        return result"
        else:
            yield f"        return _unary({opcode}, self)"
        yield ""


def _arrow(formula: Formula) -> str:
    """A formula as a function of JavaScript. Parameters that it does not use have a _; the last ones are left out."""
    used = variables(formula)
    parameters = [*OPERANDS, "out"]
    while parameters and parameters[-1] not in used:
        parameters.pop()
    named = ", ".join(x if x in used else f"_{x}" for x in parameters)
    return f"({named}) => {javascript(formula)}"


def _literal(formula: Formula) -> str:
    """A formula as data in JavaScript: a name, a number, or a list of an operator (or function) and its operands."""
    if formula.operator == "number":
        return javascript(formula)
    parts = [json.dumps(formula.atom or formula.operator), *map(_literal, formula.arguments)]
    return f"[{', '.join(parts)}]" if formula.arguments else parts[0]


def _list(key: str, items: list[str]) -> Iterator[str]:
    """A list in a row of table.js: on a line, or on a line an item where it is long."""
    line = f"    {key}: [{', '.join(items)}],"
    if len(line) <= 120:
        yield line
    else:
        yield f"    {key}: ["
        yield from (f"      {item}," for item in items)
        yield "    ],"


def _described(row: Operation, indent: str) -> Iterator[str]:
    """The docstring of a method or function: what it is, and its derivatives on lines of their own."""
    first = row.words.split()[0]
    begins_with_a_word = len(first) > 1 and "(" not in first
    yield f'{indent}"""{row.words[0].upper() + row.words[1:] if begins_with_a_word else row.words}.'
    yield ""
    for position, operand in enumerate(OPERANDS[: row.arity]):
        yield f"{indent}d/d{operand} = {text(row.partial(position))}"
    yield f'{indent}"""'


if __name__ == "__main__":
    sys.exit(main())
