"""Machine code for programs that have run long, such as the steps of loops, where llvmlite is installed.

The interpreter runs a program from the first call on. After many calls, a thread (`compile_queue.py`) and a second
process (`compiler_process.py`) compile the program while calls continue. Results are the same to the last bit
(`llvm_ir.py`).
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
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from gradwalk.program.code.code import Code
from gradwalk.program.native import compile_queue, compiler_process, object_cache
from gradwalk.program.native.compiler_main import native_llvm
from gradwalk.program.native.compiler_process import CompileError, native_lock
from gradwalk.program.native.expressions import PREFIX
from gradwalk.program.native.scalar_ir import called_by_address, ir_source

# The most instructions of a program and entries of its tables, which are on the stack. Larger programs do not fit the
# caches, and take long to compile.
MOST = 3000
# A threshold of new objects that is never reached, so that no garbage is collected.
_NEVER = 1 << 30


class MachineCode(NamedTuple):
    """A function `void run(double *values)`: see `llvm_ir.ir_source`.

    Attributes:
        address: The address of the function.
        owner: The object that keeps the function in memory.
    """

    address: int
    owner: Any


class MissingFunctionError(Exception):
    """The C library of this system lacks a function; the message is the function's name."""


_engines: dict[int, Any] = {}
_discarded: deque[int] = deque()  # keys of the engines that no owner keeps


class _Owner:
    """Keeps an engine of LLVM in memory while it lives.

    An engine is disposed of by LLVM, which may run under `native_lock` alone. So the next compilation does that, and
    owners do not refer to their engines, which the garbage collector would finalise together with them.

    Args:
        engine: The engine.
    """

    def __init__(self, engine: Any) -> None:
        self._key = id(engine)
        _engines[self._key] = engine
        # Python must not finalise the engine when it exits: the globals of llvmlite may be gone then.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(engine))

    def __del__(self, discard: Callable[[int], None] = _discarded.append) -> None:  # globals are gone when Python exits
        discard(self._key)


class Policy(NamedTuple):
    """When machine code is made, and how.

    Attributes:
        backend: "llvm" to compile before the first run, "lanes" never to compile; None to compile programs that have
            run long, unless the environment variable GRADWALK_BACKEND is "lanes".
        contract: Whether machine code may round a product and a sum once.
    """

    backend: str | None = None
    contract: bool = False

    @property
    def refusal(self) -> str:
        """Why nothing is compiled, or ""."""
        if self.backend == "lanes":
            return 'the backend is "lanes"'
        if self.backend is None and os.environ.get("GRADWALK_BACKEND") == "lanes":
            return 'GRADWALK_BACKEND is "lanes"'
        return compiler_process.why_not()


DEFAULT = Policy()
_policy: ContextVar[Policy] = ContextVar("policy", default=DEFAULT)
current_policy = _policy.get  # the policy of programs and kernels that are made now


def checked_policy(backend: str | None, contract: bool) -> Policy:
    """Return the policy that is asked for.

    Args:
        backend: See `Policy`.
        contract: See `Policy`.

    Returns:
        The policy.

    Raises:
        ValueError: The backend is unknown.
        ImportError: It is "llvm", and llvmlite is not installed.
    """
    if backend not in (None, "lanes", "llvm"):
        raise ValueError(f'backend is {backend!r}: it is "lanes", "llvm", or None for machine code of what runs long')
    policy = Policy(backend, bool(contract)) if backend or contract else DEFAULT
    if backend == "llvm" and not compiler_process.is_installed():
        raise ImportError(compiler_process.NOT_INSTALLED)
    return policy


def prefix_keys(name: str, backends: Mapping[str, str]) -> dict[str, str]:
    """Return what runs the parts of something, by longer names.

    Args:
        name: What the whole is called.
        backends: By the names of parts, "" for all that has no other, what runs them.

    Returns:
        The same by other names.

    Example:
        >>> prefix_keys("loop", {"": "llvm", "step": "lanes"})
        {'loop': 'llvm', 'loop, step': 'lanes'}
    """
    return {f"{name}, {part}" if part else name: backend for part, backend in backends.items()}


@contextlib.contextmanager
def compiling(policy: Policy) -> Iterator[None]:
    """Make programs and kernels under a policy.

    Args:
        policy: The policy.

    Yields:
        Nothing.
    """
    token = _policy.set(policy)
    try:
        yield
    finally:
        _policy.reset(token)


def why_not_compilable(code: Code, policy: Policy) -> str:
    """Return why a program is not compiled.

    Args:
        code: The parts of the program.
        policy: Its policy.

    Returns:
        The reason, or "".
    """
    if policy.refusal:
        return policy.refusal
    if code.calls:
        return "it calls loops, batches or functions, which are run by themselves"
    size = len(code) + sum(map(len, code.tables))
    return f"{size:,} instructions and entries of tables are too many: at most {MOST:,}" if size > MOST else ""


