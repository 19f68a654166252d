"""Programs as JSON, by the schema in docs/program.schema.json. Reading one checks every part of it and runs nothing."""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from reprlib import repr as shown  # whose texts are short, whatever it is given
from typing import Any

import numpy

from gradwalk.graph.plain_json import to_number
from gradwalk.program.call_kinds import KINDS
from gradwalk.program.code import Code
from gradwalk.program.opcodes import CALL, INSTRUCTIONS, NAMES, OPCODES, TAKE, ProgramError
from gradwalk.program.validate import validate

VERSION = 2  # of programs with loops or choices; all others are written as before there were any
_REQUIRED = ("gradwalk", "version", "inputs", "constants", "instructions", "outputs")
_KEYS = {  # by version: what may be there besides
    1: (*_REQUIRED, "tables"),
    2: (*_REQUIRED, "tables", "calls", "programs"),
}
_DEEPEST = 50  # loops within loops
_SPECIAL = ("nan", "inf", "-inf")
_LARGEST = 2**31 - 1  # indices are int32


def written(code: Code) -> str:
    """Write a program as JSON.

    Args:
        code: The parts of the program.

    Returns:
        The text.

    Raises:
        ProgramError: If the program calls a function of Python.
    """
    code.refuse_calls("which JSON cannot hold; a pickle can")
    inner: dict[int, Code] = {}
    _collect(code, inner)
    places = {which: place for place, which in enumerate(inner)}
    head: dict[str, Any] = {"gradwalk": "program", "version": VERSION if code.calls else 1}
    if inner:
        head["programs"] = [_parts(part, places, "instructions") for part in inner.values()]
    head.update(_parts(code, places))
    lines = [json.dumps(row) for row in _rows(code)]
    return f'{json.dumps(head)[:-1]},\n"instructions": [\n' + ",\n".join(lines) + "\n]}"


def _collect(code: Code, inner: dict[int, Code]) -> None:
    """Add the programs that a program's loops and choices consist of, each behind those that it needs itself."""
    for function, _ in code.calls:
        for part in function.parts:
            if id(part.code) not in inner:
                _collect(part.code, inner)
                inner[id(part.code)] = part.code


def _parts(code: Code, places: dict[int, int], *more: str) -> dict[str, Any]:
    """Return what a program consists of; its instructions only where they are asked for."""
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
                "programs": [places[id(part.code)] for part in function.parts],
                "settings": function.settings,
                "operands": operands,
            }
            for function, operands in code.calls
        ]
    return {**parts, "instructions": _rows(code)} if more else parts


def _rows(code: Code) -> list[list[Any]]:
    """Return the instructions as lists."""
    return [[NAMES[opcode], *fields[: _arity(opcode)]] for opcode, *fields in code.rows]


def read(text: str) -> Code:
    """Read a program from JSON. Nothing in the text is ever run as Python.

    Args:
        text: What `written` returned.

    Returns:
        The parts of the program. They have still to be validated.

    Raises:
        ProgramError: If the text is anything else, saying where it stops making sense.
    """
    document = _document(text)
    programs: list[tuple[Code, int]] = []  # each with how deep the loops in it go
    for i, part in enumerate(document.get("programs", [])):
        if not isinstance(part, dict):
            raise ProgramError(f"program {i} is {shown(part)}, not an object")
        _check_lists(part, (*_REQUIRED[2:], "tables", "calls"), f"program {i}")
        programs.append(_code(part, programs))
    return _code(document, programs)[0]


def _code(document: dict[str, Any], programs: list[tuple[Code, int]]) -> tuple[Code, int]:
    """Return a program, which may use those before it, and how deep the loops in it go."""
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


def _call(given: Any, i: int, programs: list[tuple[Code, int]], depths: list[int]) -> tuple[Any, list[int]]:
    """Return a call and the indices of its operands; add to `depths` how deep the loops in it go."""
    if not isinstance(given, dict) or given.keys() != {"kind", "programs", "settings", "operands"}:
        raise ProgramError(f"call {i} is {shown(given)}, not an object with kind, programs, settings and operands")
    kind, which, settings, operands = (given[key] for key in ("kind", "programs", "settings", "operands"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise ProgramError(f"call {i} is of the kind {shown(kind)}; known: {', '.join(sorted(KINDS))}")
    if not isinstance(which, list) or not all(_is_index(place) and place < len(programs) for place in which):
        raise ProgramError(f"call {i} has the programs {shown(which)}, not a list of numbers of earlier ones")
    if not isinstance(settings, dict) or not isinstance(operands, list) or not all(map(_is_index, operands)):
        raise ProgramError(f"call {i} has the operands {shown(operands)}, not a list of indices, or no settings")
    depths.append(1 + max((programs[place][1] for place in which), default=0))
    if depths[-1] > _DEEPEST:
        raise ProgramError(f"call {i} is a loop in loops, more than {_DEEPEST} deep")
    for place in which:
        validate(programs[place][0])
    return KINDS[kind]([programs[place][0] for place in which], settings), operands


def replace_file(path: str, text: str) -> None:
    """Write a file as a whole: whoever reads it finds the earlier text or the new one, never a part.

    Args:
        path: The file. A link is followed; what is no regular file, such as a pipe, is written to as it is.
        text: The text.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    temporary = target.with_name(f"{target.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            if target.exists():
                shutil.copymode(target, temporary)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _document(text: str) -> dict[str, Any]:
    """Parse the text, and check that it has all of the keys and no others, and lists where they should be."""
    try:
        document = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("gradwalk") != "program":
        raise ProgramError('this is not a program: it has no "gradwalk": "program"')
    version = document.get("version")
    if type(version) is not int or version not in _KEYS:
        raise ProgramError(f"this program has version {shown(version)}; versions 1 and {VERSION} can be read")
    _check_lists(document, _KEYS[version], "the program")
    return document


def _check_lists(document: dict[str, Any], keys: Sequence[str], what: str) -> None:
    """Check that a program has all of the keys and no others, and lists where they should be."""
    unknown = document.keys() - set(keys)
    if unknown:
        raise ProgramError(f"{what} has {shown(min(unknown))}; known: {', '.join(keys)}")
    for key in keys:
        if (
            key not in _REQUIRED[:2]
            and not isinstance(document.get(key), list)
            and (key in document or key in _REQUIRED)
        ):
            raise ProgramError(f"{what} has no list of {key}")


def _instructions(rows: list[Any]) -> Any:
    """Return the instructions as `Code` has them."""
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

    Those of `take` are the indices of its index and its table, those of a call its number and that of a result.
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
    """Refuse what Python's module json would read as nan or inf."""
    raise ValueError(f"{constant} is no number there; write it as a text")
