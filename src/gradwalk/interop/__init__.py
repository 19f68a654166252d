"""Wrappers for PyTorch, JAX, PyTensor, CasADi, IPOPT and scikit-learn, with derivatives computed by gradwalk.

Each name, and the library it needs, is imported on first use.

>>> from gradwalk import interop, math
>>> problem = interop.IpoptProblem(lambda x: math.exp(x[0]) * x[1], [0.0, 1.0])
>>> problem.n, problem.m
(2, 0)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Maps each name to the module that defines it, and to the pip extra that installs the dependencies of this module.
_HOMES = {
    "IpoptProblem": ("ipopt_problem", "scipy"),
    "MLPClassifier": ("estimators", "sklearn"),
    "MLPRegressor": ("estimators", "sklearn"),
    "to_casadi": ("casadi_function", "casadi"),
    "to_jax": ("jax_function", "jax"),
    "to_pytensor": ("pytensor_function", "pytensor"),
    "to_torch": ("torch_function", "torch"),
}

if TYPE_CHECKING:
    from gradwalk.interop.casadi_function import to_casadi as to_casadi
    from gradwalk.interop.estimators import MLPClassifier as MLPClassifier
    from gradwalk.interop.estimators import MLPRegressor as MLPRegressor
    from gradwalk.interop.ipopt_problem import IpoptProblem as IpoptProblem
    from gradwalk.interop.jax_function import to_jax as to_jax
    from gradwalk.interop.pytensor_function import to_pytensor as to_pytensor
    from gradwalk.interop.torch_function import to_torch as to_torch
else:

    def __getattr__(name: str) -> object:
        """Import a name on first use."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, extra = _HOMES[name]
        try:
            found = getattr(import_module(f"{__name__}.{module}"), name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"gradwalk.interop.{name} needs {error.name}, which is not installed: pip install 'gradwalk[{extra}]'"
            ) from error
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        """Return all names, including those not imported yet."""
        return sorted({*globals(), *_HOMES})
