"""Links between documents, in the site as on a forge.

Documents link to each other and to files of the repository by relative paths, which is what forges understand. In the
site, a link to a document that has a page leads to that page, and any other leads to the repository.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# Documents that are shown under another name, or that stand outside of docs/, and the pages that show them.
PAGES = {
    "README.md": "index.md",
    "docs/README.md": "index.md",
    "docs/tutorial.py": "tutorial.md",
    "benchmarks/README.md": "benchmarks.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}

_FENCE = re.compile(r"^(`{3,}|:{3,}|~{3,})")
_LINK = re.compile(r"(`[^`]*`)|\]\(([^()\s]+)\)")


def urls() -> dict[str, str]:
    """Return the addresses of the project, by their names in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses: dict[str, str] = project["urls"]
    return addresses


def rewritten(text: str, folder: Path) -> str:
    """Return a document with its relative links as the site needs them.

    Args:
        text: The document, in Markdown.
        folder: The folder that its links start from.

    Returns:
        The document, whose links to pages and pictures start from docs/, and whose others lead to the repository.
    """
    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and mark[1][0] != ":":  # containers of colons hold Markdown
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        lines.append(line if fence else _LINK.sub(lambda link: _with_target(link, folder), line))
    return "".join(lines)


def _with_target(link: re.Match[str], folder: Path) -> str:
    return link[1] or f"]({target(link[2], folder)})"


def target(given: str, folder: Path) -> str:
    """Return where a link leads to in the site.

    Args:
        given: What the document says, such as `../operations.md#kinks`.
        folder: The folder that it starts from.

    Returns:
        An address as it is, a path from docs/ on, or an address in the repository.
    """
    path, hash_mark, heading = given.partition("#")
    found = (folder / path).resolve()
    if re.match(r"[a-z]+:", given) or not path or not found.is_relative_to(ROOT):
        return given
    name = found.relative_to(ROOT).as_posix()
    if name in PAGES:
        return f"/{PAGES[name]}{hash_mark}{heading}"
    if found.is_relative_to(DOCS) and found.suffix in (".md", ".png", ".svg"):
        return f"/{found.relative_to(DOCS).as_posix()}{hash_mark}{heading}"
    return f"{urls()['Source']}/{'tree' if found.is_dir() else 'blob'}/main/{name}{hash_mark}{heading}"
