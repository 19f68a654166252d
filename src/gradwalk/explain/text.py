"""Text for places where only so much of it fits: on one line, measured, shortened."""

from __future__ import annotations

import unicodedata


def one_line(text: str) -> str:
    r"""Text with what does not print, such as line ends and marks that turn its direction, as spaces.

    >>> one_line("two\nlines")
    'two lines'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def width(text: str) -> int:
    """How many columns text takes: East Asian characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def shortened(text: str, longest: int) -> str:
    """Text of at most that many columns, its middle left out where it is longer.

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
    """A number as a person would say it: six digits at most, and none that say nothing.

    >>> short(-1.0), short(0.49999999999999983), short(1e-12)
    ('-1', '0.5', '1e-12')
    """
    return _brief(f"{number + 0.0:.6g}")  # + 0.0 makes -0.0 plain


def fixed(number: float) -> str:
    """A number as in a drawing: four digits after the point, or four digits in all where it is small or large.

    >>> fixed(2.0), fixed(-1e-5)
    ('2.0000', '-1e-5')
    """
    if number == 0.0 or 1e-3 <= abs(number) < 1e5:
        return f"{number:.4f}"
    return _brief(f"{number:.4g}")


def _brief(number: str) -> str:
    return number.replace("e-0", "e-").replace("e+0", "e")
