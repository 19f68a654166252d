"""Tests of IEEE arithmetic in uncompiled runs: it returns a number where Python's math module raises."""

from __future__ import annotations

import math

import pytest

from gradwalk.base import ieee


@pytest.mark.parametrize(
    ("function", "operands", "expected"),
    [
        ("div", (1.0, 0.0), math.inf),
        ("div", (1.0, -0.0), -math.inf),
        ("div", (0.0, 0.0), math.nan),
        ("log", (0.0,), -math.inf),
        ("log", (-1.0,), math.nan),
        ("log1p", (-1.0,), -math.inf),
        ("exp", (1000.0,), math.inf),
        ("sinh", (-1000.0,), -math.inf),
        ("sqrt", (-1.0,), math.nan),
        ("sin", (math.inf,), math.nan),
        ("pow", (0.0, -1.0), math.inf),
        ("pow", (-8.0, 1 / 3), math.nan),
        ("pow", (10.0, 400.0), math.inf),
        ("hypot", (1e308, 1e308), math.sqrt(2) * 1e308),
        ("hypot", (1.7e308, 1.7e308), math.inf),
        ("acos", (2.0,), math.nan),
        ("acosh", (-100_000.0,), math.nan),
        ("sign", (-3.0,), -1.0),
        ("sign", (0.0,), 0.0),
        ("sign", (math.nan,), math.nan),
    ],
)
def test_exceptional_cases(function, operands, expected):
    result = getattr(ieee, function)(*operands)
    assert result == pytest.approx(expected, nan_ok=True)
