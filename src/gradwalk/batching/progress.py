"""A progress bar for long computations. Only this module imports tqdm."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Advance = Callable[[float], object]


def counter(total: float | None, unit: str, *, shown: bool) -> AbstractContextManager[Advance]:
    """Return a progress bar as `bar` does, or if `shown` is false, a function in its place that does nothing."""
    return bar(total, unit) if shown else nullcontext(_ignore)


def _ignore(amount: float) -> None:
    """Do nothing."""


@contextmanager
def bar(total: float | None, unit: str) -> Iterator[Advance]:
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
        # A sum of rounded amounts may exceed the total by its last bits, for which tqdm would warn.
        yield shown.update if total is None else lambda amount: shown.update(min(amount, total - shown.n))
