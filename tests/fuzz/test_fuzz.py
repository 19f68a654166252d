"""Tests of each target of the fuzz campaign, with a few examples and the corpus of earlier failures."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from programs import fewer
from targets import TARGETS, Target


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_target(target):
    target.campaign(examples=1)()
    compiles = target.name in ("c_agrees", "structured_programs_agree")
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
