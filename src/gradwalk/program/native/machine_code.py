"""Compile hot programs (such as loop bodies) to machine code with LLVM when llvmlite is installed.

At first the interpreter runs a program. If the program has run often, a thread (`compile_queue.py`) lets a second
process (`compiler_process.py`) compile it, while the interpreter continues to run the program. The results of the
machine code are bitwise equal to the results of the interpreter (`scalar_ir.py`).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from gradwalk.program.code.code import Code
from gradwalk.program.native import compile_queue, compiler_process, object_cache
from gradwalk.program.native.compiler_main import native_llvm
from gradwalk.program.native.compiler_process import CompileError, native_lock
from gradwalk.program.native.expressions import PREFIX
from gradwalk.program.native.policy import why_not_compilable
from gradwalk.program.native.scalar_ir import PYTHON, called_by_address, called_in_python
from gradwalk.program.native.vector_library import Vectors, vectors_of
from gradwalk.program.native.vector_loops import ir_with_vectors
from gradwalk.program.routine.limits import MEMORY
from gradwalk.program.routine.lower_calls import MOST as MOST_STATEMENTS
from gradwalk.program.routine.lower_program import TooLargeError

# A garbage collection threshold that is never reached.
_NEVER = 1 << 30


class MachineCode(NamedTuple):
    """Machine code of a function. For a program, the function is `int run(double *values)`; see `ir_source`.

    Attributes:
        address: The address of the function.
        owner: The object that keeps the code in memory.
    """

    address: int
    owner: Any


class MissingFunctionError(Exception):
    """Error that the C library of this system lacks a function. The message is the name of the function."""


_engines: dict[int, Any] = {}
_discarded: deque[int] = deque()  # keys in `_engines` of engines that are no longer needed


class _Owner:
    """Keeps an LLVM engine, which holds machine code, in memory as long as this object lives.

    An engine may be disposed of only while `native_lock` is held, so the next compilation disposes of it. An owner
    stores only the key of its engine: if it stored the engine, the garbage collector would finalize both together.
    """

    def __init__(self, engine: Any) -> None:
        self._key = id(engine)
        _engines[self._key] = engine
        # The extra reference prevents Python from finalizing the engine at exit, when globals of llvmlite may be gone.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))

    def __del__(self, discard: Callable[[int], None] = _discarded.append) -> None:  # globals may be gone at exit
        discard(self._key)


def compiled(code: Code, *, contract: bool = False, memory: int = MEMORY) -> MachineCode:
    """Compile a program to machine code.

    `contract` says whether a product and a sum may be fused into one operation that is rounded once, and `memory` how
    many bytes a loop stores for its reverse pass. Raises TooLargeError if the program has too many instructions,
    MissingFunctionError if the C library lacks a function that the program calls, and CompileError if compilation
    fails.
    """
    source = printed(code, contract=contract, memory=memory)
    return assembled(source, addresses_in(source))


def printed(code: Code, *, contract: bool, memory: int) -> str:
    """Print a program as LLVM IR for this processor: see `compiled`."""
    return ir_with_vectors(code, _vectors(), contract=contract, memory=memory)


@cache
def _vectors() -> Vectors:
    """Return the vector functions of this processor."""
    with native() as llvm:
        features = llvm.get_host_cpu_features()
    return vectors_of(features, _is_in_vector_library)


def _is_in_vector_library(function: str) -> bool:
    try:
        return bool(address_in(_VECTOR_LIBRARY, function))
    except (MissingFunctionError, OSError):
        return False


def addresses_in(source: str) -> dict[str, int]:
    """Return the addresses of the functions of the C library, of libmvec and of Python that a module declares.

    Raises MissingFunctionError if a library lacks a function.
    """
    found = {f"{PREFIX}{name}": address_in(C_LIBRARY, name) for name in called_by_address(source)}
    of_vectors = [f"_ZGV{name}" for name in called_by_address(source, "_ZGV")]
    return found | {name: address_in(_VECTOR_LIBRARY, name) for name in of_vectors} | python_addresses(source)


def python_addresses(source: str) -> dict[str, int]:
    """Return the addresses of the functions of Python's C API that a module declares."""
    found = [(f"{PYTHON}{name}", getattr(ctypes.pythonapi, name)) for name in called_in_python(source)]
    return {name: ctypes.cast(function, ctypes.c_void_p).value or 0 for name, function in found}


# Name of the C library of this system, which includes the math functions, for `address_in`.
C_LIBRARY = "ucrtbase" if os.name == "nt" else None
_VECTOR_LIBRARY = "libmvec.so.1"  # of glibc on x86-64


