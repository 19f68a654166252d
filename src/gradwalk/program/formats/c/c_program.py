"""Print a program as one C99 file that needs only the standard library."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy

from gradwalk.ops.definitions import DEFINITIONS
from gradwalk.ops.printing.printers import C_HELPERS
from gradwalk.ops.printing.statements import c_definitions
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, TAKE
from gradwalk.program.formats.c import c_calls
from gradwalk.program.formats.c.c_loops import CRepeats
from gradwalk.program.formats.c.reserved import is_taken
from gradwalk.program.reroll.repeats import Moving, Repeat, even_runs

# Approximate maximum number of lines of a C function. The compile time grows faster than linearly with the number of
# lines.
_PIECE = 250

_FEWEST_COPIED = 5  # minimum number of numbers that are copied by a loop
# A call with at most this many operands and results has them in variables, so that the compiler can optimize them.
_MOST_IN_VARIABLES = 64
_MOST_CELLS = 4096  # in doubles: a larger array `memory` is allocated by malloc instead of on the stack

_ARRAYS = ("const double *inputs", "double *outputs")  # parameters of the functions of programs

_TAKE = """\
/* Entry `index` of `count` numbers, `stride` apart; a negative index counts from the end. */
static inline double take(const double *table, long stride, long count, double index)
{
    const double k = index < 0.0 ? index + (double)count : index;
    return k >= 0.0 && k < (double)count && k == floor(k) ? table[stride * (long)k] : NAN;
}"""


class _Numbers:
    """Tells where the numbers of a program are stored: in an array, or in a variable.

    The operands and results of a large call are in the array `memory`, after the results of loops.

    Attributes:
        cells: The size of `memory`.
        given: Maps each large call to the cell of its first operand. Its results follow its operands.
    """

    def __init__(self, code: Code, name: str, repeats: CRepeats) -> None:
        self.cells = repeats.cells
        self.given: dict[int, int] = {}
        self._code, self._name, self._repeats = code, name, repeats
        for which, (call, operands) in enumerate(code.calls):
            if len(operands) + call.outputs > _MOST_IN_VARIABLES:
                self.given[which] = self.cells
                self.cells += len(operands) + call.outputs
        self._cell_of = {
            index: self.given[which] + len(code.calls[which][1]) + position
            for index, (opcode, which, position, _) in enumerate(code.rows, code.first)
            if opcode == CALL and which in self.given
        }

    def place(self, index: int) -> tuple[str, int] | None:
        """Return the array that holds a number, and the number's cell; None if the number is in a variable."""
        code = self._code
        if index < code.inputs:
            return "inputs", index
        if index < code.first:
            return f"{self._name}_constants", index - code.inputs
        if index in self._cell_of:
            return "memory", self._cell_of[index]
        return ("memory", self._repeats.cell(index)) if self._repeats.inside[index] else None

    def copies(self, array: str, targets: Sequence[int], indices: Sequence[int]) -> Iterator[_Statement]:
        """Yield statements that copy numbers to cells of an array: a loop for evenly spaced cells."""
        places = [self.place(index) for index in indices]
        steps = [_step_of(*pairs) for pairs in itertools.pairwise(zip(targets, places, strict=True))]
        for start, count in even_runs(steps, _FEWEST_COPIED) if places else []:
            place, step = places[start], steps[start] if count > 1 else None
            if place is None or step is None:
                yield _Statement([], [f"{array}[{targets[start]}] = {{0}};"], [indices[start]])
                continue
            target, source = Moving(targets[start], step[:1]), Moving(place[1], step[1:])
            line = f"{array}[{target.text('i')}] = {place[0]}[{source.text('i')}];"
            head = f"    for (i = 0; i < {count}; ++i) {line}"
            yield _Statement([], ["{{", "    long i;", head, "}}"], [])


def _step_of(
    one: tuple[int, tuple[str, int] | None], other: tuple[int, tuple[str, int] | None]
) -> tuple[int, int] | None:
    """Return the distance of two target cells, and of their sources; None if the sources are not in one array."""
    (target, place), (next_target, next_place) = one, other
    if place is None or next_place is None or place[0] != next_place[0]:
        return None
    return next_target - target, next_place[1] - place[1]


