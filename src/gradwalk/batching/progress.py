"""A bar that says how far a long computation has come, by tqdm, which only this module imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(total: int | None, unit: str) -> Iterator[Callable[[int], object]]:
    """Within it a bar is shown, which the function that it gives moves on by a count.

    `total`: how many units there are, None where that is not known. Raises `ImportError` where tqdm is not installed.
    """
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("for a bar of progress, install tqdm: pip install 'gradwalk[progress]'") from None
    with tqdm(total=total, unit=f" {unit}", unit_scale=True) as shown:
        yield shown.update
