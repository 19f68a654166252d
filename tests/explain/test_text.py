"""Tests of the formatting of text and numbers in limited space."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.explain.text import fixed, one_line, short, shortened, width


@given(st.text())
def test_one_line_is_printable(text):
    line = one_line(text)
    assert line.isprintable()
    assert "  " not in line
    assert one_line(line) == line


@given(st.text(), st.integers(3, 40))
def test_shortened_fits_and_keeps_both_ends(text, longest):
    text = one_line(text)
    result = shortened(text, longest)
    assert width(result) <= longest
    if width(text) > longest:
        head, _, tail = result.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail)
    else:
        assert result == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_short_keeps_six_digits(number):
    assert float(short(number)) == pytest.approx(number, rel=5e-6, abs=1e-320)


@given(st.floats(-1e300, 1e300))
def test_fixed_has_at_most_11_characters(number):
    assert len(fixed(number)) <= 11
    assert float(fixed(number)) == pytest.approx(number, rel=1e-3, abs=1e-4)


def test_special_numbers():
    assert [short(x) for x in (math.nan, math.inf, -math.inf, -0.0)] == ["nan", "inf", "-inf", "0"]
    assert [fixed(x) for x in (math.nan, -math.inf, 0.0, 123456.0, 2e-5)] == [
        "nan",
        "-inf",
        "0.0000",
        "1.235e5",
        "2e-5",
    ]
