"""The table of JAX's names is complete, and a sample of each common name has JAX's value and derivatives."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import inspect
import json
import operator
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import documentation  # noqa: F401  makes tools importable
import jax_names
import numpy
import pytest
from references import jax, jnp
from website.jax_table import MODULES, Entry

import gradwalk
import gradwalk.math as gm

# Names of modules that JAX imports for its own use.
PRIVATE = {"annotations", "Any", "overload", "set_module"}
SAMPLES = [(module, name) for module, table in MODULES.items() for name in table.entries]


@functools.cache
def names_in_a_new_process() -> dict[str, list[str]]:
    """Return the names in each module of JAX.

    Tests that ran before may have imported submodules such as `jax.flatten_util`, which then are names of `jax`.
    """
    program = "import importlib, json; print(json.dumps({m: dir(importlib.import_module(m)) for m in %r}))" % [*MODULES]
    return json.loads(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)


def public_names(module: str) -> set[str]:
    """Return the public names of a module of JAX, without its primitives, such as `jax.lax.add_p`."""
    names = names_in_a_new_process()[module]
    return {name for name in names if not name.startswith("_") and not name.endswith("_p")} - PRIVATE


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_table(module):
    jax.Array  # noqa: B018  skips the test if JAX is not installed
    entries, advice, missing = MODULES[module]
    apart = [name for names in missing.values() for name in names.split()]
    listed = [*entries, *advice, *apart]
    assert sorted(public_names(module) - {*listed}) == []
    assert sorted(name for name in listed if listed.count(name) > 1) == []
    ours = importlib.import_module(module.replace("jax", "gradwalk", 1))
    assert [name for name in entries if not hasattr(ours, name)] == []
    assert [name for name in [*advice, *apart] if name in ours.__all__] == []
    for name, text in advice.items():
        with pytest.raises(AttributeError) as caught:
            getattr(ours, name)
        assert str(caught.value).endswith(text.replace("`", ""))


def parameters(function: Any) -> list[str] | None:
    """Return the names of the parameters of a function; None for classes, and for functions without a signature."""
    if inspect.isclass(function) or not callable(function):
        return None
    try:
        return list(inspect.signature(function).parameters)
    except ValueError:
        return None


@pytest.mark.parametrize(("module", "name"), SAMPLES)
def test_names_called_the_same_have_the_same_parameters(module, name):
    pytest.importorskip("jax")
    theirs = parameters(getattr(importlib.import_module(module), name))
    ours = parameters(getattr(importlib.import_module(module.replace("jax", "gradwalk", 1)), name))
    if MODULES[module].entries[name].but or theirs is None or ours is None:
        return
    renamed = ["f" if parameter == "fun" else parameter for parameter in theirs]
    expected = [parameter for parameter in renamed if parameter not in ("accuracy", "out_dtype")]
    if "operands" in ours or name == "select":  # parameters that are passed by position
        assert len(expected) >= 1
        return
    assert [parameter for parameter in ours if parameter in expected] == expected


def registered(library: Any) -> Any:
    """Return a function that registers a new class of one number with a decorator of `tree_util`."""

    def register(decorate: Any) -> Any:
        @dataclasses.dataclass(frozen=True)
        class Box:
            content: Any

            def tree_flatten(self) -> Any:
                return (self.content,), None

            def tree_flatten_with_keys(self) -> Any:
                return ((library.tree_util.GetAttrKey("content"), self.content),), None

            @classmethod
            def tree_unflatten(cls, _: Any, children: Any) -> Any:
                return cls(*children)

        return decorate(Box)

    return register


def names_of(library: Any, math: Any, np: Any) -> dict[str, Any]:
    """Return the names that samples use."""
    lax, util = library.lax, library.tree_util
    register = registered(library)

    def f(x):
        return math.sin(x) * x

    def ruled(g):
        g.defjvp(lambda primals, tangents: (g(*primals), (math.cos(primals[0]) * primals[0]) * tangents[0]))
        return lambda x: g(x) * x

    def ruled_in_reverse(g):
        g.defvjp(lambda x: (g(x), x), lambda x, cotangent: (cotangent * math.cos(x),))
        return lambda x: g(x) * x

    def registered_by_functions(util):
        cls = register(lambda cls: cls)
        util.register_pytree_node(cls, lambda box: ((box.content,), None), lambda _, parts: cls(*parts))
        return cls

    def registered_with_keys(util):
        cls = register(lambda cls: cls)
        flatten = operator.methodcaller("tree_flatten_with_keys")
        util.register_pytree_with_keys(cls, flatten, lambda _, parts: cls(*parts))
        return cls

    def with_scope(scope, g):
        def called(x):
            with scope:
                return g(x)

        return called

    return {
        "lib": library,
        "lax": lax,
        "nn": library.nn,
        "tree": library.tree,
        "tree_util": util,
        "debug": library.debug,
        "math": math,
        "np": np,
        "f": f,
        "ruled": ruled,
        "ruled_in_reverse": ruled_in_reverse,
        "registered": register,
        "registered_by_functions": registered_by_functions,
        "registered_with_keys": registered_with_keys,
        "with_scope": with_scope,
        "NUMBERS": numpy.array([1.0, 2.0]),
        "SIGN": 1.0 if library is jax else -1.0,
    }


def sample_of(library: Any, math: Any, np: Any, entry: Entry) -> Any:
    """Return a sample as a function of x."""
    known = names_of(library, math, np)
    return lambda x: 1.0 * eval(entry.sample, known, {"x": x})


def derivatives(library: Any, sample: Any, entry: Entry) -> list[Any]:
    """Return functions that compute a sample and its two derivatives."""
    return [sample, library.grad(sample), library.grad(library.grad(sample))] if entry.derivatives else [sample]


@functools.cache
def in_jax(module: str) -> dict[str, list[float]]:
    """Return the values and derivatives of all samples of a module in JAX, which compiles them together."""
    entries = MODULES[module].entries
    functions = {name: derivatives(jax, sample_of(jax, jnp, jnp, entry), entry) for name, entry in entries.items()}
    together = [name for name, entry in entries.items() if entry.derivatives]
    found = jax.jit(lambda x: {name: [f(x) for f in functions[name]] for name in together})(0.4)
    found |= {name: [f(0.4) for f in functions[name]] for name in entries if name not in found}
    return {name: [float(number) for number in numbers] for name, numbers in found.items()}


@pytest.mark.parametrize(("module", "name"), SAMPLES)
def test_samples_have_the_values_and_derivatives_of_jax(module, name):
    entry = MODULES[module].entries[name]
    expected = in_jax(module)[name]
    sample = sample_of(gradwalk, gm, SimpleNamespace(stack=stacked, sum=numpy.sum), entry)
    for f, number in zip(derivatives(gradwalk, sample, entry), expected, strict=True):
        assert float(f(0.4)) == pytest.approx(number, rel=1e-12, abs=1e-14)
        if entry.derivatives and name not in ("disable_jit", "pure_callback"):
            recorded = gradwalk.jit(f)
            recorded(0.5)  # another number, so that constants in the recording would be noticed
            assert recorded(0.4) == pytest.approx(number, rel=1e-12, abs=1e-14)


def stacked(numbers: Any) -> Any:
    """Stack numbers, some of which may be Values."""
    has_values = any(isinstance(x, gradwalk.Value) for x in numbers)
    return numpy.array(numbers, dtype=object if has_values else float)


def test_the_page_is_up_to_date():
    text = jax_names.PAGE.read_text(encoding="utf-8")
    assert jax_names.page(text) == text
