"""Recordings are found again by the arguments that they serve, from several threads, and after interruptions."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from gradwalk import checkpoint, grad, jit, sparse_jacobian, vectorize, vmap
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.trace_cache import Statistics, Trace, TraceCache
from gradwalk.value.modes import depth

THREADS = 4


def double() -> Program:
    tape = Tape()
    x = tape.input()
    return tape.program([tape.append("add", x, x)])


def numbers(result) -> list[float]:
    return numpy.ravel(result.toarray() if hasattr(result, "toarray") else result).tolist()


def test_what_is_added_is_found():
    cache = TraceCache()
    trace = Trace(double(), [])
    assert cache.find("key") is None
    assert cache.add("key", trace) is trace
    assert cache.find("key") is trace
    assert cache.latest is trace
    cache.calls += 3
    assert cache.statistics == Statistics(calls=3, recordings=1, instructions=1)


def test_the_first_one_added_wins():
    cache = TraceCache()
    first, second = (Trace(double(), []) for _ in range(2))
    assert cache.add("key", first) is first
    assert cache.add("key", second) is first
    assert cache.find("key") is cache.last("f()") is first


def test_without_a_recording():
    with pytest.raises(ValueError, match=r"f\(\) has not been called yet, so there is no recording of it"):
        TraceCache().last("f()")


@pytest.mark.parametrize("made", [jit, checkpoint, lambda f: jit(vmap(f))])
def test_what_uses_values_of_a_recording_around_it_is_not_kept(made):
    recorded = []

    def total(w):
        def f(x):
            recorded.append(1)
            return w * x

        g = made(f)
        first, second = g(numpy.ones(2)), g(numpy.ones(2))
        return first[0] + second[1]

    assert grad(total)(3.0) == 2.0
    assert len(recorded) == 2


@pytest.mark.parametrize(
    "made", [jit, checkpoint, lambda f: jit(vmap(f)), lambda f: vectorize(f, signature="(i)->(i)"), sparse_jacobian]
)
def test_threads_that_record_the_same_get_the_same(made):
    barrier = threading.Barrier(THREADS)
    recorded = []

    def f(x):
        recorded.append(threading.get_ident())
        barrier.wait(10.0)  # all of them are recording now
        return x * x

    g = made(f)
    x = 2.0 if made is sparse_jacobian else numpy.array([[2.0, 3.0]])
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(g, x) for _ in range(THREADS)]
        results = [numbers(future.result(20.0)) for future in futures]
    assert results == [[4.0] if made is sparse_jacobian else [4.0, 9.0]] * THREADS
    assert len(set(recorded)) == THREADS
    assert g._cache.statistics.recordings == 1


def test_threads_with_different_structures():
    g = jit(lambda x: x * 2.0)
    with ThreadPoolExecutor(THREADS) as pool:
        results = list(pool.map(lambda n: g(numpy.ones(n % 10)).sum(), range(400)))
    assert results == [2.0 * (n % 10) for n in range(400)]
    assert g.statistics.recordings == 10


@pytest.mark.parametrize("made", [jit, checkpoint, lambda f: jit(vmap(f)), vectorize, sparse_jacobian])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_interrupted_recording_leaves_nothing_behind(made, error):
    interrupted = [True]

    def f(x):
        y = x * x
        if interrupted:
            raise error
        return y + x

    g = made(f)
    x = 2.0 if made is sparse_jacobian else numpy.array([2.0])
    with pytest.raises(error):
        g(x)
    assert (g._cache.latest, g._cache.statistics.recordings) == (None, 0)
    assert depth() == 0
    interrupted.clear()
    assert numbers(g(x)) == ([5.0] if made is sparse_jacobian else [6.0])
