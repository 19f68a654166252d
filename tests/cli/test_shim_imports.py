"""`gradwalk run` gives a program the same path, arguments and module names as Python, and gradwalk as micrograd."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from checkout import PACKAGE

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
WORLD = """
names = {name: value for name, value in globals().items() if name.startswith("__")}
import sys
for name, value in sorted(names.items()):
    print(name, type(value).__name__, value if type(value).__name__ in ("str", "dict", "NoneType") else "")
print(__loader__.name, __loader__.path, __spec__ and (__spec__.name, __spec__.origin))
print(sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
"""
# The folder micrograd must not shadow the shims, although the script's folder comes first in sys.path.
FOLDER = {
    "real/show.py": WORLD,
    "real/neighbor.py": "",
    "package/__init__.py": "",
    "package/__main__.py": WORLD,
    "package/module.py": WORLD,
    "micrograd/__init__.py": "raise ImportError('the wrong micrograd')",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FOLDER.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def output(folder: Path, *command: str) -> str:
    result = subprocess.run(
        [sys.executable, *command], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


SCRIPTS = [
    ["real/show.py"],
    ["./real/show.py"],
    ["real/../real/show.py"],
    ["real/show.py", "-m", "--steps", "3"],
    ["links/show.py"],
    ["links/twice.py"],
    ["linked/show.py"],
    ["ABSOLUTE/show.py"],
]
MODULES = [  # not found with -P, which removes the folder from sys.path
    ["-m", "package", "x", "-m", "3"],
    ["-m", "package.module"],
    ["-m", "package.__main__"],
]


@pytest.mark.parametrize(
    ("given", "safely"), [(given, []) for given in SCRIPTS + MODULES] + [(given, ["-P"]) for given in SCRIPTS]
)
def test_program_environment_is_the_same_as_in_python(folder: Path, given: list[str], safely: list[str]) -> None:
    if "link" in given[0]:
        if sys.platform == "win32":
            pytest.skip("links need privileges on Windows")
        (folder / "links").mkdir()
        (folder / "links/show.py").symlink_to("../real/show.py")
        (folder / "links/twice.py").symlink_to("show.py")
        (folder / "linked").symlink_to("real")
    given = [part.replace("ABSOLUTE", str(folder / "real")) for part in given]
    expected = output(folder, *safely, *given)
    assert output(folder, *safely, "-m", "gradwalk", "run", *given) == expected


def test_walk_gives_a_script_the_same_environment(folder: Path) -> None:
    program = WORLD + "from micrograd.engine import Value\nValue(1.0).backward()\n"
    (folder / "script.py").write_text(WORLD, encoding="utf-8")
    expected = output(folder, "script.py", "x=1")
    (folder / "script.py").write_text(program, encoding="utf-8")
    assert output(folder, "-m", "gradwalk", "walk", "script.py", "x=1").startswith(expected)


CHILDREN = """
import multiprocessing, os, sys
from concurrent.futures import ProcessPoolExecutor
from micrograd.engine import Value

def world(_):
    with open(os.path.join(sys.path[0], {neighbor!r})):
        return Value.__module__, sys.path[0], os.path.basename(__file__), sys.argv[1:]

def in_child(method):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        return pool.submit(world, 1).result()

class Child(multiprocessing.get_context("spawn").Process):
    def run(self):
        assert in_child("spawn") == world(1)  # a grandchild
        print("grandchild", flush=True)

if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        assert in_child(method) == world(1), method
    child = Child()
    child.start()
    child.join()
    print(world(1))
"""


@pytest.mark.parametrize(
    ("given", "first", "neighbor"),
    [
        (["real/show.py", "x"], "real", "neighbor.py"),
        (["-m", "package.module", "x"], "", "real/neighbor.py"),
    ],
)
def test_child_processes_have_the_same_shims_and_path(
    folder: Path, given: list[str], first: str, neighbor: str
) -> None:
    # A folder `micrograd` next to the script does not shadow the shims.
    (folder / first / "micrograd").mkdir(exist_ok=True)
    (folder / first / "micrograd" / "__init__.py").write_text(FOLDER["micrograd/__init__.py"], encoding="utf-8")
    for name in ("real/show.py", "package/module.py"):
        (folder / name).write_text(CHILDREN.format(neighbor=neighbor), encoding="utf-8")
    expected = ("gradwalk.value.value", str((folder / first).resolve()), Path(given[-2]).name, ["x"])
    if given[0] == "-m":
        expected = (*expected[:2], "module.py", ["x"])
    assert output(folder, "-m", "gradwalk", "run", *given) == f"grandchild\n{expected}\n"


def test_child_processes_do_not_rerun_the_main_module(folder: Path) -> None:
    (folder / "package/work.py").write_text("from micrograd.engine import Value\ndef f(x): return Value.__module__\n")
    (folder / "package/__main__.py").write_text(
        "import multiprocessing\nfrom . import work\nprint('main', flush=True)\n"
        "with multiprocessing.get_context('spawn').Pool(1) as pool:\n    print(pool.map(work.f, [1]))\n"
    )
    assert output(folder, "-m", "gradwalk", "run", "-m", "package") == "main\n['gradwalk.value.value']\n"


def test_threads_find_the_main_module_after_it_ends(folder: Path) -> None:
    program = """
        import sys, threading
        def later():
            threading.main_thread().join()
            print(sys.modules["__main__"].__dict__ is globals())
        threading.Thread(target=later).start()
        """
    (folder / "package/module.py").write_text(textwrap.dedent(program), encoding="utf-8")
    assert output(folder, "-m", "gradwalk", "run", "-m", "package.module") == "True\n"
    assert output(folder, "-m", "gradwalk", "run", "package/module.py") == "True\n"


def test_as_micrograd_keeps_the_path(folder: Path) -> None:
    program = (
        "import sys; before = sys.path[0]; import gradwalk; gradwalk.as_micrograd(); gradwalk.as_micrograd();"
        "from micrograd.engine import Value; print(Value is gradwalk.Value, sys.path[0] == before)"
    )
    assert output(folder, "-c", program) == "True True\n"


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("no_such_module", "gradwalk: there is no module 'no_such_module' to run\n"),
        ("package.missing", "gradwalk: there is no module 'package.missing' to run\n"),
        ("package.module.missing", "gradwalk: there is no module 'package.module.missing' to run\n"),
        ("json", "gradwalk: the package 'json' has no module __main__ to run\n"),
        ("sys", "gradwalk: the module 'sys' has no Python code to run\n"),
    ],
)
def test_modules_that_cannot_run(folder: Path, module: str, said: str) -> None:
    command = [sys.executable, "-m", "gradwalk", "run", "-m", module]
    result = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (2, said)


@pytest.mark.parametrize("text", ["import no_such_module_at_all", "x = ("])
def test_errors_in_a_package_show_its_own_traceback(folder: Path, text: str) -> None:
    (folder / "package/__init__.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "gradwalk", "run", "-m", "package.module"]
    result = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("Traceback")
    assert "gradwalk" not in result.stderr.replace(str(folder), "")
