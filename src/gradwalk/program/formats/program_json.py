"""Write programs as JSON and read them (schema: docs/program.schema.json).

Reading validates the JSON and executes no part of it.
"""

from __future__ import annotations

import json
import math
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from reprlib import repr as shown  # which abbreviates long values
from typing import Any

import numpy

from gradwalk.graph.json.plain_json import to_number
from gradwalk.program.code.call_registry import KINDS, maker
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL, INSTRUCTIONS, NAMES, OPCODES, TAKE, ProgramError
from gradwalk.program.code.validate import validate

VERSION = 2  # for programs with loops or switches; other programs have version 1
_REQUIRED = ("gradwalk", "version", "inputs", "constants", "instructions", "outputs")
_KEYS = {  # version -> required and optional keys
    1: (*_REQUIRED, "tables"),
    2: (*_REQUIRED, "tables", "calls", "programs"),
}
_DEEPEST = 50  # maximum nesting depth of loops and switches
_MOST_REPEATED = 10_000_000  # maximum number of inputs, constants and outputs in shared programs; see `_count`
_SPECIAL = ("nan", "inf", "-inf")
_LARGEST = 2**31 - 1  # indices are int32


def written(code: Code) -> str:
    """Return a program as JSON text. Raises `ProgramError` if the program calls a Python function."""
    code.refuse_calls("which JSON cannot store; use pickle")
    inner = _Inner()
    parts = _parts(code, inner)
    head: dict[str, Any] = {"gradwalk": "program", "version": VERSION if code.calls else 1}
    if inner.programs:
        head["programs"] = inner.programs
    head.update(parts)
    lines = [json.dumps(row) for row in _rows(code)]
    return f'{json.dumps(head)[:-1]},\n"instructions": [\n' + ",\n".join(lines) + "\n]}"


class _Inner:
    """Collects the programs inside a program's calls. Equal programs are written once.

    Attributes:
        programs: The programs as JSON objects. Each program comes after the programs that it uses.
    """

    def __init__(self) -> None:
        self.programs: list[dict[str, Any]] = []
        self._by_text: dict[str, int] = {}  # JSON text of a program -> its position in `programs`
        self._by_code: dict[int, int] = {}  # id of a program's code -> its position in `programs`
        self._by_call: dict[int, list[int]] = {}  # id of a call -> the positions of its programs

    def places(self, function: Any) -> list[int]:
        """Return the positions of a call's programs in `programs`. New programs are appended to the list."""
        if id(function) not in self._by_call:
            self._by_call[id(function)] = [self._place(part.code) for part in function.parts]
        return self._by_call[id(function)]

    def _place(self, code: Code) -> int:
        if id(code) not in self._by_code:
            parts = {**_parts(code, self), "instructions": _rows(code)}
            place = self._by_text.setdefault(json.dumps(parts), len(self.programs))
            if place == len(self.programs):
                self.programs.append(parts)
            self._by_code[id(code)] = place
        return self._by_code[id(code)]


def _parts(code: Code, inner: _Inner) -> dict[str, Any]:
    """Return the JSON fields of a program except its instructions."""
    names = code.output_names or [""] * len(code.outputs)
    parts: dict[str, Any] = {
        "inputs": code.input_names or [""] * code.inputs,
        "constants": [to_number(number) for number in code.constants],
        "outputs": list(zip(names, code.outputs, strict=True)),
    }
    if code.tables:
        parts["tables"] = code.tables
    if code.calls:
        parts["calls"] = [
            {
                "kind": function.kind,
                "programs": inner.places(function),
                "settings": function.settings,
                "operands": operands,
            }
            for function, operands in code.calls
        ]
    return parts


def _rows(code: Code) -> list[list[Any]]:
    """Return a list per instruction: the name of the instruction, then its operands."""
    return [[NAMES[opcode], *fields[: _arity(opcode)]] for opcode, *fields in code.rows]


def read_document(document: Any) -> Code:
    """Read a program from parsed JSON without executing any of it. The caller must validate the result.

    Raises `ProgramError` if the document is malformed, saying where.
    """
    _check_document(document)
    programs = _Programs()
    for i, part in enumerate(document.get("programs", [])):
        if not isinstance(part, dict):
            raise ProgramError(f"program {i} is {shown(part)}, not an object")
        _check_lists(part, (*_REQUIRED[2:], "tables", "calls"), f"program {i}")
        code, depth = _code(part, programs)
        validate(code)
        programs.add(code, depth)
    return _code(document, programs)[0]


