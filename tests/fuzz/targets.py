"""The targets of the fuzz campaign: properties that must hold for all drawn examples.

`test_fuzz.py` runs each target as a Hypothesis test; `tools/fuzz.py` runs them for a chosen time.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import itertools
import json
import math
import random
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import expressions
import numpy
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase
from kernels import ALL, EXACT, Case, cases, on_lanes
from kernels import same as same_bits
from loop_programs import REDUCTIONS, Plain, reference, trees
from loop_programs import Recorded as RecordedLoops
from loop_programs import evaluate as evaluate_loops
from programs import EVERY, EXTREME, OPCODES, ORDINARY, Program, as_recorded, as_values, programs
from same_bits import check_exported, check_lanes, check_seed

from gradwalk import (
    Graph,
    Value,
    check,
    draw,
    grad,
    jacfwd,
    jacrev,
    jit,
    jvp,
    take,
    threads,
    value_and_grad,
    vmap,
    walk,
)
from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.cli.expression import ExpressionError, evaluate, parse
from gradwalk.graph.node import GraphError
from gradwalk.program.native import compiler_process
from gradwalk.program.program import Program as Recorded
from gradwalk.program.program import ProgramError
from gradwalk.program.tape import Tape
from gradwalk.value.apply import apply

CORPUS = Path(__file__).parent / "corpus"  # examples that failed before


@dataclass(frozen=True)
class Target:
    """A check and the strategies that draw its arguments."""

    check: Callable[..., None]
    strategies: tuple[st.SearchStrategy[Any], ...]

    @property
    def name(self) -> str:
        return self.check.__name__

    def as_test(self) -> Callable[[], None]:
        """Return the target as a Hypothesis test with the settings of the profile."""
        return given(*self.strategies)(self.check)

    def campaign(self, examples: int, corpus: Path = CORPUS) -> Callable[[], None]:
        """Return a test that tries the corpus, then new examples, and stores those that fail."""
        return settings(
            max_examples=examples,
            deadline=None,
            derandomize=False,  # derandomized tests do not use a corpus
            database=DirectoryBasedExampleDatabase(corpus),
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        )(self.as_test())


TARGETS: list[Target] = []
SAME_BITS = ("-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-builtin", "-w", "-shared", "-fPIC")
SEEDS = st.integers(0, 2**32 - 1)

KINDS = st.sampled_from([numpy.float64, numpy.float32])

# Replacements for parts of documents.
LETTERS = ['"', "0", "-1", "{", "]", "null", "\0", "é"]
VALUES = [None, True, -1, 0, 1, 2**31, 2**70, math.inf, "", "nan", "add", [], {}, [0], "x" * 300]


def target(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], None]:
    def add(check: Callable[..., None]) -> None:
        TARGETS.append(Target(check, strategies))

    return add


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def asks_nan_for_its_sign(program: Program) -> bool:
    """Return whether a number takes the sign of a nan, which IEEE 754 leaves undefined."""
    found = []

    def step(name: str, *operands: Any) -> Any:
        found.append(name == "copysign" and math.isnan(operands[1]))
        return applied(name, *operands)

    program.run(lambda number: number, step)
    return any(found)


def with_derivatives(program: Program) -> Recorded:
    """Record the last result of a program and its gradient as one program."""
    tape = Tape()
    leaves, out = program.run(
        lambda _: tape.input(),
        lambda name, *operands: tape.append(name, *[tape.constant(x) if isinstance(x, float) else x for x in operands]),
    )
    return tape.program([out, *tape.reverse([(out, tape.constant(1.0))], leaves)])


@target(programs(EXTREME, EVERY, longest=20))
def values_and_recordings_agree(program: Program) -> None:
    """Check that the recorded program gives the same bits as Values."""
    assume(not asks_nan_for_its_sign(program))
    _, root = as_values(program)
    recorded = as_recorded(program)
    assert same(root.data, recorded.run(program.leaves)[0])
    assert str(Recorded.from_json(recorded.to_json())) == str(recorded)


@target(programs(ORDINARY, EVERY, longest=15))
def gradients_agree(program: Program) -> None:
    """Check that `backward`, reverse mode on a tape and forward mode agree within rounding."""
    leaves, root = as_values(program)
    root.backward()
    found = with_derivatives(program).run(program.leaves)

    def f(x: Any) -> Any:
        numbers = iter(x)
        return program.run(lambda _: next(numbers), applied)[1]

    value, gradient = value_and_grad(f)(list(program.leaves))
    assert same(value, root.data)
    for i, leaf in enumerate(leaves):
        seed = [float(i == j) for j in range(len(leaves))]
        tangent = jvp(f, (list(program.leaves),), (seed,))[1]
        for other in (found[1 + i], gradient[i], tangent):
            assert close(leaf.grad, float(other)), (i, leaf.grad, other)


@target(programs(ORDINARY, EVERY, longest=12), st.integers(0, 11))
def takes_agree(program: Program, number: int) -> None:
    """Check that `take` with a traced index returns the element and its gradient in each way of running."""
    count = min(len(program.leaves) + len(program.steps), 6)
    index = number % (2 * count) - count

    def table(x: Any) -> list[Any]:
        results, numbers = list(x), iter(x)
        program.run(lambda _: next(numbers), lambda *step: results.append(applied(*step)) or results[-1])
        return results[-count:]

    def f(x: Any, i: Any) -> Any:
        return take(table(x), i) * 1.0

    leaves, again = [Value(x) for x in program.leaves], [Value(x) for x in program.leaves]
    element, taken = table(leaves)[index] * 1.0, f(again, Value(index))
    element.backward()
    taken.backward()
    point, recorded = list(program.leaves), jit(value_and_grad(f))
    recorded(point, 0)
    lanes = vmap(value_and_grad(f), in_axes=(None, 0))(point, numpy.array([0, index]))
    found = [
        (taken.data, [v.grad for v in again]),
        value_and_grad(f)(point, index),
        recorded(point, index),
        (lanes[0][1], [gradients[1] for gradients in lanes[1]]),
    ]
    for value, gradient in found:
        for ours, expected in zip([value, *gradient], [element.data, *[v.grad for v in leaves]], strict=True):
            assert close(float(ours), expected), (ours, expected)


def applied(name: str, *operands: Any) -> Any:
    return apply(OPCODES[name], *operands)


def close(a: float, b: float) -> bool:
    """Return whether two numbers agree within rounding; any two nonfinite numbers agree, as sums may give nan."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return True
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


