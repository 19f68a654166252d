"""The processes that compile: LLVM runs in a second process, and this one gets object code through a pipe.

LLVM takes up to some seconds. In a thread of this process it would hold locks that a forked child waits for without
end, and it could crash while Python exits. Importing llvmlite takes the interpreter's lock for tens of milliseconds.
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

# Held while LLVM, the dynamic loader or an import that only the compiler needs runs in this process. `os.fork` waits
# for it, so no child is made in the middle of that. It is never held while a program is being compiled.
native_lock = process_lock()

NOT_INSTALLED = "llvmlite is not installed: pip install 'gradwalk[native]'"


class CompileError(Exception):
    """LLVM or its process failed; the message says how."""


class CompilerProcess:
    """A process that compiles one module at a time.

    Raises:
        OSError: The process cannot be started.
    """

    def __init__(self) -> None:
        subprocess = importlib.import_module("subprocess")  # takes milliseconds, and nothing else needs it
        if os.name == "nt":
            apart: dict[str, Any] = {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
        else:
            apart = {"start_new_session": True}  # Ctrl-C reaches this process alone
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
        """Send a request and wait for the reply.

        Args:
            request: See `compiler_main.reply_to`.

        Returns:
            The reply.

        Raises:
            CompileError: The process ended.
        """
        reply = None
        with contextlib.suppress(BrokenPipeError):
            compiler_main.write_frame(self._requests, request)
            reply = compiler_main.read_frame(self._replies)
        if reply is None:
            raise CompileError(f"the process that compiles ended with exit code {self._process.wait()}")
        return reply

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """End the process and close the pipes."""
        self._process.kill()
        self._process.wait()
        self._close()

    def forget(self) -> None:
        """Close the pipes of a process that a forked child has inherited and leave the process to the parent."""
        self._process.returncode = 0  # it is not a child of this process, which can neither wait for it nor warn of it
        self._close()

    def _close(self) -> None:
        self._requests.close()
        self._replies.close()


_idle: deque[CompilerProcess] = deque()
_all: set[CompilerProcess] = set()
_refusals: list[str] = []


def object_code(source: str, features: str | None) -> bytes:
    """Compile a module of LLVM IR in another process.

    Args:
        source: The module.
        features: See `compiler_main.compile_ir`.

    Returns:
        The object file.

    Raises:
        CompileError: The process cannot be started, it ended, or LLVM refused the module.
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
        else:  # the process crashed, or a signal handler raised in the middle of the reply
            _end(process)
    if reply[:1] == compiler_main.ERROR:
        raise CompileError(f"LLVM refused the module: {reply[1:].decode()}")
    return reply[1:]


def is_installed() -> bool:
    """Whether llvmlite is installed; it is not imported."""
    return importlib.util.find_spec("llvmlite") is not None


def why_not() -> str:
    """Return why this process cannot have programs compiled, or ""."""
    return _refusals[0] if _refusals else _why_never()


def refuse(why: str) -> str:
    """Have nothing compiled any more.

    Args:
        why: The reason, which `why_not` gives from now on.

    Returns:
        The reason.
    """
    _refusals.append(why)
    return why


@cache
def _why_never() -> str:
    if not is_installed():
        return NOT_INSTALLED
    name = Path(sys.executable).name.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return f"compiling needs a Python interpreter to run, and sys.executable is {sys.executable!r}"
    return ""


def close_idle() -> None:
    """End the processes that compile nothing now."""
    with contextlib.suppress(IndexError):
        while True:
            _end(_idle.pop())


def _taken() -> CompilerProcess:
    """Take an idle process, or start one."""
    with contextlib.suppress(IndexError):
        while True:
            process = _idle.pop()
            if process.is_alive:
                return process
            _end(process)
    with native_lock:
        try:
            process = CompilerProcess()
        except TimeoutError:  # of a signal handler
            raise
        except OSError as error:
            raise CompileError(refuse(f"the process that compiles could not be started: {error}")) from error
        _all.add(process)
    return process


def _end(process: CompilerProcess) -> None:
    """End a process. While Python exits, other threads wait here without end and so report no error of a process."""
    process.end()
    with native_lock:
        _all.discard(process)


@cache
def _folder_of_llvmlite() -> str:
    """The folder that llvmlite is imported from."""
    spec = importlib.util.find_spec("llvmlite")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("llvmlite has no file")
    return str(Path(spec.origin).parents[1])


def _forget() -> None:
    """Begin without processes, in a forked child."""
    _idle.clear()
    for process in _all:
        process.forget()
    _all.clear()


def _end_all() -> None:
    """End the processes when Python exits, and keep other threads from running LLVM from now on."""
    native_lock.acquire()
    for process in list(_all):
        _end(process)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
atexit.register(_end_all)
