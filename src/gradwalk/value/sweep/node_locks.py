"""Claims on the nodes whose gradients a thread uses while it calls custom rules.

A custom rule may run any code and may even wait for another thread that differentiates, so the thread holds no lock
while it calls the rule. Instead, the thread claims the nodes of its sweep. Other threads that need the gradients of
these nodes wait until the claim is released.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gradwalk.value.sweep.order import traversing

_claims: list[Claim] = []  # changes only while `traversing` is held
_waiting: dict[int, Claim] = {}  # maps each waiting thread to the claim that it waits for

_PATIENCE = 0.5  # seconds after which a waiting thread checks the claim again


class Claim:
    """Nodes that a thread has claimed.

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

    Raises `RuntimeError` if two threads would wait for each other. If `once` is true, also raises `RuntimeError` if
    this thread has already claimed one of the nodes.
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
            _give_up(claim)  # again, because an interrupt may have ended the first call early


def wait_for_others(nodes: Sequence[Any]) -> None:
    """Wait until no other thread has claimed any of the nodes.

    Raises `RuntimeError` if two threads would wait for each other.
    """
    if _claims:
        with claimed(nodes, once=False):
            pass


def _claim_or_find(claim: Claim, once: bool) -> Claim | None:
    """Register a claim. If another thread has claimed one of the nodes, return that thread's claim instead."""
    with traversing:
        for other in _claims:
            common = claim.nodes.keys() & other.nodes.keys()
            if common and other.thread != claim.thread:
                _refuse_to_wait_in_a_circle(claim.thread, other)
                _waiting[claim.thread] = other
                return other
            if common and once:
                raise RuntimeError(
                    f"a _backward function calls backward() on {other.nodes[min(common)]!r}, which the running "
                    "backward() is visiting"
                )
        _claims.append(claim)
        return None


def _refuse_to_wait_in_a_circle(thread: int, other: Claim | None) -> None:
    while other is not None:
        if other.thread == thread:
            raise RuntimeError(
                "two threads run backward() on overlapping graphs, and their _backward functions would wait for each "
                "other: differentiate the inner graph on copies of the shared nodes, such as v.detach()"
            )
        other = _waiting.get(other.thread)


def _wait_for(other: Claim) -> None:
    """Wait until a claim has been released, at most `_PATIENCE` seconds."""
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
    """Wake a thread that waits for a claim. That thread then wakes the next one. May be called more than once."""
    with suppress(RuntimeError):  # the lock is already open
        claim.is_held.release()


def _forget_other_threads() -> None:
    """Drop the claims of other threads, which do not exist in a forked process."""
    _claims[:] = [claim for claim in _claims if claim.thread == threading.get_ident()]
    _waiting.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