class _Statement(NamedTuple):
    """One or more lines of C that are kept together.

    Attributes:
        results: The indices of the results, each of which is stored in a C variable. Empty for a loop or an output.
        text: The lines, with the placeholders {0}, {1} and so on for the operands.
        operands: The indices of the operands.
    """

    results: Sequence[int]
    text: Sequence[str]
    operands: Sequence[int]

    def lines(self, operands: Sequence[str]) -> list[str]:
        """Return the lines with the names of the operands filled in."""
        return [line.format(*operands) for line in self.text]


def c_source(code: Code, name: str) -> str:
    """Print a program as a C99 file with the function `void name(const double *inputs, double *outputs)`.

    Raises `ProgramError` if the program calls a Python function, and `ValueError` if the name is not usable in C.
    """
    functions = c_functions(name, {name: code})
    before = [*_comment(code, name, functions.cells), *[f"#include <{header}>" for header in functions.headers], ""]
    return "\n".join([*before, *functions.lines, ""])


class CFunctions(NamedTuple):
    """Functions in C.

    Attributes:
        headers: The headers that they need.
        lines: The definitions, with everything that they call.
        cells: The number of doubles in arrays on the stack.
    """

    headers: list[str]
    lines: list[str]
    cells: int


def c_functions(name: str, programs: Mapping[str, Code], more: str = "") -> CFunctions:
    """Print the C functions of some programs.

    Args:
        name: Prefix of all names at file scope: they are `name`, or begin with `name` and an underscore.
        programs: Maps the name of each function to its program. The function `name` is public, and all other
            functions are static.
        more: Further C code, for which the helpers that it calls are printed, too.

    Raises `ProgramError` if a program calls a Python function, and `ValueError` if `name` is not usable in C.
    """
    _check_name(name)
    file = _File(name)
    definitions: list[str] = []
    for function, code in programs.items():
        code.refuse_calls("which C does not have")
        definitions += file.called(code)
        definitions += [*file.program(code, function), ""]
    head = _head("void", name, _ARRAYS)  # `name` may also be the name of a helper
    text = "\n".join([*(line for line in definitions if line != head), more])
    defined = c_definitions(text)
    called = "\n".join([text, *defined])
    known = {**C_HELPERS, "take": _TAKE}
    used = [definition for helper, definition in known.items() if re.search(rf"\b{helper}\(", called)]
    helpers = [*used, *defined, *c_calls.helpers(text)]
    allocates = "alloc(" in "\n".join([text, *helpers])
    lines = [*helpers, *([""] if helpers else []), *definitions[:-1]]
    return CFunctions(
        ["math.h", *(["stdlib.h"] if allocates else [])],
        [line if line == head else with_prefix(line, name) for line in lines],
        file.cells,
    )


def with_prefix(text: str, name: str) -> str:
    """Return C code in which the names of helpers begin with `name` and an underscore."""
    return _HELPERS.sub(f"{name}_", text)


def _helpers() -> re.Pattern[str]:
    """Return a pattern for the beginning of the name of a helper, or for "gradwalk_" in it."""
    defined, printed, plan = ("|".join(names) for names in (DEFINITIONS, ["take", *C_HELPERS], c_calls.NAMES))
    return re.compile(rf"\b(?:gradwalk_(?=(?:{defined})\()|(?=(?:{printed})\()|(?=(?:{plan})\b))")


_HELPERS = _helpers()


class _File:
    """Prints the functions of a program and of the programs inside its loops and switches.

    Args:
        name: Prefix of the names of all C functions. The function with this name is public.

    Attributes:
        cells: The total number of doubles in arrays on the stack.
    """

    def __init__(self, name: str) -> None:
        self.cells = 0
        self._name = name
        self._functions: dict[int, str] = {}  # id of a call -> name of its C function
        self._programs: dict[int, str] = {}  # id of a program's code -> name of its C function

    def called(self, code: Code) -> list[str]:
        """Return the C functions of the calls in a program and of all nested calls.

        Functions that have been returned before are left out.
        """
        lines: list[str] = []
        for call, _ in code.calls:
            if id(call) in self._functions:
                continue
            for part in c_calls.programs_of(call):
                if id(part.code) not in self._programs:
                    lines += self.called(part.code)
                    self._programs[id(part.code)] = f"{self._name}_program_{1 + len(self._programs)}"
                    lines += [*self.program(part.code, self._programs[id(part.code)]), ""]
            self._functions[id(call)] = f"{self._name}_{call.kind}_{1 + len(self._functions)}"
            lines += c_calls.function(call, self._functions[id(call)], self._programs)
        return lines

    def program(self, code: Code, name: str) -> list[str]:
        """Return the arrays that a program uses, then its C function. The names of the arrays begin with `name`."""
        writer = _Writer(code, name, self._functions)
        definitions = writer.definitions("void" if name == self._name else "static void", f"{self._name.upper()}_PIECE")
        self.cells += writer.cells + writer.memory + writer.variables
        text = "\n".join(definitions)
        constants = _array(f"{name}_constants", code.constants) if f"{name}_constants[" in text else []
        numbers = _numbers_in_tables(code)
        tables = _array(f"{name}_tables", numbers) if f"take({name}_tables + " in text else []
        return [*constants, *tables, *definitions]


