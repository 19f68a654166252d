"""Programs as JSON: writing, reading, and errors for invalid documents."""

from __future__ import annotations

import copy
import json
import math
import os
import threading

import numpy
import pytest
from checkout import ROOT
from hypothesis import given
from hypothesis import strategies as st
from programs import EVERY, EXTREME, as_recorded, fewer, prepared, programs
from references import jsonschema
from wasm import deeply_nested

from gradwalk import Value, checkpoint, jit, primitive
from gradwalk.program.program import Program, ProgramError

SCHEMA = json.loads((ROOT / "docs/program.schema.json").read_text(encoding="utf-8"))
DOCUMENT = {
    "gradwalk": "program",
    "version": 1,
    "inputs": ["x", "rate"],
    "constants": [0.1, "nan"],
    "outputs": [["out", 5], ["", 0]],
    "instructions": [["mul", 0, 1], ["muladd", 4, 2, 3]],
}


DOCUMENTS = [
    DOCUMENT,
    DOCUMENT
    | {
        "inputs": ["", "", ""],
        "constants": [2.0],
        "outputs": [["", 8]],
        "instructions": [["less", 0, 1], ["where", 4, 2, 3], ["sin", 5], ["pow", 6, 3], ["submul", 7, 7, 1]],
    },
]


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def changed_document(**parts) -> str:
    return json.dumps(DOCUMENT | parts)


@fewer(2)
@given(programs(EXTREME, EVERY, longest=12), st.lists(st.text(), min_size=4, max_size=4))
def test_json_round_trip(drawn, names):
    program = as_recorded(drawn).named(names[: len(drawn.leaves)], [names[-1]])
    text = program.to_json()
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), SCHEMA)
    found = Program.from_json(text)
    assert found.to_json() == text
    assert all(map(same, found.constants, program.constants))
    assert found.instructions.tolist() == program.instructions.tolist()
    assert all(map(same, found.run(drawn.leaves), program.run(drawn.leaves)))


def test_constants_are_exact():
    numbers = [-0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1, 1e22, -1 / 3]
    found = Program.from_json(Program(0, numbers, numpy.zeros(0, numpy.int32), [], [*range(9)]).to_json())
    assert all(map(same, found.run([]), numbers))


def test_names_may_be_missing():
    program = Program.from_json(changed_document(inputs=["", ""], outputs=[["", 5]]))
    assert (program.input_names, program.output_names) == ((), ())


def test_save_and_load(tmp_path):
    program = Program.from_json(changed_document(inputs=["größe", "rate"]))
    program.save(tmp_path / "program.json")
    assert Program.load(str(tmp_path / "program.json")).input_names == ("größe", "rate")
    (tmp_path / "other").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match="is not a UTF-8 text file"):
        Program.load(tmp_path / "other")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not JSON: Expecting value"),
        (changed_document()[:-20], "this is not JSON"),
        deeply_nested,
        ("1" * 10_000, "this is not JSON"),
        ("[1]", 'the entry "gradwalk": "program" is missing'),
        (changed_document(gradwalk="graph"), 'the entry "gradwalk": "program" is missing'),
        (changed_document(version=3), "this program has version 3; versions 1 and 2 can be read"),
        (changed_document(version=True), "this program has version True"),
        (
            changed_document(code="import os"),
            "the program has the unknown key 'code'; known keys: gradwalk, version, inputs",
        ),
        (changed_document(inputs=2), "the program needs a list of inputs"),
        (changed_document(inputs=["x", 1]), "input 1 is 1, not a name"),
        (changed_document(constants=[0.1, None]), "constant 1 is None, not a number"),
        (changed_document(constants=["Infinity"]), "constant 0 is 'Infinity', not a number"),
        (changed_document(constants=[True]), "constant 0 is True, not a number"),
        (changed_document(constants=[10**400]), "constant 0 is too large for a float"),
        (json.dumps(DOCUMENT).replace("0.1", "1e999"), "constant 0 is too large for a float"),
        (json.dumps(DOCUMENT).replace("0.1", "NaN"), "NaN is not a JSON number; write it as a string"),
        (changed_document(instructions=[["mul", 0]]), r"instruction 0 \(mul\) takes 2 operands, not 1"),
        (changed_document(instructions=[["zeta", 0]]), r"instruction 0 is \['zeta', 0\], not the name of an operation"),
        (changed_document(instructions=[["call", 0, 0, 0]]), r"instruction 0 \(call\) takes 2 operands, not 3"),
        (changed_document(instructions=[["sumprod", 0]]), "instruction 0 is"),
        (changed_document(instructions=[3]), "instruction 0 is 3, not the name"),
        (changed_document(instructions=[[[], 0]]), r"instruction 0 is \[\[\], 0\]"),
        (changed_document(instructions=[["mul", 0, 1.0]]), r"instruction 0 \(mul\) has 1.0 as operand, not an index"),
        (changed_document(instructions=[["mul", 0, True]]), "has True as operand"),
        (changed_document(instructions=[["mul", 0, -1]]), "has -1 as operand"),
        (changed_document(instructions=[["mul", 0, 2**31]]), "as operand, not an index"),
        (changed_document(instructions=[["mul", 0, 4]]), r"instruction 0 \(v4, mul\) has index 4 as operand"),
        (changed_document(outputs=[5]), "output 0 is 5, not a name and an index"),
        (changed_document(outputs=[["out", 5, 6]]), "output 0 is"),
        (changed_document(outputs=[["out", 6]]), "an output is 6, out of range for 6 indices"),
        (changed_document(outputs=[["out", "0"]]), r"output 0 is \['out', '0'\], not a name and an index"),
        (changed_document(outputs=[["out", 0], ["out", []]]), "output 1 is"),
        (changed_document(outputs=[["out", None]]), "output 0 is"),
        (changed_document(outputs=[["out", -1]]), "output 0 is"),
        (changed_document(outputs=[["out", 2**31]]), "output 0 is"),
    ],
)
def test_invalid_documents_are_refused(text, message):
    with pytest.raises(ProgramError, match=message):
        Program.from_json(text)


