"""How many lanes a block of a batch has: how many samples run through an instruction before the next one."""

from __future__ import annotations

FEWEST_LANES = 128
_MOST_LANES = 512
_LARGEST_BLOCK = 1 << 22  # bytes of the numbers of a block: smaller blocks stay in the cache
_FEWEST_BLOCKS = 8  # of a batch that larger ones are made for: several threads are to share them


def lane_count(samples: float, bytes_of_a_lane: int) -> int:
    """Return the number of lanes of a block. Larger blocks amortise the decoding of instructions.

    Sums depend on the number of lanes, so it follows from the program and the batch alone.

    Args:
        samples: The size of the batch.
        bytes_of_a_lane: How many bytes the slots of a sample take.
    """
    lanes = FEWEST_LANES
    while (
        lanes < _MOST_LANES and 2 * lanes * bytes_of_a_lane <= _LARGEST_BLOCK and 2 * lanes * _FEWEST_BLOCKS <= samples
    ):
        lanes *= 2
    return lanes
