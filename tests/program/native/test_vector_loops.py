"""Loops that run for several iterations at once give the same bits as the interpreter, but for vectorized functions."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from kernels import same
from vectorized import vectorize

from gradwalk import grad, jit, jvp, loops, vmap
from gradwalk import math as gm
from gradwalk import numpy as gnp
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import ROWS
from gradwalk.program.native import machine_code
from gradwalk.program.native.expressions import Type
from gradwalk.program.native.vector_library import Vectors, vector_name, vectors_of
from gradwalk.program.program import Program
from gradwalk.program.routine import storage
from gradwalk.program.tape import Tape

pytest.importorskip("llvmlite")

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 7.25, 171.5, 1e300, -math.inf, math.inf, math.nan]


@pytest.fixture
def exact(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let all machine code have vector loops that give the same bits; yield the IR of all modules."""
    monkeypatch.setattr(storage, "FLAT_BELOW", 0)  # finds loops in short programs, too
    sources = vectorize(monkeypatch, 4)
    yield sources
    assert not IS_COMPILED or any("x double>" in text for text in sources)


def ran(code: machine_code.MachineCode, program: Program, inputs: Any) -> Any:
    """Run machine code on inputs."""
    values = numpy.full(program.code.count, 1234.5)
    values[: program.inputs] = inputs
    values[program.inputs : program.code.first] = program.constants
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address)(values.ctypes.data)
    return values[list(program.outputs)]


@pytest.mark.parametrize("row", [row for row in ROWS if isinstance(row, Operation)], ids=lambda row: row.name)
def test_every_operation_gives_the_same_bits(row, exact):
    given = list(itertools.product(SPECIAL if row.arity == 1 else SPECIAL[::3], repeat=row.arity))
    tape = Tape()
    operands = [[tape.input() for _ in range(row.arity)] for _ in given]
    program = tape.program([tape.append(row.name, *one) for one in operands])
    inputs = numpy.array(given).ravel()
    assert same(ran(machine_code.compiled(program.code), program, inputs), program.run(inputs)).all()
    assert "<4 x double>" in exact[-1]


def shifted(x: Any) -> Any:
    return numpy.sin(x[1:]) * x[:-1] - numpy.exp(x[::-1][1:])


def neighbors(x: Any) -> Any:
    """Compute with results of the element before, and of the element before that one."""
    found = []
    for a, b, c in zip(x, x[1:], x[2:], strict=False):
        found.append(gm.exp(gm.sin(a) * b) * gm.sin(b) + gm.exp(gm.sin(b) * c))
    return numpy.array(found)


def running(x: Any) -> Any:
    total, found = x[0], []
    for number in x[1:]:
        total = gm.tanh(total * 0.5 + gm.exp(number))
        found.append(total * number)
    return numpy.array(found)


def in_rows(x: Any) -> Any:
    table = numpy.outer(x, numpy.cos(x[: len(x) // 2]))
    return numpy.exp(-table).sum(axis=0) * numpy.log(numpy.exp(table).sum(axis=0))


def scanned(x: Any) -> Any:
    state, rows = loops.scan(lambda c, i: (gm.sin(c * x + i), (numpy.exp(c) * x).sum()), x, numpy.arange(5.0))
    return numpy.array([(state * state[::-1]).sum(), rows.sum()])


def chosen(x: Any) -> Any:
    return gnp.where(x > 0.3, numpy.exp(x), x * x) * gm.take(list(x), 2.0)


def cost_of(f: Any) -> Any:
    return lambda x: (f(x) * numpy.linspace(1.0, 2.0, len(f(x)))).sum()


FUNCTIONS = [shifted, neighbors, running, in_rows, scanned, chosen]


@pytest.mark.parametrize("order", ["value", "gradient", "reverse over reverse", "forward over reverse"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_arrays_give_the_same_bits(f, order, exact):
    slopes = grad(cost_of(f))
    run = {
        "value": f,
        "gradient": slopes,
        "reverse over reverse": grad(lambda x: (slopes(x) * slopes(x)[::-1]).sum()),
        "forward over reverse": lambda x: jvp(slopes, (x,), (numpy.cos(x),))[1],
    }[order]
    for size in (12, 21):
        x = numpy.random.default_rng(size).normal(size=size)
        assert same(jit(run, backend="llvm")(x), jit(run, backend="lanes")(x)).all()


def test_results_of_the_iteration_before_are_shifted(exact):
    jit(neighbors, backend="llvm")(numpy.linspace(0.1, 1.0, 40))
    assert not IS_COMPILED or any("<4 x i32> <i32 4, i32 0, i32 1, i32 2>" in text for text in exact)


@pytest.mark.parametrize("lanes", [2, 8])
def test_other_numbers_of_lanes(lanes, monkeypatch):
    sources = vectorize(monkeypatch, lanes)
    x = numpy.random.default_rng(0).normal(size=280)
    for f in FUNCTIONS:
        assert same(jit(f, backend="llvm")(x), jit(f, backend="lanes")(x)).all()
    assert not IS_COMPILED or any(f"<{lanes} x double>" in text for text in sources)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_contracted_functions_agree_to_rounding(f):
    x = numpy.random.default_rng(1).normal(size=280)
    for run in (cost_of(f), grad(cost_of(f))):
        numpy.testing.assert_allclose(
            jit(run, backend="llvm", contract=True)(x), jit(run, backend="lanes")(x), rtol=1e-11, atol=1e-13
        )


if IS_COMPILED:

    @pytest.mark.parametrize("f", [numpy.exp, numpy.tanh, gm.sigmoid, gm.softplus, numpy.log, gm.norm_cdf])
    def test_vectorized_functions_are_called(f, monkeypatch):
        sources, made = [], machine_code.assembled

        def assembled(source: str, *args: Any) -> Any:
            sources.append(source)
            return made(source, *args)

        monkeypatch.setattr(machine_code, "assembled", assembled)
        x = numpy.linspace(0.1, 4.0, 300)
        found = jit(f, backend="llvm", contract=True)(x)
        numpy.testing.assert_allclose(found, jit(f, backend="lanes")(x), rtol=2e-15)
        vectors = machine_code._vectors()
        assert not vectors.functions or f"_ZGV{vectors.letter}N{vectors.lanes}v_" in sources[0]
        jit(f, backend="llvm")(x)
        assert "_ZGV" not in sources[-1]

    def test_batches_inside_of_a_function_become_loops():
        points = numpy.linspace(-1.0, 1.0, 900)

        def f(x: Any) -> Any:
            most = vmap(lambda p: p * x, reduce="max")(points)
            return most + gm.log(vmap(lambda p: gm.exp(p * x - most), reduce="sum")(points))

        contracted = jit(grad(f), backend="llvm", contract=True)
        assert contracted(0.5) == pytest.approx(jit(grad(f), backend="lanes")(0.5), rel=1e-13)
        assert contracted.statistics.backends == {"": "llvm"}


def test_processors_without_vector_functions():
    features = dict.fromkeys(["avx2", "fma", "bmi2"], True)
    assert vectors_of({}, lambda name: True) == Vectors(2, "b", frozenset())
    assert vectors_of(features, lambda name: False) == Vectors(4, "d", frozenset())
    vectors = vectors_of(features, lambda name: name in ("_ZGVdN4v_exp", "_ZGVdN4vv_pow"))
    assert vectors == Vectors(4, "d", frozenset(["exp", "pow"]))
    assert vector_name("pow", Type(lanes=4), 2, vectors) == "_ZGVdN4vv_pow"
    wide = features | dict.fromkeys(["avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"], True)
    assert vectors_of(wide, lambda name: True).lanes == 8
