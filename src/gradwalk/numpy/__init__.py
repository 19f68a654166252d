"""The names of `jax.numpy`, for arrays of Values and of numbers, also in functions that `jit` or `vmap` records.

A program written for `jax.numpy` runs after `from gradwalk import numpy as jnp`. For arrays of plain numbers, functions
return what NumPy returns. Some functions are NumPy's own, because NumPy works on object arrays of Values if it only
adds, multiplies and moves elements; functions that compare elements, or convert them to bool or float, are gradwalk's.

`jax.numpy` updates elements with `x.at[i].set(v)`; here this is `at(x)[i].set(v)`. A name that is missing raises an
`AttributeError` with advice. docs/reference/jax_numpy.md lists all names.

>>> import numpy
>>> import gradwalk
>>> from gradwalk import numpy as gnp
>>> gradwalk.jit(gradwalk.grad(lambda x: gnp.max(x * x)))(numpy.array([1.0, -3.0, 2.0])).tolist()
[0.0, -6.0, 0.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradwalk.numpy import fft as fft
from gradwalk.numpy import linalg as linalg
from gradwalk.numpy.calculus import correlate as correlate
from gradwalk.numpy.calculus import gradient as gradient
from gradwalk.numpy.calculus import interp as interp
from gradwalk.numpy.calculus import polydiv as polydiv
from gradwalk.numpy.calculus import polyfit as polyfit
from gradwalk.numpy.calculus import polymul as polymul
from gradwalk.numpy.calculus import trapezoid as trapezoid
from gradwalk.numpy.calculus import unwrap as unwrap
from gradwalk.numpy.complex_parts import angle as angle
from gradwalk.numpy.complex_parts import imag as imag
from gradwalk.numpy.complex_parts import iscomplex as iscomplex
from gradwalk.numpy.complex_parts import iscomplexobj as iscomplexobj
from gradwalk.numpy.complex_parts import isreal as isreal
from gradwalk.numpy.complex_parts import isrealobj as isrealobj
from gradwalk.numpy.complex_parts import real as real
from gradwalk.numpy.creation import array as array
from gradwalk.numpy.creation import asarray as asarray
from gradwalk.numpy.creation import astype as astype
from gradwalk.numpy.creation import empty_like as empty_like
from gradwalk.numpy.creation import full_like as full_like
from gradwalk.numpy.creation import geomspace as geomspace
from gradwalk.numpy.creation import isscalar as isscalar
from gradwalk.numpy.creation import linspace as linspace
from gradwalk.numpy.creation import logspace as logspace
from gradwalk.numpy.creation import ones_like as ones_like
from gradwalk.numpy.creation import unstack as unstack
from gradwalk.numpy.creation import zeros_like as zeros_like
from gradwalk.numpy.elementwise import around as around
from gradwalk.numpy.elementwise import clip as clip
from gradwalk.numpy.elementwise import divmod as divmod
from gradwalk.numpy.elementwise import equal as equal
from gradwalk.numpy.elementwise import greater as greater
from gradwalk.numpy.elementwise import greater_equal as greater_equal
from gradwalk.numpy.elementwise import isclose as isclose
from gradwalk.numpy.elementwise import isfinite as isfinite
from gradwalk.numpy.elementwise import isinf as isinf
from gradwalk.numpy.elementwise import isnan as isnan
from gradwalk.numpy.elementwise import isneginf as isneginf
from gradwalk.numpy.elementwise import isposinf as isposinf
from gradwalk.numpy.elementwise import less as less
from gradwalk.numpy.elementwise import less_equal as less_equal
from gradwalk.numpy.elementwise import logical_and as logical_and
from gradwalk.numpy.elementwise import logical_not as logical_not
from gradwalk.numpy.elementwise import logical_or as logical_or
from gradwalk.numpy.elementwise import logical_xor as logical_xor
from gradwalk.numpy.elementwise import maximum as maximum
from gradwalk.numpy.elementwise import minimum as minimum
from gradwalk.numpy.elementwise import nan_to_num as nan_to_num
from gradwalk.numpy.elementwise import nonzero as nonzero
from gradwalk.numpy.elementwise import not_equal as not_equal
from gradwalk.numpy.elementwise import round as round
from gradwalk.numpy.elementwise import sign as sign
from gradwalk.numpy.elementwise import signbit as signbit
from gradwalk.numpy.elementwise import where as where
from gradwalk.numpy.linalg.products import matrix_transpose as matrix_transpose
from gradwalk.numpy.linalg.products import matvec as matvec
from gradwalk.numpy.linalg.products import vecdot as vecdot
from gradwalk.numpy.linalg.products import vecmat as vecmat
from gradwalk.numpy.matrix_products import dot as dot
from gradwalk.numpy.matrix_products import matmul as matmul
from gradwalk.numpy.names import advice as _advice
from gradwalk.numpy.names.ufuncs import *  # noqa: F403  functions of gradwalk.math
from gradwalk.numpy.names.unchanged import *  # noqa: F403  names of NumPy
from gradwalk.numpy.ordering import amax as amax
from gradwalk.numpy.ordering import amin as amin
from gradwalk.numpy.ordering import argmax as argmax
from gradwalk.numpy.ordering import argmin as argmin
from gradwalk.numpy.ordering import argsort as argsort
from gradwalk.numpy.ordering import max as max
from gradwalk.numpy.ordering import min as min
from gradwalk.numpy.ordering import sort as sort
from gradwalk.numpy.reductions import all as all
from gradwalk.numpy.reductions import any as any
from gradwalk.numpy.reductions import average as average
from gradwalk.numpy.reductions import count_nonzero as count_nonzero
from gradwalk.numpy.reductions import cumulative_prod as cumulative_prod
from gradwalk.numpy.reductions import cumulative_sum as cumulative_sum
from gradwalk.numpy.reductions import mean as mean
from gradwalk.numpy.reductions import nanargmax as nanargmax
from gradwalk.numpy.reductions import nanargmin as nanargmin
from gradwalk.numpy.reductions import nancumprod as nancumprod
from gradwalk.numpy.reductions import nancumsum as nancumsum
from gradwalk.numpy.reductions import nanmax as nanmax
from gradwalk.numpy.reductions import nanmean as nanmean
from gradwalk.numpy.reductions import nanmin as nanmin
from gradwalk.numpy.reductions import nanprod as nanprod
from gradwalk.numpy.reductions import nanstd as nanstd
from gradwalk.numpy.reductions import nansum as nansum
from gradwalk.numpy.reductions import nanvar as nanvar
from gradwalk.numpy.reductions import prod as prod
from gradwalk.numpy.reductions import ptp as ptp
from gradwalk.numpy.reductions import std as std
from gradwalk.numpy.reductions import sum as sum
from gradwalk.numpy.reductions import var as var
from gradwalk.numpy.selection import allclose as allclose
from gradwalk.numpy.selection import argwhere as argwhere
from gradwalk.numpy.selection import array_equal as array_equal
from gradwalk.numpy.selection import array_equiv as array_equiv
from gradwalk.numpy.selection import choose as choose
from gradwalk.numpy.selection import compress as compress
from gradwalk.numpy.selection import extract as extract
from gradwalk.numpy.selection import flatnonzero as flatnonzero
from gradwalk.numpy.selection import intersect1d as intersect1d
from gradwalk.numpy.selection import isin as isin
from gradwalk.numpy.selection import piecewise as piecewise
from gradwalk.numpy.selection import select as select
from gradwalk.numpy.selection import setdiff1d as setdiff1d
from gradwalk.numpy.selection import setxor1d as setxor1d
from gradwalk.numpy.selection import take as take
from gradwalk.numpy.selection import trim_zeros as trim_zeros
from gradwalk.numpy.selection import union1d as union1d
from gradwalk.numpy.selection import unique as unique
from gradwalk.numpy.statistics import bincount as bincount
from gradwalk.numpy.statistics import corrcoef as corrcoef
from gradwalk.numpy.statistics import cov as cov
from gradwalk.numpy.statistics import digitize as digitize
from gradwalk.numpy.statistics import histogram as histogram
from gradwalk.numpy.statistics import median as median
from gradwalk.numpy.statistics import nanmedian as nanmedian
from gradwalk.numpy.statistics import nanpercentile as nanpercentile
from gradwalk.numpy.statistics import nanquantile as nanquantile
from gradwalk.numpy.statistics import partition as partition
from gradwalk.numpy.statistics import percentile as percentile
from gradwalk.numpy.statistics import quantile as quantile
from gradwalk.numpy.statistics import searchsorted as searchsorted
from gradwalk.numpy.updates import at as at

if not TYPE_CHECKING:

    def __getattr__(name: str) -> None:
        raise AttributeError(_advice.explain(name))
