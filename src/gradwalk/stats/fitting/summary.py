"""The table of a fit as text, in the layout of statsmodels."""

from __future__ import annotations

from collections.abc import Sequence

from gradwalk.stats.fitting.likelihood import Floats

_WIDTH = 11  # of a column of numbers, in characters


def summarize(facts: dict[str, str], names: Sequence[str], columns: Sequence[Floats], level: float) -> str:
    """Return the table.

    Args:
        facts: Texts for the head of the table, which has two columns.
        names: The names of the parameters.
        columns: The estimates, standard errors, z values, p values, and the two ends of the confidence intervals.
        level: The probability of the confidence intervals.
    """
    tail = 0.5 * (1.0 - level)
    titles = ["coef", "std err", "z", "P>|z|", f"[{tail:.4g}", f"{1.0 - tail:.4g}]"]
    first = max(map(len, names))
    rows = ["".join([" " * first, *(f"{title:>{_WIDTH}}" for title in titles)])]
    for name, *numbers in zip(names, *columns, strict=True):
        rows.append("".join([f"{name:<{first}}", *map(_cell, numbers, ["", "", "z", "p", "", ""])]))
    width = len(rows[0])
    head = list(facts.items())
    half = width // 2
    lines = [
        f"{_fact(*left, half - 1)}  {_fact(*right, width - half - 1)}"
        for left, right in zip(head[::2], head[1::2], strict=True)
    ]
    double, single = "=" * width, "-" * width
    title = "Maximum likelihood".center(width).rstrip()
    return "\n".join([title, double, *lines, double, rows[0], single, *rows[1:], double])


def _fact(name: str, value: str, width: int) -> str:
    return f"{name}:{value:>{max(width - len(name) - 1, len(value) + 1)}}"


def _cell(number: float, kind: str) -> str:
    """Return a number as text; `kind` is "z" or "p" for numbers with three digits after the point."""
    if kind:
        return f"{number:{_WIDTH}.3f}"
    return f"{number:{_WIDTH}.4g}" if abs(number) >= 1e4 or 0.0 < abs(number) < 1e-3 else f"{number:{_WIDTH}.4f}"
