"""Number of lanes per block: each instruction runs on this many samples before the next instruction starts."""

from __future__ import annotations

FEWEST_LANES = 128
MOST_LANES = 512
LARGEST_BLOCK = 1 << 22  # maximum size of a block in bytes, so that it fits in the cache
FEWEST_BLOCKS = 8  # a larger block is used only if the batch has this many of them, enough work for several threads


def lane_count(samples: float, bytes_of_a_lane: int) -> int:
    """Return the number of lanes per block. Larger blocks save time, because an instruction is decoded once per block.

    The number of lanes affects the rounding of sums. It therefore depends only on the program and the batch size.

    Args:
        samples: The batch size.
        bytes_of_a_lane: Number of bytes that one sample needs in all slots together.
    """
    lanes = FEWEST_LANES
    while lanes < MOST_LANES and 2 * lanes * bytes_of_a_lane <= LARGEST_BLOCK and 2 * lanes * FEWEST_BLOCKS <= samples:
        lanes *= 2
    return lanes
