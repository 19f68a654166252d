"""Machine code on disk: found again, and never taken from where anybody else could have put it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest
from checkout import PACKAGE

from gradwalk.program import object_cache

ON_WINDOWS = os.name == "nt"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(object_cache, "_parent", lambda: tmp_path)
    return tmp_path / "gradwalk"


def test_what_was_written_is_read(folder):
    key = object_cache.key_of("source", "cpu")
    assert object_cache.read(key) is None
    object_cache.write(key, b"code")
    assert object_cache.read(key) == b"code"
    assert object_cache.read(object_cache.key_of("source", "other")) is None
    assert object_cache.key_of("ab", "c") != object_cache.key_of("a", "bc")
    if not ON_WINDOWS:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o077 for path in folder.iterdir()] == [0]


def test_what_is_not_whole_is_not_taken(folder):
    key = object_cache.key_of("source")
    object_cache.write(key, b"code")
    path = folder / f"{key}.o"
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", b"x" + whole[1:], b""):
        path.write_bytes(damaged)
        assert object_cache.read(key) is None
    path.rename(folder / f"{object_cache.key_of('other')}.o")  # the same code by another name
    (folder / f"{object_cache.key_of('other')}.o").write_bytes(whole)
    assert object_cache.read(object_cache.key_of("other")) is None


@pytest.mark.skipif(ON_WINDOWS, reason="files have no such rights there")
def test_folders_and_files_that_others_can_write_to_are_not_used(folder, tmp_path):
    key = object_cache.key_of("source")
    object_cache.write(key, b"code")
    path = folder / f"{key}.o"
    path.chmod(0o620)
    assert object_cache.read(key) is None
    path.chmod(0o600)
    folder.chmod(0o770)
    assert object_cache.read(key) is None
    object_cache.write(object_cache.key_of("other"), b"code")
    assert len(list(folder.iterdir())) == 1
    folder.chmod(0o700)
    assert object_cache.read(key) == b"code"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert object_cache.read(key) is None


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(object_cache, "_parent", lambda: tmp_path / "file")
    object_cache.write(object_cache.key_of("source"), b"code")
    assert object_cache.read(object_cache.key_of("source")) is None


def test_the_oldest_make_room(folder, monkeypatch):
    monkeypatch.setattr(object_cache, "_MOST_BYTES", 400)
    keys = [object_cache.key_of(str(i)) for i in range(5)]
    for i, key in enumerate(keys):
        object_cache.write(key, b"x" * 100)
        os.utime(folder / f"{key}.o", (i, i)) if (folder / f"{key}.o").exists() else None
    assert [object_cache.read(key) is not None for key in keys] == [False, False, True, True, True]


def test_many_write_at_once(folder):
    key = object_cache.key_of("source")
    threads = [threading.Thread(target=object_cache.write, args=(key, b"code" * 1000)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert object_cache.read(key) == b"code" * 1000
    assert len(list(folder.iterdir())) == 1


PROGRAM = """
import time
import gradwalk
from gradwalk import jit, math, vmap
import numpy

def f(x):
    for _ in range(30):
        x = math.sin(x) + x * 0.5
    return x

print(jit(f, backend="llvm")(0.3), jit(vmap(f), backend="llvm")(numpy.linspace(0.0, 1.0, 200)).sum())
"""


def test_another_process_finds_it(tmp_path):
    pytest.importorskip("llvmlite")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    environment["PYTHONPATH"] = os.pathsep.join([str(PACKAGE.parent), environment.get("PYTHONPATH", "")])
    results, files = [], []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True, timeout=120
        )
        results.append(done.stdout)
        files.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.o")})
    assert results[0] == results[1]
    assert files[0] == files[1]
