"""Compiler processes: replies, shutdown, and the reasons why none can start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from checkout import PACKAGE

from gradwalk.program.native import compiler_main, compiler_process
from gradwalk.program.native.compiler_process import CompileError, close_idle, object_code, why_not

pytest.importorskip("llvmlite")

SOURCE = "define void @run(ptr %values) {\n  ret void\n}\n"
ON_POSIX = os.name == "posix"


def test_processes_are_reused_and_closed():
    close_idle()
    code = object_code(SOURCE, None)
    (process,) = compiler_process._idle
    assert object_code(SOURCE, None) == code
    assert list(compiler_process._idle) == [process]
    assert process.is_alive
    close_idle()
    assert not compiler_process._idle
    assert process not in compiler_process._all
    assert not process.is_alive


def test_llvm_errors_are_raised():
    with pytest.raises(CompileError, match=r"LLVM refused the module: (?s:.*)LLVM IR parsing error"):
        object_code("define nonsense", None)
    assert object_code(SOURCE, None)


def test_a_killed_process_is_replaced():
    object_code(SOURCE, None)
    compiler_process._idle[-1]._process.kill()
    compiler_process._idle[-1]._process.wait()
    assert object_code(SOURCE, None)


def test_a_process_that_ends_during_a_request():
    process = compiler_process._taken()
    process._process.kill()
    with pytest.raises(CompileError, match="the compiler process ended with exit code"):
        process.ask(b"[]")
    compiler_process._end(process)


@pytest.mark.skipif(not ON_POSIX, reason="needs a signal handler that runs while waiting for a reply")
@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
def test_signal_handler_errors_close_the_process(monkeypatch, error):
    def interrupt(*_):
        raise error

    object_code(SOURCE, None)
    process, read = compiler_process._idle[-1], compiler_main.read_frame
    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(compiler_main, "read_frame", lambda file: os.kill(os.getpid(), signal.SIGUSR1) or read(file))
            with pytest.raises(error):
                object_code(SOURCE, None)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not process.is_alive
    assert object_code(SOURCE, None)


def test_reasons_why_no_process_can_start(monkeypatch):
    compiler_process._why_never.cache_clear()
    assert why_not() == ""
    try:
        for name, value in (("executable", "/usr/sbin/uwsgi"), ("executable", ""), ("frozen", True)):
            with monkeypatch.context() as patch:
                patch.setattr(sys, name, value, raising=False)
                compiler_process._why_never.cache_clear()
                assert why_not().startswith("compiling needs a Python interpreter, but sys.executable is ")
        with monkeypatch.context() as patch:
            patch.setattr(compiler_process, "is_installed", lambda: False)
            compiler_process._why_never.cache_clear()
            assert why_not() == "llvmlite is not installed: pip install 'gradwalk[native]'"
    finally:
        compiler_process._why_never.cache_clear()


def test_a_failed_start_is_reported(monkeypatch, tmp_path):
    close_idle()
    monkeypatch.setattr(compiler_process, "_refusals", [])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(tmp_path / "python"))
        with pytest.raises(CompileError, match="the compiler process could not be started: "):
            object_code(SOURCE, None)
    assert why_not().startswith("the compiler process could not be started: ")


PARENT = """
import os, signal, sys, time
from gradwalk.program.native import compiler_process
compiler_process.object_code({source!r}, None)
print(compiler_process._idle[0]._process.pid, flush=True)
if sys.argv[1] == "Ctrl-C":
    try:
        os.killpg(0, signal.SIGINT)
        time.sleep(30)
    except KeyboardInterrupt:
        compiler_process.object_code({source!r}, None)
        print(len(compiler_process._all), flush=True)
elif sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not ON_POSIX, reason="needs POSIX signals")
@pytest.mark.parametrize("how", ["exit", "killed", "Ctrl-C"])
def test_the_process_ends_with_its_parent(how):
    program = textwrap.dedent(PARENT).format(source=SOURCE)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program, how],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    child, *others = done.stdout.split()
    assert done.returncode == (-signal.SIGKILL if how == "killed" else 0)
    assert others == (["1"] if how == "Ctrl-C" else [])  # the same process replied again
    assert done.stderr == ""
    assert has_ended(int(child))


def has_ended(process: int) -> bool:
    """Wait up to 10 seconds for a process to end, and return whether it did."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if sys.platform == "linux" and " Z " in Path(f"/proc/{process}/stat").read_text():  # zombie
            return True
        time.sleep(0.01)
    return False
