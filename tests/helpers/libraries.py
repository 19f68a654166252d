"""Compile exported libraries and load them in Python."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

from c_compiler import installed
from checkout import IS_COMPILED

from gradwalk.backend.lane_kernel import chosen_instruction_set
from gradwalk.backend.launch import USES_LIBMVEC

EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-builtin-pow", "-fno-builtin-sin")
# Batches have the bits of this process only if its kernels and the C compiler use the same vector functions.
IS_EXACT = IS_COMPILED and USES_LIBMVEC and chosen_instruction_set() != "baseline"


def with_loader(folder: Path, name: str, *flags: str) -> Any:
    """Compile a library and return the function of its loader for Python."""
    library = folder / f"lib{name}.so"
    source = folder / f"{name}.c"
    subprocess.run([installed("cc"), *EXACT, *flags, "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    spec = importlib.util.spec_from_file_location(f"loader_of_{folder.parent.name}", folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.load(library)
    return getattr(module, name)
