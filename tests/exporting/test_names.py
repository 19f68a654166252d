"""Names of exported functions: a library accepts each name that its own files use, except names of languages."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
from c_compiler import installed

from gradwalk import export, jit, loops, math, tree_util, value_and_grad, vmap
from gradwalk.exporting.files import c_test
from gradwalk.exporting.names import checked_name, reason
from gradwalk.program.formats.c import c_program

OWN = "Zebra"  # a name that no file contains
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
W, X, Y = numpy.array([0.5, 1.0, 2.0]), numpy.ones((4, 3)), numpy.ones(4)


def every_helper(w: Any, x: Any, y: Any) -> Any:
    last, _ = loops.scan(lambda c, row: (math.sin(c) * row + w[1], None), w @ x, x)
    return math.silu(last) * math.sign(y) + x[0] // y + x[1] % y + x[2] ** y


def table(w: Any, x: Any, y: Any) -> Any:
    return math.take(w, math.floor(y)), math.take(x, math.floor(w[0])), x * y


def search(w: Any, x: Any, y: Any) -> Any:
    last = loops.while_loop(lambda c: c < 5.0, lambda c: c * 1.5 + w[0], y)
    return math.take([w[1], 0.5, last], math.floor(y)) * math.silu(x[0])


CASES = {
    "one sample": (value_and_grad(search), (W, X[0], 1.5)),
    "one sample, helpers": (value_and_grad(every_helper), (W, X[0], 1.5)),
    "lanes, mean": (vmap(value_and_grad(every_helper), in_axes=(None, 0, 0), reduce="mean"), (W, X, Y)),
    "lanes": (vmap(table, in_axes=(None, 0, 0)), (W, X, Y)),
    "samples, sum": (vmap(value_and_grad(search), in_axes=(None, 0, 0), reduce="sum"), (W, X, Y)),
    "masks": (vmap(search, in_axes=(None, 0, 0)), (W, X, Y)),
}


def exported(case: str, folder: Path, name: str) -> dict[str, str]:
    """Export a function; return the texts of all files."""
    f, args = CASES[case]
    function = jit(f, backend="lanes")
    function(*args)
    return {path.name: path.read_text() for path in export(function, folder, name=name).iterdir()}


@pytest.fixture(scope="module")
def texts(tmp_path_factory) -> Iterator[dict[str, dict[str, str]]]:
    """Return the files of libraries with the name `OWN`. Functions are split into pieces, and tests are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c_program, "_PIECE", 8)
        patch.setattr(c_test, "SAMPLES", 17)
        patch.setattr(c_test, "_SIZES", (1, 17))
        patch.setattr(c_test, "_MOST_VALUES", 4)
        folder = tmp_path_factory.mktemp("libraries")
        yield {case: exported(case, folder / case, OWN) for case in CASES}


@pytest.fixture(scope="module")
def groups(texts) -> list[list[str]]:
    """Return the names in all files that `export` accepts, in groups of names that one file can define.

    The library `a` defines `a_load` and A_H, so it conflicts with the libraries `a_load` and `A`. Of names that differ
    only in numbers, one is enough.
    """
    ignored = re.compile(r"/\*.*?\*/|\b\d[\w.]*", re.DOTALL)
    code = [ignored.sub("", text) for files in texts.values() for file, text in files.items() if file != "README.md"]
    words = {re.sub(f"^{OWN}_|_{OWN}$", "", word, flags=re.IGNORECASE) for word in re.findall(r"\w+", "\n".join(code))}
    words = {word for word in words if not reason(word) and OWN.lower() not in word.lower()}
    groups: list[list[str]] = []
    for name in {re.sub(r"\d+", "1", word): word for word in sorted(words)}.values():
        fitting = (x for x in groups if not any(f"{name}_".upper().startswith(f"{other}_".upper()) for other in x))
        group = next(fitting, [])
        if not group:
            groups.append(group)
        group.append(name)
    return groups


def renamed(text: str, name: str) -> str:
    return text.replace(OWN, name).replace(OWN.upper(), name.upper())


def expanded(file: str, texts: dict[str, str]) -> str:
    """Return the text of a file with the texts of the files that it includes."""
    include = re.compile(r'^#include "(.*)"$', re.MULTILINE)
    return include.sub(lambda match: expanded(match[1], texts), texts[file])


def compile_together(
    files: Collection[str], texts: dict[str, str], groups: Collection[Collection[str]], *command: str
) -> None:
    """Compile the files of libraries with many names as one file, so that no name may be hidden or defined twice."""
    library = "\n".join(expanded(file, texts) for file in files).replace("int main(", f"int {OWN}_main(")
    for group in groups:
        source = "\n".join(renamed(library, name) for name in group)
        compiler = [installed(command[0]), *command[1:], *WARNINGS, "-fsyntax-only", "-"]
        run = subprocess.run(compiler, input=source, text=True, capture_output=True, check=False)
        assert run.returncode == 0, run.stderr[:2000]


@pytest.mark.parametrize(
    ("case", "step"),
    [
        ("one sample", 1),
        ("one sample, helpers", 4),
        ("lanes, mean", 1),
        ("lanes", 4),
        ("samples, sum", 4),
        ("masks", 1),
    ],
)
def test_c(case, step, texts, groups):
    names = [group[::step] for group in groups]
    compile_together([f"{OWN}.c", f"test_{OWN}.c"], texts[case], names, "cc", "-std=c99", "-Wshadow", "-x", "c")