class _Writer:
    """Prints the C functions that run a program. A long program is split into several functions, called pieces.

    Within a piece, results are local variables. Results that later pieces need are stored in the array `kept`. A cell
    of `kept` is reused after the last use of the result in it.

    Attributes:
        cells: The number of cells in `kept`.
        memory: The size in doubles of the array `memory` if it is on the stack, else 0.
        variables: The number of operands and results of calls in other arrays.
    """

    def __init__(self, code: Code, name: str, functions: Mapping[int, str]) -> None:
        self.cells = 0
        self._code = code
        self._name = name
        repeats = CRepeats(code, name)
        self._numbers = _Numbers(code, name, repeats)
        self.memory = self._numbers.cells if self._numbers.cells <= _MOST_CELLS else 0
        small = [call for which, call in enumerate(code.calls) if which not in self._numbers.given]
        self.variables = sum(len(operands) + call.outputs for call, operands in small)
        statements = _statements(code, name, functions, repeats, self._numbers)
        self._pieces = _pieces(statements)
        self._last_piece = {
            index: i for i, piece in enumerate(self._pieces) for line in piece for index in line.operands
        }
        self._free: list[int] = []
        self._expiring: defaultdict[int, list[int]] = defaultdict(list)  # piece -> indices that no later piece uses
        self._cell: dict[int, int] = {}  # index of a result -> its cell in `kept`

    def definitions(self, kind: str, piece: str) -> list[str]:
        """Return the C function, after the functions of the pieces that it calls.

        `kind` is the text before the name of the function, and `piece` the macro for the text before pieces.
        """
        name = self._name
        if len(self._pieces) == 1:
            return _function(kind, name, self._with_memory(self._body(0)), _ARRAYS)
        lines = [
            "/* Compiling all pieces as one function would take long. */",
            *(f"#ifndef {piece}", "#ifdef __GNUC__", f"#define {piece} static __attribute__((noinline)) void", "#else"),
            *(f"#define {piece} static void", "#endif", "#endif", ""),
        ]
        passed = ["inputs", "outputs", "kept", *(["memory"] if self._numbers.cells else [])]
        parameters = [*_ARRAYS, *(f"double *{array}" for array in passed[2:])]
        for i in range(len(self._pieces)):
            lines += [*_function(piece, f"{name}_{i + 1}", self._body(i), parameters), ""]
        calls = [f"{name}_{i + 1}({', '.join(passed)});" for i in range(len(self._pieces))]
        body = [f"double kept[{max(self.cells, 1)}];", *self._with_memory(calls)]
        return [*lines, *_function(kind, name, body, _ARRAYS)]

    def _with_memory(self, body: list[str]) -> list[str]:
        """Return a function body that first allocates the array `memory`, if it is needed, and frees it at the end."""
        cells = self._numbers.cells
        if not cells:
            return body
        if self.memory:
            return [f"double memory[{cells}];", *body]
        fail = f"if (!memory) {{ long i; for (i = 0; i < {len(self._code.outputs)}; ++i) outputs[i] = NAN; return; }}"
        return [f"double *memory = (double *)malloc({cells} * sizeof(double));", fail, *body, "free(memory);"]

    def _body(self, i: int) -> list[str]:
        """Return the statements of a piece, and the statements that store the results that later pieces need."""
        piece = self._pieces[i]
        here = {result for line in piece for result in line.results}
        lines = [text for line in piece for text in line.lines([self._read(x, here) for x in line.operands])]
        self._free += [self._cell.pop(index) for index in self._expiring.pop(i, [])]
        later = [result for line in piece for result in line.results if self._last_piece.get(result, -1) > i]
        return [*lines, *(f"kept[{self._kept(index)}] = v{index};" for index in later)]

    def _read(self, index: int, here: set[int]) -> str:
        place = self._numbers.place(index)
        if place is not None:
            return f"{place[0]}[{place[1]}]"
        return f"v{index}" if index in here else f"kept[{self._cell[index]}]"

    def _kept(self, index: int) -> int:
        """Allocate a cell of `kept` for a result; return the index of the cell."""
        if not self._free:
            self._free.append(self.cells)
            self.cells += 1
        self._cell[index] = self._free.pop()
        self._expiring[self._last_piece[index]].append(index)
        return self._cell[index]


