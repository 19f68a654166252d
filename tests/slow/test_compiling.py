"""Many forks and exits at random moments during compilation; see also tests/test_forks.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from while_compiling import exiting, forking

pytest.importorskip("llvmlite")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forks_during_compilation():
    subprocess.run([sys.executable, "-c", forking(50)], check=True, timeout=3000)


@pytest.mark.parametrize("tens", range(2))
def test_exits_during_compilation(tens, tmp_path):
    for seed in range(10 * tens, 10 * tens + 10):
        options = ["-X", "dev"] if seed % 3 == 0 else []
        command = [sys.executable, *options, "-c", exiting(seed, str(tmp_path))]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
