"""A row added to the table in a copy of the tree defines a working operation, fused operation or reduction.

One copy is compiled, with a row of each kind, because compiling takes long.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_path

import pytest
from checkout import ROOT

from gradwalk.ops.compiled.opcodes import OPCODES

ROW = """    Operation(
        "softplus2", "softplus2", f.log1p(f.exp(x)), [1 / (1 + f.exp(-x))], [REAL], "softplus again", ufunc="bit_count"
    ),
"""
TABLE = "TABLE: tuple[Operation, ...] = (\n"
PROGRAM = """
import copy, math, pickle
import numpy
import gradwalk.value.value, gradwalk.math
from gradwalk import Graph, Value, check, draw, grad, hessian, jit, jvp, refresh, walk

x = Value(0.3, label="x")
expected = math.log1p(math.exp(0.3)), 1 / (1 + math.exp(-0.3))
array = numpy.bitwise_count(numpy.array([x]))  # calls bit_count of its elements
for out in (x.softplus2(), gradwalk.math.softplus2(x), numpy.bitwise_count(x), array[0]):
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
recorded = jit(f)
recorded(0.3)
assert "softplus2(x)" in str(recorded.program)
print("compiled" if not gradwalk.value.value.__file__.endswith(".py") else "uncompiled")
"""


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def copied(copy: Path, row: str, where: str = TABLE) -> Path:
    """Copy the source tree and insert a row after the line `where` of the table."""
    for name in ("src", "tools", "docs", "tests", "setup.py", "web/src", "pyproject.toml", "README.md", "LICENSE"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("*.so", "__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, copy / name)
    edited(copy / "src/gradwalk/ops/table.py", where, where + row)
    return copy


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")


def generate(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "tools/generate.py", *arguments, cwd=tree)


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Copy the source tree with one more row, and regenerate it."""
    copy = copied(tmp_path_factory.mktemp("tree"), ROW)
    assert generate(copy, "--check").returncode == 1
    assert generate(copy).returncode == 0
    assert generate(copy, "--check").returncode == 0
    return copy


def test_generated_files_are_up_to_date():
    result = generate(ROOT, "--check")
    assert result.returncode == 0, result.stderr


def test_stale_files_are_reported(tree):
    engine = tree / "src/gradwalk/value/methods.py"
    text = engine.read_text(encoding="utf-8")
    engine.write_text(text.replace("    def softplus2(", "    def softplus3("), encoding="utf-8")
    result = generate(tree, "--check")
    engine.write_text(text, encoding="utf-8")
    assert result.returncode == 1
    assert "src/gradwalk/value/methods.py" in result.stderr


def test_stale_table_of_the_page_is_reported(tree):
    table = tree / "web/src/core/table.js"
    text = table.read_text(encoding="utf-8")
    table.write_text(text + "\n", encoding="utf-8")
    result = generate(tree, "--check")
    table.write_text(text, encoding="utf-8")
    assert result.returncode == 1
    assert "out of date: web/src/core/table.js -" in result.stderr


def test_new_row_works_uncompiled(tree):
    result = run(sys.executable, "-c", PROGRAM, cwd=tree, PYTHONPATH="src")
    assert result.stdout == "uncompiled\n", result.stderr


def test_new_row_is_on_the_command_line_and_in_the_reference(tree):
    command = (sys.executable, "-m", "gradwalk", "walk", "softplus2(x)", "x=0")
    result = run(*command, cwd=tree, PYTHONPATH="src")
    assert "0.6931471805599453" in result.stdout, result.stderr
    assert "| `softplus2` |" in (tree / "docs/operations_table.md").read_text(encoding="utf-8")


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
    command = (sys.executable, "-m", "pytest", "-q", "tests/ops/test_table.py", "-k", "softplus2 or cover_every_row")
    result = run(*command, cwd=tree, PYTHONPATH="src")
    assert "FAILED tests/ops/test_table.py::test_references_cover_every_row" in result.stdout
    assert "test_all_ways_of_calling_give_the_same[softplus2]" not in result.stdout


