"""Machine code on disk, so that a program which was compiled once need not be again: by what it was compiled from.

The folder belongs to the user alone. What stands in it is run, so nothing is read from a folder or a file that anybody
else could have written to, and a file has to be whole: it begins with the digest of the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

# Bytes of all files together. Beyond that, those that were written first are removed.
_MOST_BYTES = 64 << 20
_SUFFIX = ".o"
_DIGEST = hashlib.sha256().digest_size


def key_of(*parts: str) -> str:
    """Return the name of what is made of some texts.

    Args:
        *parts: The texts.

    Returns:
        A hexadecimal number.
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """Return what was written by this name.

    Args:
        key: The name.

    Returns:
        The machine code; None where there is none, or it cannot be trusted.
    """
    folder = _folder()
    if folder is None:
        return None
    try:
        with (folder / f"{key}{_SUFFIX}").open("rb") as file:
            if not _is_private(os.fstat(file.fileno())):
                return None
            digest, code = file.read(_DIGEST), file.read()
    except OSError:
        return None
    return code if hashlib.sha256(key.encode() + code).digest() == digest else None


def write(key: str, code: bytes) -> None:
    """Keep machine code, if that is possible.

    Args:
        key: Its name.
        code: The machine code.
    """
    folder = _folder()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        # Whole files alone get the name, whoever else writes at the same time; others may only read what is private.
        handle, path = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(key.encode() + code).digest() + code)
        Path(path).replace(folder / f"{key}{_SUFFIX}")
        _make_room(folder)


def _folder() -> Path | None:
    """The folder, which is made if it is not there; None where there can be none that is private."""
    try:
        folder = _parent() / "gradwalk"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_private(folder.lstat()) else None
    except (OSError, RuntimeError):  # a home that is not known
        return None


def _parent() -> Path:
    """Where this system keeps what programs may compute again."""
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _is_private(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's own, and nobody else may write to it."""
    if stat.S_ISLNK(status.st_mode):
        return False
    if os.name == "nt":  # the folder of a user's local data has no others
        return True
    return status.st_uid == os.getuid() and not status.st_mode & 0o077


def _make_room(folder: Path) -> None:
    """Remove the oldest files, while all of them together take too much."""
    files = sorted([(path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob(f"*{_SUFFIX}")])
    total = sum(size for _, size, _ in files)
    for _, size, path in files:
        if total <= _MOST_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size
