"""Generate the files that follow from `ops/table.py`, and the package's stub of public names.

usage: python tools/generate.py [--check]

With --check nothing is written, and the exit code is 1 if a file is out of date. Otherwise the remaining steps for a
new operation are listed, such as its references in the tests and its translations. If the table has errors, they are
listed and no file is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]

# Import only `gradwalk.ops`: the rest of the package contains the code to be generated.
package = ModuleType("gradwalk")
package.__path__ = [str(ROOT / "src/gradwalk")]
sys.modules["gradwalk"] = package

from generators.opcodes import numbered, opcode_file  # noqa: E402  needs the line above

from gradwalk.ops.compiled.opcodes import OPCODES  # noqa: E402

OPCODES.update(numbered(OPCODES))  # the modules below create templates of all operations

from generators import definitions, engine, loops, values  # noqa: E402
from generators.evaluate import evaluate  # noqa: E402
from generators.page_table import page  # noqa: E402
from generators.public_names import public_names  # noqa: E402
from generators.reference import reference  # noqa: E402
from generators.remaining_steps import remaining_steps  # noqa: E402
from generators.table_checks import problems  # noqa: E402
from generators.vector_constants import vector_constants  # noqa: E402

FILES: dict[str, Callable[[], Iterator[str]]] = {
    "src/gradwalk/__init__.pyi": public_names,
    "src/gradwalk/base/special.py": definitions.special,
    "src/gradwalk/base/special.pxi": definitions.special_inline,
    "src/gradwalk/ops/compiled/opcodes.py": lambda: opcode_file(OPCODES),
    "src/gradwalk/ops/compiled/evaluate.py": evaluate,
    "src/gradwalk/value/methods.py": values.methods,
    "src/gradwalk/functions/pointwise.py": values.functions,
    "src/gradwalk/functions/reductions.py": values.reductions,
    "src/gradwalk/program/instructions/expansions.py": engine.expansions,
    "src/gradwalk/program/run/instruction_loop.py": engine.instruction_loop,
    "src/gradwalk/program/run/rows/row_operations.h": loops.rows,
    "src/gradwalk/backend/cpu/lane_opcodes.h": loops.instructions,
    "src/gradwalk/backend/cpu/lane_definitions.h": loops.lane_definitions,
    "src/gradwalk/backend/cpu/lane_operations.h": loops.lanes,
    "src/gradwalk/backend/cpu/vector_constants.h": vector_constants,
    "docs/operations_table.md": reference,
    "web/src/core/special.js": definitions.special_of_the_page,
    "web/src/core/table.js": page,
}


def main() -> int:
    """Write the files, or check them; return the exit code."""
    if wrong := problems(ROOT):
        print("errors in ops/table.py:", *wrong, sep="\n  ", file=sys.stderr)
        return 1
    checking = "--check" in sys.argv
    stale = []
    for file, lines in FILES.items():
        path = ROOT / file
        new = "\n".join(lines()) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != new:
            stale.append(file)
            if not checking:
                path.write_text(new, encoding="utf-8")
    if stale and checking:
        print("out of date:", ", ".join(stale), "- run: python tools/generate.py", file=sys.stderr)
    if not checking and (steps := [*remaining_steps(ROOT)]):
        print("remaining steps:", *steps, sep="\n  ")
    return 1 if stale and checking else 0


if __name__ == "__main__":
    sys.exit(main())
