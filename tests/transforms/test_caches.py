"""Tests that caches can be cleared and are bounded."""

from __future__ import annotations

import dataclasses
import gc
import weakref

import numpy
import pytest
from references import needs

from gradwalk import clear_caches, grad, jit, math, vectorize, vmap
from gradwalk.trees import registry


def test_clear_caches_forces_a_new_trace():
    f = jit(lambda x: math.sin(x) * x)
    g = jit(vmap(lambda x: x * 2.0))
    h = vectorize(lambda x: x + 1.0)
    before = f(0.5), g(numpy.arange(3.0)).tolist(), h(numpy.arange(3.0)).tolist()
    program = str(f.program)
    clear_caches()
    assert f.statistics.recordings == 0
    assert str(f.program) == program
    assert (f(0.5), g(numpy.arange(3.0)).tolist(), h(numpy.arange(3.0)).tolist()) == before
    assert f.statistics.recordings == 1


def test_cache_is_freed_with_its_function():
    f = jit(lambda x: x * 2.0)
    f(1.0)
    gone = weakref.ref(f._cache)
    del f
    gc.collect()
    assert gone() is None


@needs("optree")
def test_clear_caches_releases_dataclasses():
    def made():
        @dataclasses.dataclass
        class Point:
            x: float

        return Point

    cls = made()
    assert grad(lambda p: p.x * p.x)(cls(3.0)) == cls(6.0)
    gone = weakref.ref(cls)
    clear_caches()
    assert grad(lambda p: p.x * p.x)(cls(3.0)) == cls(6.0)  # registered again
    del cls
    clear_caches()
    gc.collect()
    assert gone() is None


@needs("optree")
def test_number_of_registered_classes_is_bounded(monkeypatch):
    monkeypatch.setattr(registry, "_MOST_REGISTERED", 5)
    first = dataclasses.make_dataclass("First", ["x"])
    f = jit(lambda p: p.x * 2.0)
    assert f(first(1.0)) == 2.0
    for i in range(20):
        cls = dataclasses.make_dataclass(f"Number{i}", ["x"])
        assert f(cls(float(i))) == 2.0 * i
        assert len(registry._registered) <= 5
    assert f(first(4.0)) == 8.0
    with pytest.raises(TypeError, match="p is a set"):
        f({"no tree"})
