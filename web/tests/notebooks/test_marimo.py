"""The widget in marimo: a walk is displayed and takes steps."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

NOTEBOOK = """\
import marimo

app = marimo.App()


@app.cell
def _():
    from gradwalk import Value, walk

    a = Value(2.0, label="a")
    b, c = a + 1, a * 3
    d = b * c
    d.label = "d"
    walk(d)
    return
"""


def test_walk_is_displayed(page: Page, serve: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "walk.py").write_text(NOTEBOOK, encoding="utf-8")
    command = (sys.executable, "-m", "marimo", "--quiet", "run", "walk.py", "--headless", "--no-token")
    page.goto(serve(*command, "--host", "127.0.0.1", "--port", "{port}"))
    page.get_by_role("button", name="A step back").click()
    expect(page.get_by_text("Backward: step 3 of 4")).to_be_visible()
