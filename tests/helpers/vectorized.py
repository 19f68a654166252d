"""Machine code whose loops run on vectors wherever that is possible, with the functions of the C library."""

from __future__ import annotations

from typing import Any

import pytest

from gradwalk.program.code.code import Code
from gradwalk.program.native import machine_code
from gradwalk.program.native.vector_library import Vectors
from gradwalk.program.native.vector_loops import VectorLoopPrinter, ir_with_vectors


def vectorize(monkeypatch: pytest.MonkeyPatch, lanes: int) -> list[str]:
    """Let all machine code have vector loops that give the same bits; return a list that gets the IR of all modules."""
    sources = []

    def printed(code: Code, **options: Any) -> str:
        vectors = Vectors(lanes, "d", frozenset())
        sources.append(ir_with_vectors(code, vectors, contract=False, memory=options["memory"]))
        return sources[-1]

    monkeypatch.setattr(machine_code, "printed", printed)
    monkeypatch.setattr(VectorLoopPrinter, "_has_vectors", lambda self, opcode: True)
    monkeypatch.setattr(VectorLoopPrinter, "_is_worthwhile", lambda self, loop, split: True)
    return sources
