"""Adding an operation edits one row: a copy of the tree gets one, and it works everywhere it should."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT

ROW = """    Operation(
        "softplus2", "softplus2", f.log1p(f.exp(x)), [1 / (1 + f.exp(-x))], [REAL], "softplus again", ufunc="cbrt"
    ),
"""
PROGRAM = """
import copy, math, pickle
import numpy
import gradwalk.value.value, gradwalk.math
from gradwalk import Graph, Value, check, draw, grad, hessian, jit, jvp, refresh, walk

x = Value(0.3, label="x")
expected = math.log1p(math.exp(0.3)), 1 / (1 + math.exp(-0.3))
for out in (x.softplus2(), gradwalk.math.softplus2(x), numpy.cbrt(x), numpy.cbrt(numpy.array([x]))[0]):
    assert out.op == "softplus2", out.op
    assert abs(out.data - expected[0]) < 1e-15 and abs(out.partials[0] - expected[1]) < 1e-15
    x.grad = 0.0
    out.backward()
    assert abs(x.grad - expected[1]) < 1e-15
assert gradwalk.math.softplus2(0.3) == out.data
assert "1 / (1 + exp(-x))" in Value.softplus2.__doc__
x.data = 0.5
refresh(out)
assert abs(out.data - math.log1p(math.exp(0.5))) < 1e-15
assert pickle.loads(pickle.dumps(out)).data == copy.deepcopy(out).data == out.data
graph = Graph.from_json(Graph.record(out).to_json())
step = walk(graph).backward[0].sentence
assert "softplus2 scales: x gets upstream 1 times 1 / (1 + exp(-x)) (0.622459), making 0.622459" in step, step
assert check(graph).ok and [row.verdict for row in check(graph).rows] == ["right", "right"]
assert ">softplus2<" in draw(graph).svg and "softplus2" in draw(graph).dot
logistic = expected[1]
f = gradwalk.math.softplus2
for derivative in (grad(f)(0.3), jit(grad(f))(0.3), grad(jit(f))(0.3), jvp(f, (0.3,), (1.0,))[1]):
    assert abs(derivative - logistic) < 1e-15
for second in (hessian(f)(0.3), grad(jit(grad(f)))(0.3)):
    assert abs(second - logistic * (1 - logistic)) < 1e-15
assert "softplus2(v0)" in str(jit(f)._recorded([0.3], {})[0].program)
print("compiled" if not gradwalk.value.value.__file__.endswith(".py") else "uncompiled")
"""


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the source tree with one more row, regenerated."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("src", "tools", "docs", "tests", "setup.py", "web/src", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    table = copy / "src/gradwalk/ops/table.py"
    text = table.read_text(encoding="utf-8")
    place = text.index("TABLE: tuple[Operation, ...] = (\n") + len("TABLE: tuple[Operation, ...] = (\n")
    table.write_text(text[:place] + ROW + text[place:], encoding="utf-8")
    assert run(sys.executable, "tools/generate.py", "--check", cwd=copy).returncode == 1
    assert run(sys.executable, "tools/generate.py", cwd=copy).returncode == 0
    assert run(sys.executable, "tools/generate.py", "--check", cwd=copy).returncode == 0
    return copy


def test_this_tree_is_up_to_date():
    result = run(sys.executable, "tools/generate.py", "--check", cwd=ROOT)
    assert result.returncode == 0, result.stderr


def test_stale_blocks_are_named(tree):
    engine = tree / "src/gradwalk/value/value.py"
    text = engine.read_text(encoding="utf-8")
    engine.write_text(text.replace("    def softplus2(", "    def softplus3("), encoding="utf-8")
    result = run(sys.executable, "tools/generate.py", "--check", cwd=tree)
    engine.write_text(text, encoding="utf-8")
    assert result.returncode == 1
    assert "value.py (methods)" in result.stderr


def test_a_stale_table_of_the_page_is_named(tree):
    table = tree / "web/src/core/table.js"
    text = table.read_text(encoding="utf-8")
    table.write_text(text + "\n", encoding="utf-8")
    result = run(sys.executable, "tools/generate.py", "--check", cwd=tree)
    table.write_text(text, encoding="utf-8")
    assert result.returncode == 1
    assert "not what ops.py says: web/src/core/table.js -" in result.stderr


def test_new_row_works_uncompiled(tree):
    result = run(sys.executable, "-c", PROGRAM, cwd=tree, PYTHONPATH="src")
    assert result.stdout == "uncompiled\n", result.stderr


def test_new_row_works_compiled(tree, tmp_path):
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    command = (sys.executable, "setup.py", "-q", "build", "--build-lib", str(tmp_path))
    built = run(*command, cwd=tree, GRADWALK_OPTIMIZE="1")
    assert built.returncode == 0, built.stderr
    result = run(sys.executable, "-c", PROGRAM, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert result.stdout == "compiled\n", result.stderr


def test_new_row_is_on_the_command_line_and_in_the_reference(tree):
    command = (sys.executable, "-m", "gradwalk", "walk", "softplus2(x)", "x=0")
    result = run(*command, cwd=tree, PYTHONPATH="src")
    assert "0.6931471805599453" in result.stdout, result.stderr
    assert "| `softplus2` |" in (tree / "docs/operations.md").read_text(encoding="utf-8")


def test_new_row_is_on_the_page(tree):
    assert 'name: "softplus2",' in (tree / "web/src/core/table.js").read_text(encoding="utf-8")
    libraries = ROOT / "web/node_modules"
    if not shutil.which("node") or not libraries.is_dir():
        pytest.skip("there is no Node, or `npm ci` has not been run in web/")
    (tree / "web/package.json").write_text('{"type": "module"}', encoding="utf-8")
    (tree / "web/node_modules").symlink_to(libraries)
    program = """
        import { evaluate, parse } from "./src/core/expression.js";
        const graph = evaluate(parse("softplus2(x)"), new Map([["x", 0.3]]));
        const { data, partials, row } = graph.nodes[graph.root];
        console.log(JSON.stringify([data, partials, row.formulas, row.words]));
    """
    result = run("node", "--input-type=module", "--eval", program, cwd=tree / "web")
    assert result.returncode == 0, result.stderr
    data, partials, formulas, words = json.loads(result.stdout)
    assert data == pytest.approx(math.log1p(math.exp(0.3)), rel=1e-15)
    assert partials == pytest.approx([1 / (1 + math.exp(-0.3))], rel=1e-15)
    assert formulas == [["/", 1, ["+", 1, ["exp", ["negative", "x"]]]]]
    assert words == "softplus again"


def test_new_row_cannot_go_untested(tree):
    """The tests ask mpmath and PyTorch for every row, and fail for one that they have not been told of."""
    command = (sys.executable, "-m", "pytest", "-q", "tests/ops/test_table.py", "-k", "softplus2 or know_every_row")
    result = run(*command, cwd=tree, PYTHONPATH="src")
    assert "FAILED tests/ops/test_table.py::test_torch_and_mpmath_know_every_row" in result.stdout
    assert "test_every_way_in_gives_the_same[softplus2]" not in result.stdout
