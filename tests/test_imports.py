"""`import gradwalk` loads only what every program needs; other names are loaded at first use."""

from __future__ import annotations

import ast
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest
from checkout import PACKAGE

import gradwalk

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
