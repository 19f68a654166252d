"""Tests of the progress bar."""

from __future__ import annotations

import contextlib
import sys

import numpy
import pytest
from references import needs

from gradwalk import jit, stream, vmap
from gradwalk.batching.progress import bar


@needs("tqdm")
def test_bar_counts_to_the_total(capsys):
    with bar(40, "samples") as advance:
        advance(10)
        advance(30)
    shown = capsys.readouterr().err
    assert "100%" in shown
    assert "40.0/40.0" in shown


@needs("tqdm")
def test_bar_without_a_total_counts_samples(capsys):
    with bar(None, "samples") as advance:
        advance(1500)
    assert "1.50k samples" in capsys.readouterr().err


@needs("tqdm")
def test_bar_is_closed_after_an_error(capsys):
    with contextlib.suppress(OSError), bar(2, "samples") as advance:
        advance(1)
        raise OSError
    assert capsys.readouterr().err.endswith("\n")


def test_missing_tqdm_raises_with_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"pip install 'gradwalk\[progress\]'"):
        stream(jit(vmap(lambda x: x, reduce="sum")), numpy.ones(3), rows=2, progress=True)
    assert stream(jit(vmap(lambda x: x, reduce="sum")), numpy.ones(3), rows=2) == 3.0


@needs("tqdm")
def test_sums_of_rounded_amounts_do_not_exceed_the_total(capsys):
    with bar(0.3, "of t") as advance:
        for _ in range(3):
            advance(0.1)  # their sum is greater than 0.3
    assert "0.30/0.30" in capsys.readouterr().err
