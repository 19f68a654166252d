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
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any, NamedTuple

from gradwalk.program import object_cache
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


class Policy(NamedTuple):
    """When machine code is made, and how.

    Attributes:
        backend: "llvm" to make it before the first run, "lanes" never to make it; None to make it of what has run long,
            unless the environment variable GRADWALK_BACKEND is "lanes".
        contract: Whether machine code may round a product and a sum once.
    """

    backend: str | None = None
    contract: bool = False

    @property
    def refusal(self) -> str:
        """Why no machine code is made of anything, or ""."""
        if self.backend == "lanes":
            return 'the backend is "lanes"'
        if self.backend is None and os.environ.get("GRADWALK_BACKEND") == "lanes":
            return 'GRADWALK_BACKEND is "lanes"'
        return "" if llvm_binding() is not None else "llvmlite is not installed: pip install 'gradwalk[native]'"


DEFAULT = Policy()
_policy: ContextVar[Policy] = ContextVar("policy", default=DEFAULT)
current_policy = _policy.get  # that of programs and kernels which are made now


def checked_policy(backend: str | None, contract: bool) -> Policy:
    """Return the policy that is asked for.

    Args:
        backend: See `Policy`.
        contract: See `Policy`.

    Returns:
        The policy.

    Raises:
        ValueError: There is no such backend.
        ImportError: It is "llvm", and llvmlite is not installed.
    """
    if backend not in (None, "lanes", "llvm"):
        raise ValueError(f'backend is {backend!r}: it is "lanes", "llvm", or None for machine code of what runs long')
    policy = Policy(backend, bool(contract)) if backend or contract else DEFAULT
    if backend == "llvm" and policy.refusal:
        raise ImportError(policy.refusal)
    return policy


def under(name: str, backends: Mapping[str, str]) -> dict[str, str]:
    """Return what runs the parts of something, by longer names.

    Args:
        name: What the whole is called.
        backends: By the names of parts, "" for all that has no other, what runs them.

    Returns:
        The same by other names.

    Example:
        >>> under("loop", {"": "llvm", "step": "lanes"})
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


def refusal(code: Code, policy: Policy) -> str:
    """Return why no machine code is made of a program.

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
        AttributeError: The C library of this system lacks a function that the program calls.
    """
    source = ir_source(code, contract=contract)
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
    llvm = llvm_binding()
    for name, address in addresses.items():
        llvm.add_symbol(name, address)
    module = llvm.parse_assembly(source)
    target = llvm.Target.from_default_triple()
    options = {"cpu": llvm.get_host_cpu_name()} if features is None else {"features": features}
    machine = target.create_target_machine(opt=1, **options)
    known = (target.triple, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    key = object_cache.key_of(source, str(features), *known, str(llvm.llvm_version_info))
    cached = object_cache.read(key)
    if cached is None:
        module.verify()
        passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        passes.getModulePassManager().run(module, passes)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.set_object_cache(lambda module, code: object_cache.write(key, code), lambda module: cached)
    engine.finalize_object()
    return MachineCode(engine.get_function_address("run"), engine)


def compile_for(interpreter: Any) -> None:
    """Have the program of an interpreter compiled, at once where its policy says so, else in a thread beside.

    Args:
        interpreter: The interpreter, which takes over the machine code.
    """
    policy = interpreter.policy
    if refusal(interpreter.code, policy):
        return

    def task() -> None:
        interpreter.adopt(compiled(interpreter.code, contract=policy.contract))

    if policy.backend == "llvm":
        run_in_turn(task)
    else:
        later(task)


def later(task: Callable[[], object]) -> None:
    """Run what compiles something, in a thread beside this one, after all that came before it.

    Args:
        task: What to run. It may end with an `AttributeError`: see `address_in`.
    """
    with contextlib.suppress(RuntimeError):  # of threads that cannot be started, as when Python is about to end
        threading.Thread(target=run_in_turn, args=(task,), name="gradwalk-compiler").start()


def run_in_turn(task: Callable[[], object]) -> None:
    """Run what compiles something, as `later` does, in this thread."""
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
def llvm_binding() -> Any:
    """Return llvmlite's binding, ready to compile for this machine; None where it is not installed."""
    try:
        binding = importlib.import_module("llvmlite.binding")
    except ImportError:
        return None
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
