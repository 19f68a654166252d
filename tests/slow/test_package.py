"""The sdist and the wheels build, install and contain the expected files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from checkout import ROOT
from stale import outdated

MODULES = sorted(str(path.relative_to(ROOT / "src/gradwalk")) for path in (ROOT / "src/gradwalk").rglob("*.py"))
OTHERS = (
    "explain/page/microgpt.js",
    "explain/page/microgpt.json",
    "explain/page/page.js",
    "__init__.pyi",
    "py.typed",
)
COMPILED = (
    "adopting/switches",
    "ops/compiled/evaluate",
    "value/node",
    "value/convert",
    "value/modes",
    "value/sweep/order",
    "value/sweep/backward",
    "value/variadic",
    "value/sweep/refresh",
    "value/apply",
    "value/methods",
    "value/pickling",
    "value/value",
    "functions/extended",
    "functions/reductions",
    "nn",
    "graph/record",
    "graph/reevaluate",
    "trees/module_treedef",
    "trees/fast/form",
    "trees/fast/module_form",
    "program/instructions/instruction_store",
    "program/instructions/simplify",
    "program/autodiff/derivative_templates",
    "program/autodiff/finiteness",
    "program/autodiff/cotangents",
    "program/autodiff/differentiate",
    "program/instructions/expansions",
    "program/instructions/load",
    "program/instructions/copied",
    "program/instructions/lower",
    "program/tape",
    "program/run/rows/row_chains",
    "program/run/rows/row_plan",
    "program/run/instruction_loop",
    "program/run/interpreter",
    "program/code/checkpoint_plan",
    "program/run/loop_runner",
    "program/reroll/sequence_ids",
    "program/reroll/find_loops",
    "program/run/c_abi",
    "program/program",
    "program/run/fast_call",
    "backend/schedule/analysis",
    "backend/schedule/orders",
    "backend/schedule/allocation",
    "backend/columns",
    "backend/launch",
    "backend/lane_kernel",
    "batching/prepared_batch",
    "transforms/sparse/sparsity_pattern",
    "transforms/sparse/coloring",
    "solvers/ode/dormand_prince",
)


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def build(source: Path, out: Path, *kinds: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(
        sys.executable, "-m", "build", "--no-isolation", *kinds, "--outdir", str(out), ".", cwd=source, **environment
    )


@pytest.fixture(scope="module")
def sdist(tmp_path_factory) -> Path:
    """Build the sdist from a clean copy of the tree and unpack it."""
    folder = tmp_path_factory.mktemp("sdist")
    ignored = shutil.ignore_patterns(
        ".git", ".venv*", "build", "*.so", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis", "node_modules"
    )
    shutil.copytree(ROOT, folder / "tree", ignore=ignored)
    (folder / "tree/web/node_modules").mkdir()
    (folder / "tree/web/node_modules/library.js").write_text("", encoding="utf-8")
    result = build(folder / "tree", folder, "--sdist")
    assert result.returncode == 0, result.stderr + result.stdout
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
        archive.extractall(folder)
    return next(folder.glob("gradwalk-*/"))


def test_sdist_contains_files_to_build_and_test(sdist):
    for name in (
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "setup.py",
        "src/gradwalk/value/value.pxd",
        "tests/test_tiny.py",
        "tools/generate.py",
        "examples/names.txt",
        "benchmarks/README.md",
        ".ci/run",
        "web/package-lock.json",
        "web/src/types.js",
    ):
        assert (sdist / name).is_file(), name
    strays = (".c", ".so", ".pyc")
    assert not [path for path in sdist.rglob("*") if path.suffix in strays or path.name == "node_modules"]


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    result = build(sdist, folder, "--wheel", GRADWALK_OPTIMIZE="0")
    assert result.returncode == 0, result.stderr + result.stdout
    return next(folder.glob("*.whl"))


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_wheel_contains_only_the_package(wheel):
    names = contents(wheel)
    libraries = {name for name in names if name.endswith((".so", ".pyd"))}
    assert {name.removeprefix("gradwalk/").split(".")[0] for name in libraries} == set(COMPILED)
    assert names - libraries == {f"gradwalk/{name}" for name in (*MODULES, *OTHERS)}


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF files")
def test_compiled_modules_are_stripped(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            assert not name.endswith(".so") or b".symtab" not in archive.read(name), name


def works(wheel: Path, folder: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    program = (
        "import sys; sys.modules['cython'] = sys.modules['Cython'] = None;"  # makes both imports fail
        "import gradwalk.value.value as e; a = e.Value(3.0); (a * a).backward();"
        "print('uncompiled' if e.__file__.endswith('.py') else 'compiled', a.grad)"
    )
    result = run(sys.executable, "-c", program, cwd=folder, PYTHONPATH=str(folder))
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_wheel_works(wheel, tmp_path):
    assert works(wheel, tmp_path) == "compiled 6.0"
    assert outdated(tmp_path / "gradwalk", ROOT) == ""


def test_pure_wheel_with_gradwalk_pure(sdist, tmp_path):
    shutil.copytree(sdist, tmp_path / "tree", ignore=shutil.ignore_patterns("build"))
    result = build(tmp_path / "tree", tmp_path, "--wheel", GRADWALK_PURE="1")
    assert result.returncode == 0, result.stderr + result.stdout
    wheel = next(tmp_path.glob("*.whl"))
    assert wheel.name.endswith("-py3-none-any.whl")
    assert contents(wheel) == {f"gradwalk/{name}" for name in (*MODULES, *OTHERS)}
    assert works(wheel, tmp_path / "installed") == "uncompiled 6.0"


def failed_build(sdist: Path, folder: Path, **environment: str) -> str:
    """Return the output of a build that fails."""
    shutil.copytree(sdist, folder / "tree", ignore=shutil.ignore_patterns("build"))
    result = build(folder / "tree", folder, "--wheel", **environment)
    assert result.returncode != 0
    assert not list(folder.glob("*.whl"))
    return result.stdout + result.stderr


@pytest.mark.parametrize(
    ("compiler", "problem"),
    [
        ("/nonexistent", "no C compiler was found: there is no command '/nonexistent'"),
        ("false", "the C compiler 'false' does not work: exit code 1, without a message"),
        ("cc -include nothing.h", "the C compiler 'cc' does not work: "),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="setuptools searches for Visual Studio")
def test_compiler_that_does_not_work_is_explained(sdist, tmp_path, compiler, problem):
    text = failed_build(sdist, tmp_path, CC=compiler)
    assert f"gradwalk has modules in C, but {problem}" in text
    assert all(word in text for word in ("apt install gcc", "xcode-select", "Visual Studio", "GRADWALK_PURE"))
    assert "File" not in text.partition("gradwalk has modules in C")[2]  # there is no traceback
    assert "gradwalk: compiled" not in text


def test_module_that_cannot_be_compiled_is_named(sdist, tmp_path):
    text = failed_build(sdist, tmp_path, GRADWALK_OPTIMIZE="0 -no-such-option")
    assert re.search(r"gradwalk\.[\w.]+ cannot be compiled: .* There are three ways to continue", text)


def test_import_loads_only_numpy():
    # Loading all names, except the functions of trees, imports only NumPy and the standard library.
    packages = "{name.partition('.')[0] for name in set(sys.modules) - before}"  # *.pth files import packages, too
    program = (
        "import sys; before = set(sys.modules); import gradwalk;"
        " [getattr(gradwalk, name) for name in gradwalk.__all__ if name not in ('tree', 'tree_util')];"
        f" print(*{packages} - set(sys.stdlib_module_names))"
    )
    result = run(sys.executable, "-c", program, cwd=ROOT)
    third_party = {name for name in result.stdout.split() if not name.startswith(("_", "cython"))}
    assert third_party <= {"gradwalk", "numpy"}, result.stderr
