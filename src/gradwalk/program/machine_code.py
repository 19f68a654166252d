"""Machine code for programs that have run long, such as the steps of loops: by LLVM, where llvmlite is installed.

The interpreter serves from the first call on. What it has run often is compiled beside it, in a thread of its own, and
no call waits for that. Results are the same to the last bit (`llvm_ir.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import threading
from functools import cache
from typing import Any, NamedTuple

from gradwalk.program.code import Code
from gradwalk.program.llvm_ir import PREFIX, called_by_address, ir_source

# Instructions of a program, and entries of its tables, which stand on the stack. Larger ones do not fit the caches, and
# take long to compile.
MOST = 3000


class MachineCode(NamedTuple):
    """A function `void run(double *values)`: see `llvm_ir.ir_source`.

    Attributes:
        address: Where it is.
        owner: What keeps it in memory.
    """

    address: int
    owner: Any


def is_wanted(code: Code) -> bool:
    """Return whether a program may be compiled.

    Args:
        code: The parts of the program.

    Returns:
        False where it calls anything, or is too large; and everywhere if the environment variable GRADWALK_BACKEND is
        "lanes", or llvmlite is not installed.
    """
    is_small = not code.calls and len(code) + sum(map(len, code.tables)) <= MOST
    return is_small and os.environ.get("GRADWALK_BACKEND") != "lanes" and _llvm() is not None


def compiled(code: Code) -> MachineCode:
    """Compile a program.

    Args:
        code: The parts of the program.

    Returns:
        The machine code.

    Raises:
        AttributeError: The C library of this system lacks a function that the program calls.
    """
    llvm = _llvm()
    source = ir_source(code)
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    for function in called_by_address(source):
        llvm.add_symbol(f"{PREFIX}{function}", ctypes.cast(getattr(library, function), ctypes.c_void_p).value)
    module = llvm.parse_assembly(source)
    module.verify()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), opt=1)
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
    passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return MachineCode(engine.get_function_address("run"), engine)


def compile_later(interpreter: Any) -> None:
    """Have the program of an interpreter compiled, which takes over the machine code when it is there.

    Args:
        interpreter: The interpreter.
    """
    if is_wanted(interpreter.code):
        with contextlib.suppress(RuntimeError):  # of threads that cannot be started, as when Python is about to end
            threading.Thread(target=_compile_for, args=(interpreter,), name="gradwalk-compiler").start()


def _compile_for(interpreter: Any) -> None:
    with contextlib.suppress(AttributeError), _turn.lock:  # see `compiled`: the program stays with the interpreter
        interpreter.adopt(compiled(interpreter.code))


class _Turn:
    """The lock that lets one thread compile at a time."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.lock = threading.Lock()


_turn = _Turn()

if hasattr(os, "register_at_fork"):  # a child has none of the parent's other threads: nobody there would open the lock
    os.register_at_fork(after_in_child=_turn.renew)


@cache
def _llvm() -> Any:
    """llvmlite's binding, ready to compile for this machine; None where it is not installed."""
    try:
        binding = importlib.import_module("llvmlite.binding")
    except ImportError:
        return None
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
