"""Compare the ways of running a random structured program bit by bit: the program, its derivatives, second derivatives.

The ways are the interpreter, machine code, a program loaded from JSON, and the exported C. Any nan equals any nan, and
0.0 differs from -0.0.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from pprint import pformat
from typing import Any
from unittest.mock import patch

import numpy
from c_compiler import STRICT
from c_compiler import compiled as compiled_c
from libraries import IS_EXACT, with_loader
from structured_programs import SIZE, Block, all_results, objective, random_program

from gradwalk import export, grad, jit, jvp, value_and_grad, vmap
from gradwalk.backend.loops import loop_kernel
from gradwalk.program.native import compiler_process
from gradwalk.program.native.policy import Policy, compiling
from gradwalk.program.program import Program
from gradwalk.program.run.loop_runner import TooManyStepsError
from gradwalk.trees.tree import flatten, scalars

Arguments = tuple[float, float, float, Any]
EVERY = (0, 1, 2, 3)
DIRECTION: Arguments = (1.0, -0.5, 0.25, numpy.array([0.5, 1.5, -1.0, 0.125]))
C_FLAGS = ("-O1", "-ffp-contract=off", "-fno-builtin", "-fno-math-errno", "-Wno-unused")
EXTREME = (0.0, -0.0, 1.0, -3.0, 1e-300, 1e300, math.inf, -math.inf, math.nan)
ROUNDED_OTHERWISE = ("'fsum'", "'batch'")  # statements that numbers and recorded programs may sum in another order
ORDERS = ("value", "gradient", "forward", "reverse over reverse", "forward over reverse")


class DifferenceError(AssertionError):
    """Two ways of running a program gave different bits."""


def derivatives(program: Block) -> dict[str, Callable[..., Any]]:
    """Return the functions to compare: the program and its first and second derivatives."""
    f = objective(program)
    slopes = grad(f, EVERY)

    def slope(*arguments: Any) -> Any:
        x, y, z, a = slopes(*arguments)
        return sum([w * s for w, s in zip(DIRECTION[3], a, strict=True)], x - 0.5 * y + 0.25 * z)

    return {
        "value": all_results(program),
        "gradient": value_and_grad(f, EVERY),
        "forward": lambda *arguments: jvp(f, arguments, DIRECTION),
        "reverse over reverse": grad(slope, EVERY),
        "forward over reverse": lambda *arguments: jvp(slopes, arguments, DIRECTION),
    }


def points(seed: int) -> list[Arguments]:
    """Draw ordinary arguments and arguments with nan, infinity and zeros."""
    rng = random.Random(-1 - seed)
    ordinary = [[round(rng.uniform(-2.0, 2.0), 3) for _ in range(3 + SIZE)] for _ in range(3)]
    extreme = [rng.choice(EXTREME) if rng.random() < 0.5 else rng.uniform(-2.0, 2.0) for _ in range(3 + SIZE)]
    return [(x, y, z, numpy.array(a)) for x, y, z, *a in [*ordinary, extreme]]


def flat(result: Any) -> list[float]:
    return [float(x) for x in scalars(flatten(result, "the result")[0])]


def outcome(run: Callable[..., Any], at: Arguments) -> list[float] | str:
    """Return the numbers of a result, or the error that the user sees."""
    try:
        with numpy.errstate(all="ignore"):
            return flat(run(*at))
    except (ValueError, ArithmeticError, IndexError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


def is_same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def compare(order: str, way: str, found: list[float] | str, expected: list[float] | str, at: Any) -> None:
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        wrong = [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if not is_same(a, b)]
        if not wrong:
            return
        i = wrong[0]
        detail = f"result {i} is {found[i]!r} ({found[i].hex()}), expected {expected[i]!r} ({expected[i].hex()})"
    elif found == expected:
        return
    else:
        detail = f"{found!r}, expected {expected!r}"
    raise DifferenceError(f"{order}, {way}, at {flat(at)}: {detail}")


def check_program(
    program: Block, arguments: Sequence[Arguments], orders: Sequence[str] = ORDERS, folder: Path | None = None
) -> None:
    """Raise `DifferenceError` if two ways of running a program or its derivatives differ.

    Args:
        program: The program.
        arguments: The arguments to compare at.
        orders: The derivatives to compare.
        folder: A folder to compile C in; None to leave out C.
    """
    functions = derivatives(program)
    for order in orders:
        lanes = jit(functions[order], backend="lanes")
        expected = [outcome(lanes, at) for at in arguments]
        if all(isinstance(found, str) for found in expected) and not lanes.statistics.recordings:
            if "the condition still holds" in str(expected[0]):  # a loop over constants runs while it is recorded
                continue
            raise DifferenceError(f"{order}: it cannot be recorded: {expected[0]}")
        others = ways(functions[order])
        if "'batch'" not in repr(program):  # in files, samples become instructions, which sum up in another order
            others |= ways_by_files(lanes.program, folder)
        if order == "value" and not any(name in repr(program) for name in ROUNDED_OTHERWISE):
            others["plain Python"] = functions[order]
        for way, run in others.items():
            for at, right in zip(arguments, expected, strict=True):
                result = outcome(run, at)
                # C has no exceptions, and recorded programs leave out loops whose results are not used.
                if way not in ("C", "plain Python") or (isinstance(right, list) and isinstance(result, list)):
                    compare(order, way, result, right, at)
        if "machine code" in others:
            check_backend(order, others["machine code"])


def check_backend(order: str, f: Any) -> None:
    """Raise `DifferenceError` if a recorded program was not compiled although it says no reason of its own."""
    if not f.statistics.recordings:
        return
    backend = f.statistics.backends[""]
    if not backend.startswith(("llvm", "interpreter: it ", "interpreter: gradwalk runs uncompiled")):
        raise DifferenceError(f"{order}: there is no machine code: {backend}")


def ways(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return the ways of running a function besides the interpreter: machine code, if llvmlite is installed."""
    return {"machine code": jit(function, backend="llvm")} if compiler_process.is_installed() else {}


