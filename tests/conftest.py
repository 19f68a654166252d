"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import settings

import gradwalk.engine

# deterministic, so that a failure can be looked at again; GRADWALK_EXAMPLES asks for more examples
settings.register_profile(
    "gradwalk",
    max_examples=int(os.environ.get("GRADWALK_EXAMPLES", "1000")),
    deadline=None,
    derandomize=True,
    print_blob=True,
)
settings.load_profile("gradwalk")


def pytest_report_header() -> str:
    """Says which gradwalk is being tested."""
    way = "uncompiled" if gradwalk.engine.__file__.endswith(".py") else "compiled"
    return f"gradwalk: {way}, {Path(gradwalk.engine.__file__).parent}"
