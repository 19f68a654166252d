"""A progress bar for long computations. Only this module imports tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: int | None, unit: str) -> Iterator[Callable[[int], object]]:
    """Show a progress bar within a `with` block.

    Args:
        total: Number of units, or None if unknown.
        unit: Name of the unit.

    Yields:
        A function that advances the bar by a number of units.

    Raises:
        ImportError: tqdm is not installed.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar requires tqdm: pip install 'gradwalk[progress]'") from None
    with tqdm(total=total, unit=f" {unit}", unit_scale=True) as shown:
        yield shown.update
