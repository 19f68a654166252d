"""Claims: the nodes whose gradients a thread works on while it calls rules that were set by hand.

Such a rule may run any code, even wait for another thread that differentiates something else, so no lock is held
meanwhile. Instead the thread claims the nodes of its sweep. Others that would read or change the gradients of one of
these wait until the claim is given up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gradwalk.value.sweep.order import traversing

_claims: list[Claim] = []  # both are changed by who holds the lock
_waiting: dict[int, Claim] = {}  # by thread, the claim that it waits for

_PATIENCE = 0.5  # seconds until one that waits looks again


class Claim:
    """Nodes that a thread works on.

    Args:
        nodes: The nodes.
    """

    def __init__(self, nodes: Sequence[Any]) -> None:
        self.thread = threading.get_ident()
        self.nodes = {id(node): node for node in nodes}
        self.is_held = threading.Lock()


def exist() -> bool:
    """Return whether any thread has claimed nodes."""
    return bool(_claims)


@contextmanager
def claimed(nodes: Sequence[Any], *, once: bool) -> Iterator[None]:
    """Claim nodes, after waiting until no other thread has claimed one of them.

    Args:
        nodes: The nodes.
        once: Whether to raise where this thread has claimed one of them already.

    Raises:
        RuntimeError: This thread sweeps over one of the nodes, or two threads would wait for each other.
    """
    claim = Claim(nodes)
    claim.is_held.acquire()
    try:
        while (other := _claim_or_find(claim, once)) is not None:
            _wait_for(other)
        yield
    finally:
        try:
            _give_up(claim)
        finally:
            _give_up(claim)  # once more, for an interrupt may have ended the first one half-way


def wait_for_others(nodes: Sequence[Any]) -> None:
    """Wait until no other thread has claimed one of some nodes.

    Args:
        nodes: The nodes.

    Raises:
        RuntimeError: Two threads would wait for each other.
    """
    if _claims:
        with claimed(nodes, once=False):
            pass


def _claim_or_find(claim: Claim, once: bool) -> Claim | None:
    """Make a claim, unless another thread's is in the way: then return that one."""
    with traversing:
        for other in _claims:
            common = claim.nodes.keys() & other.nodes.keys()
            if common and other.thread != claim.thread:
                _refuse_to_wait_in_a_circle(claim.thread, other)
                _waiting[claim.thread] = other
                return other
            if common and once:
                raise RuntimeError(
                    f"backward() on {other.nodes[min(common)]!r} inside a _backward function that is part of a sweep "
                    "over it"
                )
        _claims.append(claim)
        return None


def _refuse_to_wait_in_a_circle(thread: int, other: Claim | None) -> None:
    while other is not None:
        if other.thread == thread:
            raise RuntimeError(
                "two threads sweep over graphs that overlap, and the _backward functions in each would wait for the "
                "other: differentiate the inner graph on copies of the shared nodes, such as v.detach()"
            )
        other = _waiting.get(other.thread)


def _wait_for(other: Claim) -> None:
    """Wait until a claim has been given up, or for some time."""
    try:
        if other.is_held.acquire(timeout=_PATIENCE):
            _release(other)
    finally:
        _waiting.pop(threading.get_ident(), None)


def _give_up(claim: Claim) -> None:
    with traversing:
        if claim in _claims:
            _claims.remove(claim)
    _release(claim)


def _release(claim: Claim) -> None:
    """Let all go on that wait for a claim. A claim is given up twice, and who has waited does this, too."""
    with suppress(RuntimeError):  # where it is open already
        claim.is_held.release()


def _forget_other_threads() -> None:
    """Keep the claims of this thread, which is the only one of a forked process."""
    _claims[:] = [claim for claim in _claims if claim.thread == threading.get_ident()]
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
