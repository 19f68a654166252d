"""Where the files of this checkout are, and how the gradwalk that is being tested was built."""

from __future__ import annotations

from pathlib import Path

import gradwalk.value.value

ROOT = Path(__file__).parents[2]
IS_COMPILED = not gradwalk.value.value.__file__.endswith(".py")
