"""Downloads of a script are replaced by local files if they exist. Nothing listens at the URL used here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import PACKAGE

URL = "http://127.0.0.1:9/data/names.txt"
RETRIEVE = f"""
import os
if not os.path.exists("input.txt"):
    import urllib.request
    urllib.request.urlretrieve("{URL}", "input.txt")
print(open("input.txt").read().split())
"""
OPEN = f"""
from urllib.request import Request, urlopen
with urlopen(Request("{URL}")) as response:
    print(response.status, response.read().decode().split())
"""
GET = f"""
import requests
response = requests.get("{URL}", timeout=1)
response.raise_for_status()
print(response.text.split())
"""
# A stub of requests, which need not be installed.
REQUESTS = """
class Response:
    status_code = None
    text = property(lambda self: self._content.decode(self.encoding))
    def raise_for_status(self): assert self.status_code == 200

def get(url, timeout):
    raise ConnectionError("no route")
"""


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Create the current folder and the folder of the script."""
    current, beside = tmp_path / "current", tmp_path / "beside"
    current.mkdir()
    beside.mkdir()
    return current, beside


def run(folders: tuple[Path, Path], program: str) -> subprocess.CompletedProcess[str]:
    current, beside = folders
    script = beside / "script.py"
    script.write_text(program, encoding="utf-8")
    (beside / "requests.py").write_text(REQUESTS, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), str(beside)])}
    command = [sys.executable, "-m", "gradwalk", "run", str(script)]
    return subprocess.run(command, cwd=current, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["input.txt", "names.txt"])
@pytest.mark.parametrize("place", [0, 1])
def test_urlretrieve_uses_a_local_file(folders, place, name):
    (folders[place] / name).write_text("emma\nolivia\n")
    result = run(folders, RETRIEVE)
    assert result.stdout == "['emma', 'olivia']\n", result.stderr
    assert (folders[0] / "input.txt").read_text() == "emma\nolivia\n"  # as after a download
    found = Path(name) if place == 0 else folders[1] / name
    said = f"gradwalk: using {found} instead of downloading {URL}\n"
    assert result.stderr == ("" if (place, name) == (0, "input.txt") else said)


@pytest.mark.parametrize(
    ("program", "printed"), [(OPEN, "200 ['ava']\n"), (GET, "['ava']\n")], ids=["urlopen", "requests"]
)
def test_urlopen_and_requests_use_a_local_file(folders, program, printed):
    (folders[1] / "names.txt").write_text("ava\n")
    result = run(folders, program)
    assert result.stdout == printed, result.stderr
    assert result.stderr == f"gradwalk: using {folders[1] / 'names.txt'} instead of downloading {URL}\n"


@pytest.mark.parametrize(
    ("program", "names"),
    [(RETRIEVE, "input.txt or names.txt"), (OPEN, "names.txt"), (GET, "names.txt")],
    ids=["urlretrieve", "urlopen", "requests"],
)
def test_error_without_file_and_network(folders, program, names):
    result = run(folders, program)
    assert result.returncode == 1
    assert result.stderr.startswith(f"gradwalk: the script failed to download {URL} (")
    assert result.stderr.endswith(
        f". To run without the download, put the file {names} into {folders[0]} or {folders[1]}, "
        "for example a text file with one name per line\n"
    )
    assert result.stderr.count("\n") == 1


def test_script_can_handle_the_error(folders):
    program = f"import urllib.request\ntry:\n    urllib.request.urlopen('{URL}')\nexcept OSError:\n    print('none')\n"
    result = run(folders, program)
    assert result.stdout == "none\n"
    assert result.stderr == ""


def test_post_requests_are_not_replaced(folders):
    (folders[0] / "names.txt").write_text("ava\n")
    result = run(folders, OPEN.replace(f'Request("{URL}")', f'"{URL}", b"data"'))
    assert result.returncode == 1
    assert "instead of downloading" not in result.stderr
