"""Replacements for the NumPy functions that do not accept arrays of Values, under NumPy's names.

Most of NumPy works on object arrays of Values: sums, products, `einsum`, shape functions, and ufuncs such as
`numpy.exp`. Functions that compare elements or convert them to bool or float do not. The functions in this module
replace them; they also work in recorded functions. For arrays of plain numbers, they return what NumPy returns.
docs/guides/numpy.md lists the functions of both kinds.

>>> import numpy
>>> import gradwalk
>>> from gradwalk import numpy as gnp
>>> gradwalk.jit(gradwalk.grad(lambda x: gnp.max(x * x)))(numpy.array([1.0, -3.0, 2.0])).tolist()
[0.0, -6.0, 0.0]
"""

from __future__ import annotations

from gradwalk.numpy import linalg as linalg
from gradwalk.numpy.elementwise import clip as clip
from gradwalk.numpy.elementwise import divmod as divmod
from gradwalk.numpy.elementwise import equal as equal
from gradwalk.numpy.elementwise import greater as greater
from gradwalk.numpy.elementwise import greater_equal as greater_equal
from gradwalk.numpy.elementwise import isfinite as isfinite
from gradwalk.numpy.elementwise import isinf as isinf
from gradwalk.numpy.elementwise import isnan as isnan
from gradwalk.numpy.elementwise import less as less
from gradwalk.numpy.elementwise import less_equal as less_equal
from gradwalk.numpy.elementwise import logical_and as logical_and
from gradwalk.numpy.elementwise import logical_not as logical_not
from gradwalk.numpy.elementwise import logical_or as logical_or
from gradwalk.numpy.elementwise import maximum as maximum
from gradwalk.numpy.elementwise import minimum as minimum
from gradwalk.numpy.elementwise import nan_to_num as nan_to_num
from gradwalk.numpy.elementwise import not_equal as not_equal
from gradwalk.numpy.elementwise import sign as sign
from gradwalk.numpy.elementwise import where as where
from gradwalk.numpy.ordering import argmax as argmax
from gradwalk.numpy.ordering import argmin as argmin
from gradwalk.numpy.ordering import argsort as argsort
from gradwalk.numpy.ordering import max as max
from gradwalk.numpy.ordering import min as min
from gradwalk.numpy.ordering import sort as sort
