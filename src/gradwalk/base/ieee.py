"""The functions that formulas of operations may call in uncompiled runs, from libm.py and special.py.

Compiled modules use the C functions of the same names in ieee.pxd.
"""

from gradwalk.base.libm import *  # noqa: F403
from gradwalk.base.special import *  # noqa: F403
