"""The moving picture of the README and of the start page: five lines of code, and both passes through their graph.

The picture is one SVG file that CSS animates. Its numbers are computed by gradwalk. Viewers who prefer reduced motion,
and programs that do not play animations, show the last state.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from gradwalk import Value

WIDTH, HEIGHT, SECONDS = 760, 430, 16.0
_BOX, _HIGH = 140, 66
_AT = {"a": (536, 52), "b": (426, 186), "c": (646, 186), "d": (536, 320)}  # centers of the boxes
_EDGES = (("b", "a"), ("c", "a"), ("d", "b"), ("d", "c"))  # results and operands
CODE = ("a = Value(2.0)", "b = a + 1", "c = a * 3", "d = b * c", "d.backward()")

# Beginnings of the steps, in seconds.
_FORWARD = {"a": 0.1, "b": 1.2, "c": 2.3, "d": 3.4}
_SEED, _SWAP, _SCALE, _COPY, _DONE = 4.8, 6.4, 8.6, 10.6, 12.6

_LIGHT = "--paper: #fffdf9; --ink: #22242a; --faint: #5f6069; --line: #a19e98; --box: #f7f4ee; --now: #fdf0c8"
_LIGHT += "; --forward: #0b7a75; --backward: #6a3fc0"  # the colors of the lesson
_DARK = "--paper: #17181c; --ink: #ebe9e4; --faint: #a5a39c; --line: #6a6863; --box: #22242a; --now: #453b18"
_DARK += "; --forward: #4cd3c8; --backward: #bda0ff"
_STYLE = f"""
.hero {{ {_LIGHT}; font-family: "Source Code Pro", ui-monospace, "DejaVu Sans Mono", Menlo, monospace }}
@media (prefers-color-scheme: dark) {{ .hero {{ {_DARK} }} }}
.hero text {{ font-size: 22px; fill: var(--ink) }}
.hero .name {{ font-weight: bold }}
.hero .faint {{ fill: var(--faint) }}
.hero .grad {{ fill: var(--backward); font-weight: bold }}
.hero .small {{ font-size: 19px }}
.hero .said {{ font-size: 20px }}
.hero .box {{ fill: var(--box); stroke: var(--line); stroke-width: 1.5 }}
.hero .edge {{ fill: none; stroke: var(--line); stroke-width: 2 }}
.hero .back {{ fill: none; stroke: var(--backward); stroke-width: 3.5 }}
.hero .pulse {{ fill: none; stroke: var(--forward); stroke-width: 6; stroke-linecap: round; stroke-dasharray: 12 300;
  stroke-dashoffset: 13 }}
