"""The functions of libm.py and special.py, which the formulas of operations call in uncompiled runs.

Compiled modules use the C functions of the same names in ieee.pxd.
"""

from gradwalk.base.libm import *  # noqa: F403
from gradwalk.base.special import *  # noqa: F403
