"""Run the examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from typing import Any

import pytest
from references import needs

import gradwalk

MODULES = [
    module.name
    for module in pkgutil.walk_packages(gradwalk.__path__, "gradwalk.")
    if not module.ispkg and module.name != "gradwalk.__main__"
]

NEEDED = {
    "gradwalk.backend.scipy_callable": "scipy",
    "gradwalk.explain.page.notebook": "anywidget",
    "gradwalk.interop": "scipy",
    "gradwalk.interop.casadi_function": "casadi",
    "gradwalk.interop.estimators": "sklearn",
    "gradwalk.interop.ipopt_problem": "scipy",
    "gradwalk.interop.jax_function": "jax",
    "gradwalk.interop.pytensor_function": "pytensor",
    "gradwalk.interop.torch_function": "torch",
    "gradwalk.solvers.roots.roots": "scipy",
    "gradwalk.stats.fitting.fit": "scipy",
    "gradwalk.transforms.sparse.sparse": "scipy",
}


def needing(name: str) -> Any:
    """Return the name of a module as a parameter, marked with the package that it needs."""
    return pytest.param(name, marks=[needs(NEEDED[name])] if name in NEEDED else [])


@pytest.mark.parametrize("name", [needing(name) for name in ("gradwalk", "gradwalk.interop", *MODULES)])
def test_examples(name):
    # Some modules document methods of Value without defining Value.
    assert doctest.testmod(importlib.import_module(name), extraglobs={"Value": gradwalk.Value}).failed == 0


def test_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = [name for name in MODULES if name.startswith("gradwalk.value.")]
    found = {test.name for name in names for test in finder.find(importlib.import_module(name), name) if test.examples}
    assert {
        "gradwalk.value.value.Value",
        "gradwalk.value.sweep.refresh.refresh",
        "gradwalk.value.sweep.order.topological_order",
    } <= found
