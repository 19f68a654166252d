"""`import gradwalk` loads only what every program needs; other names are loaded at first use."""

from __future__ import annotations

import ast
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module

import numpy
import pytest
from checkout import PACKAGE

import gradwalk
from gradwalk import jit, loops, math, value_and_grad, vmap

NAMES = sorted(gradwalk.__all__)
ROOMS = {module.name for module in pkgutil.iter_modules(gradwalk.__path__)}


def printed(program: str) -> str:
    """Return what a program prints in a new process."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def loaded(statement: str) -> set[str]:
    """Return the modules that a statement loads in a new process."""
    return set(printed(f"{statement}; import sys; print(*sys.modules)").split())


def rooms(modules: set[str]) -> set[str]:
    """Return the subpackages of gradwalk among modules."""
    return {name.split(".")[1] for name in modules if name.startswith("gradwalk.")}


def test_the_package_loads_only_values():
    modules = loaded("import gradwalk")
    assert rooms(modules) == {"base", "ops", "value"}
    assert "gradwalk.ops.table" not in modules
    assert modules.isdisjoint(("json", "dataclasses", "hashlib", "tempfile", "xml.etree.ElementTree", "difflib"))


def test_using_values_loads_nothing_else():
    use = "import gradwalk; v = (gradwalk.Value(2.0) * 3.0 + 1.0).tanh(); v.backward(); repr(v)"
    assert rooms(loaded(use)) == {"base", "ops", "value"}


@pytest.mark.parametrize(
    ("statement", "needed"),
    [
        ("from gradwalk import zero_grad, no_grad, RecordingError", {"base", "ops", "value"}),
        ("from gradwalk import math", {"base", "ops", "value", "functions", "math"}),
        ("from gradwalk.nn import MLP", {"base", "ops", "value", "functions", "nn"}),
        (
            "import gradwalk; gradwalk.as_micrograd(); import micrograd.nn",
            {"base", "ops", "value", "functions", "nn", "cli"},
        ),
    ],
)
def test_names_load_what_they_need(statement, needed):
    assert rooms(loaded(statement)) == needed


def test_transforms_do_not_load_explain():
    assert "explain" not in rooms(
        loaded("import numpy; from gradwalk import grad, jit, vmap; jit(vmap(grad(lambda x: x * x)))(numpy.ones(2))")
    )


def slope(x):
    return math.sin(x) * x


def repeated(x):
    return loops.fori_loop(0, 9, lambda i, y: math.sin(y) * x, x)


def summed(x):
    return loops.scan(lambda y, row: (y * x + row, y), x, numpy.arange(5.0))[0]


def until_large(x):
    return loops.while_loop(lambda y: y < 9.0, lambda y: y * x + 1.0, x)


def switched(x):
    return loops.switch(x, [math.sin, until_large], x)


def of_tree(w, p):
    return {"b": (p["x"] @ w, [p["y"] > 0.0]), "a": p["x"] * (1.0 + 2.0j)}


OF_BATCH = {"batching", "trees", "functions", "complex_numbers", "nn"}
PROGRAMS = {
    "plain": (jit(value_and_grad(slope)), (1.5,)),
    "fori_loop": (jit(value_and_grad(repeated)), (1.5,)),
    "scan": (jit(value_and_grad(summed)), (1.5,)),
    "while_loop": (jit(value_and_grad(until_large)), (1.5,)),
    "switch": (jit(value_and_grad(switched)), (1.0,)),
}
BATCHES = {
    "mean": (jit(vmap(value_and_grad(slope), reduce="mean")), (numpy.ones(4),)),
    "extremes": (jit(vmap(slope, reduce="argmax")), (numpy.ones(4),)),
    "loops": (jit(vmap(value_and_grad(until_large))), (numpy.full(4, 1.5),)),
    "switches": (jit(vmap(switched)), (numpy.ones(4),)),
    "trees": (
        jit(vmap(of_tree, in_axes=(None, {"x": 0, "y": 0}))),
        (numpy.ones(3), {"x": numpy.ones((4, 3)), "y": numpy.ones(4)}),
    ),
    "no batch axis": (jit(vmap(lambda a, x: (a, a * x), in_axes=(None, 0), out_axes=(None, 0))), (1.5, numpy.ones(4))),
}
# Modules that run, compile, print or differentiate programs.
NOT_LOADED = [
    "gradwalk.program.formats.listing",
    "gradwalk.program.formats.c.c_program",
    "gradwalk.program.native.machine_code",
    "gradwalk.program.native.scalar_ir",
    "gradwalk.program.routine.lower_program",
    "gradwalk.program.tracing.trace",
    "gradwalk.batching.batched_trace",
    "gradwalk.graph.graph",
]


@pytest.mark.parametrize("name", [*PROGRAMS, *BATCHES])
def test_programs_load_with_numpy_alone_and_without_the_modules_that_run_them(name, tmp_path):
    function, args = (PROGRAMS | BATCHES)[name]
    function(*args)
    function.program.save(tmp_path / "program.json")
    modules = loaded(
        "import sys; sys.modules.update(dict.fromkeys(['optree', 'llvmlite', 'scipy']));"
        f"from gradwalk import load; load({str(tmp_path / 'program.json')!r})"
    )
    others = OF_BATCH if name in BATCHES else {"batching"}
    assert rooms(modules) == {"base", "ops", "value", "graph", "program"} | others
    assert modules.isdisjoint(NOT_LOADED)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_attributes_of_their_modules(name):
    [home] = [home for home, names in gradwalk._NAMES.items() if name in names]
    module = import_module(f"gradwalk.{name}" if home == "gradwalk" else home)
    assert getattr(gradwalk, name) is (module if home == "gradwalk" else getattr(module, name))
    assert vars(gradwalk)[name] is getattr(gradwalk, name)  # stored in the package for later lookups


def test_names_are_unique_and_not_subpackages():
    # A subpackage that is loaded becomes an attribute of the package and would hide the name.
    assert len(set(NAMES)) == len(NAMES)
    assert ROOMS.intersection(NAMES) == set(gradwalk._NAMES["gradwalk"])


def test_names_are_listed_before_they_are_loaded():
    listed = printed("import gradwalk; print(*dir(gradwalk))").split()
    assert set(listed) >= {*NAMES, "__version__", "__doc__"}
    assert listed == sorted(listed)


def test_star_imports_everything():
    program = "from gradwalk import *; import gradwalk; print(all(globals()[x] is getattr(gradwalk, x) for x in {}))"
    assert printed(program.format(NAMES)) == "True"


def test_stub_has_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [(x.module, x.names[0].name, x.names[0].asname) for x in tree.body if isinstance(x, ast.ImportFrom)]
    assert imports == [(module, name, name) for module, names in gradwalk._NAMES.items() for name in names]


@pytest.mark.parametrize("name", ["transforms", "grda", "__wrapped__"])
def test_unknown_names_raise(name):
    program = f"import gradwalk; print(hasattr(gradwalk, {name!r}), {name!r} in dir(gradwalk))"
    assert printed(program) == "False False"


def test_misspelled_names_get_a_suggestion():
    result = subprocess.run(
        [sys.executable, "-c", "import gradwalk; gradwalk.jakobian"], capture_output=True, text=True, check=False
    )
    assert result.stderr.splitlines()[-1] == (
        "AttributeError: module 'gradwalk' has no attribute 'jakobian'. Did you mean: 'jacobian'?"
    )


def test_misspelled_imports_name_the_package():
    with pytest.raises(ImportError, match="cannot import name 'jakobian' from 'gradwalk'"):
        exec("from gradwalk import jakobian")


THREADS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
names = {names}
barrier = Barrier(len(names))
def use(name):
    barrier.wait()
    import gradwalk
    return getattr(gradwalk, name)
with ThreadPoolExecutor(len(names)) as threads:
    found = list(threads.map(use, names))
import gradwalk
print(all(getattr(gradwalk, name) is it for name, it in zip(names, found)))
"""


@pytest.mark.parametrize(
    "names", [["jit"] * 4, ["numpy", "walk", "optim", "sparse_jacobian", "loops", "vmap", "draw", "nn"]]
)
def test_threads_can_load_names_concurrently(names):
    assert printed(THREADS.format(names=names)) == "True"


@pytest.mark.parametrize("name", ["Value", "Walk", "grad", "jit", "walk"])
def test_pickles_can_be_loaded_in_a_new_process(name):
    pickled = pickle.dumps(getattr(gradwalk, name))
    assert printed(f"import pickle; print(pickle.loads({pickled!r}).__name__)") == name


def test_help_describes_every_name():
    text = printed("import gradwalk, pydoc; print(pydoc.plain(pydoc.render_doc(gradwalk)))")
    assert [name for name in NAMES if name not in text] == []
