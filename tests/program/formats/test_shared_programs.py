"""Programs that call others many times over: everything but running them takes work in proportion to the document."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk import grad, jit, jvp
from gradwalk.program.calls.program_derivatives import inline_calls, portable, weight
from gradwalk.program.formats import program_json
from gradwalk.program.program import Program, ProgramError

FEW, MANY = 8, 32  # programs, of which each calls the one before twice
LIMIT = 1_000_000  # calls of Python functions

LOOP = {"carry": 1, "fixed": 0, "row": 0, "out": 0, "steps": 1, "checkpoint": None}
HEAD = {"gradwalk": "program", "version": 2}


def parts(kind: str, i: int, varies: bool) -> dict[str, Any]:
    """A program of one number that calls program i with its input, and program i with what that gives."""
    calls = []
    for which in (0, 1):
        is_other = which if varies else 0  # then no two calls are alike
        settings = {**LOOP, "first": is_other} if kind == "loop" else {}
        which_programs = [i] * (1 + is_other) if kind == "switch" else [i]
        operands = [[1], [2]] if kind == "loop" else [[0, 0], [0, 1]]
        calls.append({"kind": kind, "programs": which_programs, "settings": settings, "operands": operands[which]})
    inputs = ["", ""] if kind == "loop" else [""]  # the step of a loop takes its count, too
    rows = [["call", 0, 0], ["call", 1, 0]]
    return {"inputs": inputs, "constants": [], "outputs": [["", len(inputs) + 1]], "calls": calls, "instructions": rows}


def document(kind: str, count: int, *, varies: bool) -> str:
    """A program that runs 2**count instructions."""
    inputs = ["", ""] if kind == "loop" else [""]
    leaf = {"inputs": inputs, "constants": [0.5], "outputs": [["", len(inputs) + 1]]}
    programs = [{**leaf, "instructions": [["mul", len(inputs) - 1, len(inputs)]]}]
    programs += [parts(kind, i, varies) for i in range(count - 1)]
    return json.dumps({**HEAD, "programs": programs, **parts(kind, count - 1, varies)})


def calls_of(f: Callable[[], Any]) -> int:
    """How many functions of Python are called. Beyond the limit, `AssertionError`."""
    count = 0

    def counting(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        count += 1
        assert count < LIMIT, "the work grows with the number of paths through the programs"

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        f()
    finally:
        sys.setprofile(before)
    return count


def recorded(program: Program, transform: Callable[..., Any]) -> Program:
    """The program of a derivative of a program of a number. It is recorded and not run."""
    return jit(transform(lambda x: program([0.0] * (program.inputs - 1) + [x])[0])).recorded(1.0).program


WORK: dict[str, Callable[[Program], Any]] = {
    "to_json": lambda program: program.to_json(),
    "from_json": lambda program: Program.from_json(program.to_json()),
    "to_c": lambda program: program.to_c(),
    "listing": str,
    "repr": repr,
    "validate": lambda program: program.validate(),
    "address": lambda program: program.address,
    "backends": lambda program: program.backends,
    "pickle": lambda program: str(pickle.loads(pickle.dumps(program))),
    "unpickled to_json": lambda program: pickle.loads(pickle.dumps(program)).to_json(),
    "unpickled to_c": lambda program: pickle.loads(pickle.dumps(program)).to_c(),
    "deepcopy": lambda program: copy.deepcopy(program).to_json(),
    "portable": lambda program: portable(program.code),
    "weight": weight,
    "inline": lambda program: recorded(program, lambda f: f).to_json(),
    "gradient": lambda program: recorded(program, grad).to_c(),
    "tangent": lambda program: recorded(program, lambda f: lambda x: jvp(f, (x,), (1.0,))[1]).to_c(),
    "second derivative": lambda program: recorded(program, lambda f: grad(grad(f))).to_json(),
    "statistics": lambda program: recorded(program, grad).backends,
}


@pytest.mark.parametrize("varies", [False, True], ids=["equal calls", "different calls"])
@pytest.mark.parametrize("kind", ["loop", "switch"])
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_work_grows_with_the_document(work, kind, varies):
    few, many = (Program.from_json(document(kind, count, varies=varies)) for count in (FEW, MANY))
    work(few)  # what is computed once and kept is not counted
    many_calls = calls_of(lambda: work(many))
    few = Program.from_json(document(kind, FEW, varies=varies))
    assert many_calls <= 2 * MANY // FEW * max(calls_of(lambda: work(few)), 100)


@pytest.mark.parametrize("kind", ["loop", "switch"])
def test_equal_programs_are_written_once(kind):
    text = document(kind, MANY, varies=True)
    first = Program.from_json(text).to_json()
    assert len(json.loads(first)["programs"]) == MANY
    assert Program.from_json(first).to_json() == first
    assert pickle.loads(pickle.dumps(Program.from_json(first))).to_json() == first


@pytest.mark.parametrize("kind", ["loop", "switch"])
@pytest.mark.parametrize("varies", [False, True])
def test_shared_programs_compute_what_they_should(kind, varies):
    program = Program.from_json(document(kind, 5, varies=varies))
    given = [0.0] * (program.inputs - 1) + [3.0]
    for same in (program, pickle.loads(pickle.dumps(program)), Program.from_json(program.to_json())):
        assert same.run(given).tolist() == [3.0 * 0.5**32]
    assert recorded(program, grad).run([3.0]).tolist() == [0.5**32]
    assert jit(lambda x: program([*given[:-1], x])[0])(3.0) == 3.0 * 0.5**32


@pytest.mark.parametrize("kind", ["loop", "switch"])
def test_programs_that_would_be_too_long_are_not_flattened(kind):
    program = Program.from_json(document(kind, MANY, varies=True))
    assert weight(program) >= 2.0**MANY
    assert inline_calls(program) is program


def test_steps_without_instructions_are_not_unrolled():
    step = {"inputs": ["", ""], "constants": [], "outputs": [["", 1]], "instructions": []}
    call = {"kind": "loop", "programs": [0], "settings": {**LOOP, "first": 0, "steps": 2**53}, "operands": [0]}
    outer = {"inputs": [""], "constants": [], "outputs": [["", 1]], "calls": [call], "instructions": [["call", 0, 0]]}
    program = Program.from_json(json.dumps({**HEAD, "programs": [step], **outer}))
    assert weight(program) >= 2**53
    assert inline_calls(program) is program


def test_copies_of_the_inputs_of_a_program_are_bounded(monkeypatch):
    """A step takes many rows and there are no steps: calls without operands have many names of inputs."""
    monkeypatch.setattr(program_json, "_MOST_REPEATED", 10_000)
    step = {"inputs": [""] * 1001, "constants": [], "outputs": [], "instructions": []}
    settings = {"carry": 0, "fixed": 0, "row": 1000, "out": 0, "steps": 0, "checkpoint": None}
    calls = [{"kind": "loop", "programs": [0], "settings": {**settings, "first": i}, "operands": []} for i in range(12)]
    outer = {"inputs": [""], "constants": [], "outputs": [["", 0]], "instructions": []}
    with pytest.raises(ProgramError, match=r"programs that several calls share must have at most 10,000 inputs"):
        Program.from_json(json.dumps({**HEAD, "programs": [step], **outer, "calls": calls}))
    read = Program.from_json(json.dumps({**HEAD, "programs": [step], **outer, "calls": calls[:10]}))
    assert len(read.calls) == 10


def test_settings_that_are_nested_deeply_are_refused():
    nested: Any = []
    for _ in range(900):
        nested = [nested]
    call = {"kind": "switch", "programs": [0], "settings": {"a": nested}, "operands": [0]}
    leaf = {"inputs": [], "constants": [], "outputs": [], "instructions": []}
    text = json.dumps({**HEAD, "programs": [leaf], **leaf, "inputs": [""], "calls": [call]})
    with pytest.raises(ProgramError, match=r"this is not JSON|must not be nested|must have no settings"):
        Program.from_json(text)
