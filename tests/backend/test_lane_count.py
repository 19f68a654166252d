"""A block has more lanes if the batch is large and a sample needs little memory."""

from __future__ import annotations

import pytest

from gradwalk.backend.lane_count import lane_count


@pytest.mark.parametrize(
    ("samples", "bytes_of_a_lane", "lanes"),
    [
        (1, 80, 128),
        (2047, 80, 128),
        (2048, 80, 256),
        (4096, 80, 512),
        (1e9, 80, 512),
        (1e9, 2**22 // 512, 512),
        (1e9, 2**22 // 512 + 1, 256),
        (1e9, 2**22, 128),
    ],
)
def test_lane_count(samples, bytes_of_a_lane, lanes):
    assert lane_count(samples, bytes_of_a_lane) == lanes
