"""The progress of an installation, on a terminal and without one."""

from __future__ import annotations

import os
import struct
import subprocess
import sys

import pytest
from checkout import ROOT
from wasm import IS_WASM

if HAS_TERMINALS := os.name == "posix" and not IS_WASM:
    import fcntl
    import pty
    import termios

PROGRAM = """
import sys, time
sys.path.insert(0, "tools/install")
import progress
progress._EVERY = 0.02
with progress.Progress({"a": 30, "b": 10}, is_quiet=len(sys.argv) > 1) as report:
    report.finish("a")
    time.sleep(0.3)
    report.finish("b")
"""


def test_lines_without_a_terminal():
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True)
    assert result.stdout.splitlines() == ["gradwalk: compiled 1 of 2, 1 s left", "gradwalk: compiled 2 of 2 modules"]
    quiet = subprocess.run(
        [*command, "-q"], cwd=ROOT, capture_output=True, text=True, check=True, start_new_session=True
    )
    assert quiet.stdout == ""


@pytest.mark.skipif(not HAS_TERMINALS, reason="this system has no pseudoterminals")
@pytest.mark.parametrize(("columns", "is_shown"), [(100, True), (60, False)])
def test_text_on_the_terminal_while_output_is_hidden(columns, is_shown):
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{PROGRAM}"],
        cwd=ROOT,
        stdin=end,
        stdout=subprocess.DEVNULL,  # as pip does
        start_new_session=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(end)
    shown = b""
    try:
        while piece := os.read(terminal, 1000):
            shown += piece
    except OSError:  # the end of the output on Linux
        pass
    assert process.wait() == 0
    os.close(terminal)
    assert (b"\0337\033[56G1 of 2, 1 s left\033[K\0338" in shown) == is_shown
    assert shown.endswith(b"\0337\033[56G\033[K\0338" if is_shown else b"")
    assert is_shown or not shown
