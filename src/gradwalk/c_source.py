"""Programs as C: one file that needs nothing but <math.h>."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy

from gradwalk.formula import C_HELPERS
from gradwalk.instructions import CALL, INSTRUCTIONS, ProgramError

if TYPE_CHECKING:
    from gradwalk.program import Program

# Statements to a function: a compiler's time grows faster than the length of one. Longer programs are cut into pieces.
_PIECE = 250

_KEYWORDS = frozenset(
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast "
    "consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast "
    "else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept "
    "not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return "
    "short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try "
    "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq".split()
)
_OWN = frozenset(["inputs", "outputs", "constants", "kept", "main", "NAN", "INFINITY"])
_FUNCTIONS = frozenset(re.findall(r"[a-z]\w*", " ".join(instruction.c for instruction in INSTRUCTIONS.values())))


class Statement(NamedTuple):
    """A line of C. `place`: of what it computes, None for an output. `text`: with {0} and so on for its operands."""

    place: int | None
    text: str
    operands: Sequence[int]


def c_source(program: Program, name: str) -> str:
    """The program as a file in C99 with the function `void name(const double *inputs, double *outputs)`.

    Raises `ProgramError` where it calls a function of Python, `ValueError` where the name is none that C could have.
    """
    _check_name(name)
    if program.calls:
        called = program.calls[0][0].name
        raise ProgramError(
            f"the program calls {called}(), a function of Python, which C has not. Write {called}() with gradwalk.math "
            "instead of as a primitive or checkpoint, so that it is recorded"
        )
    statements = _statements(program)
    pieces = [statements[i : i + _PIECE] for i in range(0, len(statements), _PIECE)] or [[]]
    writer = _Writer(program, pieces)
    bodies = [writer.piece(i) for i in range(len(pieces))]
    code = "\n".join(line for body in bodies for line in body)
    lines = [*_heading(program, name, writer.cells), "#include <math.h>", ""]
    lines += [helper for called, helper in C_HELPERS.items() if f"{called}(" in code]
    lines += _constants(program.constants) if "constants[" in code else []
    if len(bodies) == 1:
        return _joined([*lines, *_function(f"void {name}(const double *inputs, double *outputs)", bodies[0])])
    lines += ["#ifdef __GNUC__", "__attribute__((noinline)) /* one function of all pieces would take long to compile */", "#endif"]
    ...