NEAREST = """    Operation("nearest", "nearest", f.nearbyint(x), [0], [REAL], "nearest integer"),
"""
PRINTERS = {
    "src/gradwalk/base/libm.py": (
        "fabs = math.fabs\n",
        "\n\ndef nearbyint(x):\n    return float(numpy.rint(x))\n",
    ),
    "src/gradwalk/base/ieee.pxd": ("    double fabs(double)\n", "    double nearbyint(double)\n"),
    "web/src/core/libm.js": ("cbrt, floor, ceil, trunc } = Math;\n", "export const { round: nearbyint } = Math;\n"),
}
ROUNDED = """
import numpy
from gradwalk import Value, grad, jit, math, vmap

assert (math.nearest(2.5), Value(-0.6).nearest().data) == (2.0, -1.0)
distance = lambda x: x * (x - math.nearest(x))
assert grad(distance)(2.25) == jit(grad(distance))(2.25) == 2.5
assert vmap(distance)(numpy.array([1.25, -0.25])).tolist() == [0.3125, 0.0625]
jitted = jit(distance)
jitted(1.0)
assert "nearbyint(inputs[0])" in jitted.program.to_c()
"""


def test_function_missing_in_some_printers_is_rejected(tmp_path):
    tree = copied(tmp_path, NEAREST)
    before = (tree / "src/gradwalk/ops/compiled/evaluate.py").read_bytes()
    refused = generate(tree)
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()[1:]
    assert line.startswith("  nearbyint(), which the row nearest calls, is missing in ")
    assert all(file in line for file in PRINTERS)
    assert "math.h" not in line  # C has it
    assert (tree / "src/gradwalk/ops/compiled/evaluate.py").read_bytes() == before

    for file, (place, definition) in PRINTERS.items():
        edited(tree / file, place, place + definition)
    assert generate(tree).stderr == ""
    assert (result := run(sys.executable, "-c", ROUNDED, cwd=tree, PYTHONPATH="src")).returncode == 0, result.stderr
    check_c(tree, tmp_path)


def check_c(tree: Path, tmp_path: Path) -> None:
    """Check that Cython and the C compiler accept the generated code."""
    if shutil.which("cc"):
        loops = tree / "src/gradwalk/backend/cpu/lanes.h"
        flags = ("-std=gnu11", "-Werror=implicit-function-declaration", "-fsyntax-only", f"-I{get_path('include')}")
        operations = (loops.parent / "lane_operations.h").read_text(encoding="utf-8")
        assert ", F(nearbyint)(x)) /* nearest */" in operations
        assert (result := run("cc", *flags, str(loops), cwd=tree)).returncode == 0, result.stderr
    pytest.importorskip("Cython")
    command = (
        sys.executable,
        "-m",
        "cython",
        "-3",
        "src/gradwalk/ops/compiled/evaluate.py",
        "-o",
        str(tmp_path / "evaluate.c"),
    )
    assert (result := run(*command, cwd=tree)).returncode == 0, result.stderr


def test_function_missing_in_all_printers_is_rejected(tmp_path):
    tree = copied(tmp_path, """    Operation("bessel", "J0", f.bessel(x), [f.bessel1(x)], [REAL], "Bessel's"),\n""")
    refused = generate(tree, "--check")
    assert refused.returncode == 1
    first, second, third = refused.stderr.splitlines()[1:]
    for target in ("libm.py", "ieee.pxd", "printers.py (C)", "lane_loops.h (batches)", "libm.js"):
        assert target in first
        assert target in second
    assert third == "  the derivative of the row bessel needs bessel1(), which no row computes: add a row for it"


def test_derivative_without_an_operation_is_rejected(tmp_path):
    row = """    Operation("ramp", "ramp", f.fabs(x), [f.nearbyint(x)], [REAL], "a row", is_exact=False),\n"""
    tree = copied(tmp_path, row)
    for file, (place, definition) in PRINTERS.items():
        edited(tree / file, place, place + definition)
    refused = generate(tree)
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[1:] == [
        "  the derivative of the row ramp needs nearbyint(), which no row computes: add a row for it"
    ]


def test_too_many_opcodes_are_rejected(tmp_path):
    rows = "".join(f"""    Operation("twin{i}", "twin", x + {i}, [1], [REAL], "a row"),\n""" for i in range(90))
    refused = generate(copied(tmp_path, rows), "--check")
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()[1:]
    assert f"there are {max(OPCODES.values()) + 90} opcodes" in line
    assert "Value keeps its opcode in a signed char, which counts to 127" in line


def test_duplicate_names_are_rejected(tmp_path):
    refused = generate(copied(tmp_path, """    Operation("muladd", "muladd", x, [1], [REAL], "a row"),\n"""), "--check")
    assert refused.returncode == 1
    assert "2 instructions are called muladd" in refused.stderr


