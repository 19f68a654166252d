"""Programs as C: one file that needs nothing but <math.h>."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradwalk.ops.printers import C_HELPERS
from gradwalk.program.opcodes import INSTRUCTIONS, refuse_calls

if TYPE_CHECKING:
    from gradwalk.program.program import Program

# Statements to a function: a compiler's time grows faster than the length of one. Longer programs are cut into pieces.
_PIECE = 250

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast
    consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
    new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
_OWN = "inputs outputs constants kept main pow INFINITY NAN PIECE"


class _Statement(NamedTuple):
    """A line of C: `target` is set to `text`, which has {0} and so on for its operands.

    `place`: of the instruction; None where the target is an output.
    """

    place: int | None
    target: str
    text: str
    operands: Sequence[int]


def c_source(program: Program, name: str) -> str:
    """The program as a file of C99 with the function `void name(const double *inputs, double *outputs)`.

    Raises `ProgramError` where it calls a function of Python, `ValueError` where C could have no function of that name.
    """
    _check_name(name)
    refuse_calls(program, "which C does not have")
    writer = _Writer(program)
    code = writer.definitions(name)
    text = "\n".join(code)
    before = [*_comment(program, name, writer.cells), "#include <math.h>", ""]
    helpers = [definition for helper, definition in C_HELPERS.items() if f"{helper}(" in text]
    constants = _constants(program) if "constants[" in text else []
    return "\n".join([*before, *helpers, *([""] if helpers else []), *constants, *code, ""])


class _Writer:
    """The functions that run a program, piece after piece.

    Within a piece, results are variables. Those that a later piece needs are `kept` in cells of an array, which are
    used again when nothing needs them any more.
    """

    def __init__(self, program: Program) -> None:
        self.cells = 0  # how many there are
        self._program = program
        self._first = program.inputs + len(program.constants)
        statements = _statements(program)
        self._pieces = [statements[i : i + _PIECE] for i in range(0, len(statements), _PIECE)] or [[]]
        self._last_piece = {
            place: i for i, piece in enumerate(self._pieces) for line in piece for place in line.operands
        }
        self._free: list[int] = []
        self._expiring: defaultdict[int, list[int]] = defaultdict(list)  # places, by their last piece
        self._cell: dict[int, int] = {}  # of the results that are kept, by place

    def definitions(self, name: str) -> list[str]:
        """The function of that name, after those that it calls."""
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
        """The statements of a piece, and those that keep its results for later ones."""
        piece = self._pieces[i]
        here = {line.place for line in piece}
        lines = [
            f"{line.target} = {line.text.format(*[self._read(x, here) for x in line.operands])};" for line in piece
        ]
        self._free += [self._cell.pop(place) for place in self._expiring.pop(i, [])]
        later = [line.place for line in piece if line.place is not None and self._last_piece[line.place] > i]
        return [*lines, *(f"kept[{self._kept(place)}] = v{place};" for place in later)]

    def _read(self, place: int, here: set[int | None]) -> str:
        if place < self._program.inputs:
            return f"inputs[{place}]"
        if place < self._first:
            return f"constants[{place - self._program.inputs}]"
        return f"v{place}" if place in here else f"kept[{self._cell[place]}]"

    def _kept(self, place: int) -> int:
        """The cell that a result is kept in from now on."""
        if not self._free:
            self._free.append(self.cells)
            self.cells += 1
        self._cell[place] = self._free.pop()
        self._expiring[self._last_piece[place]].append(place)
        return self._cell[place]


def _statements(program: Program) -> list[_Statement]:
    """A statement for every instruction that an output needs, then one for every output."""
    rows = program.instructions.reshape(-1, 4).tolist()
    first = program.inputs + len(program.constants)
    needed = set(program.outputs)
    statements = []
    for i in range(len(rows) - 1, -1, -1):
        if first + i in needed:
            opcode, *places = rows[i]
            instruction = INSTRUCTIONS[opcode]
            operands = places[: instruction.arity]
            needed.update(operands)
            statements.append(_Statement(first + i, f"const double v{first + i}", instruction.c, operands))
    outputs = [_Statement(None, f"outputs[{i}]", "{0}", [place]) for i, place in enumerate(program.outputs)]
    return statements[::-1] + outputs


def _function(kind: str, name: str, body: list[str], parameters: list[str]) -> list[str]:
    """A function's lines. What it does not use of its parameters is named, so that no compiler warns of it."""
    text = "\n".join(body)
    names = [re.findall(r"\w+", parameter)[-1] for parameter in parameters]
    unused = [f"(void){parameter};" for parameter in names if not re.search(rf"\b{parameter}\b", text)]
    return [f"{kind} {name}({', '.join(parameters)})", "{", *(f"    {line}" for line in [*unused, *body]), "}"]


def _comment(program: Program, name: str, cells: int) -> list[str]:
    """What stands at the top of the file."""
    stack = [f"   It needs {8 * cells:,} bytes of the stack."] if cells else []
    return [
        f"/* void {name}(const double *inputs, double *outputs): a program of {len(program)} instructions.",
        "",
        *_described("inputs", program.inputs, program.input_names),
        *_described("outputs", len(program.outputs), program.output_names),
        "",
        "   The two arrays may not overlap.",
        *stack,
        f"   Compile it with cc -std=c99 -O2 -ffp-contract=off -fno-math-errno -c {name}.c, and link with -lm. With",
        "   -fno-builtin too it gives the same bits as gradwalk does on this C library. -ffast-math loses nan and inf.",
        "   Written by gradwalk. */",
    ]


def _described(array: str, count: int, names: Sequence[str]) -> list[str]:
    """How many numbers an array has and, where that is known, which."""
    width = len(f"{array}[{count - 1}]")
    # neither /* nor */ nor a backslash, in any spelling, may stand in a comment
    shown = [re.sub(r"[^ -~]|[/\\?]", "_", name) for name in names]
    return [f"   {array}: {count}", *(f"   {f'{array}[{i}]':<{width}}  {name}" for i, name in enumerate(shown) if name)]


def _constants(program: Program) -> list[str]:
    """The array of constants, to the last bit, with what they are in the comments."""
    lines = [f"    {_exactly(number)}, /* {number!r} */" for number in program.constants]
    return ["static const double constants[] = {", *lines, "};", ""]


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
    if name in re.findall(r"\w+", f"{_KEYWORDS} {_OWN} {functions}"):
        raise ValueError(f"{name} means something else in that file already: give the function another name")
