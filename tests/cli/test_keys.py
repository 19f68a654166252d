"""Key presses from a pipe and from a terminal."""

from __future__ import annotations

import io
import os
import select
import subprocess
import sys
import time

import pytest

from gradwalk.cli import keys


def test_letters_from_a_pipe(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(" nbesx\nq more"))
    assert list(keys.presses()) == ["next", "next", "back", "end", "start", "next"]


def test_end_of_input_ends_the_presses(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n"))
    assert list(keys.presses()) == ["next"]


if sys.platform != "win32":
    import pty

    def test_keys_from_a_terminal():
        # Each key takes effect without Enter.
        process, terminal = started()
        output = b""
        for key in (b" ", b"\x1b[C", b"b", b"\x1b[D", b"e", b"q"):
            output += read_until_quiet(terminal)
            os.write(terminal, key)
        output += read_until_quiet(terminal)
        text = output.decode()
        assert process.wait() == 0, text
        steps = [line for line in text.splitlines() if line[:2] in ("0/", "1/", "2/", "3/", "4/")]
        assert [line[:3] for line in steps] == ["1/4", "2/4", "1/4", "0/4", "1/4", "2/4", "3/4", "4/4"]
        assert "taken back" in steps[2]
        assert steps[-1] == "4/4 a is a leaf: it keeps its gradient 6."

    def test_keys_that_arrive_together():
        process, terminal = started()
        output = read_until_quiet(terminal)
        os.write(terminal, b"  \x1b[C\x1bOD\x1b[4~q")
        output += read_until_quiet(terminal)
        process.wait()
        steps = [line[:3] for line in output.decode().splitlines() if line[1:3] == "/4"]
        assert steps == ["1/4", "2/4", "3/4", "2/4", "3/4", "4/4"]

    def started() -> tuple[subprocess.Popen[bytes], int]:
        """Start the command line in a new terminal, without os.fork, which warns if JAX has been imported."""
        terminal, inside = pty.openpty()
        command = [sys.executable, "-m", "gradwalk", "walk", "a*a", "a=3", "--step"]
        process = subprocess.Popen(command, stdin=inside, stdout=inside, stderr=inside, start_new_session=True)
        os.close(inside)
        return process, terminal

    def read_until_quiet(terminal: int) -> bytes:
        """Read the output of the program until it waits for a key."""
        output = b""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            ready, _, _ = select.select([terminal], [], [], 0.5 if b"quit" in output or not output else 0.3)
            if ready:
                try:
                    output += os.read(terminal, 4096)
                except OSError:  # the program has ended
                    return output
            elif output:
                return output
        pytest.fail(f"the program printed only {output!r}")