FUSED_ROWS = "FUSED: tuple[Fused, ...] = (\n"
ADDMUL = """    Fused("addmul", (x + y) * z),
"""
FUSING = """
import pickle
import numpy
import gradwalk.program.instructions.lower
from gradwalk import Value, grad, hessian, jit, math, vmap
from gradwalk.program.program import Program

def f(x):
    a, b, c, d = x
    return (a + b) * c + (c - a * b) * d + ((a + d) * (b + c)) * a

at = numpy.array([0.3, -1.2, 1.7, 2.9])
jitted = jit(f)
assert jitted(at) == f(at)
text = str(jitted.program)
for fused in ("(x[0] + x[1]) * x[2]", "x[2] - x[0] * x[1]"):
    assert fused in text, text
assert len(jitted.program) == 6, text  # ten operations, four of them fused

def by_hand(x):
    a, b, c, d = x
    return numpy.array([c - b * d + (b + c) * (2 * a + d), c - a * d + a * (a + d), a + b + d + a * (a + d),
                        c - a * b + a * (b + c)])

close = lambda a, b: numpy.allclose(a, b, rtol=1e-14, atol=1e-14)
for derivative in (grad(f), jit(grad(f)), grad(jit(f)), grad(jit(jit(f)))):
    assert close(derivative(at), by_hand(at)), (derivative(at), by_hand(at))
assert close(jit(hessian(f))(at), hessian(jit(f))(at))
values = [Value(x) for x in at]
out = jitted(values)
assert out.data == f(at)
out.backward()
assert close([x.grad for x in values], by_hand(at))
batch = at + numpy.arange(20.0)[:, None]
assert vmap(f)(batch).tolist() == [f(row) for row in batch]
assert close(jit(vmap(grad(f)))(batch), [by_hand(row) for row in batch])
assert close(vmap(f, reduce="sum")(batch), sum(f(row) for row in batch))
assert "* inputs[2];" in jitted.program.to_c()
for copy in (Program.from_json(jitted.program.to_json()), pickle.loads(pickle.dumps(jitted.program))):
    assert str(copy) == text and copy.run(at) == f(at)
print("compiled" if not gradwalk.program.instructions.lower.__file__.endswith(".py") else "uncompiled")
"""


@pytest.fixture(scope="module")
def fused(tmp_path_factory) -> Path:
    """Copy the source tree with one more fused row, and regenerate it."""
    copy = copied(tmp_path_factory.mktemp("fused"), ADDMUL, FUSED_ROWS)
    assert (result := generate(copy)).returncode == 0, result.stderr
    assert generate(copy, "--check").returncode == 0
    return copy


def test_new_fused_row_works_uncompiled(fused):
    result = run(sys.executable, "-c", FUSING, cwd=fused, PYTHONPATH="src")
    assert result.stdout == "uncompiled\n", result.stderr


@pytest.mark.parametrize("formula", ["x / y + z", "f.fabs(x) + z", "x * y + x", "x * y * (z + 1)", "x + y"])
def test_wrong_fused_rows_are_rejected(tmp_path, formula):
    tree = copied(tmp_path, "")
    edited(tree / "src/gradwalk/ops/table.py", 'Fused("muladd", x * y + z)', f'Fused("muladd", {formula})')
    refused = generate(tree)
    assert refused.returncode == 1
    assert "muladd is a fused row, which must apply one of +, - and * to x and y" in refused.stderr


