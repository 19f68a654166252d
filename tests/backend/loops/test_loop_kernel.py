"""Loops and switches on a batch give each sample the result that it has alone."""

from __future__ import annotations

import pickle
from math import log2

import numpy
import pytest
from alarms import alarm, needs_timers
from test_loops import FUNCTIONS

from gradwalk import grad, hessian, jit, jvp, loops, math, primitive, value_and_grad, vmap
from gradwalk.backend.loops import loop_kernel, loop_lanes
from gradwalk.backend.loops.loop_kernel import LoopKernel, make_kernel
from gradwalk.backend.thread_pool import threads
from gradwalk.program.code.checkpoint_plan import slots_for
from gradwalk.program.code.code import Code
from gradwalk.program.code.opcodes import CALL
from gradwalk.program.program import trusted


@pytest.fixture(autouse=True)
def never_unroll(monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 0)


def assert_same(f, *columns, rtol=1e-12):
    """Check that a batch gives the results of its single samples, and return the results."""
    alone = [flatten(f(*sample)) for sample in zip(*columns, strict=True)]
    batched = vmap(f)
    found = batched(*columns)
    parts = found if isinstance(found, tuple) else (found,)
    rows = numpy.column_stack([numpy.asarray(part).reshape(len(columns[0]), -1) for part in parts])
    numpy.testing.assert_allclose(rows, numpy.stack(alone).reshape(rows.shape), rtol=rtol, atol=1e-12)
    assert isinstance(batched.kernel, LoopKernel)
    return found


def flatten(result):
    """Flatten the result of a sample."""
    parts = result if isinstance(result, tuple) else (result,)
    return numpy.concatenate([numpy.ravel(numpy.asarray(part, float)) for part in parts])


SAMPLES = numpy.array([[1.3, 0.7, 0.4], [0.6, 1.9, -1.1], [2.5, 0.2, 0.3], [0.9, 0.8, 0.7], [1.1, 3.0, -0.4]])


