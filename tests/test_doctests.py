"""The examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import gradwalk

MODULES = [module.name for module in pkgutil.iter_modules(gradwalk.__path__) if module.name != "__main__"]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples(name):
    module = importlib.import_module(f"gradwalk.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def test_there_are_some():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test.name for test in finder.find(importlib.import_module("gradwalk.engine")) if test.examples]
    assert {"gradwalk.engine.Value", "gradwalk.engine.refresh", "gradwalk.engine.topological_order"} <= set(found)