REDUCTIONS = "REDUCTIONS: tuple[Reduction, ...] = (\n"
LOGSUMEXP = """    Reduction(
        "logtotal",
        "logtotal",
        f.log(0),
        where(x < total, total, x) + f.log1p(f.exp(where(x < total, x - total, total - x))),
        [f.exp(x - out)],
        None,
        [REAL],
        "log(exp(x[0]) + exp(x[1]) + ...), without overflow",
    ),
"""
REDUCED = """
import copy, math, pickle
import numpy
import gradwalk.value.value
from gradwalk import Graph, Value, check, draw, grad, hessian, jit, refresh, vmap, walk
from gradwalk.math import logtotal, sumprod

numbers = [0.3, -1.2, 0.3, 2.0]
total = sum(map(math.exp, numbers))
expected, slopes = math.log(total), [math.exp(x) / total for x in numbers]
close = lambda a, b: numpy.allclose(a, b, rtol=1e-13, atol=1e-15)

assert close(logtotal(numbers), expected) and type(logtotal(iter(numbers))) is float
assert logtotal([1000.0, 1000.0]) == 1000.0 + math.log(2.0) and logtotal([]) == -math.inf
leaves = [Value(x, label=f"x{i}") for i, x in enumerate(numbers)]
out = logtotal(leaves)
assert out.op == "logtotal" and out.operands == tuple(leaves)
assert close(out.data, expected) and close(out.partials, slopes)
out.backward()
assert close([x.grad for x in leaves], slopes)
graph = Graph.record(out)
assert len(graph) == 5
assert pickle.loads(pickle.dumps(out)).data == copy.deepcopy(out).data == out.data
graph = Graph.from_json(graph.to_json())
step = walk(graph).backward[0].sentence
assert "logtotal scales: x0 gets upstream 1 times exp(x0 - out) (0.129919), making 0.129919" in step, step
assert check(graph).ok and {row.verdict for row in check(graph).rows} == {"right"}
assert ">logtotal<" in draw(graph).svg and "logtotal" in draw(graph).dot
leaves[1].data = 4.0
refresh(out)
assert close(out.data, math.log(total - math.exp(-1.2) + math.exp(4.0)))
for wrong in (["2"], [None], [[1.0]]):
    try:
        logtotal(wrong)
    except TypeError as error:
        assert "logtotal() takes Values and real numbers, not" in str(error)
    else:
        raise AssertionError(wrong)

f = lambda x: logtotal(list(x))
at = numpy.array(numbers)
second = numpy.diag(slopes) - numpy.outer(slopes, slopes)
assert close(jit(f)(at), expected)
for derivative in (grad(f), jit(grad(f)), grad(jit(f))):
    assert close(derivative(at), slopes)
for matrix in (hessian(f), jit(hessian(f))):
    assert close(matrix(at), second)
batch = numpy.array([at, at + 1, [900.0, 0.0, -900.0, 900.0]] * 5)
for batched in (vmap(f), jit(vmap(f))):
    assert close(batched(batch), [f(row) for row in batch])
assert close(jit(vmap(grad(f)))(batch), [grad(f)(row) for row in batch])
jitted = jit(f)
jitted(at)
assert "log1p(" in jitted.program.to_c()
assert sumprod([1.0, 2.0], [3.0, 4.0], leaves[0]).data == 11.3
print("compiled" if not gradwalk.value.value.__file__.endswith(".py") else "uncompiled")
"""


@pytest.fixture(scope="module")
def reduced(tmp_path_factory) -> Path:
    """Copy the source tree with one more reduction, and regenerate it."""
    copy = copied(tmp_path_factory.mktemp("reduced"), LOGSUMEXP, REDUCTIONS)
    assert (result := generate(copy)).returncode == 0, result.stderr
    assert generate(copy, "--check").returncode == 0
    return copy


def test_new_reduction_works_uncompiled(reduced):
    result = run(sys.executable, "-c", REDUCED, cwd=reduced, PYTHONPATH="src")
    assert result.stdout == "uncompiled\n", result.stderr
    assert "| `logtotal(x)` |" in (reduced / "docs/operations_table.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Path:
    """Build a copy of the source tree with one more row of each kind."""
    pytest.importorskip("Cython")
    pytest.importorskip("setuptools")
    tree = copied(tmp_path_factory.mktemp("all"), ROW)
    edited(tree / "src/gradwalk/ops/table.py", REDUCTIONS, REDUCTIONS + LOGSUMEXP)
    edited(tree / "src/gradwalk/ops/table.py", FUSED_ROWS, FUSED_ROWS + ADDMUL)
    assert (result := generate(tree)).returncode == 0, result.stderr
    library = tmp_path_factory.mktemp("library")
    command = (sys.executable, "setup.py", "-q", "build", "--build-lib", str(library))
    built = run(*command, cwd=tree, GRADWALK_OPTIMIZE="0")
    assert built.returncode == 0, built.stderr
    return library


@pytest.mark.parametrize("program", [PROGRAM, FUSING, REDUCED], ids=["row", "fused", "reduction"])
def test_new_rows_work_compiled(compiled, program):
    result = run(sys.executable, "-c", program, cwd=compiled, PYTHONPATH=str(compiled))
    assert result.stdout == "compiled\n", result.stderr


def test_new_reduction_is_on_the_page(reduced):
    libraries = ROOT / "web/node_modules"
    if not shutil.which("node") or not libraries.is_dir():
        pytest.skip("there is no Node, or `npm ci` has not been run in web/")
    (reduced / "web/package.json").write_text('{"type": "module"}', encoding="utf-8")
    (reduced / "web/node_modules").symlink_to(libraries)
    program = """
        import { Graph } from "./src/core/graph.js";
        import { computed, formula, writtenPartial } from "./src/walk/words.js";
        const leaf = (label, data) => ({ label, data, grad: 0 });
        const out = { operation: "logtotal", operands: [0, 1], partials: [0.5, 0.5], data: 1, grad: 1 };
        const document = { gradwalk: "graph", version: 1, outputs: [2], nodes: [leaf("a", 1), leaf("b", 1), out] };
        const graph = Graph.fromDocument(document).withData(new Map([[0, 2]]));
        const node = graph.nodes[2];
        const said = [computed(node, graph), formula(node, 1), writtenPartial(node, 1, graph)];
        console.log(JSON.stringify([node.data, node.partials, said]));
    """
    result = run("node", "--input-type=module", "--eval", program, cwd=reduced / "web")
    assert result.returncode == 0, result.stderr
    data, partials, said = json.loads(result.stdout)
    assert data == pytest.approx(math.log(math.exp(2) + math.exp(1)), rel=1e-15)
    assert partials == pytest.approx([1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1))], rel=1e-15)
    assert said == ["v3 = logtotal of 2 operands = 2.31326", "exp(x - out)", "exp(b - v3)"]


