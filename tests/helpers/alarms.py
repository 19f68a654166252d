"""Signals that interrupt a computation."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

needs_timers = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Expect that a signal interrupts the block after `seconds`; its handler raises `TimeoutError`.

    Python prints and drops an exception that a signal handler raises during a callback of a weak reference. The
    garbage collector runs such callbacks, so it does not run during the block. Start the compiler before the block.
    """

    def ring(*_: object) -> None:
        raise TimeoutError

    gc.collect()
    gc.disable()
    earlier = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(TimeoutError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, earlier)
        gc.enable()