CPP = ("c++", "-std=c++17", "-x", "c++")


@pytest.mark.parametrize("case", ["lanes, mean", "masks"])
def test_cpp(case, texts, groups):
    compile_together([f"{OWN}.hpp"], texts[case], groups, *CPP)
    names = [group[::10] for group in groups]
    compile_together([f"{OWN}.c", f"test_{OWN}.c", f"{OWN}.hpp"], texts[case], names, *CPP)


def test_names_of_all_files_are_accepted(groups):
    names = {name for group in groups for name in group}
    assert {"step", "load", "run", "inputs", "value", "shard", "EACH", "view", "i", "sums", "evaluate", "low"} <= names
    assert len(names) > 400


@pytest.mark.parametrize("name", ["step", "load", "EACH"])
@pytest.mark.parametrize("case", CASES)
def test_a_name_changes_only_names(case, name, texts, tmp_path):
    found = exported(case, tmp_path / "library", name)
    expected = {renamed(file, name): renamed(text, name) for file, text in texts[case].items()}
    if name == "load":
        expected["load.py"] = expected["load.py"].replace("def load(path", "def load_library(path")
        expected["load.py"] = expected["load.py"].replace('load.load("build', 'load.load_library("build')
        expected["load.py"] = expected["load.py"].replace("_library or load()", "_library or load_library()")
    expected[".gradwalk-export"] = found[".gradwalk-export"]  # file names in order
    assert found == expected


def loader(text: str, name: str, library: Any = None) -> dict[str, Any]:
    """Run the module for Python; return its names."""
    module: dict[str, Any] = {"__name__": name, "__file__": f"{name}.py"}
    exec(text, module)
    module["_library"] = library
    return module


@pytest.mark.parametrize("case", ["one sample", "lanes, mean", "masks"])
def test_python(case, texts, groups):
    """The functions for Python call no name that they hide. They are run with a library that computes nothing."""
    f, args = CASES[case]
    shapes = [numpy.shape(leaf) for leaf in tree_util.tree_leaves(jit(f)(*args))]
    for name in (name for group in groups for name in group if name != "load"):
        library = SimpleNamespace(**{name: lambda *_: None, f"{name}_batch": lambda *_: None})
        module = loader(renamed(texts[case][f"{OWN}.py"], name), name, library)
        assert [numpy.shape(leaf) for leaf in tree_util.tree_leaves(module[name](*args))] == shapes


MAIN = """
#include "NAME.hpp"
#include <cstdio>
int main()
{
    const std::array<double, 3> w{0.5, 1.0, 2.0};
    CALL
}
"""
EVALUATE = 'std::printf("%.17g", NAME_library::evaluate(w, {1.0, 1.0, 1.0}, 1.5)[0]);'
EVALUATE_BATCH = """const std::vector<double> x(12, 1.0), y(4, 1.0);
    std::printf("%.17g", NAME_library::evaluate_batch(4, w, x, y)[0]);"""


@pytest.mark.parametrize(
    ("case", "name", "call"),
    [
        ("lanes, mean", "step", EVALUATE_BATCH),
        ("samples, sum", "load", EVALUATE_BATCH),
        ("samples, sum", "given", EVALUATE_BATCH),
        ("one sample", "inputs", EVALUATE),
    ],
)
def test_libraries(case, name, call, tmp_path):
    folder = tmp_path / "library"
    texts = exported(case, folder, name)
    (folder / "main.cpp").write_text(MAIN.replace("CALL", call).replace("NAME", name))
    for command in (
        f"cc -std=c99 -O1 -ffp-contract=off -shared -fPIC {name}.c -o library.so -lm",
        f"cc -std=c99 -O1 -ffp-contract=off test_{name}.c {name}.c -o test -lm",
        "c++ -std=c++17 main.cpp ./library.so -o main",
        "./test",
    ):
        installed(command.split()[0].removeprefix("./test") or "cc")
        subprocess.run(command.split(), check=True, cwd=folder)
    f, args = CASES[case]
    expected = jit(f, backend="lanes")(*args)
    module = loader(texts[f"{name}.py"], name)
    module["load_library" if name == "load" else "load"](folder / "library.so")
    numpy.testing.assert_allclose(tree_util.tree_leaves(module[name](*args))[0], expected[0], rtol=1e-12)
    run = subprocess.run(["./main"], capture_output=True, text=True, check=True, cwd=folder)
    numpy.testing.assert_allclose(float(run.stdout), expected[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("step()", "step"),
        ("sum()", "sum"),
        ("_price()", "price"),
        ("exp()", "exp_function"),
        ("main()", "main_function"),
        ("zip()", "zip_function"),
        ("statistics()", "statistics_function"),
        ("test()", "test_function"),
        ("limits()", "limits_function"),
        ("m()", "m_function"),
        ("con()", "con_function"),
        ("<lambda>()", "program"),
        ("größe()", "program"),
        ("functools.partial(<function step at 0x7f0d81a61580>)()", "program"),
        (f"{'n' * 201}()", "program"),
    ],
)
def test_names_of_python_functions(function, name):
    assert checked_name(None, function) == name
