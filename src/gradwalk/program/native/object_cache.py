"""Cache of machine code on disk, so that a program is compiled only once.

The code in the files is executed, so the folder and its files must be private to the user. Each file begins with a
digest that detects damaged files.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# Maximum total size of the files in bytes. The oldest files are removed first.
_MOST_BYTES = 64 << 20
_SUFFIX = ".o"
_DIGEST = hashlib.sha256().digest_size
# Prefix of files that are being written. If such a file is older than _MOST_SECONDS, the process that wrote it was
# probably killed.
_UNFINISHED = "tmp"
_MOST_SECONDS = 3600.0


def key_of(*parts: str) -> str:
    """Return the cache key for some texts: a hexadecimal digest."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """Return the machine code with this key; None if it is not in the cache, or its file is damaged or not private."""
    folder = _folder()
    if folder is None:
        return None
    with _errors_ignored(), open(folder / f"{key}{_SUFFIX}", "rb", opener=_opened) as file:
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and _is_private(status) and status.st_size <= _MOST_BYTES:
            digest, code = file.read(_DIGEST), file.read()
            return code if hashlib.sha256(key.encode() + code).digest() == digest else None
    return None


def write(key: str, code: bytes) -> None:
    """Store machine code under a key. Errors of the operating system are ignored."""
    folder = _folder()
    if folder is None:
        return
    with _errors_ignored():
        # The file is renamed when it is complete, so that no other process reads a part of it.
        unfinished = folder / f"{_UNFINISHED}{os.urandom(8).hex()}"
        try:
            with open(unfinished, "xb", opener=_made) as file:
                file.write(hashlib.sha256(key.encode() + code).digest() + code)
            unfinished.replace(folder / f"{key}{_SUFFIX}")
        finally:
            unfinished.unlink(missing_ok=True)
    with _errors_ignored():
        _make_room(folder)


@contextlib.contextmanager
def _errors_ignored() -> Iterator[None]:
    """Ignore `OSError`s of the operating system, which have an errno.

    A `TimeoutError` that a signal handler raised has no errno and is not ignored.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise


def _opened(path: str, flags: int) -> int:
    """Open a file without following symbolic links, and without blocking if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _made(path: str, flags: int) -> int:
    """Create a file that only the user can read and write."""
    return os.open(path, flags, 0o600)


def _folder() -> Path | None:
    """Return the folder of the cache; create it if necessary. Return None if this fails or it is not private."""
    try:
        folder = _parent() / "gradwalk"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder.lstat()) else None
    except OSError as error:
        if error.errno is None:
            raise
        return None
    except RuntimeError:  # the home folder is unknown
        return None


def _parent() -> Path:
    """Return the folder for the user's caches. Relative paths in environment variables are ignored."""
    name = {"nt": "LOCALAPPDATA", "posix": "XDG_CACHE_HOME"}.get(os.name, "")
    given = os.environ.get(name, "")
    if sys.platform != "darwin" and Path(given).is_absolute():
        return Path(given)
    below = "AppData/Local" if os.name == "nt" else "Library/Caches" if sys.platform == "darwin" else ".cache"
    home = Path.home()
    if not home.is_absolute():
        raise RuntimeError(f"the home folder must be absolute, got {home}")
    return home / below


def _is_private(status: os.stat_result) -> bool:
    """Return whether a file or folder belongs to the user and other users can neither read nor write it."""
    if stat.S_ISLNK(status.st_mode):
        return False
    if os.name == "nt":  # other users cannot write to LOCALAPPDATA
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


def _make_room(folder: Path) -> None:
    """Remove files of killed processes, and the oldest files while the total size is above the limit."""
    files = []
    for path in folder.iterdir():
        with _errors_ignored():  # another process may have removed the file
            status = path.lstat()
            is_unfinished = path.name.startswith(_UNFINISHED)
            if not stat.S_ISREG(status.st_mode) or not (is_unfinished or path.suffix == _SUFFIX):
                continue
            if is_unfinished and status.st_mtime < time.time() - _MOST_SECONDS:
                path.unlink()
            else:
                files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= _MOST_BYTES:
            return
        with _errors_ignored():
            path.unlink(missing_ok=True)
            total -= size
