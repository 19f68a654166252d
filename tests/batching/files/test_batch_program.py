"""Programs of batches as files: they keep their axes and reduction, load without their functions, and are validated."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import pickle
import subprocess
import sys
from typing import Any

import numpy
import pytest
from checkout import ROOT
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer
from references import jsonschema
from wasm import IS_WASM

from gradwalk import BatchProgram, Program, ProgramError, Value, jit, load, loops, math, primitive, value_and_grad, vmap
from gradwalk.batching.axes import REDUCTIONS

SCHEMA = json.loads((ROOT / "docs/program.schema.json").read_text(encoding="utf-8"))
RNG = numpy.random.default_rng(0)
X, Y, W = RNG.standard_normal((7, 3)), RNG.standard_normal(7), numpy.array([0.5, -1.0, 2.0])


def loss(w: Any, x: Any, y: Any) -> Any:
    return (math.tanh(w @ x) - y) ** 2


def scanned(w: Any, x: Any) -> Any:
    return loops.scan(lambda c, row: (math.sin(c) * row, None), w[0], x)[0]


def chosen(w: Any, x: Any) -> Any:
    return loops.cond(x[0] > 0, lambda: w @ x, lambda: math.exp(x[1])) + math.take([1.0, x[2]], x[0] > 0.5)


def repeated(w: Any, x: Any) -> Any:
    return loops.while_loop(lambda c: c < 5.0, lambda c: c * 1.5 + 1.0, x[0] ** 2) * w[0]


def tree(w: Any, p: Any) -> Any:
    return {"b": (p["x"] @ w, [p["y"] > 0]), "a": p["x"] * 2.0, "n": None}


CASES = {
    "loss": (loss, (None, 0, 0), (W, X, Y)),
    "value_and_grad": (value_and_grad(loss), (None, 0, 0), (W, X, Y)),
    "all": (value_and_grad(loss, (0, 1, 2)), 0, (numpy.tile(W, (7, 1)), X, Y)),
    "another axis": (loss, (None, 1, -1), (W, numpy.ascontiguousarray(X.T), Y)),
    "tree": (tree, (None, {"x": 0, "y": 0}), (W, {"x": X, "y": Y})),
    "nested axes": (tree, (None, {"x": 1, "y": 0}), (W, {"y": Y, "x": X.T})),
    "shared in a tree": (tree, (None, {"x": None, "y": 0}), (W, {"x": X[0], "y": Y})),
    "scan": (value_and_grad(scanned), (None, 0), (W, X)),
    "branches": (value_and_grad(chosen), (None, 0), (W, X)),
    "while": (value_and_grad(repeated), (None, 0), (W, X)),
    "complex": (lambda z, x: z * x, (None, 0), (1.5 - 0.5j, X[:, 0])),
    "matrices": (lambda a, x: a @ x, (2, 0), (RNG.standard_normal((4, 3, 7)), X)),
}


def assert_same(found: Any, expected: Any) -> None:
    """Compare two trees of results, bit for bit."""
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert [*found] == [*expected]
        found, expected = [found[key] for key in expected], list(expected.values())
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        numpy.testing.assert_array_equal(found, expected, strict=isinstance(expected, numpy.ndarray))


def saved_and_loaded(function: Any, path: Any) -> BatchProgram:
    """Save the program of the latest call, check the file, and load it."""
    function.program.save(path)
    text = path.read_text(encoding="utf-8")
    jsonschema.validate(json.loads(text, parse_constant=pytest.fail), SCHEMA)
    loaded = load(path)
    assert isinstance(loaded, BatchProgram)
    assert loaded.to_json() == text == BatchProgram.load(path).to_json()
    return loaded


ALL = (None, *REDUCTIONS)
OF_COMPLEX = (None, "sum", "mean")  # the other reductions refuse complex numbers


@pytest.mark.parametrize(
    ("name", "reduce"),
    [(name, reduce) for name in CASES for reduce in (OF_COMPLEX if name == "complex" else ALL)],
)
def test_loaded_batches_give_the_same_bits(name, reduce, tmp_path):
    f, axes, args = CASES[name]
    function = jit(vmap(f, in_axes=axes, reduce=reduce), backend="lanes")
    expected = function(*args)
    loaded = saved_and_loaded(function, tmp_path / "batch.json")
    assert_same(loaded(*args), expected)
    assert loaded.reduce == reduce
    assert (str(loaded), len(loaded)) == (str(function.program), len(function.program))
    assert_same(pickle.loads(pickle.dumps(loaded))(*args), expected)


@pytest.mark.parametrize("out_axes", [0, 1, -1, (1, 0), (0, 2)])
def test_axes_of_results(out_axes, tmp_path):
    function = jit(vmap(lambda x, y: (x * y, numpy.outer(x, x)), out_axes=out_axes))
    expected = function(X, Y)
    loaded = saved_and_loaded(function, tmp_path / "batch.json")
    assert_same(loaded(X, Y), expected)
    out = (numpy.empty_like(expected[0]), None)
    assert loaded(X, Y, out=out)[0] is out[0]
    assert_same(out[0], expected[0])


def test_results_without_batch_axis(tmp_path):
    function = jit(vmap(lambda w, x: (w @ w, x * 2.0), in_axes=(None, 0), out_axes=(None, 0)))
    expected = function(W, Y)
    assert_same(saved_and_loaded(function, tmp_path / "batch.json")(W, Y), expected)


def test_keyword_arguments_and_other_batch_sizes(tmp_path):
    function = jit(vmap(lambda w, *, scale, x: (w @ x) * scale, in_axes=(None,), reduce="sum"))
    function(W, x=X, scale=Y)
    loaded = saved_and_loaded(function, tmp_path / "batch.json")
    large = RNG.standard_normal((3000, 3))
    assert loaded(W, x=large, scale=large[:, 0]) == function(W, x=large, scale=large[:, 0])
    assert loaded(W, x=X[:0], scale=Y[:0]) == 0.0
    assert_same(
        loaded(W.astype("f4"), x=X.astype("f4"), scale=Y.astype("f4")),
        function(W.astype("f4"), x=X.astype("f4"), scale=Y.astype("f4")),
    )
    with pytest.raises(TypeError, match="was lowered for samples like"):
        loaded(W, x=X[:, :2], scale=Y)


def test_other_types_are_kept(tmp_path):
    function = jit(vmap(lambda x: (x > 0, x)))
    expected = function(Y)
    assert_same(saved_and_loaded(function, tmp_path / "batch.json")(Y), expected)


def test_the_function_is_described():
    function = jit(vmap(loss, (None, 0, 0), reduce="mean"))
    function(W, X, Y)
    program = function.program
    assert str(program).splitlines()[:2] == [
        "the mean over the batch axes of x, y:",
        f"  program({', '.join(program.sample.input_names)}):",
    ]
    assert isinstance(program.sample, Program)
    assert program.sample.output_names == ("out",)
    assert program.axes_of("w") == [None]
    assert program.axes_of("x") == [0]


# Refusals


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


SCALE = Value(2.0)


@primitive
def doubled(x: float) -> float:
    return 2.0 * x


@pytest.mark.parametrize(
    ("f", "args", "message"),
    [
        (lambda x: x if x > 0 else -x, (Y,), r"branches on its arguments, .* branch with gradwalk.loops.cond"),
        (lambda x: x * SCALE, (Y,), "uses Values that are not among its arguments"),
        (doubled, (Y,), "calls Python functions"),
        (lambda x: Point(x, x), (Y,), "the result is or contains a Point, which JSON cannot store: use tuples"),
        (lambda p: p.x * p.y, (Point(Y, Y),), "p is or contains a Point"),
        (lambda p: p[1] * 2.0, ({1: Y},), "p has keys that are not strings"),
    ],
)
def test_what_a_file_cannot_hold_is_refused(f, args, message, tmp_path):
    function = jit(vmap(f))
    function(*args)
    path = tmp_path / "batch.json"
    with pytest.raises(ProgramError, match=message):
        function.program.save(path)
    assert not path.exists()


def test_batches_without_axes_are_refused():
    function = jit(vmap(lambda x: x * 2.0, in_axes=None, axis_size=3))
    function(1.0)
    with pytest.raises(ProgramError, match=r"no argument of .* has a batch axis"):
        function.program.to_json()


def document() -> dict[str, Any]:
    function = jit(vmap(value_and_grad(tree_loss), in_axes=(None, {"x": 0, "y": 0}), reduce="mean"))
    function(W, {"x": X, "y": Y})
    return json.loads(function.program.to_json())


def tree_loss(w: Any, p: Any) -> Any:
    return loops.fori_loop(0, 3, lambda i, c: math.sin(c) * p["y"], w @ p["x"])


DOCUMENT = document()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(gradwalk="graph"), 'the entry "gradwalk": "batch" is missing'),
        (lambda d: d.update(version=2), "this batch program has version 2"),
        (lambda d: d.update(version=True), "this batch program has version True"),
        (lambda d: d.update(code="import os"), "a batch program has the keys arguments"),
        (lambda d: d.update(name=3), "the name of a batch program must be a string, got 3"),
        (lambda d: d.update(reduce="median"), "reduce must be null or one of sum, mean"),
        (lambda d: d.update(program=3), 'the entry "gradwalk": "program" is missing'),
        (lambda d: d.update(arguments={}), "the arguments of a batch program must be a list"),
        (lambda d: d["arguments"].pop(), r"the arguments have 3 numbers, but the program has 7"),
        (lambda d: d["arguments"][0].update(name="p"), "arguments must have different names"),
        (lambda d: d["arguments"][0].update(keyword=True), "keyword arguments come last"),
        (lambda d: d["arguments"][1].update(keyword=1), "argument 1 must have a name and true or false"),
        (lambda d: d["arguments"][1].update(tree=3), "argument 1 is 3, not null or an object"),
        (lambda d: d["arguments"][1]["tree"].update(list=[]), "argument 1 is .*, not a leaf with a shape"),
        (
            lambda d: d["arguments"][0]["tree"].update(shape=[10**12]),
            r"has the shape \[1000000000000\], which has more",
        ),
        (lambda d: d["arguments"][0]["tree"].update(shape=[0, 10**12]), "which has more numbers than the program"),
        (lambda d: d["arguments"][0]["tree"].update(shape=[1.5]), "has the shape .*, not null or a list of lengths"),
        (lambda d: d["arguments"][0]["tree"].update(shape=[1] * 100), "has 100 dimensions; at most 64"),
        (lambda d: d["arguments"][0]["tree"].update(axis="0"), "has the axis '0', not null or a whole number"),
        (
            lambda d: d["arguments"][0]["tree"].update(axis=2),
            r"has the axis 2; with the shape .*, it must be from -2 to 1",
        ),
        (lambda d: d["arguments"][0]["tree"].update(type="long"), "not a leaf with a shape, an axis and a type"),
        (lambda d: d["arguments"][1]["tree"].update(dict={"x": {"shape": [4], "axis": None}}), "has a batch axis"),
        (lambda d: d.update(result={"shape": None, "axis": None}), "1 numbers, but the program has 4 outputs"),
    ],
)
def test_invalid_documents_are_refused(change, message):
    changed = copy.deepcopy(DOCUMENT)
    change(changed)
    with pytest.raises(ProgramError, match=message):
        BatchProgram.from_json(json.dumps(changed))


def test_axes_of_results_fit_the_results():
    function = jit(vmap(lambda a, x: (a * 2.0, x * 2.0), in_axes=(None, 0), out_axes=(None, 0)))
    function(1.5, Y)
    text = function.program.to_json()
    assert BatchProgram.from_json(text)(1.5, Y)[0] == 3.0
    for axis, message in (
        (None, r"the result\[1\] must have a batch axis, because it differs"),
        (1, "has the axis 1; "),
    ):
        document = json.loads(text)
        document["result"]["tuple"][1]["axis"] = axis
        with pytest.raises(ProgramError, match=message):
            BatchProgram.from_json(json.dumps(document))


def test_deep_trees_are_refused():
    deep: Any = {"shape": None, "axis": 0}
    for _ in range(60):
        deep = {"list": [deep]}
    with pytest.raises(ProgramError, match="is nested more than 50 levels deep"):
        BatchProgram.from_json(json.dumps(DOCUMENT | {"result": deep}))


def test_files_of_the_other_kind_are_refused():
    with pytest.raises(ProgramError, match=r"this is the program of a batch: read it with gradwalk\.load"):
        Program.from_json(json.dumps(DOCUMENT))
    with pytest.raises(ProgramError, match="this is not a batch program"):
        BatchProgram.from_json(json.dumps(DOCUMENT["program"]))


ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from([2**31, 10**400, "x", "mean", 0.5, [], {}, [0], "dict"]),
)


def places(node: Any) -> list[tuple[Any, Any]]:
    """Return each container in a document with each of its keys."""
    found, waiting = [], [node]
    while waiting:
        container = waiting.pop()
        keys = [*container] if isinstance(container, dict) else range(len(container))
        found += [(container, key) for key in keys]
        waiting += [container[key] for key in keys if isinstance(container[key], (dict, list))]
    return found


@fewer(1)
@given(st.data())
def test_changed_documents_are_refused_or_run(data):
    changed = copy.deepcopy(DOCUMENT)
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(places(changed)))
        what = data.draw(st.sampled_from(["replace", "remove", "copy"]))
        if what == "remove":
            del container[key]
        elif what == "copy":
            other, at = data.draw(st.sampled_from(places(changed)))
            container[key] = copy.deepcopy(other[at])
        else:
            container[key] = data.draw(ANYTHING)
    try:
        loaded = BatchProgram.from_json(json.dumps(changed))
    except ProgramError:
        return
    with contextlib.suppress(TypeError, ValueError):  # it may take other arguments
        loaded(W, {"x": X, "y": Y})


@pytest.mark.skipif(IS_WASM, reason="starts a process")
def test_load_in_a_new_process(tmp_path):
    function = jit(vmap(value_and_grad(tree_loss), in_axes=(None, {"x": 0, "y": 0}), reduce="mean"))
    value, slopes = function(W, {"x": X, "y": Y})
    function.program.save(tmp_path / "batch.json")
    numpy.savez(tmp_path / "arrays.npz", w=W, x=X, y=Y)
    program = (
        "import numpy, sys; from gradwalk import load; a = numpy.load('arrays.npz'); f = load('batch.json');"
        "v, g = f(a['w'], {'x': a['x'], 'y': a['y']}); print([v, *g.tolist()])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(run.stdout) == [value, *slopes.tolist()]
