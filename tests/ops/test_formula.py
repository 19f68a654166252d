"""Tests of formulas: built by operators, printed as code and as text."""

from __future__ import annotations

import math

import pytest

from gradwalk.ops.formula import Functions, as_formula, equal, functions, is_choice_of_numbers, name, number, where
from gradwalk.ops.printing.printers import c, javascript, python, text
from gradwalk.ops.table import BY_NAME, TABLE

x, y, out = name("x"), name("y"), name("out")
f = Functions()


@pytest.mark.parametrize(
    ("formula", "as_code", "as_text"),
    [
        (x + y * 2, "x + y * 2.0", "x + y · 2"),
        ((x + y) * 2, "(x + y) * 2.0", "(x + y) · 2"),
        (x - (y - 1), "x - (y - 1.0)", "x - (y - 1)"),
        (x - y - 1, "x - y - 1.0", "x - y - 1"),
        (1 / (1 + x * x), "ieee.div(1.0, 1.0 + x * x)", "1 / (1 + x²)"),
        (x / (y / 2), "ieee.div(x, ieee.div(y, 2.0))", "x / (y / 2)"),
        (-(x + 1), "-(x + 1.0)", "-(x + 1)"),
        (-x * y, "-x * y", "-x · y"),
        (2 - x, "2.0 - x", "2 - x"),
        (number(-1) * x, "-1.0 * x", "-1 · x"),
        (1 - out * out, "1.0 - out * out", "1 - out²"),
        (f.exp(-x), "ieee.exp(-x)", "exp(-x)"),
        (f.pow(x, y - 1), "ieee.pow(x, y - 1.0)", "pow(x, y - 1)"),
        (where(x < 0, 0, x), "0.0 if x < 0.0 else x", "0 if x < 0, else x"),
        (where(x, y, 1), "y if x != 0.0 else 1.0", "y if x, else 1"),
        (where(x > 0, x, 0) + 1, "(x if x > 0.0 else 0.0) + 1.0", "(x if x > 0, else 0) + 1"),
        (
            where(equal(x, 0) & (y >= 0), 0, where(x <= y, 1, 2)),
            "0.0 if x == 0.0 and y >= 0.0 else (1.0 if x <= y else 2.0)",
            "0 if x = 0 and y >= 0, else 1 if x <= y, else 2",
        ),
    ],
)
def test_printers(formula, as_code, as_text):
    assert python(formula) == as_code
    assert text(formula) == as_text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (x + y * 2, "x + y * 2"),
        ((x + y) * 0.5, "(x + y) * 0.5"),
        (x - (y - 1), "x - (y - 1)"),
        (1 / (1 + x * x), "1 / (1 + x * x)"),
        (x / (y / 2), "x / (y / 2)"),
        (x / y / 2, "x / y / 2"),
        (-as_formula(-x), "-(-x)"),  # --x is the decrement operator
        (-number(-1), "-(-1)"),
        (x - number(-1), "x - -1"),
        (-x * y, "-x * y"),
        (number(math.pi), "3.141592653589793"),
        (f.pow(x, y - 1), "ieee.pow(x, y - 1)"),
        (where(x < 0, 0, x), "x < 0 ? 0 : x"),
        (where(x, y, 1), "x !== 0 ? y : 1"),  # nan counts as nonzero
        (where(x - y, y, 1), "x - y !== 0 ? y : 1"),
        (where(x > 0, x, 0) + 1, "(x > 0 ? x : 0) + 1"),
        (
            where(equal(x, 0) & (y >= 0), 0, where(x <= y, 1, 2)),
            "x === 0 && y >= 0 ? 0 : (x <= y ? 1 : 2)",
        ),
    ],
)
def test_javascript(formula, expected):
    assert javascript(formula) == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ((x + y) * 0.1, "(x + y) * 0.1"),
        (x - (y - 1), "x - (y - 1.0)"),
        (x / (y / 2), "x / (y / 2.0)"),
        (-as_formula(-x), "-(-x)"),
        (-number(-1), "-(-1.0)"),
        (-(x + 1), "-(x + 1.0)"),
        (f.exp(-f.fabs(x)), "exp(-fabs(x))"),
        (f.pow(x, f.sign(y)), "power(x, sign(y))"),
        (where(x, y, 1), "x != 0.0 ? y : 1.0"),
        (where(x > 0, x, 0) + 1, "(x > 0.0 ? x : 0.0) + 1.0"),
        (
            where(equal(x, 0) & (y >= 0), 0, where(x <= y, 1, 2)),
            "x == 0.0 && y >= 0.0 ? 0.0 : (x <= y ? 1.0 : 2.0)",
        ),
    ],
)
def test_c(formula, expected):
    assert c(formula) == expected


def test_functions_are_listed_once():
    assert functions(where(x < 0, f.exp(-f.fabs(x)), f.pow(f.exp(y), 2) / 3)) == ("exp", "fabs", "pow")
    assert functions(-(x + y) * number(2)) == ()


def test_choice_of_numbers():
    assert is_choice_of_numbers(where(x > 0, 1, where(x < y, 0, 0.5)))
    assert not is_choice_of_numbers(where(x > 0, x, 0))
    assert [row.name for row in TABLE if row.selects] == ["relu", "maximum", "minimum", "where", "fmax", "fmin"]


def test_arity_of_rows():
    assert [BY_NAME[row].arity for row in ("exp", "add", "where")] == [1, 2, 3]
    assert all(len(row.partials) == len(row.domain) for row in TABLE)
    assert as_formula(2) == number(2.0)


def test_names_are_unique():
    assert len(BY_NAME) == len(TABLE)
