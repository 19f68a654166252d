"""`gradwalk.about()` reports versions, compiler, instruction sets and packages of the installation."""

from __future__ import annotations

import dataclasses
import platform
import re
import sys
import tomllib
from importlib.metadata import version

import pytest
from checkout import IS_COMPILED, ROOT
from wasm import IS_WASM

import gradwalk
from gradwalk.backend import about as module
from gradwalk.backend import lane_kernel


def test_versions_match_the_running_modules():
    found = gradwalk.about()
    assert found.version == gradwalk.__version__
    assert found.python.endswith(platform.python_version())
    assert found.packages["numpy"] == version("numpy")
    assert found.has_gil == getattr(sys, "_is_gil_enabled", lambda: True)()
    assert found.instruction_sets == lane_kernel.INSTRUCTION_SETS


def test_compiler_and_vector_library_are_reported():
    found = gradwalk.about()
    assert bool(re.fullmatch(r"(GCC|Clang|MSVC) \d.*", found.compiler)) == IS_COMPILED
    assert found.vectors in (("libmvec", "gradwalk", "none") if IS_COMPILED else ("none",))
    # On Pyodide, platform.libc_ver() finds the name glibc in the executable, without a version.
    assert bool(found.glibc) == (IS_COMPILED and not IS_WASM and platform.libc_ver()[0] == "glibc")
    if found.glibc:
        assert found.glibc == platform.libc_ver()[1]
    assert (found.vectors == "libmvec") == lane_kernel.USES_LIBMVEC


@pytest.mark.parametrize(("suffix", "is_reported"), [("linux-musl", True), ("linux-gnu", False)])
def test_musl_is_reported(monkeypatch, suffix, is_reported):
    monkeypatch.setattr("sysconfig.get_config_var", {"EXT_SUFFIX": f".cpython-311-x86_64-{suffix}.so"}.get)
    assert gradwalk.about().platform.endswith(", musl") == is_reported


def test_current_settings_are_reported(monkeypatch):
    monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", "baseline")
    with gradwalk.threads(3):
        found = gradwalk.about()
    assert (found.instruction_set, found.threads) == ("baseline", 3)
    monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", "sse9")
    with pytest.raises(ValueError, match=r"must be baseline.* on this machine, got sse9"):
        gradwalk.about()


def test_packages_are_dependencies_and_extras_for_users():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for_others = {"benchmarks", "browser", "dev", "docs", "examples", "interop", "lint", "test", "test-core"}
    named = {
        match[0]
        for extra in extras.keys() - for_others
        for package in extras[extra]
        if (match := re.match(r"[\w-]+", package)) and match[0] != "gradwalk"
    }
    assert set(module.PACKAGES) == named | {"numpy", "optree"}


@pytest.mark.parametrize("vectors", ["libmvec", "gradwalk", "none"])
def test_the_text_has_a_line_per_field(vectors):
    found = dataclasses.replace(
        gradwalk.about(), vectors=vectors, packages={"numpy": "2.4", "scipy": None}, has_gil=False
    )
    lines = dict(line.split(maxsplit=1) for line in str(found).splitlines())
    assert lines["gradwalk"].startswith(f"{gradwalk.__version__}, {'compiled by' if IS_COMPILED else 'plain Python'}")
    assert lines["python"].endswith("without the GIL")
    assert {"libmvec": "by libmvec", "gradwalk": "by gradwalk", "none": "one number at a time"}[vectors] in lines[
        "functions"
    ]
    assert (lines["packages"], lines["missing"]) == ("numpy 2.4", "scipy")


def test_a_missing_package_has_no_version(monkeypatch):
    monkeypatch.setattr(module, "PACKAGES", ("numpy", "no-such-package"))
    assert gradwalk.about().packages == {"numpy": version("numpy"), "no-such-package": None}
