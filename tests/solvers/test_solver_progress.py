"""Solvers show progress bars if asked, and find the same solutions."""

from __future__ import annotations

import sys

import numpy
import pytest
from references import needs

from gradwalk import grad, jit
from gradwalk.solvers import fixed_point, odeint, root

pytest.importorskip("scipy")


def decay(y, t, rate):
    return -rate * y


@needs("tqdm")
@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_odeint_counts_time(method, capsys):
    times = numpy.array([1.0, 2.0, 5.0])
    found = odeint(decay, 2.0, times, 0.5, method=method, progress=True)
    assert "4.00/4.00" in capsys.readouterr().err
    assert (found == odeint(decay, 2.0, times, 0.5, method=method)).all()
    assert (odeint(decay, 2.0, -times, 0.5, method=method, progress=True)[0]) == 2.0
    assert "4.00/4.00" in capsys.readouterr().err
    odeint(decay, 2.0, [0.0, numpy.nan], 0.5, method=method, progress=True)


@needs("tqdm")
def test_odeint_counts_time_of_long_integrations(capsys):
    # More than 4,096 steps: the bar also advances before the end.
    odeint(lambda y, t: 0.0 * y, 1.0, [0.0, 5.0], hmax=1e-3, progress=True)
    assert "5.00/5.00" in capsys.readouterr().err


@needs("tqdm")
@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_gradient_counts_the_forward_and_the_backward_integration(method, capsys):
    slope = jit(grad(lambda rate: odeint(decay, 2.0, [0.0, 1.0, 2.0], rate, method=method, progress=True).sum()))
    assert slope(0.5) == pytest.approx(-2.0 * numpy.exp(-0.5) - 4.0 * numpy.exp(-1.0), rel=1e-6)
    assert "4.00/4.00" in capsys.readouterr().err


@needs("tqdm")
def test_roots_and_fixed_points_count_evaluations(capsys):
    assert root(lambda x: x * x - 2.0, 1.0, progress=True) == pytest.approx(numpy.sqrt(2.0))
    assert " evaluations" in capsys.readouterr().err
    assert fixed_point(lambda x: 0.5 * (x + 2.0 / x), 1.0, progress=True) == pytest.approx(numpy.sqrt(2.0))
    assert " evaluations" in capsys.readouterr().err
    root(lambda x: x * x - 2.0, 1.0)
    assert capsys.readouterr().err == ""


def test_missing_tqdm_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    for solve in (
        lambda: odeint(decay, 2.0, [0.0, 1.0], 0.5, progress=True),
        lambda: root(lambda x: x - 1.0, 0.0, progress=True),
        lambda: fixed_point(lambda x: 0.5 * x, 1.0, progress=True),
    ):
        with pytest.raises(ImportError, match=r"pip install 'gradwalk\[progress\]'"):
            solve()
