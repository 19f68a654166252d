"""Missing features of Python in WebAssembly: processes, threads, and packages in C without a build for it.

Pyodide runs the fast suite (.ci/pyodide). Tests of missing features are skipped: whole files by the list here,
single tests if the system refuses a thread or process that the test requests. A thread or process that gradwalk itself
requests is not a reason to skip.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

IS_WASM = sys.platform == "emscripten"

THREADS = (
    "backend/test_thread_pool.py",
    "test_threads.py",
    "value/sweep/test_node_locks.py",
    "program/native/test_compile_queue.py",
    "program/native/test_compiler_process.py",
)
PROCESSES = ("test_forks.py", "test_interrupts.py", "cli/test_keys.py", "test_readme.py", "test_stale.py")
SCIPY = (
    "backend/test_scipy_callable.py",
    "functions/test_arrays.py",
    "program/formats/test_loops_in_files.py",
    "solvers/roots/test_custom.py",
    "solvers/ode/test_dormand_prince.py",
    "solvers/ode/test_ode.py",
    "solvers/roots/test_roots.py",
    "solvers/roots/test_traced_root_finders.py",
    "test_site.py",
    "transforms/test_minpack.py",
    "transforms/sparse/test_sparse.py",
    "functions/test_indexing.py",
)
LEFT_OUT = [*THREADS, *PROCESSES, *SCIPY] if IS_WASM else []

# In WebAssembly, Python's JSON parser ends the interpreter where it raises RecursionError elsewhere.
deeply_nested = pytest.param(
    "[" * 100_000, "this is not JSON", marks=pytest.mark.skipif(IS_WASM, reason="crashes WebAssembly")
)

_TESTS = Path(__file__).absolute().parents[1]
_REFUSALS = {
    "emscripten does not support processes.": "WebAssembly has no processes",
    "module 'os' has no attribute 'mkfifo'": "WebAssembly has no pipes",
    "can't start new thread": "WebAssembly has no threads",
    "No module named 'scipy'": "SciPy is not installed",
    "No module named 'termios'": "WebAssembly has no terminals",
}


def refusal(error: BaseException | None, package: Path) -> str | None:
    """Return why a test cannot run in WebAssembly, or None if the error has another cause or gradwalk caused it."""
    if not IS_WASM or error is None:
        return None
    if "; install SciPy: pip" in str(error):
        return _REFUSALS["No module named 'scipy'"]
    trace, is_ours = error.__traceback__, False
    while trace is not None:  # the innermost frame of the tests or gradwalk decides: a test may run inside grad
        file = Path(trace.tb_frame.f_code.co_filename).absolute()
        is_ours = file.is_relative_to(package) or (is_ours and not file.is_relative_to(_TESTS))
        trace = trace.tb_next
    if is_ours:
        return None
    return next((why for said, why in _REFUSALS.items() if said in str(error)), None)


def run_coroutine(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine as `asyncio.run` does; skip the test in WebAssembly, where only some engines can."""
    if IS_WASM:
        coroutine.close()
        pytest.skip("Python cannot wait for JavaScript in this engine")
    return asyncio.run(coroutine)
