"""Names of `jax.scipy`, for programs written for JAX: linear algebra, special functions, and densities.

`linalg` adds to `gradwalk.numpy.linalg` the functions that only SciPy has, such as `cho_solve` and `solve_triangular`.
`special` has functions of `gradwalk.math` under SciPy's names, and `stats` has the distributions of `gradwalk.stats`.
"""

from __future__ import annotations

from gradwalk.scipy import linalg as linalg
from gradwalk.scipy import special as special
from gradwalk.scipy import stats as stats
