"""Tests that compiled and uncompiled gradwalk give the same bits for every row, including extreme operands."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

import gradwalk
from gradwalk.ops import table
from gradwalk.ops.compiled.evaluate import ARITIES, FUSED, fused
from gradwalk.ops.compiled.opcodes import NAMES, OPCODES, SYMBOLS, UFUNCS
from gradwalk.ops.table import GRAPH_ROWS
from gradwalk.program.code.opcodes import CALL, DOT, LOAD, STORE, SUM

PROGRAM = """
import itertools, math, random
from gradwalk.value.value import Value
from gradwalk.value.apply import apply
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import TABLE
draw = random.Random(0)
edges = (0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 1e-300, 5e-324, 1e300, -1e300, 710.0, -745.0, math.inf, -math.inf, math.nan)
for row in TABLE:
    drawn = [tuple(draw.uniform(low, high) for low, high in row.domain) for _ in range(50)]
    for operands in [*drawn, *itertools.product(edges, repeat=row.arity)]:
        out = apply(OPCODES[row.name], *map(Value, operands))
        print(row.name, operands, [x.hex() for x in (out.data, *out.partials)])
"""


def test_compiled_and_uncompiled_agree(tmp_path):
    package = Path(gradwalk.__file__).parent
    shutil.copytree(package, tmp_path / "gradwalk", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    here, there = (run(path) for path in (package.parent, tmp_path))
    assert len(here) > len(NAMES) * 50
    for mine, other in itertools.zip_longest(here, there):
        assert mine == other


def run(path: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(path)}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return result.stdout.splitlines()


def test_tables_are_indexed_by_opcode():
    for row in GRAPH_ROWS:
        assert NAMES[OPCODES[row.name]] == row.name
        assert SYMBOLS[OPCODES[row.name]] == row.symbol
    for row in table.ROWS:
        assert ARITIES[OPCODES[row.name]] == row.arity
    assert len(list(filter(None, NAMES))) == len(list(filter(None, SYMBOLS))) == len(GRAPH_ROWS)
    assert NAMES[UFUNCS["arcsin"]] == "asin"


def test_opcodes_are_unique():
    assert len({*OPCODES.values()}) == len(OPCODES)
    assert min(OPCODES.values()) == 1
    assert tuple(OPCODES[row.name] for row in table.FUSED) == FUSED
    assert OPCODES["call"] == CALL
    assert tuple(OPCODES[name] for name in ("load", "store", "sum", "dot")) == (LOAD, STORE, SUM, DOT)


def test_fused_instructions_round_each_operation():
    x, y, z = (numpy.full(2, number, numpy.float32) for number in (1 + 2**-12, 1 + 2**-12, -1))
    assert (fused(OPCODES["muladd"], x, y, z) == numpy.float32(2**-11)).all()  # without rounding: 2**-11 + 2**-24
    assert fused(OPCODES["mulsub"], 3.0, 4.0, 5.0) == 7.0
    assert fused(OPCODES["submul"], 3.0, 4.0, 5.0) == -7.0
