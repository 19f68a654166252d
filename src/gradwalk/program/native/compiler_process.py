"""Compiler processes: run LLVM in a child process and receive object code through a pipe.

Compiling takes up to several seconds. If LLVM ran in a thread of this process, it would hold locks on which a forked
child could deadlock, and it could crash while Python exits. Importing llvmlite would hold the GIL for tens of
milliseconds.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import importlib.util
import json
import os
import sys
from collections import deque
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from gradwalk.base.locks import process_lock
from gradwalk.program.native import compiler_main

if TYPE_CHECKING:
    from subprocess import Popen

# This lock is held while this process runs LLVM or the dynamic loader, or imports a module that only the compiler
# needs. `os.fork` acquires the lock first, so no child is forked while it is held. The lock is not held while a
# compiler process compiles a program.
native_lock = process_lock()

NOT_INSTALLED = "llvmlite is not installed: pip install 'gradwalk[native]'"


class CompileError(Exception):
    """An error of LLVM or of the compiler process; the message has the reason."""


class CompilerProcess:
    """A process that compiles one module at a time. Raises OSError if it cannot be started."""

    def __init__(self) -> None:
        subprocess = importlib.import_module("subprocess")  # imported late: the import takes milliseconds
        if os.name == "nt":
            apart: dict[str, Any] = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
        else:
            apart = {"start_new_session": True}  # so that Ctrl-C does not reach the child
        script = Path(compiler_main.__file__)
        started = subprocess.Popen(
            [sys.executable, "-I", "-S", str(script), _folder_of_llvmlite()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd=script.parent,
            **apart,
        )
        self._process: Popen[bytes] = started
        self._requests: BinaryIO = started.stdin
        self._replies: BinaryIO = started.stdout

    def ask(self, request: bytes) -> bytes:
        """Send a request and return the reply; see `compiler_main.reply_to`.

        Raises CompileError if the process ended.
        """
        reply = None
        with contextlib.suppress(BrokenPipeError):
            compiler_main.write_frame(self._requests, request)
            reply = compiler_main.read_frame(self._replies)
        if reply is None:
            raise CompileError(f"the compiler process ended with exit code {self._process.wait()}")
        return reply

    @property
    def is_alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def end(self) -> None:
        """Kill the process and close the pipes."""
        self._process.kill()
        self._process.wait()
        self._close()

    def forget(self) -> None:
        """Close the inherited pipes in a forked child. The compiler process still belongs to the parent."""
        self._process.returncode = 0  # avoids a warning: this process cannot wait for a process that is not its child
        self._close()

    def _close(self) -> None:
        self._requests.close()
        self._replies.close()


_idle: deque[CompilerProcess] = deque()
_all: set[CompilerProcess] = set()
_refusals: list[str] = []


def object_code(source: str, features: str | None) -> bytes:
    """Compile a module of LLVM IR in another process; return the object file.

    See `compiler_main.compile_ir` for `features`. Raises CompileError if the process cannot be started or ends early,
    or if LLVM rejects the module.
    """
    request = json.dumps([source, features]).encode()
    process = _taken()
    is_done = False
    try:
        reply = process.ask(request)
        is_done = True
    finally:
        if is_done:
            _idle.append(process)
        else:  # the process crashed, or a signal handler raised an exception
            _end(process)
    if reply[:1] == compiler_main.ERROR:
        raise CompileError(f"LLVM refused the module: {reply[1:].decode()}")
    return reply[1:]


def is_installed() -> bool:
    """Return whether llvmlite is installed, without importing it."""
    return importlib.util.find_spec("llvmlite") is not None


def why_not() -> str:
    """Return the reason why this process cannot compile programs, or "" if it can."""
    return _refusals[0] if _refusals else _why_never()


def refuse(why: str) -> str:
    """Disable compilation, so that `why_not` returns the reason `why` from now on; return `why`."""
    _refusals.append(why)
    return why


@cache
def _why_never() -> str:
    if not is_installed():
        return NOT_INSTALLED
    name = Path(sys.executable).name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return f"compiling needs a Python interpreter, but sys.executable is {sys.executable!r}"
    return ""


def close_idle() -> None:
    """End the compiler processes that are not compiling."""
    with contextlib.suppress(IndexError):
        while True:
            _end(_idle.pop())


def _taken() -> CompilerProcess:
    """Return an idle compiler process; start a new one if none is idle."""
    with contextlib.suppress(IndexError):
        while True:
            process = _idle.pop()
            if process.is_alive:
                return process
            _end(process)
    with native_lock:
        try:
            process = CompilerProcess()
        except TimeoutError:  # raised by a signal handler
            raise
        except OSError as error:
            raise CompileError(refuse(f"the compiler process could not be started: {error}")) from error
        _all.add(process)
    return process


def _end(process: CompilerProcess) -> None:
    """End a compiler process.

    While Python exits, other threads block here, so that they do not report errors of processes that were ended.
    """
    process.end()
    with native_lock:
        _all.discard(process)


@cache
def _folder_of_llvmlite() -> str:
    """Return the folder that contains the package llvmlite."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("cannot find the files of llvmlite")
    return str(Path(spec.origin).parents[1])


def _forget() -> None:
    """Forget all compiler processes, which belong to the parent. Called in a forked child."""
    _idle.clear()
    for process in _all:
        process.forget()
    _all.clear()


def _end_all() -> None:
    """End all compiler processes and prevent other threads from running LLVM. Called when Python exits."""
    native_lock.acquire()
    for process in list(_all):
        _end(process)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(_end_all)
