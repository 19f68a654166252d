"""Differentiable solvers for roots, fixed points and ordinary differential equations, based on SciPy.

Names and signatures follow SciPy, JAX and JAXopt. Solutions are differentiated through the equation that they satisfy,
not through the steps of the solver. This works to any order and with every transform. For roots and fixed points, the
derivatives are exact if the solution is exact.

>>> from gradwalk import grad, math, solvers
>>> kepler = lambda mean, e: solvers.root_scalar(lambda x: x - e * math.sin(x) - mean, x0=mean)
>>> round(kepler(1.0, 0.5), 6), round(grad(kepler)(1.0, 0.5), 6)
(1.498701, 1.037331)
"""

from __future__ import annotations

from gradwalk.solvers.ode.ode import odeint as odeint
from gradwalk.solvers.roots.custom import custom_fixed_point as custom_fixed_point
from gradwalk.solvers.roots.custom import custom_root as custom_root
from gradwalk.solvers.roots.roots import fixed_point as fixed_point
from gradwalk.solvers.roots.roots import root as root
from gradwalk.solvers.roots.roots import root_scalar as root_scalar
