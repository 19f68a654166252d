"""Skips the tests of Pyodide unless GRADWALK_PYODIDE names a Pyodide with NumPy, as .ci/pyodide builds it."""

from __future__ import annotations

import os

DISTRIBUTION = os.environ.get("GRADWALK_PYODIDE", "")

collect_ignore_glob = [] if DISTRIBUTION else ["test_*.py"]