def ways_by_files(recorded: Program, folder: Path | None) -> dict[str, Callable[..., Any]]:
    """Return the ways of running a program that was written to a file: JSON and, in a folder, C."""
    text = recorded.to_json()
    found = {"loaded": on_numbers(loaded(text, "lanes"))}
    if compiler_process.is_installed():
        found["machine code of a loaded program"] = on_numbers(loaded(text, "llvm"))
    if folder is not None:
        in_c = compiled_c(folder, recorded.to_c(), *C_FLAGS)
        found["C"] = lambda *arguments: in_c(flat(arguments), len(recorded.outputs))
    return found


def loaded(text: str, backend: str) -> Callable[[Any], Any]:
    """Return the function that runs a program that was saved as JSON."""
    policy = Policy(backend)
    with compiling(policy):
        program = Program.from_json(text)

    def run(numbers: Any) -> Any:
        with compiling(policy):
            return program.run(numbers)

    return run


def on_numbers(run: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *arguments: run(numpy.array(flat(arguments)))


def parts_left_out(program: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield simpler programs: without a statement, with the body of a loop or branch in its place, or with less in it.

    Relative references keep all of them valid.
    """
    for i, statement in enumerate(program):
        others = program[:i], program[i + 1 :]
        if len(program) > 1:
            yield (*others[0], *others[1])
        blocks = [(j, part) for j, part in enumerate(statement) if is_block(part)]
        for _, block in blocks:
            yield (*others[0], *block, *others[1])
        for j, block in blocks:
            for simpler in parts_left_out(block):
                yield (*others[0], (*statement[:j], simpler, *statement[j + 1 :]), *others[1])


def is_block(part: Any) -> bool:
    return isinstance(part, tuple) and bool(part) and all(isinstance(x, tuple) and isinstance(x[0], str) for x in part)


def reduced(program: Block, fails: Callable[[Block], bool], most: int = 400) -> Block:
    """Return a simpler program that still fails; try at most `most` programs."""
    tries = itertools.count()
    while True:
        for simpler in parts_left_out(program):
            if next(tries) >= most:
                return program
            if fails(simpler):
                program = simpler
                break
        else:
            return program


def program_of(seed: int) -> Block:
    """Draw the program of a seed. Each fourth program has only exact operations, so that batches give the same bits."""
    return random_program(seed, is_exact=seed % 4 == 0)


def check_seed(seed: int, folder: Path | None = None, program: Block | None = None) -> None:
    """Check the program of a seed, or a simpler program with the arguments of the seed.

    C is compiled in `folder`; None leaves out C.
    """
    checked = program_of(seed) if program is None else program
    check_program(checked, points(seed), folder=folder)
    if seed % 4 == 0:
        check_batch(checked, points(seed))


def failure_of(seed: int, folder: Path | None = None, most: int = 400) -> str:
    """Return a report if the program of a seed fails, with the error and a simpler program that fails; else ""."""

    def error_of(program: Block | None) -> Exception | None:
        try:
            check_seed(seed, folder, program)
        except Exception as error:
            return error
        return None

    error = error_of(None)
    if error is None:
        return ""
    program = reduced(program_of(seed), lambda p: type(error_of(p)) is type(error), most)
    last = error_of(program) or error
    recorded = jit(all_results(program))
    found = outcome(recorded, points(seed)[0])
    listing = recorded.program if recorded.statistics.recordings else found
    return f"seed {seed}: {error}\nreduced: {last!r}\n{pformat(program, width=120)}\n{listing}"


def check_lanes(seed: int) -> None:
    """Compare machine code for lanes with interpreted loops on a batch, bit by bit, for the program of a seed.

    The seed chooses which arguments are the same for all samples, the dtype, the order of the derivative, and which
    loops are unrolled.
    """
    rng = random.Random(seed)
    program, order = random_program(seed), rng.choice(ORDERS)
    kind = rng.choice([numpy.float64, numpy.float64, numpy.float32])
    axes, given = batch_of(rng, seed, kind)
    results = {}
    with patch.object(loop_kernel, "MOST_FLAT", rng.choice([0, 100, 1000])):
        for backend in ("lanes", "llvm"):
            batched = jit(vmap(derivatives(program)[order], in_axes=axes), backend=backend)
            results[backend] = outcome(batched, given)
    compare(order, f"lanes of {kind.__name__}, in_axes={axes}", results["llvm"], results["lanes"], given)
    if batched.statistics.recordings:
        check_is_compiled(order, batched.statistics.backends)


def batch_of(rng: random.Random, seed: int, kind: type[Any]) -> tuple[tuple[int | None, ...], Arguments]:
    """Draw which arguments are batched, and the arguments."""
    samples = [at for offset in range(rng.randint(1, 4)) for at in points(seed + 1000 * offset)]
    axes = rng.choice([axes for axes in itertools.product([0, None], repeat=4) if any(axis == 0 for axis in axes)])
    with numpy.errstate(all="ignore"):
        columns = [numpy.array(column, kind) for column in zip(*samples, strict=True)]
    x, y, z, a = [column if axis == 0 else at for column, axis, at in zip(columns, axes, samples[0], strict=True)]
    return axes, (x, y, z, a)


def check_exported(seed: int, folder: Path) -> None:
    """Compare an exported library with interpreted loops on a batch, for the program of a seed.

    The bits are the same where batches in C call the same functions: see `libraries.IS_EXACT`.
    """
    rng = random.Random(seed)
    program, order = random_program(seed), rng.choice(ORDERS)
    axes, given = batch_of(rng, seed, numpy.float64)
    with patch.object(loop_kernel, "MOST_FLAT", rng.choice([0, 100, 1000, loop_kernel.MOST_FLAT])):
        batched = jit(vmap(derivatives(program)[order], in_axes=axes), backend="lanes")
        expected = outcome(batched, given)
        if isinstance(expected, str):
            return
        library = export(batched, folder / f"{seed}", name="library")
    found = outcome(with_loader(library, "library", *STRICT, "-O0"), given)
    if IS_EXACT and (library / "library_lanes.h").exists():
        compare(order, f"exported library, in_axes={axes}", found, expected, given)
    elif isinstance(found, str) or not is_close(found, expected):
        raise DifferenceError(f"{order}, exported library, at {given}: {found!r}, expected {expected!r}")


def check_is_compiled(order: str, backends: Mapping[str, str]) -> None:
    """Raise `DifferenceError` if a batch was not compiled although its program has no reason for that."""
    reasons = ("llvm", "lanes: it ", "lanes: gradwalk runs uncompiled", "lanes: the processor has no AVX2")
    for kind in ("float64", "float32"):
        if not backends.get(kind, "llvm").startswith(reasons):
            raise DifferenceError(f"{order}: there is no machine code: {backends}")


def check_batch(program: Block, arguments: Sequence[Arguments], orders: Sequence[str] = ORDERS) -> None:
    """Compare a batch with single samples: values bit by bit, derivatives within rounding.

    A batch unrolls short loops, which adds up cotangents in another order.
    """
    functions = derivatives(program)
    columns = [numpy.array(column) for column in zip(*arguments, strict=True)]
    for order in orders:
        single = jit(functions[order], backend="lanes")
        everything = [outcome(single, at) for at in arguments]
        try:
            leaves = flatten(vmap(functions[order])(*columns), "the result")[0]
        except TooManyStepsError:  # of a loop that depends on no sample
            if not all(str(expected).startswith("TooManyStepsError") for expected in everything):
                raise
            continue
        for i, (at, expected) in enumerate(zip(arguments, everything, strict=True)):
            found = [float(x) for leaf in leaves for x in numpy.ravel(numpy.asarray(leaf)[i])]
            if isinstance(expected, str):  # a batch has no exceptions
                continue
            if order == "value" or not is_close(found, expected):
                compare(order, "batch", found, expected, at)


def is_close(found: Sequence[float], expected: Sequence[float]) -> bool:
    """Return whether finite derivatives agree, relative to the largest one."""
    pairs = [(a, b) for a, b in zip(found, expected, strict=True) if math.isfinite(a) and math.isfinite(b)]
    scale = max([1.0, *(abs(b) for _, b in pairs)])
    return all(abs(a - b) <= 1e-9 * scale for a, b in pairs)
