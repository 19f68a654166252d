"""`&`, `|` and `^` of recorded Values combine conditions; on loop counters they are bitwise operations on integers."""

from __future__ import annotations

import itertools
import math

import numpy
import pytest

import gradwalk.loops as gl
from gradwalk import RecordingError, Value, grad, jit, vmap
from gradwalk import math as gm
from gradwalk.value.conditions import is_condition

BITS = {
    "i & 1": lambda i: i & 1,
    "1 & i": lambda i: 1 & i,
    "i | 1": lambda i: i | 1,
    "i ^ 1": lambda i: i ^ 1,
    "i & 2": lambda i: i & 2,
    "i << 1": lambda i: i << 1,
    "1 << i": lambda i: 1 << i,
    "i >> 1": lambda i: i >> 1,
    "8 >> i": lambda i: 8 >> i,
}


@pytest.mark.parametrize("way", BITS)
class TestBits:
    def test_bits_of_a_loop_counter(self, way):
        def f(x):
            return gl.fori_loop(0, 4, lambda i, total: total + x * BITS[way](i), 0.0)

        expected = 2.0 * sum(BITS[way](i) for i in range(4))
        assert f(2.0) == jit(f)(2.0) == vmap(f)(numpy.array([2.0]))[0] == expected
        assert grad(f)(2.0) == jit(grad(f))(2.0) == expected / 2.0

    def test_bits_of_a_recorded_number_are_refused(self, way):
        for transform in (jit, lambda f: jit(f, branches="record"), lambda f: lambda x: vmap(f)(numpy.array([x]))):
            with pytest.raises(RecordingError):
                transform(lambda x: x * BITS[way](x))(3.0)

    def test_caught_refusal_fails_the_transform(self, way):
        def f(x):
            try:
                return x * BITS[way](x)
            except TypeError:
                return 0.0 * x

        with pytest.raises(RecordingError):
            jit(f)(3.0)

    def test_bits_of_values_are_not_defined(self, way):
        with pytest.raises(TypeError):
            BITS[way](Value(2.0))


JOINED = {
    "and": lambda p, q: p & q,
    "or": lambda p, q: p | q,
    "xor": lambda p, q: p ^ q,
    "with True": lambda p, q: (p & True) ^ (q | False),
    "with 1": lambda p, q: (p & 1) | (0 ^ q),
    "nested": lambda p, q: ((p & q) | (p ^ q)) & (p | q),
}


@pytest.mark.parametrize("way", JOINED)
class TestConditions:
    def test_conditions_combine_like_bools(self, way):
        for p, q in itertools.product((False, True), repeat=2):
            x, y = 2.0 * p - 1.0, 2.0 * q - 1.0
            f = lambda x, y: gm.where(JOINED[way](x > 0.0, y > 0.0), x * 3.0, x)  # noqa: E731
            expected = x * (3.0 if JOINED[way](p, q) else 1.0)
            assert jit(f)(x, y) == vmap(f)(numpy.array([x]), numpy.array([y]))[0] == expected
            assert jit(grad(f))(x, y) == expected / x

    def test_combined_conditions_are_conditions(self, way):
        known = []
        jit(lambda x, y: (known.append(is_condition(JOINED[way](x > 0.0, y != 1.0))), x)[1])(1.0, 2.0)
        assert known == [True]


def test_argument_is_a_condition_if_it_is_0_or_1():
    f = jit(lambda p, x: gm.where(p & (x > 0.0), 1.0, 0.0))
    assert (f(True, 2.0), f(False, 2.0), f(1.0, -2.0)) == (1.0, 0.0, 0.0)
    both = jit(lambda p, q: (p & q) * 1.0)
    assert (both(True, True), both(True, False), both(0.0, 1.0)) == (1.0, 0.0, 0.0)
    assert math.isnan(both(2.0, 1.0))
    assert math.isnan(both(1.0, 2.0))
    assert math.isnan(both(math.nan, 1.0))


def test_each_of_many_conditions_is_checked_once():
    def f(x):
        total = x > 0.0
        for i in range(200):
            total ^= x > float(i)
        return gm.where(total, x, 2.0 * x)

    assert jit(f)(1.5) == f(1.5)
