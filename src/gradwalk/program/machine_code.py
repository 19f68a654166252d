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
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from gradwalk.program.code import Code
from gradwalk.program.llvm_body import PREFIX
from gradwalk.program.llvm_ir import called_by_address, ir_source

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
    return is_there() and not code.calls and len(code) + sum(map(len, code.tables)) <= MOST


def is_there() -> bool:
    """Return whether anything may be compiled."""
    return os.environ.get("GRADWALK_BACKEND") != "lanes" and _llvm() is not None


def compiled(code: Code) -> MachineCode:
    """Compile a program.

    Args:
        code: The parts of the program.

    Returns:
        The machine code.

    Raises:
        AttributeError: The C library of this system lacks a function that the program calls.
    """
    source = ir_source(code)
    addresses = {f"{PREFIX}{name}": address_in(c_library(), name) for name in called_by_address(source)}
    return assembled(source, addresses)


def c_library() -> ctypes.CDLL:
    """Return the C library of this system, with its mathematics."""
    return ctypes.CDLL("ucrtbase" if os.name == "nt" else None)


def address_in(library: ctypes.CDLL, function: str) -> int:
    """Return where a function of a library is.

    Args:
        library: The library.
        function: Its name.

    Returns:
        The address.

    Raises:
        AttributeError: The library has no such function.
    """
    return ctypes.cast(getattr(library, function), ctypes.c_void_p).value or 0


def assembled(source: str, addresses: Mapping[str, int], features: str | None = None) -> MachineCode:
    """Compile a module of LLVM IR.

    Args:
        source: The module, with a function `run`.
        addresses: Where the functions are that it declares, by the names that it has for them. A name has to stand for
            the same address in all modules.
        features: Those of the processor that may be used, as LLVM writes them; all that it has where it is None.

    Returns:
        The machine code.
    """
    llvm = _llvm()
    for name, address in addresses.items():
        llvm.add_symbol(name, address)
    module = llvm.parse_assembly(source)
    module.verify()
    target = llvm.Target.from_default_triple()
    options = {"cpu": llvm.get_host_cpu_name()} if features is None else {"features": features}
    machine = target.create_target_machine(opt=1, **options)
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
        later(lambda: interpreter.adopt(compiled(interpreter.code)))


def later(task: Callable[[], object]) -> None:
    """Run what compiles something, in a thread beside this one, after all that came before it.

    Args:
        task: What to run. It may end with an `AttributeError`: see `address_in`.
    """
    with contextlib.suppress(RuntimeError):  # of threads that cannot be started, as when Python is about to end
        threading.Thread(target=_run_in_turn, args=(task,), name="gradwalk-compiler").start()


def _run_in_turn(task: Callable[[], object]) -> None:
    with contextlib.suppress(AttributeError), _turn.lock:  # where a function is missing, all stays as it is
        task()


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
