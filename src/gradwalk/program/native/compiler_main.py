"""Script of the compiler process: reads LLVM IR from standard input and writes object code to standard output.

`compiler_process.py` runs this file as a script with only the standard library and llvmlite on its path, so it must not
import gradwalk.
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
# First byte of a reply, which tells whether an object file or an error follows.
OBJECT, ERROR = b"o", b"e"

# First line of a module on which LLVM runs all passes of its level 1, such as a module with loops over arrays.
ALL_PASSES = "; all passes"
# The passes that LLVM runs on other modules. They take much less time, and the machine code is hardly slower.
_QUICK = "sroa", "instruction_combine", "simplify_cfg", "dead_code_elimination"


def native_llvm() -> Any:
    """Import and initialize `llvmlite.binding` for this machine. Raises ImportError or OSError if that fails."""
    binding = importlib.import_module("llvmlite.binding")
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def compile_ir(llvm: Any, source: str, features: str | None) -> bytes:
    """Compile a module of LLVM IR for this machine; return the object file.

    `features` lists the CPU features that LLVM may use, in LLVM's notation; None allows all features. Raises
    RuntimeError if LLVM rejects the module.
    """
    module = llvm.parse_assembly(source)
    module.verify()
    target = llvm.Target.from_default_triple()
    processor = {"cpu": llvm.get_host_cpu_name()} if features is None else {"features": features}
    machine = target.create_target_machine(opt=1, **processor)
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = False  # it fails an assertion of LLVM for some loops that pass numbers on
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager() if source.startswith(ALL_PASSES) else _quick_passes(llvm)
    passes.run(module, builder)
    code: bytes = machine.emit_object(module)
    return code


def _quick_passes(llvm: Any) -> Any:
    passes = llvm.create_new_module_pass_manager()
    for name in _QUICK:
        getattr(passes, f"add_{name}_pass")()
    return passes


def write_frame(file: BinaryIO, payload: bytes) -> None:
    """Write the length of some bytes, and then the bytes, to an unbuffered file."""
    rest = memoryview(_LENGTH.pack(len(payload)) + payload)
    while rest:
        rest = rest[file.write(rest) :]


def read_frame(file: BinaryIO) -> bytes | None:
    """Read bytes that `write_frame` wrote; return None if the file ends before all of them are read."""
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
    """Compile the module in a request, which is `[source, features]` as JSON.

    Returns `OBJECT` followed by the object file, or `ERROR` followed by the traceback.
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
        os.dup2(2, 1)  # other output goes to standard error, so that it does not mix with the replies
        while (request := read_frame(requests)) is not None:
            write_frame(replies, reply_to(request))


if __name__ == "__main__":
    main()