class _Programs:
    """The programs of a document that have been read so far. Equal calls are created once.

    Attributes:
        depths: For each program, the nesting depth of its loops and switches.
    """

    def __init__(self) -> None:
        self.depths: list[int] = []
        self._codes: list[Code] = []
        self._calls: dict[str, Any] = {}
        self._is_used: list[bool] = []
        self._repeated = 0

    def add(self, code: Code, depth: int) -> None:
        """Add a program that has been validated."""
        self._codes.append(code)
        self.depths.append(depth)
        self._is_used.append(False)

    def call(self, kind: str, which: list[int], settings: dict[str, Any]) -> Any:
        """Return the call of this kind that has these settings and the programs at the positions `which`."""
        try:
            key = json.dumps([kind, which, settings], sort_keys=True)
        except RecursionError:
            raise ProgramError(f"the settings of a {kind} must not be nested, got {shown(settings)}") from None
        if key not in self._calls:
            self._count(which)
            self._calls[key] = maker(kind)([self._codes[place] for place in which], settings)
        return self._calls[key]

    def _count(self, which: list[int]) -> None:
        """Raise `ProgramError` if calls that share programs would copy too much of these programs into memory."""
        for place in which:
            code = self._codes[place]
            if self._is_used[place]:
                self._repeated += code.first + len(code.outputs) + sum(len(operands) for _, operands in code.calls)
            self._is_used[place] = True
        if self._repeated > _MOST_REPEATED:
            raise ProgramError(
                f"programs that several calls share must have at most {_MOST_REPEATED:,} inputs, constants and "
                f"outputs, counted once per call, got {self._repeated:,}"
            )


def _code(document: dict[str, Any], programs: _Programs) -> tuple[Code, int]:
    """Return a program, which may use programs that were read before, and its nesting depth of loops and switches."""
    depths = [0]
    calls = [_call(given, i, programs, depths) for i, given in enumerate(document.get("calls", []))]
    inputs = document["inputs"]
    outputs = document["outputs"]
    for i, name in enumerate(inputs):
        if not isinstance(name, str):
            raise ProgramError(f"input {i} is {shown(name)}, not a name")
    for i, output in enumerate(outputs):
        name, index = output if isinstance(output, list) and len(output) == 2 else (None, None)
        if not isinstance(name, str) or not _is_index(index):
            raise ProgramError(f"output {i} is {shown(output)}, not a name and an index")
    names = [name for name, _ in outputs]
    code = Code(
        inputs=len(inputs),
        constants=[_number(number, f"constant {i}") for i, number in enumerate(document["constants"])],
        instructions=_instructions(document["instructions"]),
        calls=calls,
        outputs=[index for _, index in outputs],
        input_names=inputs if any(inputs) else (),
        output_names=names if any(names) else (),
        tables=[_table(table, i) for i, table in enumerate(document.get("tables", []))],
    )
    return code, max(depths)