def compiled(code: Code, *, contract: bool = False) -> MachineCode:
    """Compile a program.

    Args:
        code: The parts of the program.
        contract: Whether a product and a sum may be rounded once.

    Returns:
        The machine code.

    Raises:
        MissingFunctionError: The C library of this system lacks a function that the program calls.
        CompileError: Compiling failed.
    """
    source = ir_source(code, contract=contract)
    addresses = {f"{PREFIX}{name}": address_in(C_LIBRARY, name) for name in called_by_address(source)}
    return assembled(source, addresses)


# The C library of this system, with its mathematics, for `address_in`.
C_LIBRARY = "ucrtbase" if os.name == "nt" else None


def address_in(library: str | None, function: str) -> int:
    """Return the address of a function of a library.

    Args:
        library: The name of the library; None for the libraries that this process has loaded.
        function: The name of the function.

    Returns:
        The address.

    Raises:
        MissingFunctionError: The library lacks the function.
    """
    with native_lock:
        found = getattr(ctypes.CDLL(library), function, None)
    if found is None:
        raise MissingFunctionError(function)
    return ctypes.cast(found, ctypes.c_void_p).value or 0


def assembled(source: str, addresses: Mapping[str, int], features: str | None = None) -> MachineCode:
    """Compile a module of LLVM IR, or take its object code from the cache.

    Args:
        source: The module, with a function `run`.
        addresses: The addresses of the functions that the module declares, by the names that it has for them. A name
            must mean the same address in all modules.
        features: Features of the processor that LLVM may use, as it writes them; None for all features.

    Returns:
        The machine code.

    Raises:
        CompileError: Compiling failed.
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
    """Load an object file with a function `run`."""
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
    """Have the program of an interpreter compiled, at once where its policy says so, else in the thread that compiles.

    Args:
        interpreter: The interpreter, which runs the machine code from then on.
    """
    policy = interpreter.policy
    if why_not_compilable(interpreter.code, policy):
        return

    def task() -> None:
        failure = "compiling it failed"
        try:
            interpreter.install(compiled(interpreter.code, contract=policy.contract))
            failure = ""
        except MissingFunctionError as error:
            failure = f"the C library lacks a function: {error}"
        finally:
            interpreter.failure = failure

    if policy.backend == "llvm":
        run_now(task)
    else:
        compile_queue.submit(task)


def run_now(task: Callable[[], object]) -> None:
    """Run a task that compiles, in the thread that calls.

    Args:
        task: The task. If it fails with `CompileError`, that is reported as if it had run in the thread that compiles,
            because the program can do without machine code.
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
    """Run LLVM in this process. A fork waits for the end of the `with` block, so that should be soon.

    Yields:
        llvmlite's binding.

    Raises:
        CompileError: llvmlite cannot be imported.
    """
    with native_lock:
        try:
            llvm = _llvm_binding()
        except TimeoutError:  # of a signal handler
            raise
        except (ImportError, OSError) as error:
            raise CompileError(compiler_process.refuse(f"llvmlite cannot be imported: {error}")) from error
        yield llvm


@cache
def _llvm_binding() -> Any:
    """Import llvmlite's binding."""
    _load_without_lock()
    with _no_garbage_collected():
        return native_llvm()


@contextlib.contextmanager
def _no_garbage_collected() -> Iterator[None]:
    """Import modules without garbage collections, which keep the interpreter's lock for milliseconds each.

    The objects that the modules make move to the oldest generation, so that the next collection of young objects is
    short. If other code sets another threshold meanwhile, that threshold stays.
    """
    if not hasattr(gc, "freeze") or gc.get_freeze_count():  # a program has frozen objects, which must stay frozen
        yield
        return
    before = gc.get_threshold()
    during = (_NEVER, *before[1:])
    gc.set_threshold(*during)
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()  # to the oldest generation
        if gc.get_threshold() == during:
            gc.set_threshold(*before)


def _load_without_lock() -> None:
    """Load llvmlite's library before llvmlite does, which keeps the interpreter's lock meanwhile."""
    spec = importlib.util.find_spec("llvmlite")
    if os.name == "nt" or spec is None or spec.origin is None:
        return
    name = importlib.import_module("llvmlite.utils").get_library_name()
    load = ctypes.CDLL(None).dlopen
    load.restype = ctypes.c_void_p
    load(os.fsencode(Path(spec.origin).parent / "binding" / name), os.RTLD_NOW)
