"""All functions that formulas of operations may call, from libm.py and special.py, for uncompiled runs.

Compiled modules use the C functions of the same names in ieee.pxd.
"""

from gradwalk.base.libm import *  # noqa: F403
from gradwalk.base.special import *  # noqa: F403
