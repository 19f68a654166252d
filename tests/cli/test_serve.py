"""Files that `gradwalk lesson --with-pyodide` writes; web/tests/pyodide runs them in a browser."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gradwalk
from gradwalk.cli import serve
from gradwalk.cli.main import main
from gradwalk.explain.page.page import page, served_page

NUMPY = "numpy-2.2.6-cp313-cp313-pyodide_2025_0_wasm32.whl"
PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


@pytest.fixture
def distribution(tmp_path: Path) -> Path:
    """Create a folder with the file names of a Pyodide release and additional packages."""
    folder = tmp_path / "release"
    folder.mkdir()
    for name in (*PYODIDE, NUMPY, "numpy-tests.tar", "scipy-1.14.1-cp313-cp313-pyodide_2025_0_wasm32.whl"):
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def test_page_and_its_files(distribution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    site = tmp_path / "site"
    site.mkdir()
    assert main(["lesson", "--with-pyodide", str(distribution), str(site / "index.html")]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{site / 'index.html'}\n"
    assert f"python -m http.server -d {site}" in printed.err
    ours = f"gradwalk-{gradwalk.__version__}.zip"
    assert {path.name for path in (site / "pyodide").iterdir()} == {*PYODIDE, NUMPY, ours}
    assert (site / "pyodide" / NUMPY).read_text(encoding="utf-8") == NUMPY
    assert f'<main data-gradwalk data-python="{NUMPY} {ours}">' in (site / "index.html").read_text(encoding="utf-8")


def test_archive_contains_uncompiled_gradwalk(distribution: Path, tmp_path: Path):
    [_, ours] = serve.put_python(distribution, tmp_path / "pyodide")
    archive = tmp_path / "pyodide" / ours
    with zipfile.ZipFile(archive) as packed:
        assert not [name for name in packed.namelist() if name.endswith((".so", ".pyd", ".c", ".pyc"))]
    program = (
        f"import sys; sys.path.insert(0, {str(archive)!r})\n"
        "from gradwalk.cli.cell import answer\nimport gradwalk\n"
        "print(gradwalk.__file__, answer('from gradwalk import Value\\nValue(2.0) * 3.0')[:12])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert run.stdout.split(maxsplit=1) == [f"{archive}/gradwalk/__init__.py", '{"document":\n']


def test_archive_is_reproducible(distribution: Path, tmp_path: Path):
    archives = []
    for folder in ("one", "two"):
        [_, ours] = serve.put_python(distribution, tmp_path / folder)
        archives.append((tmp_path / folder / ours).read_bytes())
    assert archives[0] == archives[1]


@pytest.mark.parametrize("missing", PYODIDE)
def test_folder_without_pyodide_is_rejected(missing: str, distribution: Path, capsys: pytest.CaptureFixture[str]):
    (distribution / missing).unlink()
    assert main(["lesson", "--with-pyodide", str(distribution)]) == 2
    assert (
        f"{distribution} must be the folder of a Pyodide release, but the file {missing} is missing in it"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(("wheels", "told"), [((), "got 0"), ((NUMPY, NUMPY.replace("2.2.6", "2.3.0")), "got 2")])
def test_exactly_one_numpy_wheel_is_required(
    wheels: tuple[str, ...], told: str, distribution: Path, capsys: pytest.CaptureFixture[str]
):
    (distribution / NUMPY).unlink()
    for name in wheels:
        (distribution / name).touch()
    assert main(["lesson", "--with-pyodide", str(distribution)]) == 2
    assert f"{distribution} must have one NumPy wheel, {told}" in capsys.readouterr().err


def test_microgpt_does_not_work_with_pyodide(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(["lesson", "--microgpt", "--with-pyodide", "."])
    assert "--with-pyodide cannot be combined with --microgpt" in capsys.readouterr().err


def test_only_the_served_page_can_load_files():
    def policy(text: str) -> dict[str, str]:
        [found] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
        return dict(part.strip().split(" ", 1) for part in found.split(";"))

    alone, beside = policy(page()), policy(served_page([NUMPY, "gradwalk.zip"]))
    assert beside.pop("connect-src") == "'self'"
    assert beside["script-src"] == f"{alone['script-src']} 'self' 'wasm-unsafe-eval'"
    assert beside | {"script-src": alone["script-src"]} == alone
    assert "data-python" not in page().partition("<script")[0]
