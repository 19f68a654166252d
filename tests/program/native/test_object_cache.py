"""Cache of machine code on disk. Files that another user could have written are never read."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from checkout import PACKAGE

from gradwalk.program.native import object_cache

ON_WINDOWS = os.name == "nt"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(object_cache, "_parent", lambda: tmp_path)
    return tmp_path / "gradwalk"


def test_written_code_is_read(folder):
    key = object_cache.key_of("source", "cpu")
    assert object_cache.read(key) is None
    object_cache.write(key, b"code")
    assert object_cache.read(key) == b"code"
    assert object_cache.read(object_cache.key_of("source", "other")) is None
    assert object_cache.key_of("ab", "c") != object_cache.key_of("a", "bc")
    if not ON_WINDOWS:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o077 for path in folder.iterdir()] == [0]


def test_damaged_files_are_not_read(folder):
    key = object_cache.key_of("source")
    object_cache.write(key, b"code")
    path = folder / f"{key}.o"
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"x", b"x" + whole[1:], b""):
        path.write_bytes(damaged)
        assert object_cache.read(key) is None
    path.rename(folder / f"{object_cache.key_of('other')}.o")  # the same code under another key
    (folder / f"{object_cache.key_of('other')}.o").write_bytes(whole)
    assert object_cache.read(object_cache.key_of("other")) is None


@pytest.mark.skipif(ON_WINDOWS, reason="Windows has no such file permissions")
def test_files_writable_by_other_users_are_ignored(folder, tmp_path):
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


def test_nothing_is_stored_without_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(object_cache, "_parent", lambda: tmp_path / "file")
    object_cache.write(object_cache.key_of("source"), b"code")
    assert object_cache.read(object_cache.key_of("source")) is None


def test_the_oldest_files_are_evicted(folder, monkeypatch):
    monkeypatch.setattr(object_cache, "_MOST_BYTES", 400)
    keys = [object_cache.key_of(str(i)) for i in range(5)]
    for i, key in enumerate(keys):
        object_cache.write(key, b"x" * 100)
        os.utime(folder / f"{key}.o", (i, i)) if (folder / f"{key}.o").exists() else None
    assert [object_cache.read(key) is not None for key in keys] == [False, False, True, True, True]


def test_concurrent_writes(folder):
    key = object_cache.key_of("source")
    threads = [threading.Thread(target=object_cache.write, args=(key, b"code" * 1000)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert object_cache.read(key) == b"code" * 1000
    assert len(list(folder.iterdir())) == 1


def test_a_failed_write_leaves_no_files(folder, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    object_cache.write(object_cache.key_of("first"), b"code")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        object_cache.write(object_cache.key_of("second"), b"code")
    blocked = object_cache.key_of("third")
    (folder / f"{blocked}.o").mkdir()
    object_cache.write(blocked, b"code")
    assert object_cache.read(blocked) is None
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted([f"{object_cache.key_of('first')}.o", f"{blocked}.o"])


def test_errors_in_signal_handlers_propagate(folder, monkeypatch):
    def interrupt(*_):
        raise TimeoutError("of a handler")

    key = object_cache.key_of("source")
    object_cache.write(key, b"code")
    monkeypatch.setattr(object_cache, "_opened", interrupt)
    with pytest.raises(TimeoutError):
        object_cache.read(key)
    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(TimeoutError):
        object_cache.write(key, b"code")
    assert [path.name for path in folder.iterdir()] == [f"{key}.o"]


def test_unfinished_files_count_and_stale_files_are_removed(folder, monkeypatch):
    monkeypatch.setattr(object_cache, "_MOST_BYTES", 400)
    object_cache.write(object_cache.key_of("0"), b"x" * 100)
    now = time.time()
    for name, age in (("tmpkilled", 7200), ("tmpgoes_on", 60)):
        (folder / name).write_bytes(b"x" * 200)
        os.utime(folder / name, (now - age, now - age))
    os.utime(folder / f"{object_cache.key_of('0')}.o", (now - 120, now - 120))
    (folder / "folder.o").mkdir()
    object_cache.write(object_cache.key_of("1"), b"x" * 100)
    names = {path.name for path in folder.iterdir()}
    assert names == {"tmpgoes_on", "folder.o", f"{object_cache.key_of('1')}.o"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_links_and_pipes_are_not_read(folder, tmp_path):
    key = object_cache.key_of("source")
    path = folder / f"{key}.o"
    object_cache.write(key, b"code")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert object_cache.read(key) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert object_cache.read(key) is None  # and does not block
    object_cache.write(key, b"code")
    assert object_cache.read(key) == b"code"
    path.unlink()
    path.symlink_to("/dev/zero")
    assert object_cache.read(key) is None


def test_too_large_files_are_not_read(monkeypatch):
    key = object_cache.key_of("source")
    object_cache.write(key, b"code" * 100)
    monkeypatch.setattr(object_cache, "_MOST_BYTES", 300)
    assert object_cache.read(key) is None


class TestParent:
    @pytest.fixture(autouse=True)
    def home(self, tmp_path, monkeypatch):
        monkeypatch.undo()  # undo the fixture `folder`
        for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(Path, "home", lambda: tmp_path)
        return tmp_path

    def test_relative_cache_paths_are_ignored(self, home, tmp_path, monkeypatch):
        if sys.platform == "darwin":
            pytest.skip("macOS has a fixed folder for caches")
        default = object_cache._parent()
        assert default.is_relative_to(home)
        name = "LOCALAPPDATA" if ON_WINDOWS else "XDG_CACHE_HOME"
        for relative in ("cache", "./cache", "~/cache", ""):
            monkeypatch.setenv(name, relative)
            assert object_cache._parent() == default
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
        assert object_cache._parent() == tmp_path / "elsewhere"

    @pytest.mark.parametrize("home_folder", [Path("relative"), None])
    def test_nothing_is_stored_without_a_home(self, home_folder, monkeypatch):
        def home() -> Path:
            if home_folder is None:
                raise RuntimeError("Could not determine home directory.")
            return home_folder

        monkeypatch.setattr(Path, "home", home)
        assert object_cache._folder() is None
        object_cache.write("key", b"code")
        assert object_cache.read("key") is None


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


def test_another_process_finds_the_code(tmp_path):
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
