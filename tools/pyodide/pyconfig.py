"""Write pyconfig.h as Pyodide's Python was configured: `python pyconfig.py DEBIANS_PYCONFIG.H SYSCONFIGDATA.PY`.

Debian's file has every name, and whether each is defined there. Pyodide keeps its values for `sysconfig`: 0 where a
name is not defined. It keeps none for names that begin with an underscore, which say what Python asks of the headers.
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