LOOPS = trees(3)
POINTS = st.tuples(ORDINARY, ORDINARY)


def loop_function(tree: Any) -> Callable[[Any, Any], Any]:
    """Return a program as a function of two inputs whose result depends on both."""
    return lambda x, y: evaluate_loops(tree, RecordedLoops(), (x, y)) * 1.0 + 0.0 * x * y


def settled(tree: Any, numbers: tuple[float, float]) -> Any:
    """Compute the result in plain Python; reject programs with a comparison so close that rounding may decide it."""
    found, margin = reference(tree, numbers)
    assume(margin > 1e-6 and max(abs(found.value), abs(found.slopes).max(), abs(found.bends).max()) < 1e6)
    return found


def check_numbers(way: str, found: Any, expected: Any) -> None:
    found = numpy.asarray(found, float)
    assert numpy.allclose(found, expected, rtol=1e-8, atol=1e-8), (way, found, expected)


@target(LOOPS, POINTS, POINTS)
def loops_agree(tree: Any, point: tuple[float, float], other: tuple[float, float]) -> None:
    """Check that loops and branches give the values and gradients of plain Python in each way of running."""
    expected = settled(tree, point)
    f = loop_function(tree)
    both = (0, 1)
    leaves = [Value(x) for x in point]
    root = f(*leaves)
    root.backward()
    check_numbers("values", [root.data], [expected.value])
    check_numbers("backward", [leaf.grad for leaf in leaves], expected.slopes)
    pair = value_and_grad(f, argnums=both)
    recorded, recorded_pair, followed = jit(f), jit(pair), jit(pair, branches="record")
    for compiled in (recorded, recorded_pair, followed):
        compiled(*other)  # other numbers, so that constants in the recording would be noticed
    columns = numpy.array([other, point, other]).T
    lanes = vmap(pair)(*columns)
    loaded = Recorded.from_json(recorded_pair.program.to_json()).run(point)
    check_numbers("jit", recorded(*point), expected.value)
    check_numbers("vmap", vmap(f)(*columns)[1], expected.value)
    for way, (value, slopes) in {
        "grad": pair(*point),
        "jit of grad": recorded_pair(*point),
        "branches": followed(*point),
        "vmap of grad": (lanes[0][1], [column[1] for column in lanes[1]]),
        "loaded": (loaded[0], loaded[1:]),
        "forward": (expected.value, [jvp(f, point, seed)[1] for seed in ((1.0, 0.0), (0.0, 1.0))]),
    }.items():
        check_numbers(way, value, expected.value)
        check_numbers(way, slopes, expected.slopes)


