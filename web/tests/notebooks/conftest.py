"""Fixtures for the notebook tests: a tab, and local notebook servers that end with the test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

PATIENCE = 60  # seconds for a server, kernel or widget to start on a busy machine


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Open a tab that fails on uncaught exceptions."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(1000 * PATIENCE)
    expect.set_options(timeout=1000 * PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    page.close()
    expect.set_options(timeout=10_000)  # as in the other tests of the page
    # The widget makes no requests. The notebook does, and reports errors when its server or the network is gone.
    assert [error for error in errors if error != "Failed to fetch"] == []


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Return `serve(command...)`, which starts a server with its own home and returns its address."""
    started: list[subprocess.Popen[bytes]] = []
    log = tmp_path / "server.log"

    def start(*command: str) -> str:
        port = str(free_port())
        with log.open("wb") as output:
            server = subprocess.Popen(
                [part.replace("{port}", port) for part in command],
                cwd=tmp_path,
                env=environment(tmp_path),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(server)
        address = f"http://127.0.0.1:{port}"
        wait_for(address, server, log)
        return address

    yield start
    for server in started:
        stop(server)


def environment(home: Path) -> dict[str, str]:
    """Copy the environment, with the directories of Jupyter and marimo in another home."""
    paths = [str(Path(path).resolve()) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "XDG_", "IPYTHON"))}
    return {**kept, "HOME": str(home), "PYTHONPATH": os.pathsep.join(paths)}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until the address answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            opener.open(address, timeout=5).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the server did not come up:\n{log.read_text(encoding='utf-8', errors='replace')}")


def stop(server: subprocess.Popen[bytes]) -> None:
    """Stop the server and the kernels that it started."""
    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
