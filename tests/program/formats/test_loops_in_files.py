"""Programs with loops and switches as listings, JSON, C and pickles, with bitwise equal results."""

from __future__ import annotations

import ctypes
import functools
import json
import math
import pickle
import subprocess
from typing import Any

import numpy
import pytest
import scipy.integrate
from c_compiler import SAME_BITS, compiled, installed
from checkout import ROOT
from references import jsonschema

from gradwalk import Value, grad, jit, loops, low_level_callable, primitive, value_and_grad
from gradwalk import math as gmath
from gradwalk.program.formats.c import c_program
from gradwalk.program.program import Program, ProgramError

SCHEMA = json.loads((ROOT / "docs/program.schema.json").read_text(encoding="utf-8"))


def counted(x: Any, y: Any, kept: Any) -> Any:
    step = lambda i, c: (c[0] + 0.1 * gmath.sin(c[1] * y) + 0.01 * i, c[1] - 0.1 * c[0])  # noqa: E731
    return sum(loops.fori_loop(2, 40, step, (x, y), checkpoint=kept))


def scanned(x: Any, y: Any, kept: Any) -> Any:
    rows = numpy.linspace(0.5, 1.5, 30)
    last, out = loops.scan(lambda c, r: (gmath.cos(c * r) + y, c * x), x, rows, reverse=True, checkpoint=kept)
    return last + (out * out).sum()


def conditioned(x: Any, y: Any, kept: Any) -> Any:
    root = loops.while_loop(lambda r: abs(r * r - x) > 1e-12, lambda r: (r + x / r) / 2, x + y, checkpoint=kept)
    return root * y


def nested(x: Any, y: Any, kept: Any) -> Any:
    def step(i: Any, c: Any) -> Any:
        inner = loops.while_loop(lambda r: r > 0.3, lambda r: r * 0.5, c, max_steps=50)
        return loops.cond(
            i > 3, lambda: inner + y, lambda: gmath.sin(c) + loops.switch(i, [lambda: x, lambda: y, abs_x])
        )

    abs_x = lambda: abs(x)  # noqa: E731
    return loops.fori_loop(0, 9, step, x, checkpoint=kept)


FUNCTIONS = [counted, scanned, conditioned, nested]
NUMBERS = [(0.7, 0.4), (2.5, -0.3), (1.1, 1.7)]


def record_program(f: Any, kept: Any, *, order: int = 1) -> Program:
    g = functools.partial(f, kept=kept)
    transformed = jit(value_and_grad(g, (0, 1)) if order == 1 else grad(grad(g)))
    transformed(1.3, 0.9)
    return transformed.program


def bits(numbers: Any) -> bytes:
    return numpy.array(numpy.asarray(numbers) + 0.0).tobytes()


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kept", [None, "sqrt", "binomial", 3])
@pytest.mark.parametrize("order", [1, 2])
def test_all_formats_give_the_same_bits(f, kept, order, tmp_path):
    program = record_program(f, kept, order=order)
    in_c = compiled(tmp_path, program.to_c(), *SAME_BITS)
    text = program.to_json()
    document = json.loads(text, parse_constant=pytest.fail)
    jsonschema.validate(document, SCHEMA)
    assert document["version"] == 2
    read, unpickled = Program.from_json(text), pickle.loads(pickle.dumps(program))
    assert read.to_json() == text
    assert str(read).splitlines()[1:] == str(program).splitlines()[1:] == str(unpickled).splitlines()[1:]
    for numbers in NUMBERS:
        expected = program.run(numbers)
        assert numpy.isfinite(expected).all()
        assert bits(read.run(numbers)) == bits(unpickled.run(numbers)) == bits(expected)
        assert bits(in_c(numbers, len(expected))) == bits(expected)
        values = program([Value(x) for x in numbers])
        assert bits([v.data if isinstance(v, Value) else v for v in values]) == bits(expected)


@pytest.mark.parametrize("piece", [3, 250])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_operands_and_results_in_memory_give_the_same_bits(f, piece, tmp_path, monkeypatch):
    program = record_program(f, None)
    monkeypatch.setattr(c_program, "_MOST_IN_VARIABLES", 0)
    monkeypatch.setattr(c_program, "_PIECE", piece)
    in_c = compiled(tmp_path, program.to_c(), *SAME_BITS)
    for numbers in NUMBERS:
        assert bits(in_c(numbers, len(program.outputs))) == bits(program.run(numbers))


def test_many_operands_of_calls_are_copied_by_loops():
    """C compilers need much time for arrays that are written number by number."""

    def f(x, rows):
        last, outs = loops.scan(lambda c, row: (c * 0.9 + row[0] * row[1], c), x, rows)
        return loops.fori_loop(0, 3, lambda i, c: gmath.sin(c) * last, outs[-1] + outs[5])

    recorded = jit(value_and_grad(f, (0, 1)))
    recorded(0.1, numpy.ones((500, 2)))
    source = recorded.program.to_c()
    assert len(source[source.index("#include") :].splitlines()) < 400


def test_listing_shows_loop_steps():
    power = jit(grad(lambda x: loops.fori_loop(0, 5, lambda i, y: y * x, 1.0)))
    power(2.0)
    assert str(power.program) == (
        "program(x):\n"
        "  v2 = loop'1(1.0, x, 1.0)[1]\n"
        "  out = v2\n"
        "\n"
        "loop'1: reverse pass of a loop, 5 steps from i = 0\n"
        "  step(i, c0, f0):\n"
        "    v3 = c0 * f0\n"
        "    return v3\n"
        "  step back(i, c0, f0, d0, total0):\n"
        "    v5 = d0 * f0\n"
        "    v6 = d0 * c0 + total0\n"
        "    return v5, v6"
    )


