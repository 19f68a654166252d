"""Names of `jax.scipy.stats`: the distributions of `gradwalk.stats`."""

from __future__ import annotations

from gradwalk.stats import bernoulli as bernoulli
from gradwalk.stats import beta as beta
from gradwalk.stats import binom as binom
from gradwalk.stats import cauchy as cauchy
from gradwalk.stats import dirichlet as dirichlet
from gradwalk.stats import expon as expon
from gradwalk.stats import gamma as gamma
from gradwalk.stats import geom as geom
from gradwalk.stats import laplace as laplace
from gradwalk.stats import logistic as logistic
from gradwalk.stats import multinomial as multinomial
from gradwalk.stats import multivariate_normal as multivariate_normal
from gradwalk.stats import nbinom as nbinom
from gradwalk.stats import norm as norm
from gradwalk.stats import poisson as poisson
from gradwalk.stats import t as t
from gradwalk.stats import uniform as uniform

__all__ = [
    "bernoulli",
    "beta",
    "binom",
    "cauchy",
    "dirichlet",
    "expon",
    "gamma",
    "geom",
    "laplace",
    "logistic",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "poisson",
    "t",
    "uniform",
]