.hero .pulse.grad {{ stroke: var(--backward); stroke-width: 8; fill: none }}
.hero .now {{ fill: var(--now) }}
.hero .passing {{ opacity: 0 }}
"""


class _Timeline:
    """The CSS animations of a picture, one for each animated element."""

    def __init__(self) -> None:
        self.rules: list[str] = []

    def _animate(self, frames: str) -> str:
        name = f"hero{len(self.rules)}"
        rule = f"@keyframes {name} {{ {frames} }} .{name} {{ animation: {name} {SECONDS:g}s linear infinite }}"
        self.rules.append(rule)
        return name

    def appear(self, start: float) -> str:
        """Return the class of an element that is visible from a time until the end."""
        return self._animate(f"0%, {_percent(start)} {{ opacity: 0 }} {_percent(start + 0.3)}, 100% {{ opacity: 1 }}")

    def show(self, start: float, end: float) -> str:
        """Return the class of an element that is visible between two times."""
        hidden = f"0%, {_percent(start)}, {_percent(end)}, 100% {{ opacity: 0 }}"
        return self._animate(f"{hidden} {_percent(start + 0.2)}, {_percent(end - 0.2)} {{ opacity: 1 }}")

    def travel(self, start: float, end: float) -> str:
        """Return the class of a dash that moves along a line of length 100 between two times."""
        before, after = "stroke-dashoffset: 13", "stroke-dashoffset: -101"
        return self._animate(f"0%, {_percent(start)} {{ {before} }} {_percent(end)}, 100% {{ {after} }}")

    def style(self) -> str:
        """Return the rules, for viewers who do not prefer reduced motion."""
        return f"@media (prefers-reduced-motion: no-preference) {{ {' '.join(self.rules)} }}"


def _percent(seconds: float) -> str:
    return f"{100 * max(seconds, 0.0) / SECONDS:.2f}%"


def svg(*, moving: bool = True) -> str:
    """Return the picture; the last state only if it is not moving."""
    timeline = _Timeline()
    numbers = _diamond()
    parts = [*_code(timeline), *_edges(timeline), *_boxes(timeline, numbers), *_captions(timeline, numbers)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="hero" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            "<title>d = (a + 1) * 3a: values are computed forward, then gradients backward; a gets 9 + 6 = 15</title>",
            f"<style>{_STYLE}{timeline.style() if moving else ''}</style>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="var(--paper)"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _diamond() -> dict[str, Value]:
    """Compute the numbers of the picture."""
    a = Value(2.0)
    b, c = a + 1, a * 3
    d = b * c
    d.backward()
    return {"a": a, "b": b, "c": c, "d": d}


def _code(timeline: _Timeline) -> Iterator[str]:
    starts = [*_FORWARD.values(), _SEED, _DONE]
    for i, line in enumerate(CODE):
        y = 70 + 46 * i
        shown = timeline.show(starts[i], starts[i + 1])
        yield f'<rect class="now passing {shown}" x="14" y="{y - 27}" width="246" height="40" rx="7"/>'
        yield _text(30, y, line, "start")
    yield _text(30, 70 + 46 * 5, "a.grad", "start", f"grad {timeline.appear(_DONE)}")
    yield _text(119, 70 + 46 * 5, "# 15.0", "start", f"faint {timeline.appear(_DONE)}")


def _edges(timeline: _Timeline) -> Iterator[str]:
    back = {("d", "b"): _SWAP, ("d", "c"): _SWAP, ("c", "a"): _SCALE, ("b", "a"): _COPY}
    for result, operand in _EDGES:
        (x, y), (x2, y2) = _AT[operand], _AT[result]
        top, bottom, middle = y + _HIGH / 2, y2 - _HIGH / 2, (y + y2) / 2
        down = f"M{x} {top:g}C{x} {middle:g} {x2} {middle:g} {x2} {bottom:g}"
        up = f"M{x2} {bottom:g}C{x2} {middle:g} {x} {middle:g} {x} {top:g}"
        start, forward = back[result, operand], _FORWARD[result]
        yield f'<path class="edge" d="{down}"/>'
        yield f'<path class="back {timeline.appear(start + 0.9)}" d="{up}"/>'
        yield f'<path class="pulse {timeline.travel(forward - 0.7, forward + 0.2)}" pathLength="100" d="{down}"/>'
        yield f'<path class="pulse grad {timeline.travel(start, start + 1.1)}" pathLength="100" d="{up}"/>'


def _boxes(timeline: _Timeline, numbers: dict[str, Value]) -> Iterator[str]:
    first = numbers["c"].grad * numbers["c"].partials[0]  # the contribution of c to a
    seen: dict[str, list[tuple[float, float, float | None]]]
    seen = {"d": [(1.0, _SEED, None)], "b": [(numbers["b"].grad, _SWAP + 1.0, None)]}
    seen |= {"c": [(numbers["c"].grad, _SWAP + 1.0, None)]}
    seen |= {"a": [(first, _SCALE + 1.0, _COPY + 1.0), (numbers["a"].grad, _COPY + 1.0, None)]}
    for name, (x, y) in _AT.items():
        yield f'<rect class="box" x="{x - _BOX / 2:g}" y="{y - _HIGH / 2:g}" width="{_BOX}" height="{_HIGH}" rx="9"/>'
        yield _text(x - 56, y - 6, name, "start", "name")
        yield _text(x + 56, y - 6, f"{numbers[name].data:g}", "end", timeline.appear(_FORWARD[name]))
        yield _text(x - 56, y + 21, "grad", "start", "faint small")
        for gradient, start, end in seen[name]:
            classes = timeline.appear(start) if end is None else f"passing {timeline.show(start, end)}"
            yield _text(x + 56, y + 21, f"{gradient:g}", "end", f"grad {classes}")


def _captions(timeline: _Timeline, numbers: dict[str, Value]) -> Iterator[str]:
    b, c = (f"{numbers[name].data:g}" for name in "bc")
    captions = [
        ("Forward: each line computes a number.", 0.0, _SEED),
        ("Backward: begin with 1 at the result d.", _SEED, _SWAP),
        (f"Product: b gets c's value, {c}; c gets b's value, {b}.", _SWAP, _SCALE),
        (f"Times 3: c passes 3 times {numbers['c'].grad:g} to a, which is 9.", _SCALE, _COPY),
        ("Sum: b passes its 6 to a, and 9 + 6 = 15.", _COPY, _DONE),
    ]
    for said, start, end in captions:
        yield _text(WIDTH / 2, 408, said, "middle", f"said passing {timeline.show(start, end)}")
    last = timeline.show(_DONE, SECONDS)
    yield _text(WIDTH / 2, 408, "Nudge a, and d moves 15 times as far: 9 + 6.", "middle", f"said {last}")


def _text(x: float, y: float, text: str, anchor: str, classes: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{classes}">{escape(text)}</text>'