def test_exceeding_max_steps_gives_nan_in_c(tmp_path):
    f = jit(lambda x: loops.while_loop(lambda r: r > 1.0, lambda r: r / 2, x, max_steps=3))
    f(2.0)
    in_c = compiled(tmp_path, f.program.to_c(), *SAME_BITS)
    assert in_c([8.0], 1) == [1.0]
    assert math.isnan(in_c([9.0], 1)[0])


def test_source_is_valid_cpp(tmp_path):
    for kept in (None, "sqrt"):
        (tmp_path / "f.cpp").write_text(record_program(nested, kept).to_c(), encoding="ascii")
        flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
        subprocess.run([installed("c++"), *flags, tmp_path / "f.cpp"], check=True)


def test_python_functions_in_loops_are_refused():
    @primitive
    def doubled(x: float) -> float:
        return 2 * x

    f = jit(lambda x: loops.fori_loop(0, 3, lambda i, y: doubled(y), x))
    f(1.0)
    for write in (f.program.to_json, f.program.to_c):
        with pytest.raises(ProgramError, match="calls doubled, a Python function"):
            write()


# Edited documents


def document() -> dict[str, Any]:
    return json.loads(record_program(conditioned, None).to_json())


def edit_document(path: tuple[Any, ...], new: Any) -> str:
    changed = document()
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return json.dumps(changed)


SETTINGS = ("calls", 0, "settings")


@pytest.mark.parametrize(
    ("path", "new", "said"),
    [
        ((*SETTINGS, "carry"), 2, "its sizes say"),
        ((*SETTINGS, "carry"), -1, "must be an integer from"),
        ((*SETTINGS, "carry"), 1.0, "must be an integer from"),
        ((*SETTINGS, "row"), 1, "steps unless it has a condition"),
        ((*SETTINGS, "checkpoint"), "all", "checkpoint of a loop"),
        ((*SETTINGS, "more"), 1, "settings of a loop must be"),
        (("calls", 0, "programs"), [0], "a step program"),
        (("calls", 0, "programs"), [1, 0], "sizes say|condition of a loop"),
        (("calls", 0, "programs"), [0, 9], "a list of indices of earlier programs"),
        (("calls", 0, "kind"), "exec", "unknown kind 'exec'; known: loop, loop_back, switch"),
        (("calls", 0, "operands"), [0], "with 1 operands, expected"),
        (("calls", 0, "operands"), [10**6] * 2, "out of range for"),
        (("calls", 0), [], "not an object with kind"),
        (("calls",), {}, "needs a list of calls"),
        (("programs", 0), 1, "not an object"),
        (("programs", 0, "instructions", 0), ["add", 10**6, 0], "as operand; it must be below"),
        (("programs", 0, "calls"), [{"kind": "loop", "programs": [0], "settings": {}, "operands": []}], "earlier"),
        (("instructions", 0), ["call", 7, 0], "there are 2 calls"),
        (("instructions", 0), ["call", 0, 7], "is result 7"),
        (("version",), 1, "unknown key 'calls'|unknown key 'programs'"),
        (("version",), 3, "versions 1 and 2"),
    ],
)
def test_invalid_documents_are_refused(path, new, said):
    with pytest.raises(ProgramError, match=said):
        Program.from_json(edit_document(path, new))


def test_deeply_nested_loops_are_refused():
    step = {"inputs": ["", ""], "constants": [], "outputs": [["", 1]], "instructions": []}
    settings = {"carry": 1, "fixed": 0, "row": 0, "out": 0, "first": 0, "steps": 2, "checkpoint": None}
    programs = [step]
    for i in range(200):
        call = {"kind": "loop", "programs": [i], "settings": settings, "operands": [1]}
        programs.append(step | {"calls": [call], "instructions": [["call", 0, 0]], "outputs": [["", 2]]})
    head = {"gradwalk": "program", "version": 2, "programs": programs}
    with pytest.raises(ProgramError, match="more than 50 deep"):
        Program.from_json(json.dumps({**head, **step}))


# C functions


def test_c_functions_run_loops():
    program = record_program(conditioned, None)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(program.address)
    given, found = numpy.array([2.5, 0.3]), numpy.zeros(3)
    run(program.handle, given.ctypes.data, found.ctypes.data)
    assert bits(found) == bits(program.run(given))


def test_python_errors_become_nan_in_c_functions():
    f = jit(lambda x: loops.while_loop(lambda r: r > 1.0, lambda r: r / 2, x, max_steps=3))
    f(2.0)
    program = f.program  # keeps the handle valid
    integrand = low_level_callable(program)
    # The integrand is x on [0, 1], x / 2 on [1, 2] and x / 4 on [2, 4].
    assert scipy.integrate.quad(integrand, 0.0, 4.0, points=[1.0, 2.0])[0] == pytest.approx(0.5 + 0.75 + 1.5)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(program.address)
    number, found = numpy.array([20.0]), numpy.zeros(1)
    run(program.handle, number.ctypes.data, found.ctypes.data)
    assert math.isnan(found[0])
