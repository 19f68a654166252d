"""`load`: read a program or a batch program from a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gradwalk.program.formats import program_json
from gradwalk.program.program import Program, read_document

if TYPE_CHECKING:
    from gradwalk.batching.files.batch_program import BatchProgram


def load(path: str | os.PathLike[str]) -> Program | BatchProgram:
    """Read a program or a batch program from a file. No part of the file is executed as Python.

    Args:
        path: Path of a file that `Program.save` or `BatchProgram.save` wrote.

    Returns:
        A `Program`, whose `run` takes an array of all inputs, or a `BatchProgram`, which takes the arguments of the
        function that was recorded.

    Raises:
        ProgramError: The file does not hold a valid program.

    Example:
        >>> import os, tempfile
        >>> from gradwalk import jit
        >>> double = jit(lambda x: 2 * x)
        >>> double(3.0)
        6.0
        >>> path = os.path.join(tempfile.mkdtemp(), "double.json")
        >>> double.program.save(path)
        >>> load(path).run([4.5])
        array([9.])
    """
    document = program_json.parse(program_json.read_file(path))
    if isinstance(document, dict) and document.get("gradwalk") == "batch":
        from gradwalk.batching.files.batch_program import read_batch  # loaded on demand: programs need less

        return read_batch(document)
    return read_document(document)
