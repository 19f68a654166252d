"""The cache of recordings: lookup, several threads, interrupted recordings, limits and warnings."""

from __future__ import annotations

import functools
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
from hypothesis import settings

from gradwalk import RecordingWarning, checkpoint, grad, jit, sparse_jacobian, vectorize, vmap
from gradwalk.batching.vmapped import Vmap
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.program.tracing import trace_cache
from gradwalk.program.tracing.trace_cache import Statistics, Trace, TraceCache
from gradwalk.value.modes import depth

THREADS = 4


def double() -> Program:
    tape = Tape()
    x = tape.input()
    return tape.program([tape.append("add", x, x)])


def numbers(result) -> list[float]:
    return numpy.ravel(result.toarray() if hasattr(result, "toarray") else result).tolist()


def test_an_added_trace_is_found():
    cache = TraceCache("f")
    trace = Trace(double(), [])
    assert cache.find("key") is None
    assert cache.add("key", trace) is trace
    assert cache.find("key") is trace
    assert cache.latest is trace
    assert cache.statistics == Statistics(calls=0, recordings=1, instructions=1, written=1)


def test_the_first_trace_of_a_key_wins():
    cache = TraceCache("f")
    first, second = (Trace(double(), []) for _ in range(2))
    assert cache.add("key", first) is first
    assert cache.add("key", second) is first
    assert cache.find("key") is cache.last("f()") is first


def test_no_recording_before_the_first_call():
    with pytest.raises(ValueError, match=r"f\(\) has not been called yet, so there is no recording of it"):
        TraceCache("f").last("f()")


@pytest.mark.parametrize("made", [jit, checkpoint, lambda f: jit(vmap(f))])
def test_recordings_that_capture_outer_inputs_are_not_kept(made):
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
def test_threads_share_one_recording(made):
    barrier = threading.Barrier(THREADS)
    recorded = []

    def f(x):
        recorded.append(threading.get_ident())
        barrier.wait(10.0)  # all threads are recording now
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
def test_an_interrupted_recording_leaves_no_trace(made, error):
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


class TestLimits:
    def test_recently_used_traces_are_kept(self, monkeypatch):
        monkeypatch.setattr(trace_cache, "MOST_TRACES", 3)
        cache, traces = TraceCache("f"), [Trace(double(), []) for _ in range(5)]
        for key, trace in enumerate(traces):
            cache.add(key, trace)
            assert cache.find(0) is traces[0]
        assert [cache.find(key) for key in range(5)] == [traces[0], None, None, *traces[3:]]
        assert cache.statistics == Statistics(calls=0, recordings=3, instructions=3, forgotten=2, written=3)
        cache.clear()
        assert cache.statistics == Statistics(calls=0, recordings=0, instructions=0, forgotten=0)

    def test_the_number_of_instructions_is_bounded(self, monkeypatch):
        monkeypatch.setattr(trace_cache, "_MOST_INSTRUCTIONS", 100)
        total = jit(lambda x: sum(v * v for v in x))
        for length in range(2, 30):
            assert total([1.0] * length) == length
            statistics = total.statistics
            assert statistics.instructions <= 100
            assert statistics.recordings + statistics.forgotten == length - 1
        assert total([1.0] * 200) == 200.0  # above the limit
        assert total.statistics.recordings == 1

    @pytest.mark.filterwarnings("ignore::gradwalk.RecordingWarning")
    @pytest.mark.parametrize("made", [jit, lambda f: jit(vmap(f)), checkpoint, sparse_jacobian])
    def test_the_number_of_recordings_is_bounded(self, made):
        f = made(lambda x: [x[0] * v for v in x])
        for length in range(1, 200):
            f(numpy.ones((1, length)) if isinstance(f, Vmap) else numpy.ones(length))
            assert len(f._cache._kept) == min(length, 128)

    @pytest.mark.filterwarnings("ignore::gradwalk.RecordingWarning")
    def test_memory_does_not_grow(self):
        # Ten recordings per Hypothesis example: 10,000 in continuous integration.
        f = jit(lambda x, n: x * n, static_argnames="n")
        count = 10 * settings.default.max_examples
        for n in range(128):
            f(1.0, n)
        tracemalloc.start()
        for n in range(128, 256):
            f(1.0, n)
        before = tracemalloc.get_traced_memory()[0]
        for n in range(256, 256 + count):
            f(1.0, n)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 50_000


@pytest.mark.parametrize(
    ("made", "calls", "reason"),
    [
        (jit, [[1.0] * n for n in range(1, 65)], "because x changed from 63 leaves, .* to 64 leaves"),
        (lambda f: jit(vmap(f)), [numpy.ones((2, n)) for n in range(1, 65)], r"because x .*\(63,\) .*\(64,\)"),
    ],
)
def test_a_warning_explains_repeated_recordings(made, calls, reason):
    def total(x):
        return sum(x)

    f = made(total)
    for i, x in enumerate(calls):
        if i < 63:
            f(x)
            continue
        with pytest.warns(RecordingWarning, match=f"total.* recorded 64 times, most recently {reason}") as caught:
            f(x)
        assert caught[0].filename == __file__


def test_a_warning_names_static_arguments():
    @functools.partial(jit, static_argnames="n")
    def power(x, n):
        return x**n

    for n in range(63):
        power(2.0, n)
    with pytest.warns(RecordingWarning, match=r"because the static argument n changed from 62 to 63\. Each value"):
        power(2.0, 63)
    for n in range(200):
        assert power(2.0, n) == 2.0**n  # and no further warning
    assert power.statistics.recordings == 128
