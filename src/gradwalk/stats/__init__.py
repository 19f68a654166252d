"""Log-densities with the names and parameters of `scipy.stats`, and maximum-likelihood estimation by `fit`."""

from __future__ import annotations

from gradwalk.stats.distributions.continuous import beta as beta
from gradwalk.stats.distributions.continuous import cauchy as cauchy
from gradwalk.stats.distributions.continuous import chi2 as chi2
from gradwalk.stats.distributions.continuous import expon as expon
from gradwalk.stats.distributions.continuous import f as f
from gradwalk.stats.distributions.continuous import gamma as gamma
from gradwalk.stats.distributions.continuous import laplace as laplace
from gradwalk.stats.distributions.continuous import logistic as logistic
from gradwalk.stats.distributions.continuous import lognorm as lognorm
from gradwalk.stats.distributions.continuous import norm as norm
from gradwalk.stats.distributions.continuous import t as t
from gradwalk.stats.distributions.continuous import uniform as uniform
from gradwalk.stats.distributions.continuous import weibull_min as weibull_min
from gradwalk.stats.distributions.discrete import bernoulli as bernoulli
from gradwalk.stats.distributions.discrete import binom as binom
from gradwalk.stats.distributions.discrete import geom as geom
from gradwalk.stats.distributions.discrete import nbinom as nbinom
from gradwalk.stats.distributions.discrete import poisson as poisson
from gradwalk.stats.distributions.multivariate import dirichlet as dirichlet
from gradwalk.stats.distributions.multivariate import multinomial as multinomial
from gradwalk.stats.distributions.multivariate import multivariate_normal as multivariate_normal
from gradwalk.stats.fitting.fit import ConvergenceWarning as ConvergenceWarning
from gradwalk.stats.fitting.fit import fit as fit
