"""Files that a script downloads, taken from where they are already.

Small models come as one script that fetches its text when it is first run: `urllib.request.urlretrieve(url, name)`.
Where a file of that name, or of the URL's own, lies in the current folder or beside the script, it stands in for the
download, and that is said. Otherwise the script's call goes on as it is. Nothing here opens a connection.
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

_CURE = "_gradwalk_cure"  # the attribute of an error that says how to do without the network


def look_beside(script: str, source: bytes) -> None:
    """Make the downloads of a script look for a local file first, from now on.

    Args:
        script: The path of the script.
        source: Its text. What it does not mention is left alone, and not imported.
    """
    local = _Local(Path(script).parent)
    if b"urlretrieve" in source or b"urlopen" in source:
        urllib: Any = importlib.import_module("urllib.request")
        urllib.urlretrieve = local.retrieving(urllib.urlretrieve)
        urllib.urlopen = local.opening(urllib.urlopen)
    if b"requests" in source and importlib.util.find_spec("requests") is not None:
        requests: Any = importlib.import_module("requests")
        requests.get = local.getting(requests.get, requests.Response)


def cure(error: BaseException) -> str:
    """Return what to do about an error of a download.

    Args:
        error: The error.

    Returns:
        What was looked for, where, and what to do; empty for an error of anything else.
    """
    return getattr(error, _CURE, "")


class _Local:
    """The files that can stand in for a download.

    Args:
        folder: Where the script is.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def retrieving(self, download: Callable[..., Any]) -> Callable[..., Any]:
        """What does for `urlretrieve`: a copy of the local file under the name that was asked for."""

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
        """What does for `urlopen`: the local file, opened."""

        @wraps(download)
        def urlopen(url: Any, data: Any = None, *arguments: Any, **options: Any) -> Any:
            is_download = data is None and getattr(url, "data", None) is None
            found = self._found(url) if is_download else None
            if found is None:
                return self._done(url, [], download, url, data, *arguments, **options)
            return addinfourl(found.open("rb"), Message(), _address(url), 200)

        return urlopen

    def getting(self, download: Callable[..., Any], response: Callable[[], Any]) -> Callable[..., Any]:
        """What does for `requests.get`: a response with the contents of the local file."""

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
        """The local file, which is said to stand in; None if there is none."""
        for name in _names(url, names):
            for folder in (Path(), self._folder):
                if (folder / name).is_file():
                    say(f"{folder / name} stands in for the download of {_address(url)}")
                    return folder / name
        return None

    def _done(
        self, url: Any, names: Iterable[str], download: Callable[..., Any], *arguments: Any, **options: Any
    ) -> Any:
        """What the script's own download gives; where it fails, the error says how to do without."""
        try:
            return download(*arguments, **options)
        except (FileNotFoundError, PermissionError):
            raise  # of the file to write
        except OSError as error:
            wanted = _names(url, names)
            folders = dict.fromkeys(str(folder.resolve()) for folder in (Path(), self._folder))
            advice = (
                f"the script downloads {_address(url)}, which failed ({error}). No file {' or '.join(wanted)} is in "
                f"{' or '.join(folders)}: put one there, such as a text with one name a line, and it stands in"
            )
            setattr(error, _CURE, advice)
            raise


def _address(url: Any) -> str:
    """The address in a string or a `urllib.request.Request`."""
    return str(getattr(url, "full_url", url))


def _names(url: Any, names: Iterable[str]) -> list[str]:
    """The names that a local file may have: those that were asked for, and the URL's own."""
    own = PurePosixPath(unquote(urlsplit(_address(url)).path)).name
    return list(dict.fromkeys([*names, *([own] if own else [])]))
