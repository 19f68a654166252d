"""The main program of compiler processes: frames, and replies to requests."""

from __future__ import annotations

import io
import json
import os

import pytest

from gradwalk.program.native import compiler_main
from gradwalk.program.native.compiler_main import ERROR, OBJECT, read_frame, reply_to, write_frame


class Piecemeal(io.BytesIO):
    """A file that reads and writes at most 3 bytes at once, as a pipe may."""

    def write(self, data) -> int:
        return super().write(bytes(data)[:3])

    def read(self, count=-1) -> bytes:
        return super().read(min(count, 3))


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 3])
def test_frames_round_trip(payload):
    file = Piecemeal()
    write_frame(file, payload)
    write_frame(file, b"next")
    file.seek(0)
    assert [read_frame(file), read_frame(file), read_frame(file)] == [payload, b"next", None]


def test_a_truncated_frame_reads_as_none():
    file = io.BytesIO()
    write_frame(file, b"payload")
    for length in range(len(file.getvalue())):
        assert read_frame(io.BytesIO(file.getvalue()[:length])) is None


def test_replies_to_valid_and_invalid_modules():
    pytest.importorskip("llvmlite")
    good = "define void @run(ptr %values) {\n  ret void\n}\n"
    assert reply_to(json.dumps([good, None]).encode())[:1] == OBJECT
    assert reply_to(json.dumps([good, "+sse2" if os.uname().machine == "x86_64" else ""]).encode())[:1] == OBJECT
    reply = reply_to(json.dumps(["nonsense", None]).encode())
    assert reply[:1] == ERROR
    assert b"RuntimeError" in reply


def test_without_llvmlite(monkeypatch):
    def refuse():
        raise ImportError("no llvmlite")

    monkeypatch.setattr(compiler_main, "native_llvm", refuse)
    assert b"ImportError: no llvmlite" in reply_to(b'["", null]')
