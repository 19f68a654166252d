"""Batches in other processes by pickle, joblib, Dask and Ray give the same bits, also if a worker is killed."""

from __future__ import annotations

import functools
import gc
import io
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import cloudpickle
import dask.array
import distributed
import joblib
import numpy
import pytest
import ray
import ray.data
from numpy.testing import assert_array_equal

import gradwalk.math as gm
from gradwalk import Value, jit, nn, threads, value_and_grad, vectorize, vmap
from gradwalk.backend import thread_pool
from gradwalk.trees.tree import flatten

W = numpy.array([0.3, -1.2])
X = numpy.random.default_rng(0).normal(size=30_000)
ROWS = X.reshape(-1, 3)
CHUNKS = numpy.array_split(X, 9)


def assert_same(found: Any, expected: Any) -> None:
    """Assert that two trees are bitwise equal."""
    found_leaves, found_structure = flatten(found, "found")
    leaves, structure = flatten(expected, "expected")
    assert found_structure == structure
    for x, y in zip(found_leaves, leaves, strict=True):
        assert_array_equal(x, y)


def curve(x):
    return gm.exp(-x * x) * gm.sin(3.0 * x)


@dataclass
class Line:
    slope: float
    points: list[Any]


def cases() -> dict[str, Any]:
    """Return vmapped functions that cannot be pickled by name, with arguments."""
    rate = 3.0
    x = X[:20]
    net = nn.MLP(2, [3, 1])
    loss = value_and_grad(lambda net, x: net(x) ** 2)
    return {
        "lambda": (vmap(lambda x: x * x), x),
        "closure": (vmap(lambda x: rate * x, reduce="mean"), x),
        "gradient": (vmap(value_and_grad(lambda w, x: (w[0] * x - w[1]) ** 2), (None, 0), reduce="sum"), W, x),
        "dict": (vmap(lambda d: {"y": d["x"] ** 2, "z": [d["k"]]}, ({"x": 0, "k": None},)), {"x": x, "k": 2.0}),
        "tuple": (vmap(lambda pair: (pair[0] * pair[1], (pair[0],)), out_axes=-1), (x, ROWS[:20])),
        "dataclass": (vmap(lambda a, x: Line(a.slope * x, [a.points[0]]), (None, 0)), Line(2.0, [1.0]), x),
        "Module": (vmap(loss, (None, 0), reduce="mean"), net, x.reshape(10, 2)),
        "Module in a dict": (vmap(lambda d, x: loss(d["net"], x), (None, 0), reduce="sum"), {"net": net}, ROWS[:, :2]),
    }


class Recorder(pickle.Unpickler):
    """An unpickler that records the modules that a pickle imports."""

    def __init__(self, pickled: bytes) -> None:
        super().__init__(io.BytesIO(pickled))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.modules.add(module.partition(".")[0])
        return super().find_class(module, name)


@pytest.mark.parametrize("name", cases())
def test_pickles_of_lowered_functions_contain_no_code(name):
    f, *args = cases()[name]
    recorder = Recorder(pickle.dumps(jit(f).lower(*args)))
    lowered = recorder.load()
    own = {__name__} if name == "dataclass" else set()
    assert recorder.modules - own <= {"builtins", "gradwalk", "numpy", "optree"}
    assert_same(lowered(*args), f(*args))
    assert_same(pickle.loads(pickle.dumps(lowered))(*args), f(*args))


def test_pickles_work_in_another_process():
    lowered = [(jit(f).lower(*args), args) for f, *args in cases().values()]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for f, args in lowered:
            assert_same(pool.apply(f, args), f(*args))


def test_unpickled_lowered_function_checks_its_arguments():
    lowered = pickle.loads(pickle.dumps(jit(vmap(curve)).lower(X)))
    with pytest.raises(TypeError, match=r"<lowered vmap of curve\(\)> was lowered for samples like"):
        lowered(ROWS)


curves = jit(vmap(curve))


def test_named_functions_are_pickled_by_name():
    assert_same(pickle.loads(pickle.dumps(jit(vmap(curve))))(X), curves(X))
    partial = functools.partial(pow, 2.0)
    assert_same(pickle.loads(pickle.dumps(jit(vmap(partial))))(X), jit(vmap(partial))(X))
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(jit(vmap(lambda x: x)))


def test_cloudpickle_supports_unnamed_functions():
    for f, *args in cases().values():
        assert_same(cloudpickle.loads(cloudpickle.dumps(jit(f)))(*args), f(*args))


def test_functions_with_captured_values_cannot_be_lowered():
    weight = Value(2.0)
    with pytest.raises(ValueError, match="uses Values that are not among its arguments"):
        vmap(lambda x: weight * x).lower(X)


def test_unpickling_without_gradwalk_names_the_module():
    pickled = pickle.dumps(jit(vmap(lambda x: x)).lower(X))
    command = [sys.executable, "-I", "-S", "-c", "import pickle, sys; pickle.load(sys.stdin.buffer)"]
    result = subprocess.run(command, input=pickled, capture_output=True, check=False)
    assert result.stderr.decode().strip().endswith("ModuleNotFoundError: No module named 'gradwalk'")


# Threads

step = jit(vmap(value_and_grad(lambda w, x: (gm.tanh(w[0] * x) - w[1]) ** 2), in_axes=(None, 0), reduce="sum"))


FORKING = """
import os, signal, warnings
import numpy
from gradwalk import jit, math, threads, vmap

warnings.simplefilter("ignore", DeprecationWarning)  # about forks of processes with threads, which are tested here
x = numpy.linspace(-3.0, 3.0, 30_000)
f = jit(vmap(lambda x: math.exp(-x * x)))
total = jit(vmap(lambda x: math.exp(-x * x), reduce="sum"))
with threads(2):
    expected = f(x), total(x)
for count in (1, 2, 3):
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # kills a child that hangs
        with threads(count):
            os._exit(0 if (f(x) == expected[0]).all() and total(x) == expected[1] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, count
with threads(2):
    assert (f(x) == expected[0]).all() and total(x) == expected[1]
"""