@pytest.mark.parametrize("derived", [lambda f: f, value_and_grad, hessian], ids=["value", "grad", "hessian"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batches_give_the_results_of_single_samples(f, derived):
    assert_same(derived(lambda x: f(loops, math, x)), SAMPLES, rtol=1e-9)


@pytest.fixture
def measured(monkeypatch):
    """Count the steps that backward passes run for carries, and the most carries kept at once."""
    found = {"steps": 0, "kept": 0}
    begin, run = loop_lanes._ReversedStates.__init__, loop_lanes.LoopLanes.next_carry
    states = []

    def began(self, *given):
        states.append(self)
        begin(self, *given)

    def ran(self, *given):
        found["steps"] += 1
        found["kept"] = max(found["kept"], len(states[-1]._kept))
        return run(self, *given)

    monkeypatch.setattr(loop_lanes._ReversedStates, "__init__", began)
    monkeypatch.setattr(loop_lanes.LoopLanes, "next_carry", ran)
    return found


def counted(n, kept):
    step = lambda i, c: (c[0] + 0.1 * math.sin(c[1] * c[0]), 0.9 * c[1] + 0.01 * i)  # noqa: E731
    return lambda x: loops.fori_loop(0, n, step, (x, 1.0), checkpoint=kept)[0]


def scanned(n, kept):
    rows = numpy.linspace(0.5, 1.5, n)

    def f(x):
        last, outputs = loops.scan(lambda c, r: (math.cos(c * r), c * x), x, rows, checkpoint=kept)
        return last + (outputs * outputs).sum()

    return f


def conditioned(n, kept):
    """Build a loop that takes n steps for the smallest x and about n / 2 steps for twice that x."""
    step = lambda c: (c[0] + 0.1 * math.sin(c[1] * c[0]), c[1] + c[2], c[2])  # noqa: E731
    return lambda x: loops.while_loop(lambda c: c[1] < 0.1 * n - 0.01, step, (x, 0.0, x), checkpoint=kept)[0]


def unequal(n, kept):
    """Build a loop that takes from 0 to n steps, depending on the sample."""

    def f(x):
        step = lambda c: (c[0] + 0.1 * math.sin(c[0]), c[1] + 1)  # noqa: E731
        return loops.while_loop(lambda c: c[1] < n * (x - 0.1) / 1.9, step, (x, 0.0), checkpoint=kept)[0]

    return f


BATCH = numpy.linspace(0.1, 2.0, 7)


@pytest.mark.parametrize("kept", [None, "sqrt", "binomial", 1, 4, 16])
@pytest.mark.parametrize("make", [counted, scanned, conditioned, unequal])
@pytest.mark.parametrize("n", [1, 2, 10, 60])
def test_checkpoint_bounds_memory_and_recomputation(n, make, kept, measured):
    vmap(grad(make(n, kept)))(BATCH)
    is_counted = make in (conditioned, unequal)
    assert measured["kept"] <= slots_for(kept, n)
    if kept == "sqrt":
        assert measured["kept"] <= (2 * n) ** 0.5 + 1
        assert measured["steps"] <= (2 + is_counted) * n
    elif kept == "binomial":
        assert measured["kept"] <= log2(n) / 2 + 3
        assert measured["steps"] <= (slots_for(kept, n) + is_counted) * n
    elif kept is None or kept >= n:
        assert measured["steps"] <= n
    else:
        assert measured["kept"] <= kept
        assert measured["steps"] <= n * (n - 1) / 2 + n * is_counted


@pytest.mark.parametrize(
    "derived", [grad, lambda f: grad(grad(f)), lambda f: lambda x: jvp(grad(f), (x,), (1.0,))[1]], ids=[1, "2r", "2f"]
)
@pytest.mark.parametrize("make", [counted, scanned, conditioned, unequal])
@pytest.mark.parametrize("n", [1, 2, 3, 57])
def test_bits_do_not_depend_on_the_checkpoint(n, make, derived):
    expected = vmap(derived(make(n, None)))(BATCH)
    for kept in ("sqrt", "binomial", 1, 2, 5, 40, 1000):
        assert vmap(derived(make(n, kept)))(BATCH).tobytes() == expected.tobytes()


@pytest.mark.parametrize("make", [counted, conditioned, unequal])
def test_many_steps_with_few_kept_carries(make, measured):
    n = 1500
    expected = vmap(grad(make(n, None)))(BATCH)
    assert measured["kept"] > 0.9 * n
    for kept, most, runs in (("sqrt", 55, 3), ("binomial", 7, 8), (300, 300, 2), (20, 20, 4)):
        measured.update(steps=0, kept=0)
        assert vmap(grad(make(n, kept)))(BATCH).tobytes() == expected.tobytes()
        assert measured["kept"] <= most
        assert measured["steps"] <= runs * n


def test_samples_per_run_fit_in_checkpoint_memory(monkeypatch):
    monkeypatch.setattr(loop_kernel, "CHECKPOINT_BYTES", 1 << 20)
    found = {}
    for kept in (None, "sqrt", "binomial", 8, 1000):
        slope = jit(grad(counted(5000, kept)))
        slope(0.5)
        kernel = make_kernel(slope.program, [True])
        found[kept] = kernel.samples, kernel.memory
    assert found[None][0] == found["sqrt"][0] < found["binomial"][0] == found[8][0] == 8192
    assert found[1000][0] == 256
    assert found["binomial"][1] < found[1000][1]


@pytest.mark.parametrize("most", [1, 300, 3000])
def test_carries_that_exceed_memory_are_recomputed(most, monkeypatch, measured):
    monkeypatch.setattr(loop_lanes, "CHECKPOINT_BYTES", most)

    def f(x):
        last = loops.fori_loop(0, 97, lambda i, c: (c[0] + 0.1 * c[1], c[1] - 0.1 * math.sin(c[0])), (x[0], x[1]))
        root = loops.while_loop(lambda r: abs(r * r - x[1]) > 1e-13, lambda r: 0.5 * (r + x[1] / r), x[0])
        return last[0] * root

    assert_same(value_and_grad(f), numpy.abs(SAMPLES) + 0.2, rtol=1e-10)
    assert measured["kept"] <= max(4, most // (5 * 8))


@pytest.mark.parametrize("make", [counted, scanned, conditioned, unequal])
def test_little_memory_needs_few_extra_runs(make, monkeypatch, measured):
    expected = vmap(grad(make(400, None)))(BATCH)
    monkeypatch.setattr(loop_lanes, "CHECKPOINT_BYTES", 70 * 3 * 8 * len(BATCH))
    measured.update(steps=0, kept=0)
    assert vmap(grad(make(400, None)))(BATCH).tobytes() == expected.tobytes()
    assert 35 <= measured["kept"] <= 210  # carries of one to three numbers
    assert measured["steps"] <= 2 * 400


def test_samples_may_take_different_numbers_of_steps():
    f = jit(vmap(lambda x: loops.while_loop(lambda c: c[0] < 100.0, lambda c: (c[0] * 2.0, c[1] + 1), (x, 0))))
    assert f(numpy.array([1.0, 200.0, 99.0, 0.01]))[1].tolist() == [7.0, 0.0, 1.0, 14.0]


def test_exceeding_max_steps_gives_nan():
    def f(x):
        return loops.while_loop(lambda r: r > 1.0, lambda r: r / 2, x, max_steps=3)

    value, slope = vmap(value_and_grad(f))(numpy.array([0.5, 7.0, 9.0]))
    assert numpy.isnan(value).tolist() == numpy.isnan(slope).tolist() == [False, False, True]
    assert slope[:2].tolist() == [1.0, 0.125]


def test_branches_run_only_for_their_samples():
    # Each branch runs only for the samples that select it, so it gives no inf or nan to other samples.

    def f(x):
        return loops.cond(x > 0, lambda x: math.log(x) * x, lambda x: 0.0 * x, x)

    found = assert_same(grad(f), numpy.array([1.0, 0.0, -2.0, 4.0]))
    assert found.tolist() == pytest.approx([1.0, 0.0, 0.0, numpy.log(4.0) + 1.0], rel=1e-14)
    switched = vmap(lambda i, x: loops.switch(i, [lambda x: x, math.exp, lambda x: -x], x))
    indices = numpy.array([-3.0, 0.0, 1.0, 2.0, 9.0, numpy.nan])
    numpy.testing.assert_allclose(switched(indices, numpy.ones(6)), [1, 1, numpy.e, -1, -1, numpy.nan], rtol=1e-15)


def test_unbatched_values_are_computed_once():
    counted = []

    @primitive
    def noted(x):
        counted.append(x)
        return x

    def f(x, y):
        start = loops.fori_loop(0, 5, lambda i, c: c * y, noted(y))
        return loops.fori_loop(0, 4, lambda i, c: c * x + start, x), start

    batched = vmap(f, in_axes=(0, None), out_axes=(0, None))
    x = numpy.linspace(0.1, 0.9, 5)
    batched(x, 1.0)
    counted.clear()
    values, shared = batched(x, 2.0)
    assert shared == 64.0
    assert len(counted) <= 2  # once for the samples and once for the unbatched output
    expected = x
    for _ in range(4):
        expected = expected * x + 64.0
    numpy.testing.assert_allclose(values, expected, rtol=1e-14)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
def test_reduced_outputs(reduce):
    def f(x, y):
        return loops.fori_loop(0, 20, lambda i, c: math.sin(c) + y, x), y * 2.0

    x = numpy.linspace(0.0, 3.0, 1001)
    each = vmap(lambda x: f(x, 0.3)[0])(x)
    found, fixed = vmap(f, in_axes=(0, None), reduce=reduce)(x, 0.3)
    assert found == pytest.approx(getattr(each, reduce)(), rel=1e-14)
    assert fixed == pytest.approx(0.6 * (1001 if reduce == "sum" else 1))


def test_empty_batches_and_float32():
    f = vmap(grad(lambda x: loops.fori_loop(0, 30, lambda i, c: math.tanh(c) + x, x)))
    assert f(numpy.empty(0)).shape == (0,)
    single = f(numpy.linspace(0, 1, 7, dtype=numpy.float32))
    assert single.dtype == numpy.float32
    numpy.testing.assert_allclose(single, f(numpy.linspace(0, 1, 7)), rtol=1e-5)


def test_bits_do_not_depend_on_batch_or_threads(monkeypatch):
    f = vmap(value_and_grad(lambda x: loops.fori_loop(0, 40, lambda i, c: math.sin(c) * x, x)))
    x = numpy.linspace(0.1, 1.5, 3000)
    whole = f(x)
    with threads(3):
        pieces = [f(x[:7]), f(x[7:1500]), f(x[1500:])]
    for i in range(2):
        assert numpy.concatenate([piece[i] for piece in pieces]).tobytes() == whole[i].tobytes()


def test_kernels_can_be_pickled_and_printed():
    f = jit(lambda x: loops.while_loop(lambda r: abs(r * r - x) > 1e-12, lambda r: (r + x / r) / 2, x))
    f(2.0)
    kernel = pickle.loads(pickle.dumps(make_kernel(f.program, [True])))
    out = numpy.empty((3, 1))
    kernel.run(numpy.empty(0), [numpy.array([4.0, 9.0, 2.0])], [out], 3, single=False)
    numpy.testing.assert_allclose(out[:, 0], [2.0, 3.0, numpy.sqrt(2.0)], rtol=1e-12)
    assert "while a condition holds" in str(kernel)
    assert kernel.memory > 0


def test_batched_python_functions_are_refused():
    @primitive
    def gamma(x):
        return x

    f = jit(lambda x: loops.fori_loop(0, 3, lambda i, c: gamma(c) + x, x))
    f(1.0)
    with pytest.raises(ValueError, match="gamma"):
        make_kernel(f.program, [True])


def test_several_instructions_read_the_same_result():
    recorded = jit(lambda x: loops.fori_loop(0, 3, lambda i, c: c * math.sin(c), x))
    recorded(0.5)
    code = recorded.program.code
    [call] = [row for row in code.rows if row[0] == CALL]
    rows = numpy.array([*code.rows, call, call], numpy.int32).ravel()
    outputs = [*code.outputs, code.count, code.count + 1]
    program = trusted(Code(code.inputs, code.constants, rows, code.calls, outputs, tables=code.tables))
    found = numpy.empty((5, 3))
    make_kernel(program, [True]).run(numpy.empty(0), [SAMPLES[:, 0]], [found], 5, single=False)
    assert (found == found[:, :1]).all()


@needs_timers
def test_an_infinite_loop_can_be_interrupted():
    f = vmap(lambda x: loops.while_loop(lambda c: c < 1.0, lambda c: c * 1.0, x))
    x = numpy.linspace(1, 2, 100)
    assert f(x).tolist() == x.tolist()
    with alarm(0.3):
        f(x - 1.0)


def test_lower_accepts_short_and_long_loops(monkeypatch):
    f = vmap(lambda x: loops.fori_loop(0, 5, lambda i, c: c * x + 1.0, 1.0))
    x = numpy.linspace(0.1, 0.9, 5)
    for most in (0, 20_000):
        monkeypatch.setattr(loop_kernel, "MOST_FLAT", most)
        lowered = pickle.loads(pickle.dumps(f.lower(x)))
        numpy.testing.assert_array_equal(lowered(x), f(x))


@pytest.mark.parametrize("order", [lambda f: f, grad], ids=["value", "grad"])
@pytest.mark.parametrize("outer", [0, 3])
@pytest.mark.parametrize("steps", [16, 17])
def test_loops_that_may_end_early_stay_loops(steps, outer, order, monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 20_000)

    def root(x):
        return loops.while_loop(lambda r: abs(r * r - x) > 1e-9, lambda r: 0.5 * (r + x / r), x, max_steps=steps)

    one = order((lambda x: loops.fori_loop(0, outer, lambda i, c: root(c) + x, x)) if outer else root)
    f, x = vmap(one), numpy.linspace(0.5, 4.0, 9)
    numpy.testing.assert_allclose(f(x), [one(number) for number in x.tolist()], rtol=1e-12)
    assert isinstance(f.kernel, LoopKernel) == (steps == 17)


def test_nested_batches_of_loops_without_a_limit_have_a_kernel():
    inner = numpy.linspace(0.5, 4.0, 900)
    root = lambda x: loops.while_loop(lambda r: abs(r * r - x) > 1e-9, lambda r: 0.5 * (r + x / r), x)  # noqa: E731
    f = vmap(lambda x: vmap(lambda y: root(x * y), reduce="sum")(inner))
    x = numpy.linspace(0.5, 2.0, 3)
    numpy.testing.assert_allclose(f(x), [numpy.sqrt(number * inner).sum() for number in x], rtol=1e-9)
    assert isinstance(f.kernel, LoopKernel)


@pytest.mark.parametrize("most", [1000, 2_000_000])
def test_nested_batches_of_any_length_have_a_kernel(most, monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_UNROLLED", most)
    inner = numpy.linspace(0.0, 1.0, 900)
    f = vmap(lambda x: vmap(lambda y: math.sin(x * y) + math.cos(x + y) * y, reduce="sum")(inner))
    x = numpy.linspace(0.1, 0.9, 3)
    expected = [(numpy.sin(v * inner) + numpy.cos(v + inner) * inner).sum() for v in x]
    numpy.testing.assert_allclose(f(x), expected, rtol=1e-12)
    assert isinstance(f.kernel, LoopKernel) == (most == 1000)


def test_an_unknown_instruction_set_is_refused(monkeypatch):
    monkeypatch.setenv("GRADWALK_INSTRUCTION_SET", "nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        vmap(lambda x: x * x)(numpy.ones(3))


def test_many_short_loops_are_not_all_unrolled(monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 20_000)
    monkeypatch.setattr(loop_kernel, "MOST_UNROLLED", 1000)

    def f(x):
        for _ in range(5):
            x = loops.fori_loop(0, 200, lambda i, c: math.sin(c) + 0.5, x)
        return x

    assert_same(f, numpy.linspace(0.1, 0.9, 4))
