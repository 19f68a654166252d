"""Programs as JSON, by the schema in docs/program.schema.json. Reading one checks every part of it and runs nothing."""

from __future__ import annotations

import json
import math
import os
import shutil
import threading
from pathlib import Path
from reprlib import repr as shown  # whose texts are short, whatever it is given
from typing import Any

import numpy

from gradwalk.graph.plain_json import to_number
from gradwalk.program.code import Code
from gradwalk.program.opcodes import INSTRUCTIONS, NAMES, OPCODES, TAKE, ProgramError

VERSION = 1
_REQUIRED = ("gradwalk", "version", "inputs", "constants", "instructions", "outputs")
_KEYS = (*_REQUIRED, "tables")  # which stands there if something takes from a table
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
    lines = []
    for opcode, *fields in code.rows:
        lines.append(f'["{NAMES[opcode]}", {", ".join(map(str, fields[: _arity(opcode)]))}]')
    names = code.output_names or [""] * len(code.outputs)
    head = {
        "gradwalk": "program",
        "version": VERSION,
        "inputs": code.input_names or [""] * code.inputs,
        "constants": [to_number(number) for number in code.constants],
        "outputs": list(zip(names, code.outputs, strict=True)),
    }
    if code.tables:
        head["tables"] = code.tables
    return f'{json.dumps(head)[:-1]},\n"instructions": [\n' + ",\n".join(lines) + "\n]}"


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
    return Code(
        inputs=len(inputs),
        constants=[_number(number, f"constant {i}") for i, number in enumerate(document["constants"])],
        instructions=_instructions(document["instructions"]),
        calls=(),
        outputs=[index for _, index in outputs],
        input_names=inputs if any(inputs) else (),
        output_names=names if any(names) else (),
        tables=[_table(table, i) for i, table in enumerate(document.get("tables", []))],
    )


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
    if type(version) is not int or version != VERSION:
        raise ProgramError(f"this program has version {shown(version)}; version {VERSION} can be read")
    unknown = document.keys() - set(_KEYS)
    if unknown:
        raise ProgramError(f"the program has {shown(min(unknown))}; known: {', '.join(_KEYS)}")
    for key in _KEYS[2:]:
        if not isinstance(document.get(key), list) and (key in document or key in _REQUIRED):
            raise ProgramError(f"the program has no list of {key}")
    return document


def _instructions(rows: list[Any]) -> Any:
    """Return the instructions as `Code` has them."""
    fields: list[Any] = []
    for i, row in enumerate(rows):
        opcode = OPCODES.get(row[0]) if isinstance(row, list) and row and isinstance(row[0], str) else None
        if opcode not in INSTRUCTIONS and opcode != TAKE:
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
    """Return how many numbers follow the name of an instruction: of `take` the indices of its index and its table."""
    return 2 if opcode == TAKE else INSTRUCTIONS[opcode].arity


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
