"""Links between documents, for the site and for GitHub.

Documents link to each other and to files of the repository by relative paths, which GitHub understands. In the site, a
link to a document with a page leads to that page, and any other link leads to the repository.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# Documents that have another name in the site or are outside of docs/, and the pages that show them.
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
    """Return the addresses of the project by their names in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses: dict[str, str] = project["urls"]
    return addresses


def rewritten(text: str, folder: Path) -> str:
    """Rewrite the relative links of a Markdown document for the site.

    Args:
        text: The document.
        folder: The folder that its links are relative to.

    Returns:
        The document. Links to pages and pictures are relative to docs/, and other links lead to the repository.
    """
    lines, fence = [], ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and mark[1][0] != ":":  # blocks fenced with colons contain Markdown
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        lines.append(line if fence else _LINK.sub(lambda link: _with_target(link, folder), line))
    return "".join(lines)


def _with_target(link: re.Match[str], folder: Path) -> str:
    return link[1] or f"]({target(link[2], folder)})"


def target(given: str, folder: Path) -> str:
    """Return the target of a link in the site.

    Args:
        given: The link in the document, such as `../operations.md#kinks`.
        folder: The folder that it is relative to.

    Returns:
        An external address unchanged, a path below docs/, or an address in the repository.
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
