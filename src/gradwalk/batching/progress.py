"""A progress bar for long computations, by tqdm, which only this module imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: int | None, unit: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar within a `with` block.

    Args:
        total: How many units there are, None where that is not known.
        unit: What a unit is called.

    Yields:
        A function that moves the bar on by a number of units.

    Raises:
        ImportError: tqdm is not installed.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("for a bar of progress, install tqdm: pip install 'gradwalk[progress]'") from None
    with tqdm(total=total, unit=f" {unit}", unit_scale=True) as shown:
        yield shown.update
