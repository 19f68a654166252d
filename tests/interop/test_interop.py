"""The names of `gradwalk.interop` are loaded at first use; a missing library raises with its pip command."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradwalk import interop

LIBRARIES = {
    "MLPClassifier": "sklearn",
    "MLPRegressor": "sklearn",
    "to_casadi": "casadi",
    "to_jax": "jax",
    "to_pytensor": "pytensor",
    "to_torch": "torch",
}


def output(program: str) -> str:
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_import_loads_no_library():
    loaded = set(output("from gradwalk import interop; import sys; print(*sys.modules)").split())
    assert loaded.isdisjoint(["scipy", *LIBRARIES.values()])


def test_all_names_are_listed():
    assert set(dir(interop)) >= {*LIBRARIES, "IpoptProblem"}


@pytest.mark.parametrize("name", LIBRARIES)
def test_error_for_a_missing_library_names_the_extra(name, monkeypatch):
    module, extra = interop._HOMES[name]
    monkeypatch.delitem(sys.modules, f"gradwalk.interop.{module}", raising=False)
    monkeypatch.delitem(vars(interop), name, raising=False)
    library = LIBRARIES[name]
    for loaded in [each for each in sys.modules if each.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{name} needs {library}.*: pip install 'gradwalk\[{extra}\]'"):
        getattr(interop, name)


def test_unknown_names_raise():
    with pytest.raises(AttributeError, match="has no attribute 'to_jay'"):
        interop.to_jay  # noqa: B018
