"""Tests of each target of the fuzz campaign, with a few examples and the corpus of earlier failures."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from programs import fewer
from same_bits import ORDERS, DifferenceError, check_program, compare, points, program_of, reduced
from targets import TARGETS, Target
from vectorized import vectorize


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_target(target):
    target.campaign(examples=1)()
    compiles = target.name in (
        "c_agrees",
        "structured_programs_agree",
        "loops_on_lanes_agree",
        "exported_libraries_agree",
    )
    fewer(20 if compiles else 1)(target.as_test())()


def test_each_campaign_draws_new_examples(tmp_path):
    tried = set()

    def collect(number):
        tried.add(number)

    target = Target(collect, (st.integers(0, 10**9),))
    target.campaign(50, tmp_path)()
    first = len(tried)
    target.campaign(50, tmp_path)()
    assert len(tried) > first + 20


def test_earlier_failures_are_tried_first(tmp_path):
    tried = []

    def is_small(number):
        tried.append(number)
        assert number < 1000

    for _ in range(2):
        tried.clear()
        with pytest.raises(AssertionError):
            Target(is_small, (st.integers(0, 10**9),)).campaign(50, tmp_path)()
    assert tried[0] == 1000  # the simplest failure of the first campaign


@pytest.mark.parametrize("seed", range(8))
def test_vector_loops_agree(seed, monkeypatch):
    vectorize(monkeypatch, 4)
    check_program(program_of(seed), points(seed), ORDERS[seed % 2 :: 2])


def test_structured_programs_are_reproducible_and_reduced():
    seed = next(seed for seed in range(100) if "'while'" in repr(program_of(seed)))
    assert program_of(seed) == program_of(seed)
    [statement] = reduced(program_of(seed), lambda program: "'while'" in repr(program))
    assert statement[0] == "while"


def test_bits_are_compared():
    at = (0.5, 0.5, 0.5, [0.5])
    compare("value", "loaded", [float("nan"), 0.0], [-float("nan"), 0.0], at)
    with pytest.raises(DifferenceError, match=r"value, loaded, at .*: result 1 is -0.0"):
        compare("value", "loaded", [1.0, -0.0], [1.0, 0.0], at)
    with pytest.raises(DifferenceError, match="'ValueError: no', expected"):
        compare("value", "loaded", "ValueError: no", [1.0], at)