@target(trees(2), POINTS, POINTS)
def second_derivatives_of_loops_agree(tree: Any, point: tuple[float, float], other: tuple[float, float]) -> None:
    """Check second derivatives by reverse over reverse and forward over reverse mode."""
    expected = settled(tree, point).bends
    f = loop_function(tree)
    for outer in (jacrev, jacfwd):
        matrix = outer(grad(f, argnums=(0, 1)), argnums=(0, 1))
        recorded = jit(matrix)
        recorded(*other)
        check_numbers("eager", matrix(*point), expected)
        check_numbers("jit", recorded(*point), expected)
        check_numbers("vmap", numpy.asarray(vmap(matrix)(*numpy.array([other, point]).T))[..., 1], expected)


@target(trees(2), st.lists(ORDINARY, min_size=1, max_size=5), ORDINARY, st.sampled_from(REDUCTIONS))
def reductions_of_loops_agree(tree: Any, xs: list[float], y: float, kind: str) -> None:
    """Check that reductions of a batch give the value and derivative of plain Python."""
    language = Plain()
    samples = [settled(tree, (x, y)) for x in xs]
    expected = language.reduce(kind, samples)
    assume(language.margin > 1e-6 and abs(expected.value) < 1e6)
    batched = vmap(loop_function(tree), in_axes=(0, None), reduce=kind)
    columns = numpy.array(xs)
    check_numbers("vmap", batched(columns, y), expected.value)
    pair = value_and_grad(batched, argnums=1)
    recorded = jit(pair)
    recorded(columns[::-1] + 0.25, y + 0.5)
    for way, (value, slope) in {"grad": pair(columns, y), "jit of grad": recorded(columns, y)}.items():
        check_numbers(way, value, expected.value)
        check_numbers(way, slope, expected.slopes[1])


@target(SEEDS)
def structured_programs_agree(seed: int) -> None:
    """Check that random structured programs give the same bits in each way of running, up to second derivatives."""
    check_seed(seed)


@target(SEEDS)
def loops_on_lanes_agree(seed: int) -> None:
    """Check that machine code for batches of loops gives the bits of the lanes."""
    if compiler_process.is_installed():
        check_lanes(seed)


@target(
    cases(list(EXACT)), SEEDS, st.integers(0, 300), st.sampled_from([numpy.float64, numpy.float32]), st.integers(1, 3)
)
def lanes_agree(case: Case, seed: int, count: int, kind: Any, number: int) -> None:
    """Check that lanes give the bits of single samples, with any memory layout and number of threads."""
    shared, columns = case.batch(seed, count, kind)
    kernel = LaneKernel(case.program, case.varies, lanes=16)
    with threads(number):
        found = on_lanes(kernel, shared, columns, count, kind)
    with numpy.errstate(all="ignore"):
        if kind is numpy.float64:
            expected = case.one_at_a_time(shared, columns, count)
        else:
            expected = case.by_numpy(shared, columns, count, kind)
    assert same_bits(found, expected).all()


@target(cases(ALL), SEEDS, st.integers(1, 300), st.integers(1, 3))
def sums_agree(case: Case, seed: int, count: int, number: int) -> None:
    """Check that sums over a batch equal the sums of all samples, with any number of threads."""
    shared, columns = case.batch(seed, count)
    each = on_lanes(LaneKernel(case.program, case.varies, lanes=16), shared, columns, count)
    kernel = LaneKernel(case.program, case.varies, reduced=True, lanes=16)
    found = on_lanes(kernel, shared, columns, count)
    with threads(number):
        assert same_bits(found, on_lanes(kernel, shared, columns, count)).all()
    with numpy.errstate(all="ignore"):
        size = numpy.abs(each).sum(axis=0)
        finite = numpy.isfinite(size)
        assert (numpy.abs(found - each.sum(axis=0)) <= 1e-12 * size)[finite].all()