def _pieces(statements: list[_Statement]) -> list[list[_Statement]]:
    """Split statements into pieces of about 250 lines; return at least one piece."""
    pieces: list[list[_Statement]] = [[]]
    lines = 0
    for statement in statements:
        if lines >= _PIECE:
            pieces.append([])
            lines = 0
        pieces[-1].append(statement)
        lines += len(statement.text)
    return pieces


def _statements(
    code: Code, name: str, functions: Mapping[int, str], repeats: CRepeats, numbers: _Numbers
) -> list[_Statement]:
    """Return statements that run the instructions that the outputs depend on and then set the outputs."""
    needed = {*code.outputs, *numpy.flatnonzero(repeats.kept & ~repeats.inside).tolist()}
    statements = []
    tables = _constant_tables(code)
    results: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)  # call -> its needed results
    rows = code.rows
    first = {row[1]: i for i, row in reversed([*enumerate(rows)]) if row[0] == CALL}
    for part in reversed(repeats.parts):
        if isinstance(part, Repeat):
            statements.append(_Statement([], *repeats.statement(part)))
            needed.update(statements[-1].operands)
            continue
        for i in reversed(part):
            index, opcode, which = code.first + i, rows[i][0], rows[i][1]
            if opcode == CALL:
                if index in needed:
                    results[which].append((rows[i][2], index))
                if first[which] != i or not results[which]:
                    continue
                if which in numbers.given:
                    called = list(_calling_in_memory(code, which, results[which][::-1], functions, repeats, numbers))
                    needed.update(code.calls[which][1])
                    statements += called[::-1]
                    continue
                statement = _calling(code, which, results[which][::-1], functions)
            elif index not in needed:
                continue
            elif opcode == TAKE:
                statement = _taking(code, index, rows[i], tables, name)
            else:
                statement = _computing(code, index, rows[i])
            needed.update(statement.operands)
            statements.append(_with_kept(statement, repeats))
    return [*statements[::-1], *numbers.copies("outputs", range(len(code.outputs)), code.outputs)]


def _with_kept(statement: _Statement, repeats: CRepeats) -> _Statement:
    """Append lines that store results of a statement in `memory` if loops need these results."""
    kept = [index for index in statement.results if repeats.kept[index]]
    return statement._replace(text=[*statement.text, *(f"{repeats.read(Moving(i, ()))} = v{i};" for i in kept)])


def _calling_in_memory(
    code: Code,
    which: int,
    results: list[tuple[int, int]],
    functions: Mapping[int, str],
    repeats: CRepeats,
    numbers: _Numbers,
) -> Iterator[_Statement]:
    """Yield the statements that call a loop or switch whose operands and results are in `memory`."""
    call, operands = code.calls[which]
    given = numbers.given[which]
    yield from numbers.copies("memory", range(given, given + len(operands)), operands)
    yield _Statement([], [f"{functions[id(call)]}(memory + {given}, memory + {given + len(operands)});"], [])
    kept = [index for _, index in results if repeats.kept[index]]
    yield from numbers.copies("memory", [repeats.cell(index) for index in kept], kept)


def _computing(code: Code, index: int, row: list[int]) -> _Statement:
    return _Statement([index], [f"const double v{index} = {INSTRUCTIONS[row[0]].c};"], code.used(row))