def test_forked_process_has_its_own_threads():
    subprocess.run([sys.executable, "-c", FORKING], check=True)


def test_concurrent_calls_from_many_threads():
    expected = curves(X), step(W, X)

    def work(_: int) -> Any:
        with threads(3):
            return curves(X), step(W, X)

    for found in joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(work)(i) for i in range(40)):
        assert_same(found, expected)


# joblib


def test_joblib():
    lowered = step.lower(W, X)
    for f in (step, lowered):
        found = joblib.Parallel(n_jobs=2)(joblib.delayed(f)(W, chunk) for chunk in CHUNKS)
        assert_same(found, [step(W, chunk) for chunk in CHUNKS])


def test_joblib_workers_share_the_cores():
    given = joblib.Parallel(n_jobs=2)(joblib.delayed(thread_pool.available)() for _ in range(2))
    assert given == [max(1, joblib.cpu_count() // 2)] * 2


def _step_that_dies_once(folder):
    """Return a step for a chunk that kills its process once, at the sixth chunk."""

    def summed(chunk):
        if chunk[0] == CHUNKS[5][0] and not (folder / "happened").exists():
            (folder / "happened").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return step(W, chunk)

    return summed


# Dask


@pytest.fixture(scope="module", autouse=True)
def environment():
    """Restore the environment: Dask and Ray set OMP_NUM_THREADS in this process."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_dask_arrays(client):
    x = dask.array.from_array(X, chunks=4_000)
    rows = dask.array.from_array(ROWS, chunks=(1_000, 3))
    payoff = vectorize(lambda row, rate: row[0] * gm.exp(rate * row[1]) + row[2], signature="(i),()->()")
    expected = payoff(ROWS, 0.1)

    def payoffs(rows):
        return vmap(lambda row: row[0] * gm.exp(0.1 * row[1]) + row[2])(rows)

    assert_same(x.map_blocks(curves).compute(), curves(X))
    assert_same(x.map_blocks(curves.lower(X), dtype=float).compute(), curves(X))
    assert_same(rows.map_blocks(payoffs, dtype=float, drop_axis=1).compute(), expected)
    assert_same(dask.array.apply_gufunc(payoff, "(i),()->()", rows, 0.1, output_dtypes=float).compute(), expected)
    both = vectorize(value_and_grad(curve))
    found = dask.array.apply_gufunc(both, "()->(),()", x, output_dtypes=(float, float))
    assert_same(tuple(part.compute() for part in found), both(X))


def test_killed_dask_worker_is_replaced(client, tmp_path):
    before = client.run(os.getpid).values()
    futures = client.map(_step_that_dies_once(tmp_path), CHUNKS)
    assert_same(client.gather(futures), [step(W, chunk) for chunk in CHUNKS])
    client.wait_for_workers(2, timeout=30)
    assert len(set(before) & set(client.run(os.getpid).values())) == 1


# Ray


def _start_ray(tries: int = 5) -> None:
    """Start Ray, with retries: the 30 s that it gives its servers can be too short while other tests use all cores."""
    options = {"num_cpus": 2, "include_dashboard": False, "log_to_driver": False, "logging_level": "ERROR"}
    for left in reversed(range(tries)):
        try:
            ray.init(**options)
        except Exception:  # Ray raises no narrower type
            ray.shutdown()
            if not left:
                raise
        if ray.is_initialized():
            return
        gc.collect()  # abandoned servers would otherwise give warnings in another test


@pytest.fixture(scope="module")
def ray_data():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # lets the workers import this file
        _start_ray()
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        yield ray.data
        ray.shutdown()


def _column(dataset: Any, name: str) -> Any:
    return numpy.array([row[name] for row in dataset.take_all()])


ray_warnings = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ray",
    "ignore::FutureWarning:ray",
    "ignore:os.fork.. was called:RuntimeWarning",  # from JAX, if other tests have imported it
    "ignore:.*multi-threaded, use of fork:DeprecationWarning",
    "ignore:subprocess .* is still running:ResourceWarning",  # a server that did not start in time
)


@ray_warnings
def test_ray_data(ray_data):
    dataset = ray_data.from_numpy(CHUNKS)
    assert_same(_column(dataset.map_batches(lambda b: {"y": curves(b["data"])}), "y"), curves(X))
    direct = jit(vmap(lambda b: {"y": curve(b["data"]), "rate": 2.0}))
    found = dataset.map_batches(direct, batch_size=1_000).materialize()
    assert_same(_column(found, "y"), curves(X))
    assert set(_column(found, "rate")) == {2.0}
    lowered = direct.lower({"data": X})
    assert_same(_column(dataset.map_batches(lowered, batch_size=7_000), "y"), curves(X))


@ray_warnings
def test_killed_ray_worker_is_replaced(ray_data, tmp_path):
    summed = _step_that_dies_once(tmp_path)

    def work(batch):
        value, gradient = summed(batch["data"])
        return {"value": numpy.array([value]), "gradient": numpy.array([gradient])}

    found = ray_data.from_numpy(CHUNKS).map_batches(work, batch_size=None)
    expected = [step(W, chunk) for chunk in CHUNKS]
    assert_same(_column(found, "value"), numpy.array([value for value, _ in expected]))
    assert_same(_column(found, "gradient"), numpy.array([gradient for _, gradient in expected]))
    assert (tmp_path / "happened").exists()
