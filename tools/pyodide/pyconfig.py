"""Print pyconfig.h for Pyodide's Python: `python pyconfig.py DEBIANS_PYCONFIG.H SYSCONFIGDATA.PY`.

Debian's file has all names. Pyodide has their values for `sysconfig`, with 0 for names that are not defined, except for
names that begin with an underscore, which select features of the system headers.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

_LINE = re.compile(r"#\s*define ([A-Z]\w+) .+|/\* #undef ([A-Z]\w+) \*/")


def main() -> None:
    """Print the file."""
    debians, pyodides = sys.argv[1:]
    values = runpy.run_path(pyodides)["build_time_vars"]
    for line in Path(debians).read_text(encoding="utf-8").splitlines():
        name = (match := _LINE.fullmatch(line)) and (match[1] or match[2])
        value = values.get(name, 0)
        print(line if not name else f"#define {name} {value}" if value not in (0, "") else f"/* #undef {name} */")


main()