WRONG_REDUCTIONS = {
    """Reduction("r", "r", 0, total + y, [1], None, [REAL], "wrong")""": [
        "step of the reduction r uses y, but may only use total, x"
    ],
    """Reduction("r", "r", x, total + x, [total], z, [REAL], "wrong")""": [
        "first of the reduction r uses x, but may only use nothing",
        "a partial of the reduction r uses total, but may only use out, x",
        "start_partial of the reduction r uses z, but may only use out",
    ],
    """Reduction("r", "r", 0, total + x, [0], None, [REAL, REAL], "wrong")""": [
        "the reduction r has 2 intervals in its domain for 1 sequences",
        "a partial of the reduction r is 0, but every operand of a reduction must have a gradient",
    ],
    """Reduction("r", "r", 0, total, [], None, [], "wrong")""": [
        "the reduction r must have one to three partials, one for each sequence, got 0"
    ],
    """Reduction("muladd", "r", 0, total + x, [1], None, [REAL], "wrong")""": [
        "2 instructions are called muladd: names must be unique"
    ],
}


@pytest.mark.parametrize("row", WRONG_REDUCTIONS)
def test_wrong_reductions_are_rejected(tmp_path, row):
    refused = generate(copied(tmp_path, f"    {row},\n", REDUCTIONS), "--check")
    assert refused.returncode == 1
    assert [line.strip() for line in refused.stderr.splitlines()[1:]] == WRONG_REDUCTIONS[row]


def test_reduction_with_unknown_functions_is_rejected(tmp_path):
    row = """    Reduction("r", "r", 0, f.bessel(total + x), [1], None, [REAL], "wrong"),\n"""
    refused = generate(copied(tmp_path, row, REDUCTIONS), "--check")
    first, second = refused.stderr.splitlines()[1:]
    assert first.startswith("  bessel(), which the row r calls, is missing in ")
    assert second == "  the reduction r needs bessel(), which no row computes: add a row for it"


def test_formula_longer_than_a_line_is_rejected(tmp_path):
    formula = " + ".join(f"f.exp(x + {i})" for i in range(10))
    refused = generate(
        copied(tmp_path, f"""    Operation("long", "long", {formula}, [1], [REAL], "a row"),\n"""), "--check"
    )
    assert refused.returncode == 1
    assert "the value of long must have at most" in refused.stderr


def test_row_in_contributing_is_a_small_change(tmp_path):
    # Generating adds fewer than 60 lines; a contributor writes one of them.
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (row,) = re.findall(r"^ +(Operation\(.*\),)$", text, re.M)
    before, after = tmp_path / "before", tmp_path / "after"
    copied(before, "")
    assert generate(copied(after, f"    {row}\n")).returncode == 0
    diff = run("git", "diff", "--no-index", "--numstat", str(before), str(after), cwd=tmp_path).stdout
    counts = [tuple(map(int, line.split("\t")[:2])) for line in diff.splitlines() if "-" not in line.split("\t")[:2]]
    assert 20 < sum(added for added, _ in counts) < 60
    assert sum(removed for _, removed in counts) <= 4  # the line of facts, and the first `if` of three chains
