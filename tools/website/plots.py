"""Plots of an operation and its derivative, as SVG in the colors of the surrounding page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

WIDTH, HEIGHT, LEFT, MARGIN = 320, 200, 38, 20
_STEPS = 240

Function = Callable[[float], float]
Curve = tuple[str, Function]


def plot(title: str, low: float, high: float, curves: Iterable[Curve]) -> str:
    """Draw functions of one number.

    Args:
        title: The text for screen readers.
        low: Start of the x axis.
        high: End of the x axis.
        curves: The CSS class and the function of each curve.

    Returns:
        An `svg` element. The y axis covers most of the values, within -5 to 5.
    """
    xs = [low + (high - low) * i / _STEPS for i in range(_STEPS + 1)]
    drawn = [(kind, f, [f(x) for x in xs]) for kind, f in curves]
    bottom, top = _range([y for _, _, ys in drawn for y in ys])

    def at(x: float, y: float) -> str:
        across = LEFT + (x - low) / (high - low) * (WIDTH - LEFT - MARGIN)
        return f"{across:.1f} {MARGIN + (top - y) / (top - bottom) * (HEIGHT - 2 * MARGIN):.1f}"

    parts = [_line("axis", at(low, y), at(high, y)) for y in (0.0,) if bottom <= y <= top]
    parts += [_line("axis", at(x, bottom), at(x, top)) for x in (0.0,) if low <= x <= high]
    parts += [f'<path class="{kind}" d="{_path(f, xs, ys, bottom, top, at)}"/>' for kind, f, ys in drawn]
    parts += _labels(low, high, bottom, top)
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}"'
    return f'<svg class="plot" xmlns="http://www.w3.org/2000/svg" {box}>{"".join(parts)}</svg>'


def _range(ys: list[float]) -> tuple[float, float]:
    finite = sorted(y for y in ys if math.isfinite(y))
    least, most = finite[len(finite) // 50], finite[-1 - len(finite) // 50]
    room = 0.08 * max(most - least, 0.5)
    return max(min(least, 0.0) - room, -5.0), min(max(most, 0.0) + room, 5.0)


def _path(
    f: Function, xs: list[float], ys: list[float], bottom: float, top: float, at: Callable[[float, float], str]
) -> str:
    """Return the path of a curve, with gaps where it leaves the plot or jumps."""
    commands = []
    before: tuple[float, float] | None = None
    for x, y in zip(xs, ys, strict=True):
        point = (x, y) if bottom <= y <= top else None
        if point:
            joins = before is not None and not _jumps(f, before, point, 0.02 * (top - bottom))
            commands.append(f"{'L' if joins else 'M'}{at(x, y)}")
        before = point
    return "".join(commands)


def _jumps(f: Function, left: tuple[float, float], right: tuple[float, float], least: float) -> bool:
    """Return whether the function jumps between two points; bisection tells a jump from a steep slope."""
    for _ in range(40):
        if abs(right[1] - left[1]) < least:
            return False
        middle = (left[0] + right[0]) / 2
        between = middle, f(middle)
        is_left = abs(between[1] - left[1]) > abs(right[1] - between[1])
        left, right = (left, between) if is_left else (between, right)
    return True


def _line(kind: str, start: str, end: str) -> str:
    return f'<path class="{kind}" d="M{start}L{end}"/>'


def _labels(low: float, high: float, bottom: float, top: float) -> list[str]:
    middle = HEIGHT - 5
    return [
        f'<text x="{LEFT}" y="{middle}">{low:g}</text>',
        f'<text x="{WIDTH - MARGIN}" y="{middle}" text-anchor="end">{high:g}</text>',
        f'<text x="{LEFT - 5}" y="{MARGIN + 4}" text-anchor="end">{top:.2g}</text>',
        f'<text x="{LEFT - 5}" y="{HEIGHT - MARGIN}" text-anchor="end">{bottom:.2g}</text>',
    ]