def address_in(library: str | None, function: str) -> int:
    """Return the address of a function in a library, or in the libraries loaded already if `library` is None.

    Raises MissingFunctionError if the library lacks the function.
    """
    with native_lock:
        found = getattr(ctypes.CDLL(library), function, None)
    if found is None:
        raise MissingFunctionError(function)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def assembled(source: str, addresses: Mapping[str, int], features: str | None = None) -> MachineCode:
    """Compile a module of LLVM IR, or load its object code from the cache.

    Args:
        source: The module, which defines a function `run`.
        addresses: Maps the names of the functions that the module declares to their addresses. A name must have the
            same address in all modules.
        features: CPU features that LLVM may use, in LLVM's notation; None for all features.

    Raises:
        CompileError: Compilation failed.
    """
    with native() as llvm:
        known = (llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
        key = object_cache.key_of(source, str(features), *known, str(llvm.llvm_version_info))
    code = object_cache.read(key)
    if code is None:
        code = compiler_process.object_code(source, features)
        object_cache.write(key, code)
    with native() as llvm:
        return _loaded(llvm, code, addresses)


def _loaded(llvm: Any, code: bytes, addresses: Mapping[str, int]) -> MachineCode:
    """Load an object file that defines a function `run`."""
    while _discarded:
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(_engines.pop(_discarded.popleft())))
    for name, address in addresses.items():
        llvm.add_symbol(name, address)
    machine = llvm.Target.from_default_triple().create_target_machine(opt=0)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return MachineCode(engine.get_function_address("run"), _Owner(engine))


def compile_for(interpreter: Any) -> None:
    """Compile the program of an interpreter and install the machine code in the interpreter.

    If the backend is "llvm", the program is compiled immediately. Otherwise it is compiled in the compiler thread.
    """
    policy = interpreter.policy
    if why_not_compilable(interpreter.code, policy):
        return

    def task() -> None:
        failure = "compiling it failed"
        try:
            interpreter.install(compiled(interpreter.code, contract=policy.contract, memory=policy.memory))
            failure = ""
        except TooLargeError:
            failure = f"it has more than {MOST_STATEMENTS:,} instructions, counting each loop once"
        except MissingFunctionError as error:
            failure = f"the C library lacks a function: {error}"
        finally:
            interpreter.failure = failure

    if policy.backend == "llvm":
        run_now(task)
    else:
        compile_queue.submit(task)


def run_now(task: Callable[[], object]) -> None:
    """Run a compilation task in the calling thread.

    A `CompileError` is not raised, because the program can run without machine code. The error is reported as if it had
    been raised in the compiler thread.
    """
    try:
        task()
    except CompileError as error:
        compile_queue.submit(partial(_raise, error))
    compile_queue.close_idle_later()


def _raise(error: Exception) -> None:
    raise error


@contextlib.contextmanager
def native() -> Iterator[Any]:
    """Run LLVM in this process: yield `llvmlite.binding` and hold `native_lock`.

    `os.fork` waits until the `with` block ends, so the block must be short. Raises CompileError if llvmlite cannot be
    imported.
    """
    with native_lock:
        try:
            llvm = _llvm_binding()
        except TimeoutError:  # raised by a signal handler
            raise
        except (ImportError, OSError) as error:
            raise CompileError(compiler_process.refuse(f"llvmlite cannot be imported: {error}")) from error
        yield llvm


@cache
def _llvm_binding() -> Any:
    """Import `llvmlite.binding`."""
    _load_without_lock()
    with _no_garbage_collected():
        return native_llvm()


@contextlib.contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Disable garbage collection in the `with` block, which imports modules.

    Each collection would hold the GIL for milliseconds. Afterwards all objects are moved to the oldest generation, so
    that the next collection of young objects is short. If other code changes the threshold in the meantime, the earlier
    threshold is not restored.
    """
    if not hasattr(gc, "freeze") or gc.get_freeze_count():  # do not unfreeze objects that other code froze
        yield
        return
    before = gc.get_threshold()
    during = (_NEVER, *before[1:])
    gc.set_threshold(*during)
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # moves all objects to the oldest generation
        if gc.get_threshold() == during:
            gc.set_threshold(*before)


def _load_without_lock() -> None:
    """Load llvmlite's library while the GIL is released. Importing llvmlite would load it with the GIL held."""
    spec = importlib.util.find_spec("llvmlite")
    if os.name == "nt" or spec is None or spec.origin is None:
        return
    name = importlib.import_module("llvmlite.utils").get_library_name()
    load = ctypes.CDLL(None).dlopen
    load.restype = ctypes.c_void_p
    load(os.fsencode(Path(spec.origin).parent / "binding" / name), os.RTLD_NOW)
