"""Mathematical functions of real numbers, `Value`s, and arrays and lists of these.

The result is a float for floats, a `Value` for `Value`s, and an array for arrays and lists.

The module is a drop-in replacement for Python's `math`, but returns IEEE results instead of raising errors: `log(0)` is
-inf. Functions of integers, such as `gcd`, and functions that decompose a float, such as `frexp`, are Python's own and
do not accept `Value`s. The module also has further elementary functions, activations, and functions of sequences such
as `logsumexp` and `softmax`.
"""

from __future__ import annotations

from math import comb as comb
from math import e as e
from math import factorial as factorial
from math import frexp as frexp
from math import gcd as gcd
from math import inf as inf
from math import isqrt as isqrt
from math import lcm as lcm
from math import ldexp as ldexp
from math import nan as nan
from math import nextafter as nextafter
from math import perm as perm
from math import pi as pi
from math import tau as tau
from math import ulp as ulp

from gradwalk.functions.activations import *  # noqa: F403
from gradwalk.functions.elementary import clip as clip
from gradwalk.functions.elementary import degrees as degrees
from gradwalk.functions.elementary import elu as elu
from gradwalk.functions.elementary import fabs as fabs
from gradwalk.functions.elementary import leaky_relu as leaky_relu
from gradwalk.functions.elementary import modf as modf
from gradwalk.functions.elementary import radians as radians
from gradwalk.functions.elementary import smooth_abs as smooth_abs
from gradwalk.functions.elementary import smooth_max as smooth_max
from gradwalk.functions.elementary import smooth_min as smooth_min
from gradwalk.functions.extended import hypot as hypot
from gradwalk.functions.extended import log as log
from gradwalk.functions.extended import maximum as maximum
from gradwalk.functions.extended import minimum as minimum
from gradwalk.functions.indexing import interp as interp
from gradwalk.functions.indexing import one_hot as one_hot
from gradwalk.functions.indexing import pchip as pchip
from gradwalk.functions.indexing import searchsorted as searchsorted
from gradwalk.functions.indexing import take as take
from gradwalk.functions.pointwise import *  # noqa: F403  all operations of the table
from gradwalk.functions.predicates import isclose as isclose
from gradwalk.functions.predicates import isfinite as isfinite
from gradwalk.functions.predicates import isinf as isinf
from gradwalk.functions.predicates import isnan as isnan
from gradwalk.functions.reductions import *  # noqa: F403
from gradwalk.functions.sequences import dist as dist
from gradwalk.functions.sequences import fsum as fsum
from gradwalk.functions.sequences import log_softmax as log_softmax
from gradwalk.functions.sequences import logsumexp as logsumexp
from gradwalk.functions.sequences import prod as prod
from gradwalk.functions.sequences import softmax as softmax
from gradwalk.functions.special.bessel import i0 as i0
from gradwalk.functions.special.bessel import i0e as i0e
from gradwalk.functions.special.bessel import i1 as i1
from gradwalk.functions.special.bessel import i1e as i1e
from gradwalk.functions.special.bessel import j0 as j0
from gradwalk.functions.special.bessel import j1 as j1
from gradwalk.functions.special.bessel import k0 as k0
from gradwalk.functions.special.bessel import k0e as k0e
from gradwalk.functions.special.bessel import k1 as k1
from gradwalk.functions.special.bessel import k1e as k1e
from gradwalk.functions.special.gamma_family import betaln as betaln
from gradwalk.functions.special.gamma_family import polygamma as polygamma
from gradwalk.functions.special.gamma_family import zeta as zeta
from gradwalk.functions.special.incomplete_beta import betainc as betainc
from gradwalk.functions.special.incomplete_gamma import exp1 as exp1
from gradwalk.functions.special.incomplete_gamma import expi as expi
from gradwalk.functions.special.incomplete_gamma import gammainc as gammainc
from gradwalk.functions.special.incomplete_gamma import gammaincc as gammaincc
from gradwalk.functions.special.lambert import lambertw as lambertw
from gradwalk.functions.special.logarithmic import entr as entr
from gradwalk.functions.special.logarithmic import expit as expit
from gradwalk.functions.special.logarithmic import kl_div as kl_div
from gradwalk.functions.special.logarithmic import logit as logit
from gradwalk.functions.special.logarithmic import rel_entr as rel_entr
from gradwalk.functions.special.logarithmic import xlog1py as xlog1py
from gradwalk.functions.special.logarithmic import xlogy as xlogy
from gradwalk.functions.special.normal import erfcinv as erfcinv
from gradwalk.functions.special.normal import erfinv as erfinv
from gradwalk.functions.special.normal import log_ndtr as log_ndtr
from gradwalk.functions.special.normal import ndtr as ndtr
from gradwalk.functions.special.normal import ndtri as ndtri
from gradwalk.functions.special.normal import norm_logpdf as norm_logpdf
from gradwalk.functions.special.normal import owens_t as owens_t
