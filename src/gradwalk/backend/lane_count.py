"""Number of lanes per block: each instruction runs on this many samples before the next instruction starts."""

from __future__ import annotations

FEWEST_LANES = 128
_MOST_LANES = 512
_LARGEST_BLOCK = 1 << 22  # in bytes, so that a block fits in the cache
_FEWEST_BLOCKS = 8  # blocks grow only if the batch still has this many, so that several threads have work


def lane_count(samples: float, bytes_of_a_lane: int) -> int:
    """Return the number of lanes per block. In larger blocks, each decoded instruction runs on more samples.

    The number of lanes affects the rounding of sums. It therefore depends only on the program and the batch size.

    Args:
        samples: The batch size.
        bytes_of_a_lane: Size of all slots of one sample, in bytes.
    """
    lanes = FEWEST_LANES
    while (
        lanes < _MOST_LANES and 2 * lanes * bytes_of_a_lane <= _LARGEST_BLOCK and 2 * lanes * _FEWEST_BLOCKS <= samples
    ):
        lanes *= 2
    return lanes
