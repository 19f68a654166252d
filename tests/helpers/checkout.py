"""Paths of this checkout and of the tested gradwalk, and whether it is compiled; does not import gradwalk."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = Path(find_spec("gradwalk").origin).parent
IS_COMPILED = any(path.suffix in (".so", ".pyd") for path in (PACKAGE / "value").iterdir())
