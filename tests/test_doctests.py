"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gradwalk

MODULES = [
    module.name
    for module in pkgutil.walk_packages(gradwalk.__path__, "gradwalk.")
    if not module.ispkg and module.name != "gradwalk.__main__"
]


@pytest.mark.parametrize("name", ["gradwalk", *MODULES])
def test_examples(name):
    if name == "gradwalk.explain.page.notebook":
        pytest.importorskip("anywidget")
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_there_are_some():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {
        test.name for name in MODULES for test in finder.find(importlib.import_module(name), name) if test.examples
    }
    assert {
        "gradwalk.value.value.Value",
        "gradwalk.value.refresh.refresh",
        "gradwalk.value.order.topological_order",
    } <= found
