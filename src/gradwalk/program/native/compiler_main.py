"""The program of the compiler process: it reads LLVM IR from standard input and writes object code to standard output.

`compiler_process.py` runs this file as a script whose path holds the standard library and llvmlite alone, so it must
not import gradwalk.
"""

from __future__ import annotations

import importlib
import json
import os
import struct
import sys
import traceback
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")
# The first byte of a reply.
OBJECT, ERROR = b"o", b"e"


def native_llvm() -> Any:
    """Import llvmlite's binding and initialise it for this machine.

    Returns:
        The module.

    Raises:
        ImportError: llvmlite cannot be imported.
        OSError: llvmlite's library cannot be loaded.
    """
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def compile_ir(llvm: Any, source: str, features: str | None) -> bytes:
    """Compile a module of LLVM IR for this machine.

    Args:
        llvm: llvmlite's binding.
        source: The module.
        features: Features of the processor that LLVM may use, as it writes them; None for all features.

    Returns:
        The object file.

    Raises:
        RuntimeError: LLVM refuses the module.
    """
    module = llvm.parse_assembly(source)
    module.verify()
    target = llvm.Target.from_default_triple()
    options = {"cpu": llvm.get_host_cpu_name()} if features is None else {"features": features}
    machine = target.create_target_machine(opt=1, **options)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(module, passes)
    code: bytes = machine.emit_object(module)
    return code


def write_frame(file: BinaryIO, payload: bytes) -> None:
    """Write bytes with their length in front to an unbuffered file."""
    rest = memoryview(_LENGTH.pack(len(payload)) + payload)
    while rest:
        rest = rest[file.write(rest) :]


def read_frame(file: BinaryIO) -> bytes | None:
    """Read what `write_frame` wrote; None where the file ends before that."""
    header = _read_exactly(file, _LENGTH.size)
    return None if header is None else _read_exactly(file, _LENGTH.unpack(header)[0])


def _read_exactly(file: BinaryIO, count: int) -> bytes | None:
    pieces = []
    while count:
        piece = file.read(count)
        if not piece:
            return None
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def reply_to(request: bytes) -> bytes:
    """Compile the module of a request, which is `[source, features]` as JSON.

    Returns:
        `OBJECT` and the object file, or `ERROR` and the traceback.
    """
    source, features = json.loads(request)
    try:
        return OBJECT + compile_ir(native_llvm(), source, features)
    except (ImportError, OSError, RuntimeError):
        return ERROR + traceback.format_exc().encode()


def main() -> None:
    """Reply to requests until standard input ends."""
    sys.path.append(sys.argv[1])
    with open(0, "rb", buffering=0) as requests, os.fdopen(os.dup(1), "wb", buffering=0) as replies:
        os.dup2(2, 1)  # whatever else is printed must not get between the replies
        while (request := read_frame(requests)) is not None:
            write_frame(replies, reply_to(request))


if __name__ == "__main__":
    main()