FILES = itertools.count()


@target(st.lists(programs(EXTREME, EVERY, longest=12), min_size=20, max_size=20))
def c_agrees(drawn: list[Program]) -> None:
    """Check that the C source computes the same bits."""
    if not shutil.which("cc"):
        return
    assume(not any(map(asks_nan_for_its_sign, drawn)))
    program = as_recorded(*drawn)
    numbers = [x for part in drawn for x in part.leaves]
    results = (ctypes.c_double * len(drawn))()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{next(FILES)}.c")  # a unique name, because a library is loaded only once
        path.write_text(program.to_c(), encoding="ascii")
        library = path.with_suffix(".so")
        subprocess.run(["cc", *SAME_BITS, str(path), "-o", str(library), "-lm"], check=True)
        ctypes.CDLL(str(library)).f((ctypes.c_double * len(numbers))(*numbers), results)
    assert all(map(same, results, program.run(numbers)))


@target(SEEDS)
def exported_libraries_agree(seed: int) -> None:
    """Check that exported libraries give the bits of the lanes for batches of loops and branches."""
    if shutil.which("cc"):
        with tempfile.TemporaryDirectory() as folder:
            check_exported(seed, Path(folder))


def mutated(text: str, draw: random.Random) -> str:
    """Replace parts of a document: characters, or values anywhere in it."""
    if draw.random() < 0.5:
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(text) + 1)
            text = text[:place] + draw.choice(LETTERS) + text[place + draw.randrange(3) :]
        return text
    document = json.loads(text)
    for _ in range(draw.randint(1, 3)):
        item = document
        while isinstance(item, (dict, list)) and item:
            key = draw.choice(list(item)) if isinstance(item, dict) else draw.randrange(len(item))
            if draw.random() < 0.4 or not isinstance(item[key], (dict, list)):
                item[key] = copy.deepcopy(draw.choice(VALUES))  # a later change must not put it into itself
                break
            item = item[key]
    return json.dumps(document)


@target(programs(EXTREME, EVERY, longest=8), SEEDS)
def documents_of_graphs_are_read_or_refused(program: Program, seed: int) -> None:
    """Check that a damaged document raises `GraphError` or gives a graph that every view can show."""
    _, root = as_values(program)
    dice = random.Random(seed)
    recorded = Graph.record(root)
    text = recorded.to_json() if dice.random() < 0.5 else json.dumps(recorded.to_columns())
    try:
        graph = Graph.from_json(mutated(text, dice))
    except GraphError:
        return
    assert draw(graph).svg.startswith("<svg")
    if len(graph.outputs) == 1:
        str(walk(graph))
        with contextlib.suppress(ValueError):  # numbers that do not match their operation
            str(check(graph))


@target(programs(EXTREME, EVERY, longest=8), SEEDS)
def documents_of_programs_are_read_or_refused(program: Program, seed: int) -> None:
    """Check that a damaged document raises `ProgramError` or gives a program that runs."""
    try:
        found = Recorded.from_json(mutated(as_recorded(program).to_json(), random.Random(seed)))
    except ProgramError:
        return
    assert len(found.run(numpy.zeros(found.inputs))) == len(found.outputs)


@target(st.one_of(SEEDS, st.text(max_size=40)))
def expressions_are_read_or_refused(given_text: int | str) -> None:
    """Check that any text raises `ExpressionError` or can be evaluated and walked."""
    text = given_text
    if isinstance(text, int):
        drawn = random.Random(text)
        text = drawn.choice((expressions.expression, expressions.program, expressions.broken, expressions.soup))(drawn)
    try:
        parsed = parse(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            root, _ = evaluate(parsed, dict.fromkeys(parsed.names, 1.5))
    except ExpressionError:
        return
    root.backward()
    str(walk(root))
