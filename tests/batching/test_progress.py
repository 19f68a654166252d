"""A bar of progress."""

from __future__ import annotations

import contextlib
import sys

import numpy
import pytest
from references import needs

from gradwalk import jit, stream, vmap
from gradwalk.batching.progress import bar


@needs("tqdm")
def test_a_bar_counts(capsys):
    with bar(40, "samples") as advance:
        advance(10)
        advance(30)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "40.0/40.0" in shown


@needs("tqdm")
def test_without_a_total_it_counts_all_the_same(capsys):
    with bar(None, "samples") as advance:
        advance(1500)
    assert "1.50k samples" in capsys.readouterr().err


@needs("tqdm")
def test_it_is_closed_where_something_fails(capsys):
    with contextlib.suppress(OSError), bar(2, "samples") as advance:
        advance(1)
        raise OSError
    assert capsys.readouterr().err.endswith("\n")


def test_without_tqdm_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"pip install 'gradwalk\[progress\]'"):
        stream(jit(vmap(lambda x: x, reduce="sum")), numpy.ones(3), rows=2, progress=True)
    assert stream(jit(vmap(lambda x: x, reduce="sum")), numpy.ones(3), rows=2) == 3.0
