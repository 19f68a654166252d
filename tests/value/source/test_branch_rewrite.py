"""Tests of the rewritten branches that error messages suggest: they must give the same results."""

from __future__ import annotations

import linecache
import textwrap

import pytest

from gradwalk import RecordingError, jit, loops, math
from gradwalk.value.source.branch_rewrite import rewritten

POINTS = [-3.0, -1.5, 0.0, 0.4, 1.0, 2.5, 7.0]

# For each case: the code before the branch, the branch, and the code after it (empty if the branch ends in `return`).
REWRITTEN = {
    "a conditional expression": ("", "y = x if x > 0 else 2 * x", "return y"),
    "several conditional expressions": (
        "",
        "y = (x if not x < 1 else -x) + (1.0 if x > 2 or x < 0 else 2.0)",
        "return y",
    ),
    "nested conditional expressions": ("", "return x if x > 1 else (0.5 if x > 0 else -x)", ""),
    "an in-place operator": ("y = x", "y += 1.0 if x > 1 else x", "return y"),
    "results": ("", "if x > 0:\n    return x * x\nelse:\n    return 1 - x", ""),
    "a result, and code after it": ("y = x + 1", "if x > 0 and y < 3:\n    return x\nreturn y", ""),
    "results of several conditions": (
        "",
        "if x > 2:\n    return 3.0\nelif -1 < x < 1:\n    return x\nreturn x * x",
        "",
    ),
    "conditions in a row": ("", "if x > 2:\n    return 3.0\nif x > 1:\n    return x\nreturn x * x", ""),
    "a variable": ("y = 1.0", "if x > 0:\n    y = x * 2", "return y"),
    "an in-place operator of a variable": ("y = 1.0", "if x > 0:\n    y += x\nelse:\n    y -= x", "return y"),
    "several variables": (
        "",
        "if 0 < x < 5:\n    t = x * 2\n    y = t + 1\n    z = 2.0\nelse:\n    y = -x\n    z = y * y",
        "return y + z",
    ),
    "variables that the branch reads": (
        "y = x\nz = 1.0",
        "if x > 0:\n    y = y + 1\n    z = y * z\nelse:\n    z = z - y",
        "return y * z",
    ),
    "a variable read in the next iteration": (
        "y, last = 1.0, 0.5\nfor _ in range(3):\n    y = y * last",
        "    if y > x:\n        y = y - x\n        last = y",
        "return y",
    ),
    "a loop of one variable": ("", "while x > 1:\n    x /= 2", "return x"),
    "a loop with a temporary variable": ("", "while x > 1:\n    half = x / 2\n    x = half - 0.25", "return x"),
    "a loop of several variables": (
        "r = x * x + 1\ndx = 1.0",
        "while abs(dx) > 1e-09:\n    new = (r + (x * x + 1) / r) / 2\n    dx = new - r\n    r = new",
        "return r + dx",
    ),
    "a loop with two conditions": ("y = x", "while x > 1 or y > 3:\n    x, y = (x / 2, y - 1)", "return x + y"),
}

NOT = {
    "break": "while x > 1:\n    x = x / 2\n    if x < 0.1:\n        break\nreturn x",
    "append": "while x > 1:\n    x = x / 2\n    found.append(x)\nreturn x",
    "an element": "if x > 1:\n    found[0] = x\nreturn x",
    "raise": "if x > 1:\n    raise ValueError\nreturn x",
    "assert": "assert x > 1\nreturn x",
    "a comprehension": "return sum(y for y in (x, 2 * x) if y > 1)",
    "else of while": "while x > 1:\n    x = x / 2\nelse:\n    x = 0.0\nreturn x",
    "too long": "if x > 0:\n" + "".join(f"    y{i} = x * {i}\n" for i in range(20)) + "else:\n    y0 = x\nreturn x",
}


def make(name: str, *lines: str):
    """Compile a function of x with these lines as its source."""
    body = "\n".join(part for part in lines if part)
    source = f"def f(x, found=[]):\n{textwrap.indent(body, '    ')}\n"
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"loops": loops, "math": math}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["f"]


def suggestion(f) -> list[str]:
    """Return the lines that the error message suggests, without indentation."""
    with pytest.raises(RecordingError) as caught:
        jit(f, branches="refuse")(2.0)
    lines = str(caught.value).splitlines()
    if "Write, after" not in lines[2]:
        return []
    return [line.removeprefix("    ") for line in lines[3:-1]]


@pytest.mark.parametrize("name", REWRITTEN)
def test_suggested_code_gives_the_same_results(name):
    before, branch, behind = REWRITTEN[name]
    f = make(name, before, branch, behind)
    indent = branch[: len(branch) - len(branch.lstrip())]
    again = make(f"{name} again", before, textwrap.indent("\n".join(suggestion(f)), indent), behind)
    recorded = jit(again)
    for x in POINTS:
        assert again(x) == pytest.approx(f(x), rel=1e-12)
        assert recorded(x) == pytest.approx(f(x), rel=1e-12)


@pytest.mark.parametrize("name", NOT)
def test_no_suggestion_if_the_code_cannot_be_rewritten(name):
    assert suggestion(make(name, NOT[name])) == []


def test_invalid_source_gives_no_suggestion():
    assert rewritten([], (1, 1, 0, 5)) == ""
    assert rewritten(["x = ("], (1, 1, 0, 5)) == ""
    assert rewritten(["y = x if x > 0 else 1"], (None, None, None, None)) == ""
    assert rewritten(["y = x > 0"], (1, 1, 4, 9)) == ""
