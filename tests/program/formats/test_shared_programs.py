"""Programs that share subprograms: all work except running them is linear in the size of the document."""

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

FEW, MANY = 8, 32  # programs, each of which calls the previous one twice
LIMIT = 1_000_000  # Python function calls

LOOP = {"carry": 1, "fixed": 0, "row": 0, "out": 0, "steps": 1, "checkpoint": None}
HEAD = {"gradwalk": "program", "version": 2}


def doubled_calls(kind: str, i: int, varies: bool) -> dict[str, Any]:
    """Build a program that calls program i on its input, and program i again on the result."""
    calls = []
    for which in (0, 1):
        is_other = which if varies else 0  # then all calls differ
        settings = {**LOOP, "first": is_other} if kind == "loop" else {}
        which_programs = [i] * (1 + is_other) if kind == "switch" else [i]
        operands = [[1], [2]] if kind == "loop" else [[0, 0], [0, 1]]
        calls.append({"kind": kind, "programs": which_programs, "settings": settings, "operands": operands[which]})
    inputs = ["", ""] if kind == "loop" else [""]  # a loop step also takes the counter
    rows = [["call", 0, 0], ["call", 1, 0]]
    return {"inputs": inputs, "constants": [], "outputs": [["", len(inputs) + 1]], "calls": calls, "instructions": rows}


def document(kind: str, count: int, *, varies: bool) -> str:
    """Write the JSON of a program that runs 2**count instructions."""
    inputs = ["", ""] if kind == "loop" else [""]
    leaf = {"inputs": inputs, "constants": [0.5], "outputs": [["", len(inputs) + 1]]}
    programs = [{**leaf, "instructions": [["mul", len(inputs) - 1, len(inputs)]]}]
    programs += [doubled_calls(kind, i, varies) for i in range(count - 1)]
    return json.dumps({**HEAD, "programs": programs, **doubled_calls(kind, count - 1, varies)})


def count_python_calls(f: Callable[[], Any]) -> int:
    """Count the Python functions that f calls. Raise `AssertionError` beyond the limit."""
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


def record_program(program: Program, transform: Callable[..., Any]) -> Program:
    """Record a transformed program without running it."""
    return (
        jit(transform(lambda x: program([0.0] * (program.inputs - 1) + [x])[0]), branches="refuse")
        .recorded(1.0)
        .program
    )


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
    "inline": lambda program: record_program(program, lambda f: f).to_json(),
    "gradient": lambda program: record_program(program, grad).to_c(),
    "tangent": lambda program: record_program(program, lambda f: lambda x: jvp(f, (x,), (1.0,))[1]).to_c(),
    "second derivative": lambda program: record_program(program, lambda f: grad(grad(f))).to_json(),
    "statistics": lambda program: record_program(program, grad).backends,
}


@pytest.mark.parametrize("varies", [False, True], ids=["equal calls", "different calls"])
@pytest.mark.parametrize("kind", ["loop", "switch"])
@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_work_is_linear_in_the_document(work, kind, varies):
    few, many = (Program.from_json(document(kind, count, varies=varies)) for count in (FEW, MANY))
    work(few)  # fill the caches, whose work is not counted
    many_calls = count_python_calls(lambda: work(many))
    few = Program.from_json(document(kind, FEW, varies=varies))
    assert many_calls <= 2 * MANY // FEW * max(count_python_calls(lambda: work(few)), 100)


@pytest.mark.parametrize("kind", ["loop", "switch"])
def test_equal_programs_are_written_once(kind):
    text = document(kind, MANY, varies=True)
    first = Program.from_json(text).to_json()
    assert len(json.loads(first)["programs"]) == MANY
    assert Program.from_json(first).to_json() == first
    assert pickle.loads(pickle.dumps(Program.from_json(first))).to_json() == first


@pytest.mark.parametrize("kind", ["loop", "switch"])
@pytest.mark.parametrize("varies", [False, True])
def test_shared_programs_give_correct_results(kind, varies):
    program = Program.from_json(document(kind, 5, varies=varies))
    given = [0.0] * (program.inputs - 1) + [3.0]
    for same in (program, pickle.loads(pickle.dumps(program)), Program.from_json(program.to_json())):
        assert same.run(given).tolist() == [3.0 * 0.5**32]
    assert record_program(program, grad).run([3.0]).tolist() == [0.5**32]
    assert jit(lambda x: program([*given[:-1], x])[0])(3.0) == 3.0 * 0.5**32


@pytest.mark.parametrize("kind", ["loop", "switch"])
def test_too_long_programs_are_not_inlined(kind):
    program = Program.from_json(document(kind, MANY, varies=True))
    assert weight(program) >= 2.0**MANY
    assert inline_calls(program) is program


def test_empty_loop_steps_are_not_unrolled():
    step = {"inputs": ["", ""], "constants": [], "outputs": [["", 1]], "instructions": []}
    call = {"kind": "loop", "programs": [0], "settings": {**LOOP, "first": 0, "steps": 2**53}, "operands": [0]}
    outer = {"inputs": [""], "constants": [], "outputs": [["", 1]], "calls": [call], "instructions": [["call", 0, 0]]}
    program = Program.from_json(json.dumps({**HEAD, "programs": [step], **outer}))
    assert weight(program) >= 2**53
    assert inline_calls(program) is program


def test_total_number_of_call_inputs_is_limited(monkeypatch):
    # Loops of 0 steps need 0 operands, yet each call repeats the 1,001 input names of its step.
    monkeypatch.setattr(program_json, "_MOST_REPEATED", 10_000)
    step = {"inputs": [""] * 1001, "constants": [], "outputs": [], "instructions": []}
    settings = {"carry": 0, "fixed": 0, "row": 1000, "out": 0, "steps": 0, "checkpoint": None}
    calls = [{"kind": "loop", "programs": [0], "settings": {**settings, "first": i}, "operands": []} for i in range(12)]
    outer = {"inputs": [""], "constants": [], "outputs": [["", 0]], "instructions": []}
    with pytest.raises(ProgramError, match=r"programs that several calls share must have at most 10,000 inputs"):
        Program.from_json(json.dumps({**HEAD, "programs": [step], **outer, "calls": calls}))
    read = Program.from_json(json.dumps({**HEAD, "programs": [step], **outer, "calls": calls[:10]}))
    assert len(read.calls) == 10


def test_deeply_nested_settings_are_refused():
    nested: Any = []
    for _ in range(900):
        nested = [nested]
    call = {"kind": "switch", "programs": [0], "settings": {"a": nested}, "operands": [0]}
    leaf = {"inputs": [], "constants": [], "outputs": [], "instructions": []}
    text = json.dumps({**HEAD, "programs": [leaf], **leaf, "inputs": [""], "calls": [call]})
    with pytest.raises(ProgramError, match=r"this is not JSON|must not be nested|must have no settings"):
        Program.from_json(text)