def _calling(code: Code, which: int, results: list[tuple[int, int]], functions: Mapping[int, str]) -> _Statement:
    """Return the statement that calls a loop or switch and declares a variable for each needed result."""
    call, operands = code.calls[which]
    given = ", ".join([f"{{{i}}}" for i in range(len(operands))]) or "0"
    lines = [
        f"const double given{which}[] = {{{{{given}}}}};",
        f"double found{which}[{max(call.outputs, 1)}];",
        f"{functions[id(call)]}(given{which}, found{which});",
        *(f"const double v{index} = found{which}[{position}];" for position, index in results),
    ]
    return _Statement([index for _, index in results], lines, operands)


def _taking(code: Code, index: int, row: list[int], offsets: dict[int, int], name: str) -> _Statement:
    """Return the statement of a `take`.

    A table of equally spaced inputs, or of constants, is indexed in place. The entries of other tables are copied to an
    array first.
    """
    _, x, which, _ = row
    table = code.tables[which]
    count = len(table)
    strides = {after - before for before, after in itertools.pairwise(table)} or {1}
    if max(table) < code.inputs and len(strides) == 1:
        text = f"take(inputs + {table[0]}, {strides.pop()}, {count}, {{0}})"
    elif which in offsets:
        text = f"take({name}_tables + {offsets[which]}, 1, {count}, {{0}})"
    else:
        entries = ", ".join([f"{{{i}}}" for i in range(1, 1 + count)])
        array = f"const double table{index}[] = {{{{{entries}}}}};"
        taken = f"const double v{index} = take(table{index}, 1, {count}, {{0}});"
        return _Statement([index], [array, taken], code.used(row))
    return _Statement([index], [f"const double v{index} = {text};"], [x])


def _constant_tables(code: Code) -> dict[int, int]:
    """Return a dict from each table of constants to its offset in the C array of tables."""
    offsets = {}
    offset = 0
    for which, table in enumerate(code.tables):
        if all(code.inputs <= index < code.first for index in table):
            offsets[which] = offset
            offset += len(table)
    return offsets


def _numbers_in_tables(code: Code) -> list[float]:
    """Return the contents of the C array of tables: the numbers of all tables of constants."""
    return [code.constants[index - code.inputs] for which in _constant_tables(code) for index in code.tables[which]]


def _function(kind: str, name: str, body: list[str], parameters: Sequence[str]) -> list[str]:
    """Return the lines of a C function. Unused parameters are cast to void to avoid compiler warnings."""
    text = "\n".join(body)
    names = [re.findall(r"\w+", parameter)[-1] for parameter in parameters]
    unused = [f"(void){parameter};" for parameter in names if not re.search(rf"\b{parameter}\b", text)]
    return [_head(kind, name, parameters), "{", *(f"    {line}" for line in [*unused, *body]), "}"]


def _head(kind: str, name: str, parameters: Sequence[str]) -> str:
    return f"{kind} {name}({', '.join(parameters)})"


def _comment(code: Code, name: str, cells: int) -> list[str]:
    """Return the comment at the top of the file."""
    stack = [f"   It needs {8 * cells:,} bytes of stack."] if cells else []
    return [
        f"/* void {name}(const double *inputs, double *outputs): a program of {len(code)} instructions.",
        "",
        *_described("inputs", code.inputs, code.input_names),
        *_described("outputs", len(code.outputs), code.output_names),
        "",
        "   The two arrays must not overlap.",
        *stack,
        f"   Compile with cc -std=c99 -O2 -ffp-contract=off -fno-math-errno -c {name}.c, and link with -lm. Adding",
        "   -fno-builtin makes results bitwise equal to gradwalk's on this C library. -ffast-math breaks nan and inf.",
        "   Written by gradwalk. */",
    ]


def _described(array: str, count: int, names: Sequence[str]) -> list[str]:
    """Return comment lines that give the length of an array and the names of its entries."""
    width = len(f"{array}[{count - 1}]")
    # A C comment must not contain /*, */, a backslash, or a trigraph for a backslash.
    shown = [re.sub(r"[^ -~]|[/\\?]", "_", name) for name in names]
    return [f"   {array}: {count}", *(f"   {f'{array}[{i}]':<{width}}  {name}" for i, name in enumerate(shown) if name)]


def _array(name: str, numbers: Sequence[float]) -> list[str]:
    """Return the definition of an array, in exact hexadecimal notation with decimal values in comments."""
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
        raise ValueError(f"name must consist of letters, digits and _ and not start with a digit, got {name!r}")
    if is_taken(name):
        raise ValueError(f"{name} is already a name in C: choose another name")
