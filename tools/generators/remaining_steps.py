"""List the steps that a new operation still needs by hand: references for the tests, and translations for the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gradwalk.ops.formula import is_choice_of_numbers
from gradwalk.ops.table import TABLE

# A file, the name of the block in it that has an entry for each operation, and a description of the entry.
PLACES = (
    ("tests/helpers/references.py", "_in_mpmath", "the function in mpmath"),
    ("tests/helpers/references.py", "_in_torch", "the function in PyTorch"),
    ("tests/helpers/references.py", "_in_jax", "the function in JAX"),
    ("tests/helpers/derivatives.py", "_first", "its first derivatives in mpmath"),
    ("tests/helpers/derivatives.py", "_second", "its second derivative in mpmath, for a curved function of one number"),
    ("web/src/languages/de.js", "OPERATIONS", "its description in German; the page shows the English one until then"),
    ("web/src/languages/fr.js", "OPERATIONS", "its description in French; the page shows the English one until then"),
)


def remaining_steps(root: Path) -> Iterator[str]:
    """Yield a line for each missing entry, then the steps that every new operation needs."""
    new = {}
    for file, block, entry in PLACES:
        known = set(re.findall(r"\w+", _block(root / file, block)))
        for row in TABLE:
            is_curved = row.arity == 1 and not is_choice_of_numbers(row.partial(0))
            if row.name not in known and (is_curved or block != "_second"):
                new[row.name] = True
                yield f"{row.name} in {block} of {file}: {entry}"
    for name in new:
        yield f"{name} in PARTLY_DEFINED of tests/helpers/programs.py, unless it is defined and smooth for all numbers"
    if new:
        yield "python tools/dev.py build; cd web && npm ci && npm run build; python tools/accuracy.py; CHANGELOG.md"


def _block(file: Path, name: str) -> str:
    """Return the text from a definition to the next unindented line; "" if the file or the definition is missing."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    found = re.search(rf"^(?:def|const) {name}\b.*?\n(?=\S)", text, re.M | re.S)
    return found[0] if found else ""
