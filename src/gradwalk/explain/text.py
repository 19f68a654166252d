"""Formats text and numbers for limited space: puts text on one line, measures its width, and shortens it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence

_BLOCKS = "▁▂▃▄▅▆▇█"
_LONGEST_SPARKLINE = 40


def is_name(text: str) -> bool:
    """Return whether a text is a name in expressions.

    `a·b` is an identifier in Python, but a product in expressions.

    Example:
        >>> is_name("a_b"), is_name("a·b")
        (True, False)
    """
    return text.isidentifier() and not {"\u00b7", "\u0387"}.intersection(text)


def one_line(text: str) -> str:
    r"""Replace whitespace and nonprintable characters, such as line ends and direction marks, by single spaces.

    Example:
        >>> one_line("two\nlines")
        'two lines'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def width(text: str) -> int:
    """Count the terminal columns of a line: 2 for wide East Asian characters, 0 for combining characters."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, longest: int) -> str:
    """Replace the middle of a text by "…" if the text is wider than `longest` columns.

    Example:
        >>> shortened("layers.0.neurons.12.w.3", 12)
        'layers…2.w.3'
    """
    if width(text) <= longest:
        return text
    head, tail, end = 0, 0, len(text)
    while width(text[: head + 1] + text[end - tail :]) < longest:
        head += 1
        if width(text[:head] + text[end - tail - 1 :]) < longest:
            tail += 1
    return f"{text[:head]}…{text[end - tail :]}"


def short(number: float) -> str:
    """Format a number with at most six significant digits and without trailing zeros.

    Example:
        >>> short(-1.0), short(0.49999999999999983), short(1e-12)
        ('-1', '0.5', '1e-12')
    """
    return _brief(f"{number + 0.0:.6g}")  # + 0.0 turns -0.0 into 0.0


def sparkline(numbers: Sequence[float]) -> str:
    """Draw numbers as a row of block characters.

    If there are more than 40 numbers, only 40 of them, at equal distances in the sequence, are drawn. Numbers that are
    not finite are drawn as "x".

    Example:
        >>> sparkline([8.0, 4.0, 2.0, 1.0])
        '█▄▂▁'
    """
    count = min(len(numbers), _LONGEST_SPARKLINE)
    shown = [numbers[i * (len(numbers) - 1) // max(count - 1, 1)] for i in range(count)]
    finite = [number for number in shown if math.isfinite(number)]
    low, high = min(finite, default=0.0), max(finite, default=0.0)
    return "".join(_block(number, low, high) for number in shown)


def _block(number: float, low: float, high: float) -> str:
    if not math.isfinite(number):
        return "x"
    height = (number / 2 - low / 2) / (high / 2 - low / 2) if high > low else 0.5  # dividing by 2 prevents overflow
    return _BLOCKS[round(height * (len(_BLOCKS) - 1))]


def fixed(number: float) -> str:
    """Format a number with four decimals, or with four significant digits if it is very small or large.

    Example:
        >>> fixed(2.0), fixed(-1e-5)
        ('2.0000', '-1e-5')
    """
    if number == 0.0 or 1e-3 <= abs(number) < 1e5:
        return f"{number:.4f}"
    return _brief(f"{number:.4g}")


def _brief(number: str) -> str:
    """Remove the leading zero of a one-digit exponent."""
    return number.replace("e-0", "e-").replace("e+0", "e")


def plural(count: int, unit: str) -> str:
    """Return a count and its unit, which is given in the plural."""
    return f"{count:,} {unit[:-1] if count == 1 and unit.endswith('s') else unit}"
