"""Replaces a script's downloads by local files that already exist.

Small models often consist of one script that downloads its text on the first run: `urllib.request.urlretrieve(url,
name)`. If the current folder or the script's folder has a file with the name `name` or with the file name in the URL,
the script gets that file instead of the download, and a message says so. Otherwise the script downloads the file
itself. This module never opens a connection.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
from collections.abc import Callable, Iterable
from email.message import Message
from functools import wraps
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.response import addinfourl

from gradwalk.cli.notice import say

_CURE = "_gradwalk_cure"  # attribute of an exception: advice on how to avoid the download


def look_beside(script: str, source: bytes) -> None:
    """Patch the download functions that a script's source mentions, so that they look for a local file first."""
    local = _Local(Path(script).parent)
    if b"urlretrieve" in source or b"urlopen" in source:
        urllib: Any = importlib.import_module("urllib.request")
        urllib.urlretrieve = local.retrieving(urllib.urlretrieve)
        urllib.urlopen = local.opening(urllib.urlopen)
    if b"requests" in source and importlib.util.find_spec("requests") is not None:
        requests: Any = importlib.import_module("requests")
        requests.get = local.getting(requests.get, requests.Response)


def cure(error: BaseException) -> str:
    """Return advice for the exception of a failed download, or an empty string for any other exception."""
    return getattr(error, _CURE, "")


class _Local:
    """Replacements for download functions. They first look for a file in the current folder and the script's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def retrieving(self, download: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `urlretrieve` so that it copies the local file to the requested name."""

        @wraps(download)
        def urlretrieve(url: Any, filename: Any = None, *arguments: Any, **options: Any) -> Any:
            wanted = None if filename is None else Path(filename)
            found = self._found(url, [wanted.name] if wanted else [])
            if found is None:
                return self._done(url, [wanted.name] if wanted else [], download, url, filename, *arguments, **options)
            if wanted is None:
                return str(found), Message()
            if not wanted.exists() or not wanted.samefile(found):
                shutil.copyfile(found, wanted)
            return str(filename), Message()

        return urlretrieve

    def opening(self, download: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap `urlopen` so that it opens the local file."""

        @wraps(download)
        def urlopen(url: Any, data: Any = None, *arguments: Any, **options: Any) -> Any:
            is_download = data is None and getattr(url, "data", None) is None
            found = self._found(url) if is_download else None
            if found is None:
                return self._done(url, [], download, url, data, *arguments, **options)
            return addinfourl(found.open("rb"), Message(), _address(url), 200)

        return urlopen

    def getting(self, download: Callable[..., Any], response: Callable[[], Any]) -> Callable[..., Any]:
        """Wrap `requests.get` so that it returns a response with the contents of the local file."""

        @wraps(download)
        def get(url: Any, *arguments: Any, **options: Any) -> Any:
            found = self._found(url)
            if found is None:
                return self._done(url, [], download, url, *arguments, **options)
            answer = response()
            answer.status_code, answer.url, answer.encoding = 200, _address(url), "utf-8"
            answer._content = found.read_bytes()
            return answer

        return get

    def _found(self, url: Any, names: Iterable[str] = ()) -> Path | None:
        """Find a local file for a URL, and print a message that it is used; return None if there is no such file."""
        for name in _names(url, names):
            for folder in (Path(), self._folder):
                if (folder / name).is_file():
                    say(f"using {folder / name} instead of downloading {_address(url)}")
                    return folder / name
        return None

    def _done(
        self, url: Any, names: Iterable[str], download: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        """Run the script's own download; if it fails, attach advice to the exception."""
        try:
            return download(*arguments, **options)
        except (FileNotFoundError, PermissionError):
            raise  # the error is about the file to write, not about the download
        except OSError as error:
            wanted = _names(url, names)
            folders = dict.fromkeys(str(folder.resolve()) for folder in (Path(), self._folder))
            advice = (
                f"the script failed to download {_address(url)} ({error}). To run without the download, put the file "
                f"{' or '.join(wanted)} into {' or '.join(folders)}, for example a text file with one name per line"
            )
            setattr(error, _CURE, advice)
            raise


def _address(url: Any) -> str:
    """Return the address of a download, given as a string or a `urllib.request.Request`."""
    return str(getattr(url, "full_url", url))


def _names(url: Any, names: Iterable[str]) -> list[str]:
    """Return the names that a local file may have: the requested names and the name in the URL."""
    own = PurePosixPath(unquote(urlsplit(_address(url)).path)).name
    return list(dict.fromkeys([*names, *([own] if own else [])]))
