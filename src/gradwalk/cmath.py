"""Mathematical functions of complex numbers: `Complex`, `Value`s, complex and real numbers, and arrays of these.

The result is a `Complex` for operands that contain a `Value`, and Python's `complex` otherwise.

The module is a drop-in replacement for Python's `cmath`. For plain numbers, it returns bitwise identical
results, except that it returns IEEE results instead of raising errors: the real part of `log(0)` is -inf. The branch
cuts are the same, too: the sign of a zero determines on which side of a cut a number is.
"""

from __future__ import annotations

from cmath import e as e
from cmath import inf as inf
from cmath import infj as infj
from cmath import nan as nan
from cmath import nanj as nanj
from cmath import pi as pi
from cmath import tau as tau

from gradwalk.complex_numbers.functions import acos as acos
from gradwalk.complex_numbers.functions import acosh as acosh
from gradwalk.complex_numbers.functions import asin as asin
from gradwalk.complex_numbers.functions import asinh as asinh
from gradwalk.complex_numbers.functions import atan as atan
from gradwalk.complex_numbers.functions import atanh as atanh
from gradwalk.complex_numbers.functions import cos as cos
from gradwalk.complex_numbers.functions import cosh as cosh
from gradwalk.complex_numbers.functions import exp as exp
from gradwalk.complex_numbers.functions import isclose as isclose
from gradwalk.complex_numbers.functions import isfinite as isfinite
from gradwalk.complex_numbers.functions import isinf as isinf
from gradwalk.complex_numbers.functions import isnan as isnan
from gradwalk.complex_numbers.functions import log as log
from gradwalk.complex_numbers.functions import log10 as log10
from gradwalk.complex_numbers.functions import phase as phase
from gradwalk.complex_numbers.functions import polar as polar
from gradwalk.complex_numbers.functions import rect as rect
from gradwalk.complex_numbers.functions import sin as sin
from gradwalk.complex_numbers.functions import sinh as sinh
from gradwalk.complex_numbers.functions import sqrt as sqrt
from gradwalk.complex_numbers.functions import tan as tan
from gradwalk.complex_numbers.functions import tanh as tanh
