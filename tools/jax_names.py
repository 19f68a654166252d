"""Write the tables of docs/coming-from/jax-names.md from tools/website/jax_table.py.

usage: python tools/jax_names.py [--check]

With --check nothing is written, and the exit code is 1 if the page is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from website.jax_table import MODULES, Module
from website.links import DOCS

PAGE = DOCS / "coming-from/jax-names.md"
MARK = "<!-- The tables below are written by tools/jax_names.py. -->\n"


def page(text: str) -> str:
    """Return the text of the page with its tables."""
    before = text.partition(MARK)[0]
    return before + MARK + "".join(f"\n{line}" if line else "\n" for name in MODULES for line in _section(name))


def _section(name: str) -> Iterator[str]:
    """Yield the lines for one module of JAX."""
    yield f"## {name}"
    yield ""
    module = MODULES[name]
    ours = name.replace("jax", "gradwalk", 1)
    yield "| JAX | gradwalk | |"
    yield "|---|---|---|"
    for one, entry in sorted(module.entries.items(), key=lambda item: item[0].lower()):
        yield f"| `{name}.{one}` | `{ours}.{one}` | {entry.but or 'same'} |"
    for one, advice in sorted(module.advice.items()):
        yield f"| `{name}.{one}` | | {advice} |"
    yield from _missing(name, module)
    yield ""


def _missing(name: str, module: Module) -> Iterator[str]:
    for reason, names in module.missing.items():
        listed = ", ".join(f"`{one}`" for one in sorted(names.split()))
        yield f"| {listed} of `{name}` | | {reason} |"


def main() -> int:
    """Write the page, or check it; return the exit code."""
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if new != old and "--check" in sys.argv:
        print("out of date: jax-names.md - run: python tools/jax_names.py", file=sys.stderr)
        return 1
    if new != old:
        PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