@pytest.mark.parametrize("opening", ['[["mul", ', '{"a": '])
def test_deep_nesting_does_not_crash(opening):
    deep = opening * 300 + "1" + {"[": "]]", "{": "}"}[opening[0]] * 300
    for key in ("inputs", "constants", "instructions", "outputs"):
        with pytest.raises(ProgramError):
            Program.from_json(json.dumps(DOCUMENT | {key: ["HERE"]}).replace('"HERE"', deep))


ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 8),
        st.sampled_from([2**31 - 1, 2**31, 2**63, 10**400]),
        st.floats(),
        st.text(max_size=3),
        st.sampled_from(["mul", "sin", "where", "muladd", "call", "sumprod", "nan", "-inf"]),
    ),
    lambda items: st.one_of(st.lists(items, max_size=4), st.dictionaries(st.text(max_size=3), items, max_size=2)),
    max_leaves=6,
)


@st.composite
def mutated_documents(draw: st.DrawFn) -> str:
    """Draw a valid document with up to three mutations, and sometimes a damaged character."""
    document = copy.deepcopy(draw(st.sampled_from(DOCUMENTS)))
    for _ in range(draw(st.integers(0, 3))):
        within = document
        while within:
            key = draw(st.sampled_from(sorted(within) if isinstance(within, dict) else range(len(within))))
            if not isinstance(within[key], (list, dict)) or draw(st.integers(0, 3)) == 0:
                break
            within = within[key]
        if not within:
            continue
        change = draw(st.sampled_from(["replace", "replace", "remove", "repeat"]))
        if change == "replace":
            within[key] = draw(st.one_of(st.integers(0, 12), ANYTHING))
        elif change == "remove":
            del within[key]
        elif isinstance(within, list):
            within.append(copy.deepcopy(within[key]))
    text = json.dumps(document)
    if draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + draw(st.sampled_from(["", '"', "]", "9", "-", "e", ",0"]))
            + text[at + draw(st.integers(0, 3)) :]
        )
    return text


@fewer(1)
@given(mutated_documents(), st.lists(EXTREME, min_size=12, max_size=12))
def test_mutated_documents_are_refused_or_run(text, numbers):
    try:
        program = Program.from_json(text)
    except ProgramError:
        return
    given_numbers = (numbers * (1 + program.inputs // 12))[: program.inputs]
    outputs = program.run(given_numbers)
    assert len(outputs) == len(program.outputs)
    assert all(map(same, outputs, prepared(program.interpreter, tuple(given_numbers))))
    assert len(program([Value(x) for x in given_numbers])) == len(outputs)
    assert Program.from_json(program.to_json()).to_json() == program.to_json()
    assert str(program)
    assert program.to_c()


def test_python_functions_cannot_be_stored():
    @primitive
    def gamma(x):
        return math.gamma(x)

    @checkpoint
    def step(x):
        return x * x

    for function in (gamma, step):
        recorded = jit(lambda x, function=function: 2 * function(x))
        recorded(1.5)
        with pytest.raises(
            ProgramError, match=rf"calls {function.__name__}, a Python function, which JSON cannot store"
        ):
            recorded.program.to_json()


class TestSaving:
    def test_save_is_atomic(self, tmp_path, monkeypatch):
        path = tmp_path / "program.json"
        path.write_text("earlier", encoding="utf-8")
        path.chmod(0o640)
        program = Program(1, [], numpy.zeros(0, numpy.int32), [], [0])

        def full(_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            program.save(path)
        assert path.read_text(encoding="utf-8") == "earlier"
        monkeypatch.undo()
        program.save(path)
        assert str(Program.load(path)) == str(program)
        assert path.stat().st_mode & 0o777 == 0o640
        assert [found.name for found in tmp_path.iterdir()] == ["program.json"]

    def test_save_follows_links(self, tmp_path):
        program = Program(1, [], numpy.zeros(0, numpy.int32), [], [0])
        (tmp_path / "link").symlink_to(tmp_path / "program.json")
        program.save(tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert str(Program.load(tmp_path / "program.json")) == str(program)

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
    def test_save_writes_to_pipes(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        program = Program(1, [], numpy.zeros(0, numpy.int32), [], [0])
        read = []
        reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text(encoding="utf-8")))
        reader.start()
        program.save(tmp_path / "pipe")
        reader.join(timeout=20)
        assert read == [program.to_json()]
