"""The functions that formulas are written in, by name: those of `libm.py`, and those of `special.py`.

This module serves uncompiled runs. Compiled modules use `ieee.pxd` beside it, where the same names are functions of C.
"""

from gradwalk.base.libm import *  # noqa: F403
from gradwalk.base.special import *  # noqa: F403
