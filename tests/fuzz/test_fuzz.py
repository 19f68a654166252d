"""Each target of the fuzz campaign, with a few examples, and with the corpus of those that once failed."""

from __future__ import annotations

import pytest
from programs import fewer
from targets import TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.__name__)
def test_target(target):
    compiles = target.__name__ == "c_agrees"
    fewer(20 if compiles else 1)(target)()