def _call(given: Any, i: int, programs: _Programs, depths: list[int]) -> tuple[Any, list[int]]:
    """Return a call and the indices of its operands; append its nesting depth to `depths`."""
    if not isinstance(given, dict) or given.keys() != {"kind", "programs", "settings", "operands"}:
        raise ProgramError(f"call {i} is {shown(given)}, not an object with kind, programs, settings and operands")
    kind, which, settings, operands = (given[key] for key in ("kind", "programs", "settings", "operands"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise ProgramError(f"call {i} has the unknown kind {shown(kind)}; known: {', '.join(sorted(KINDS))}")
    if not isinstance(which, list) or not all(_is_index(place) and place < len(programs.depths) for place in which):
        raise ProgramError(
            f"the programs of call {i} must be a list of indices of earlier programs, got {shown(which)}"
        )
    if not isinstance(settings, dict) or not isinstance(operands, list) or not all(map(_is_index, operands)):
        raise ProgramError(f"call {i} must have settings and a list of operand indices, got {shown(operands)}")
    depths.append(1 + max((programs.depths[place] for place in which), default=0))
    if depths[-1] > _DEEPEST:
        raise ProgramError(f"call {i} nests loops or switches more than {_DEEPEST} deep")
    return programs.call(kind, which, settings), operands


def replace_file(path: str, text: str) -> None:
    """Write a file atomically: other processes see the old text or the new text, never a part of the new text.

    Links are followed. A target that is not a regular file, such as a pipe, is written to directly.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    temporary = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_file(path: str | os.PathLike[str]) -> str:
    """Return the text of a file. Raises `ProgramError` if the file is not UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProgramError(f"{os.fspath(path)} is not a UTF-8 text file: {error}") from None


def parse(text: str) -> Any:
    """Parse JSON text. Raises `ProgramError` if it is not JSON."""
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"this is not JSON: {error}") from None


def _check_document(document: Any) -> None:
    """Check the keys of a program, and that it has lists where lists are required."""
    if isinstance(document, dict) and document.get("gradwalk") == "batch":
        raise ProgramError("this is the program of a batch: read it with gradwalk.load or BatchProgram.load")
    if not isinstance(document, dict) or document.get("gradwalk") != "program":
        raise ProgramError('this is not a program: the entry "gradwalk": "program" is missing')
    version = document.get("version")
    if type(version) is not int or version not in _KEYS:
        raise ProgramError(f"this program has version {shown(version)}; versions 1 and {VERSION} can be read")
    _check_lists(document, _KEYS[version], "the program")


def _check_lists(document: dict[str, Any], keys: Sequence[str], what: str) -> None:
    """Check that a program has only known keys, has all required keys, and has lists where lists are required."""
    unknown = document.keys() - set(keys)
    if unknown:
        raise ProgramError(f"{what} has the unknown key {shown(min(unknown))}; known keys: {', '.join(keys)}")
    for key in keys:
        if (
            key not in _REQUIRED[:2]
            and not isinstance(document.get(key), list)
            and (key in document or key in _REQUIRED)
        ):
            raise ProgramError(f"{what} needs a list of {key}")


def _instructions(rows: list[Any]) -> Any:
    """Return the instructions as an array for `Code.instructions`."""
    fields: list[Any] = []
    for i, row in enumerate(rows):
        opcode = OPCODES.get(row[0]) if isinstance(row, list) and row and isinstance(row[0], str) else None
        if opcode not in INSTRUCTIONS and opcode not in (TAKE, CALL):
            raise ProgramError(f"instruction {i} is {shown(row)}, not the name of an operation and indices of operands")
        name, *operands = row
        arity = _arity(opcode)
        if len(operands) != arity:
            raise ProgramError(f"instruction {i} ({name}) takes {arity} operands, not {len(operands)}")
        fields += (opcode, *operands, *(0,) * (3 - arity))
    for i, field in enumerate(fields):
        if not _is_index(field):
            raise ProgramError(f"instruction {i // 4} ({rows[i // 4][0]}) has {shown(field)} as operand, not an index")
    return numpy.array(fields, numpy.int32)


def _arity(opcode: int) -> int:
    """Return how many numbers follow the name of an instruction.

    For a `take` these are the index of its subscript and the position of its table. For a call they are the position of
    the call and the position of the result.
    """
    return 2 if opcode in (TAKE, CALL) else INSTRUCTIONS[opcode].arity


def _table(given: Any, i: int) -> list[int]:
    if not isinstance(given, list) or not all(map(_is_index, given)):
        raise ProgramError(f"table {i} is {shown(given)}, not a list of indices")
    return given


def _is_index(given: Any) -> bool:
    return type(given) is int and 0 <= given <= _LARGEST


def _number(given: Any, what: str) -> float:
    if type(given) not in (int, float) and given not in _SPECIAL:
        raise ProgramError(f"{what} is {shown(given)}, not a number")
    try:
        number = float(given)
    except OverflowError:
        number = math.inf
    if math.isinf(number) and not isinstance(given, str):
        raise ProgramError(f"{what} is too large for a float")
    return number


def _refused(constant: str) -> None:
    """Reject NaN and Infinity, which Python's json module would accept."""
    raise ValueError(f"{constant} is not a JSON number; write it as a string")
