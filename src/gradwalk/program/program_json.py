"""Programs as JSON, by the schema in docs/program.schema.json. Reading one checks every part of it and runs nothing."""

from __future__ import annotations

import json
import math
from reprlib import repr as shown  # bounded in depth and length, whatever it is given
from typing import TYPE_CHECKING, Any

import numpy

from gradwalk.graph.plain_json import to_number
from gradwalk.program.opcodes import INSTRUCTIONS, OPCODES, ProgramError, refuse_calls

if TYPE_CHECKING:
    from gradwalk.program.program import Program

VERSION = 1
_KEYS = ("gradwalk", "version", "inputs", "constants", "instructions", "outputs")
_SPECIAL = ("nan", "inf", "-inf")
_LARGEST = 2**31 - 1  # places are int32


def written(program: Program) -> str:
    """The program as JSON. Raises `ProgramError` where it calls a function of Python."""
    refuse_calls(program, "which JSON cannot hold; a pickle can")
    lines = []
    for opcode, *places in program.instructions.reshape(-1, 4).tolist():
        name, arity, _, _ = INSTRUCTIONS[opcode]
        lines.append(f'["{name}", {", ".join(map(str, places[:arity]))}]')
    names = program.output_names or [""] * len(program.outputs)
    head = {
        "gradwalk": "program",
        "version": VERSION,
        "inputs": list(program.input_names) or [""] * program.inputs,
        "constants": [to_number(number) for number in program.constants],
        "outputs": list(zip(names, program.outputs, strict=True)),
    }
    return f'{json.dumps(head)[:-1]},\n"instructions": [\n' + ",\n".join(lines) + "\n]}"


def read(text: str) -> dict[str, Any]:
    """The parts of a program by the names of Program's parameters. It has still to be validated.

    Raises `ProgramError` where the text is something else than `written` returns, saying where it stops making sense.
    """
    document = _document(text)
    inputs = document["inputs"]
    outputs = document["outputs"]
    for i, name in enumerate(inputs):
        if not isinstance(name, str):
            raise ProgramError(f"input {i} is {shown(name)}, not a name")
    for i, output in enumerate(outputs):
        name, place = output if isinstance(output, list) and len(output) == 2 else (None, None)
        if not isinstance(name, str) or not _is_place(place):
            raise ProgramError(f"output {i} is {shown(output)}, not a name and a place")
    names = [name for name, _ in outputs]
    return {
        "inputs": len(inputs),
        "constants": [_number(number, f"constant {i}") for i, number in enumerate(document["constants"])],
        "instructions": _instructions(document["instructions"]),
        "calls": [],
        "outputs": [place for _, place in outputs],
        "input_names": inputs if any(inputs) else [],
        "output_names": names if any(names) else [],
    }


def _document(text: str) -> dict[str, Any]:
    """The document, with all of its keys and no others, and lists where they should be."""
    try:
        document = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"this is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("gradwalk") != "program":
        raise ProgramError('this is not a program: it has no "gradwalk": "program"')
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise ProgramError(f"this program has version {shown(version)}; version {VERSION} can be read")
    unknown = document.keys() - set(_KEYS)
    if unknown:
        raise ProgramError(f"the program has {shown(min(unknown))}; known: {', '.join(_KEYS)}")
    for key in _KEYS[2:]:
        if not isinstance(document.get(key), list):
            raise ProgramError(f"the program has no list of {key}")
    return document


def _instructions(rows: list[Any]) -> Any:
    """The rows as Program has them: opcodes, and places of three operands."""
    fields: list[Any] = []
    for i, row in enumerate(rows):
        opcode = OPCODES.get(row[0]) if isinstance(row, list) and row and isinstance(row[0], str) else None
        if opcode not in INSTRUCTIONS:
            raise ProgramError(f"instruction {i} is {shown(row)}, not the name of an operation and places of operands")
        _, *places = row
        if len(places) != INSTRUCTIONS[opcode].arity:
            takes = INSTRUCTIONS[opcode].arity
            raise ProgramError(f"instruction {i} ({row[0]}) takes {takes} operands, not {len(places)}")
        fields += (opcode, *places, *(0,) * (3 - len(places)))
    for i, field in enumerate(fields):
        if not _is_place(field):
            raise ProgramError(f"instruction {i // 4} ({rows[i // 4][0]}) has {shown(field)} as operand, not a place")
    return numpy.array(fields, numpy.int32)


def _is_place(given: Any) -> bool:
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
    raise ValueError(f"{constant} is no number there; write it as a text")
