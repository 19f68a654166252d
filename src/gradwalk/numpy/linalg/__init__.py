"""Functions of `numpy.linalg` that accept arrays of Values, and the matrix exponential.

The functions accept stacks of matrices: arrays whose last two axes are the axes of matrices. LAPACK computes
decompositions, also in recorded functions; programs with them run under `jit` and `vmap`, but cannot become C. In
recorded functions, `solve`, `inv`, `det`, `slogdet` and `cholesky` of small matrices are instructions instead.
"""

from __future__ import annotations

from numpy import cross as cross
from numpy import outer as outer
from numpy.linalg import LinAlgError as LinAlgError
from numpy.linalg import multi_dot as multi_dot

from gradwalk.numpy.linalg.decompositions import eig as eig
from gradwalk.numpy.linalg.decompositions import eigh as eigh
from gradwalk.numpy.linalg.decompositions import eigvals as eigvals
from gradwalk.numpy.linalg.decompositions import eigvalsh as eigvalsh
from gradwalk.numpy.linalg.decompositions import expm as expm
from gradwalk.numpy.linalg.decompositions import lstsq as lstsq
from gradwalk.numpy.linalg.decompositions import matrix_rank as matrix_rank
from gradwalk.numpy.linalg.decompositions import pinv as pinv
from gradwalk.numpy.linalg.decompositions import qr as qr
from gradwalk.numpy.linalg.decompositions import svd as svd
from gradwalk.numpy.linalg.decompositions import svdvals as svdvals
from gradwalk.numpy.linalg.matrices import cholesky as cholesky
from gradwalk.numpy.linalg.matrices import det as det
from gradwalk.numpy.linalg.matrices import inv as inv
from gradwalk.numpy.linalg.matrices import slogdet as slogdet
from gradwalk.numpy.linalg.matrices import solve as solve
from gradwalk.numpy.linalg.products import cond as cond
from gradwalk.numpy.linalg.products import diagonal as diagonal
from gradwalk.numpy.linalg.products import matrix_norm as matrix_norm
from gradwalk.numpy.linalg.products import matrix_power as matrix_power
from gradwalk.numpy.linalg.products import matrix_transpose as matrix_transpose
from gradwalk.numpy.linalg.products import norm as norm
from gradwalk.numpy.linalg.products import tensordot as tensordot
from gradwalk.numpy.linalg.products import tensorinv as tensorinv
from gradwalk.numpy.linalg.products import tensorsolve as tensorsolve
from gradwalk.numpy.linalg.products import trace as trace
from gradwalk.numpy.linalg.products import vecdot as vecdot
from gradwalk.numpy.linalg.products import vector_norm as vector_norm
from gradwalk.numpy.matrix_products import matmul as matmul
