"""Fixtures of the tests of arrays."""

from __future__ import annotations

import pytest

from gradwalk.arrays import recorder


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make arrays of all sizes whole."""
    monkeypatch.setattr(recorder, "LEAST_SIZE", 1)
