"""Exported libraries: all compilers accept them, they give the bits of this process, and none is half-written."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from c_compiler import installed, needs_program
from libraries import EXACT, IS_EXACT, with_loader

from gradwalk import (
    BatchProgram,
    Program,
    ProgramError,
    Value,
    export,
    grad,
    hessian,
    jacobian,
    jit,
    loops,
    math,
    primitive,
    value_and_grad,
    vmap,
)
from gradwalk import numpy as gnp
from gradwalk.backend.loops import loop_kernel
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import TABLE
from gradwalk.value.apply import apply

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
RNG = numpy.random.default_rng(0)
W, X, Y = numpy.array([0.5, -1.0, 2.0]), RNG.standard_normal((5, 3)), RNG.standard_normal(5)


def loss(w: Any, x: Any, y: Any) -> Any:
    return (math.tanh(w @ x) - y) ** 2


def option(spot: Any, strike: Any, rate: Any, volatility: Any, years: Any) -> Any:
    deviation = volatility * math.sqrt(years)
    d = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / deviation
    below = lambda x: 0.5 * (1 + math.erf(x / numpy.sqrt(2.0)))  # noqa: E731
    return spot * below(d) - strike * math.exp(-rate * years) * below(d - deviation)


def path(market: Any, shocks: Any) -> Any:
    x, total = math.log(market[0]), 0.0
    for shock in shocks:
        x = x + (market[1] + market[2] * shock)
        total = total + math.exp(x)
    return math.maximum(total / len(shocks) - 1.0, 0.0)


def scanned(w: Any, x: Any) -> Any:
    last, out = loops.scan(lambda c, row: (math.sin(c) * row + w[1], c), w[0], x)
    return last + out.sum()


def counted(w: Any, x: Any) -> Any:
    return loops.fori_loop(0, 40, lambda i, c: math.cos(c + 0.1 * i) * w[0], x[0])


def repeated(w: Any, x: Any) -> Any:
    return loops.while_loop(lambda c: c < 5.0, lambda c: c * 1.5 + 1.0, x[0] ** 2) * w[0]


def limited(w: Any, x: Any) -> Any:
    """Run a loop that takes too many steps for some samples, and whose steps select branches and run a loop."""

    def root(x: Any) -> Any:
        return loops.while_loop(lambda r: abs(r * r - x) > 1e-9, lambda r: 0.5 * (r + x / r), 1.0 + x, max_steps=30)

    branches = [lambda c: 1.3 * c + w[0], lambda c: c + 0.1 * math.exp(-c), lambda c: c + root(c), lambda c: c + 0.5]
    step = lambda c: loops.switch(math.floor(c) % 4.0, branches, c)  # noqa: E731
    start = loops.while_loop(lambda c: c < 0.0, lambda c: c * x[1], x[0] ** 2, max_steps=0)
    return loops.while_loop(lambda c: c < 6.0, step, start, max_steps=18) * w[1]


def same_for_all(w: Any, x: Any) -> Any:
    """Run a loop whose condition is the same for all samples, but not its steps."""
    step = lambda c: (0.5 * c[0], c[1] + loops.cond(c[0] > w[0], math.sin, math.cos, c[1] * x[1]))  # noqa: E731
    return loops.while_loop(lambda c: c[0] > 1e-3, step, (w[2], x[0]), max_steps=40)[1]


def segmented(w: Any, x: Any) -> Any:
    return loops.fori_loop(0, 300, lambda i, c: math.sin(c) * w[0] + 0.01 * i, x[0], checkpoint="sqrt")


def chosen(w: Any, x: Any) -> Any:
    return loops.cond(x[0] > 1.0, lambda: w @ x, lambda: math.exp(x[1])) + math.take([1.0, x[2]], x[0] > 0.5)


def looked_up(w: Any, x: Any) -> Any:
    return math.take(w, math.floor(2.0 * x[0])) * x[1] + math.take(x, math.floor(x[2]))


def tree(w: Any, p: Any) -> Any:
    return {"b": (p["x"] @ w, [p["y"] > 1.0]), "a": gnp.outer(p["x"], p["x"]), "n": None, "same": w * 2.0}


def every(x: Any, y: Any, z: Any) -> Any:
    return [apply(OPCODES[row.name], *(x, y, z)[: row.arity]) for row in TABLE]


OF_ONE = {
    "option": (value_and_grad(option, (0, 1, 2, 3, 4)), (100.0, 105.0, 0.03, 0.2, 1.5)),
    "hessian": (hessian(option, (0, 3)), (100.0, 105.0, 0.03, 0.2, 1.5)),
    "jacobian": (jacobian(lambda w: gnp.sin(gnp.outer(w, w))), (W,)),
    "scan": (value_and_grad(scanned), (W, X[0])),
    "while": (value_and_grad(repeated), (W, X[0])),
    "choice": (value_and_grad(chosen), (W, X[0])),
    "tree": (tree, (W, {"x": X[0], "y": 1.5})),
    "complex": (lambda z: (z * z, abs(z)), (1.5 - 0.5j,)),
    "loop": (jit(lambda x: loops.fori_loop(0, 5, lambda i, c: math.sin(c) * x, x)), (0.5,)),
    "constant": (lambda x: 3.0, (0.5,)),
}
OF_BATCHES = {
    "loss": (value_and_grad(loss), (None, 0, 0), (W, X, Y)),
    "option": (value_and_grad(option, (0, 1, 2, 3, 4)), 0, tuple(abs(RNG.standard_normal((5, 9))) + 0.5)),
    "path": (value_and_grad(path), (None, 1), (numpy.array([1.0, 0.01, 0.1]), RNG.standard_normal((12, 9)))),
    "scan": (value_and_grad(scanned), (None, 0), (W, X)),
    "count": (value_and_grad(counted), (None, 0), (W, X)),
    "while": (value_and_grad(repeated), (None, 0), (W, X)),
    "while, reverse": (value_and_grad(repeated, 1), (None, 0), (W, X)),
    "limited": (limited, (None, 0), (W, X)),
    "limited, reverse": (value_and_grad(limited, (0, 1)), (None, 0), (W, X)),
    "limited, reverse over reverse": (grad(lambda w, x: grad(limited)(w, x) @ w), (None, 0), (W, X)),
    "same": (value_and_grad(same_for_all), (None, 0), (W, X)),
    "segments": (value_and_grad(segmented), (None, 0), (W, X)),
    "choice": (value_and_grad(chosen), (None, 0), (W, X)),
    "table": (value_and_grad(looked_up), (None, 0), (abs(W), abs(X))),
    "tree": (tree, (None, {"x": 0, "y": 0}), (W, {"x": X, "y": Y})),
    "shared": (lambda w, x: (w @ w, x * w[0], x), (None, 0), (W, Y)),
    "complex": (lambda z, x: z * x, (None, 0), (1.5 - 0.5j, Y)),
    "products": (lambda a, x: x[0] * x[1] + a * x[2], (None, 0), (2.0, X)),
    "every": (every, 0, (Y, Y, Y)),
}
SAMPLE_BY_SAMPLE = {"while, reverse", "table"}  # nothing limits the steps; samples write to different places


def recorded(f: Any, args: Any) -> Any:
    function = jit(f)
    function(*args)
    return function


def batched(name: str, reduce: str | None) -> Any:
    f, axes, args = OF_BATCHES[name]
    function = jit(vmap(f, in_axes=axes, reduce=reduce), backend="lanes")
    function(*args)
    return function


def run_test(
    folder: Path, name: str, *flags: str, exact: bool, cc: str = "cc", libraries: tuple[str, ...] = ("-lm",)
) -> str:
    """Compile a library with its test, run the test, and return what it prints."""
    program = folder / "test"
    files = [folder / f"{name}.c", folder / f"test_{name}.c"]
    command = [*installed_command(cc), *WARNINGS, *EXACT, *flags, *files, "-o", program, *libraries]
    subprocess.run(command, check=True)
    run = subprocess.run([program, *(["exact"] if exact else [])], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def installed_command(cc: str) -> list[str]:
    first, *others = cc.split()
    return [installed(first), *others]


@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one_sample(name, tmp_path):
    f, args = OF_ONE[name]
    folder = export(recorded(f, args), tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", "-O0", exact=True)


@pytest.mark.parametrize("reduce", [None, "mean"])
@pytest.mark.parametrize("name", OF_BATCHES)
def test_batches(name, reduce, tmp_path):
    folder = export(batched(name, reduce), tmp_path / "library", name="library")
    is_on_lanes = name not in SAMPLE_BY_SAMPLE
    assert (folder / "library_lanes.h").exists() == is_on_lanes or name == "table"
    run_test(folder, "library", "-std=c99", "-O0", exact=IS_EXACT and is_on_lanes)


def assert_close(found: Any, expected: Any) -> None:
    """Compare two trees of results: their structure exactly, their numbers closely."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_close(found[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert type(found) is type(expected)
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other)
    elif expected is None:
        assert found is None
    else:
        assert numpy.shape(found) == numpy.shape(expected)
        assert numpy.asarray(found).dtype == numpy.asarray(expected).dtype
        numpy.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


class TestPythonLoader:
    @pytest.mark.parametrize("name", ["option", "jacobian", "tree", "complex", "constant"])
    def test_functions_of_one_sample(self, name, tmp_path):
        f, args = OF_ONE[name]
        function = recorded(f, args)
        assert_close(with_loader(export(function, tmp_path / "one", name="single"), "single")(*args), function(*args))

    @pytest.mark.parametrize("reduce", [None, "mean"])
    @pytest.mark.parametrize("name", ["loss", "path", "tree", "shared", "complex"])
    def test_batches(self, name, reduce, tmp_path):
        *_, args = OF_BATCHES[name]
        function = batched(name, reduce)
        folder = export(function, tmp_path / "batch", name="batch")
        assert_close(with_loader(folder, "batch")(*args), function(*args))

    def test_axes_and_strides(self, tmp_path):
        f = lambda a, x, *, y: (a @ x * y, gnp.outer(x, x))  # noqa: E731
        function = jit(vmap(f, in_axes=(2, 1), out_axes=(1, -1)))
        a, x, y = RNG.standard_normal((4, 3, 40)), RNG.standard_normal((3, 40)), RNG.standard_normal(80)[::2]
        expected = function(a, x, y=y)
        run = with_loader(export(function, tmp_path / "batch", name="batch"), "batch")
        assert_close(run(a, x, y=y), expected)
        assert_close(
            run(numpy.asfortranarray(a), x[::-1].copy()[::-1], y=y.astype(numpy.float32).astype(float)),
            function(numpy.asfortranarray(a), x, y=y.astype(numpy.float32).astype(float)),
        )
        with pytest.raises(ValueError, match="batches have different sizes"):
            run(a, x, y=y[1:])
        with pytest.raises(ValueError, match="x must have the shape"):
            run(a, x[:2], y=y)
        with pytest.raises(TypeError, match=r"batch takes the arguments \(a, x, y=\)"):
            run(a, x)

    def test_empty_batches(self, tmp_path):
        function = jit(vmap(lambda n, x: (n * 2.0, x), in_axes=(None, 0), out_axes=(None, 0)))
        function(2.0, Y)
        run = with_loader(export(function, tmp_path / "batch", name="batch"), "batch")
        assert_close(run(2.0, Y), function(2.0, Y))
        with pytest.raises(ValueError, match="need at least one sample"):
            run(2.0, Y[:0])

    def test_programs_take_one_array(self, tmp_path):
        program = recorded(loss, (W, X[0], 0.5)).program
        run = with_loader(export(program, tmp_path / "one", name="single"), "single")
        numbers = numpy.arange(7.0)
        numpy.testing.assert_allclose(run(numbers), program.run(numbers), rtol=1e-14)

    def test_the_loader_does_not_import_gradwalk(self, tmp_path):
        folder = export(batched("loss", "mean"), tmp_path / "batch", name="batch")
        assert "gradwalk" not in "".join(
            line for line in (folder / "batch.py").read_text().splitlines() if "import" in line and '"' not in line
        )


# Compilers, threads and sanitizers


@pytest.mark.parametrize(
    ("cc", "flags"),
    [
        ("c++", ("-x", "c++", "-std=c++17", "-O1")),
        pytest.param("clang", ("-std=c99", "-O2"), marks=needs_program("clang")),
        pytest.param("clang++", ("-x", "c++", "-std=c++17", "-O1"), marks=needs_program("clang++")),
        ("cc", ("-std=c99", "-O3", "-fopenmp")),
        ("cc", ("-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")),
    ],
)
def test_compilers(cc, flags, tmp_path):
    folder = export(batched("path", "sum"), tmp_path / "library", name="library")
    run_test(folder, "library", *flags, cc=cc, exact=IS_EXACT)


@pytest.mark.parametrize(
    ("cc", "flags"),
    [
        pytest.param("clang", ("-std=c99", "-O2"), marks=needs_program("clang")),
        ("c++", ("-x", "c++", "-std=c++17", "-O3")),
        ("cc", ("-std=c99", "-O3", "-fopenmp")),
        ("cc", ("-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")),
    ],
)
def test_compilers_of_masks(cc, flags, tmp_path):
    folder = export(batched("limited, reverse", "mean"), tmp_path / "library", name="library")
    assert "SET(any)(" in (folder / "library_lanes.h").read_text()
    run_test(folder, "library", *flags, cc=cc, exact=IS_EXACT)


def test_batches_within_large_loops(tmp_path, monkeypatch):
    monkeypatch.setattr(loop_kernel, "MOST_FLAT", 0)
    inner = vmap(lambda c, y: 1e-3 * math.sin(c * y), in_axes=(None, 0), reduce="sum")
    ys = numpy.linspace(0.0, 1.0, 2000)
    function = jit(vmap(lambda x: loops.fori_loop(0, 3, lambda i, c: inner(c, ys), x)))
    expected = function(X[:, 0])
    folder = export(function, tmp_path / "library", name="library")
    numpy.testing.assert_allclose(with_loader(folder, "library")(X[:, 0]), expected, rtol=1e-12)
    run_test(folder, "library", "-std=c99", exact=IS_EXACT)


def test_samples_that_take_too_many_steps_are_nan(tmp_path):
    f = lambda x: loops.while_loop(lambda c: c < 5.0, lambda c: c * 1.25, x, max_steps=20)  # noqa: E731
    function = jit(vmap(f))
    x = numpy.array([1.0, -1.0, 1.5, 7.0] * 9)
    expected = function(x)
    assert numpy.isnan(expected).sum() == 9
    folder = export(function, tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", exact=IS_EXACT)
    numpy.testing.assert_array_equal(with_loader(folder, "library", "-O2")(x), expected)
    one = jit(f)
    one(1.0)
    assert numpy.isnan(with_loader(export(one, tmp_path / "one", name="single"), "single")(-1.0))


def test_tests_skip_samples_without_a_result(tmp_path):
    f = jit(lambda x: loops.while_loop(lambda c: c < 1.0, lambda c: c * 1.5, x - 0.96, max_steps=9))
    f(1.01)
    folder = export(f, tmp_path / "library", name="library")
    said = run_test(folder, "library", "-std=c99", exact=True)
    [equal, count] = map(int, re.findall(r"(\d+) of (\d+) bitwise equal", said)[0])
    assert 0 < equal == count < 1000


@pytest.mark.parametrize("flag", ["-DLIBRARY_BASELINE", "-DLIBRARY_NO_LIBMVEC"])
def test_other_instruction_sets(flag, tmp_path):
    folder = export(batched("path", "sum"), tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", "-O2", flag, exact=False)


THREADS = """
#include "library.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static double data[12 * 1000], results[2][4];
static const double shared[3] = {1.0, 0.01, 0.1};
static void *run(void *result)
{
    const library_input batched[] = {{data, 12, 1}};
    int i;
    for (i = 0; i < 50; ++i) library_batch(1000, shared, batched, (double *)result);
    return 0;
}
int main(void)
{
    pthread_t other;
    int i;
    for (i = 0; i < 12000; ++i) data[i] = i % 7 * 0.25 - 0.75;
    if (pthread_create(&other, 0, run, results[0])) return 2;
    run(results[1]);
    pthread_join(other, 0);
    return memcmp(results[0], results[1], sizeof results[0]) != 0 || results[0][0] == 0.0;
}
"""


def test_two_threads(tmp_path):
    folder = export(batched("path", "mean"), tmp_path / "library", name="library")
    (folder / "threads.c").write_text(THREADS)
    flags = ["-std=gnu11", "-O1", "-g", "-fsanitize=thread", *EXACT, *WARNINGS, "-pthread"]
    program = folder / "threads"
    subprocess.run(
        [installed("cc"), *flags, folder / "library.c", folder / "threads.c", "-o", program, "-lm"], check=True
    )
    environment = {"TSAN_OPTIONS": "halt_on_error=1"}
    run = (
        subprocess.run(["setarch", "-R", program], capture_output=True, text=True, check=False, env=environment)
        if shutil.which("setarch")
        else subprocess.run([program], capture_output=True, text=True, check=False, env=environment)
    )
    if "unexpected memory mapping" in run.stderr or "personality" in run.stderr:
        pytest.skip("this system does not let the thread sanitizer start")
    assert run.returncode == 0, run.stderr


CPP = """
#include "library.hpp"
#include <cstdio>
int main()
{
    const std::vector<double> w{0.5, -1.0, 2.0}, x{1, 2, 3, 4, 5, 6}, y{0.25, 0.5};
    const auto one = library_library::evaluate(w, std::array<double, 3>{1, 2, 3}, 0.25);
    const auto all = library_library::evaluate_batch(2, w, x, y);
    std::printf("[%.17g, %.17g, ", one[0], one[1]);
    PRINT
    try {
        library_library::evaluate_batch(3, w, x, y);
    } catch (const std::invalid_argument &error) {
        std::printf("\\"%s\\"]", error.what());
    }
}
"""


@pytest.mark.parametrize(
    ("reduce", "shown"),
    [
        ("sum", 'std::printf("%.17g, %.17g, ", all[0], all[1]);'),
        (None, 'std::printf("%.17g, %.17g, ", all[0][1], all[1][3]);'),
    ],
)
def test_wrapper_for_cpp(reduce, shown, tmp_path):
    function = batched("loss", reduce)
    folder = export(function, tmp_path / "library", name="library")
    (folder / "main.cpp").write_text(CPP.replace("PRINT", shown))
    flags = ["-std=c++17", *WARNINGS, *EXACT]
    subprocess.run([installed("cc"), *EXACT, "-c", "library.c", "-o", "library.o"], check=True, cwd=folder)
    subprocess.run([installed("c++"), *flags, "main.cpp", "library.o", "-o", "main", "-lm"], check=True, cwd=folder)
    run = subprocess.run([folder / "main"], capture_output=True, text=True, check=True)
    *found, message = json.loads(run.stdout)
    value, slopes = function(W, numpy.arange(1.0, 7.0).reshape(2, 3), numpy.array([0.25, 0.5]))
    of_one, slopes_of_one = value_and_grad(loss)(W, numpy.array([1.0, 2.0, 3.0]), 0.25)
    expected = [value, slopes[0]] if reduce else [value[1], slopes[1][0]]
    numpy.testing.assert_allclose(found, [of_one, slopes_of_one[0], *expected], rtol=1e-12)
    assert message == "arg1_x must have 9 numbers, got 6"


def test_cmake(tmp_path):
    folder = export(batched("path", "mean"), tmp_path / "library", name="library")
    build, prefix = tmp_path / "build", tmp_path / "installed"
    for command in (
        [
            "cmake",
            "-S",
            folder,
            "-B",
            build,
            f"-DLIBRARY_EXACT={'ON' if IS_EXACT else 'OFF'}",
            f"-DCMAKE_INSTALL_PREFIX={prefix}",
        ],
        ["cmake", "--build", build],
        ["ctest", "--test-dir", build, "--output-on-failure"],
        ["cmake", "--install", build],
    ):
        installed(command[0])
        subprocess.run(command, check=True, capture_output=True)
    names = {path.name for path in prefix.rglob("*") if path.is_file()}
    assert {"library.h", "library.hpp", "liblibrary_static.a", "library-config.cmake"} <= names


CPP_ARGUMENTS = """
#include "library.hpp"
#include <cstdio>
using namespace library_library;
int main()
{
    const double numbers[2] = {1.0, 2.0};
    double copy[2] = {1.0, 2.0};
    const std::vector<double> expected{1.0, 2.0};
    const double found[] = {
        evaluate_batch(2, 3.0, expected)[0], evaluate_batch(2, 3, numbers)[0], evaluate_batch(2, 3.0f, {1.0, 2.0})[0],
        evaluate_batch(2, 3L, copy)[0], evaluate_batch(2, {3.0}, view(copy, 2))[0], evaluate(1, 9)[0],
        evaluate_batch(1, true, 9u)[0], evaluate_batch(2, std::array<double, 1>{3.0}, {1, 2})[0],
    };
    for (double x : found)
        if (x != 9.0) return 1;
    try {
        evaluate_batch(static_cast<std::size_t>(-1) / 4 + 2, 3, numbers);
    } catch (const std::length_error &) {
        return 0;
    }
    return 2;
}
"""


def test_arguments_in_cpp(tmp_path):
    function = jit(vmap(lambda a, x: a * x, in_axes=(None, 0), reduce="sum"))
    function(3.0, numpy.ones(2))
    folder = export(function, tmp_path / "library", name="library")
    (folder / "main.cpp").write_text(CPP_ARGUMENTS)
    flags = ["-std=c++17", *WARNINGS, *EXACT]
    subprocess.run([installed("cc"), *EXACT, "-c", "library.c", "-o", "library.o"], check=True, cwd=folder)
    subprocess.run([installed("c++"), *flags, "main.cpp", "library.o", "-o", "main", "-lm"], check=True, cwd=folder)
    subprocess.run([folder / "main"], check=True)


JAVASCRIPT = """
import { readFileSync } from "node:fs";
import { load } from "./library.mjs";
const { evaluate, evaluateBatch } = await load(readFileSync("library.wasm"));
const w = [0.5, -1, 2];
const x = Float64Array.from({ length: 120 }, (_, i) => (i % 7) / 4);
const y = Float64Array.from({ length: 40 }, (_, i) => (i % 3) / 8);
const all = evaluateBatch(40, w, [x, y]);
let message = "";
try { evaluateBatch(41, w, [x, y]); } catch (error) { message = error.message; }
const numbers = Array.isArray(all) ? all.map((a) => [...a]) : [...all];
console.log(JSON.stringify([[...evaluate([...w, 1, 2, 3, 0.25])], numbers, message]));
"""


@needs_program("node")
@needs_program("emcc", "zig")
@pytest.mark.parametrize("reduce", [None, "mean"])
def test_webassembly(reduce, tmp_path):
    function = batched("loss", reduce)
    folder = export(function, tmp_path / "library", name="library")
    subprocess.run(["sh", folder / "build_wasm.sh"], check=True)
    (folder / "run.mjs").write_text(JAVASCRIPT)
    run = subprocess.run(["node", "run.mjs"], cwd=folder, capture_output=True, text=True, check=True)
    one, all_samples, message = json.loads(run.stdout)
    x, y = (numpy.arange(120.0) % 7 / 4).reshape(40, 3), numpy.arange(40.0) % 3 / 8
    value, slopes = function(W, x, y)
    of_one, slopes_of_one = value_and_grad(loss)(W, numpy.array([1.0, 2.0, 3.0]), 0.25)
    numpy.testing.assert_allclose(one, [of_one, *slopes_of_one], rtol=1e-12)
    expected = [value, *slopes] if reduce else [*value, *slopes.ravel()]
    numpy.testing.assert_allclose(all_samples if reduce else [*all_samples[0], *all_samples[1]], expected, rtol=1e-12)
    assert message == "batched[0] must have 123 numbers, got 120"


def test_empty_arrays(tmp_path):
    function = jit(vmap(lambda x, y: (x, y)))
    function(numpy.zeros((4, 0, 3)), numpy.ones(4))
    folder = export(function, tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", exact=True)
    none, all_samples = with_loader(folder, "library")(numpy.zeros((2, 0, 3)), numpy.array([1.0, 2.0]))
    assert none.shape == (2, 0, 3)
    assert [*all_samples] == [1.0, 2.0]


# Sums


def test_sums_of_a_vmap_in_a_function_have_the_bits_of_loaded_programs(tmp_path):
    function = recorded(lambda w, x: vmap(lambda y: math.exp(w * y), reduce="sum")(x), (1.5, RNG.random(500)))
    folder = export(function, tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", exact=True)
    x = RNG.random(500)
    loaded = Program.from_json(function.program.to_json())
    assert with_loader(folder, "library")(1.5, x) == loaded.run([1.5, *x])[0]
    numpy.testing.assert_allclose(loaded.run([1.5, *x])[0], numpy.exp(1.5 * x).sum(), rtol=1e-13)


def test_sums_that_overflow_in_parts(tmp_path):
    # Each product overflows in the sum over the batch, but the sums of both products are finite.
    function = jit(vmap(lambda x: x[0] * x[1] + x[2] * x[1], reduce="sum"))
    samples = numpy.tile([1e308, 0.5, -1e308], (100, 1))
    expected = function(samples)
    assert numpy.isfinite(expected)
    run = with_loader(export(function, tmp_path / "batch", name="batch"), "batch")
    assert run(samples) == expected


def test_batch_sizes(tmp_path):
    function = batched("path", "mean")
    run = with_loader(export(function, tmp_path / "batch", name="batch"), "batch")
    market = numpy.array([1.0, 0.01, 0.1])
    for count in (1, 15, 16, 127, 129, 1023, 4096, 9000):
        shocks = RNG.standard_normal((12, count))
        value, slopes = function(market, shocks)
        found, found_slopes = run(market, shocks)
        if IS_EXACT:
            assert [found, *found_slopes] == [value, *slopes]
        numpy.testing.assert_allclose([found, *found_slopes], [value, *slopes], rtol=1e-12)
    assert numpy.isnan(run(market, shocks[:, :0])[0])


def test_code_does_not_grow_with_the_number_of_results(tmp_path):
    sizes = []
    for length in (100, 400):
        function = jit(vmap(grad(lambda x: (x @ x) ** 2), reduce="sum"))
        function(numpy.ones((2, length)))
        folder = export(function, tmp_path / str(length), name="library")
        sizes.append((folder / "library_lanes.h").read_text().count("\n"))
    assert sizes[0] == sizes[1] < 120
    run_test(folder, "library", "-std=c99", "-O3", exact=IS_EXACT)


def irregular(x: Any) -> Any:
    """Compute 3,000 different statements."""
    choices, values = numpy.random.default_rng(0).integers(1, 6, (3000, 3)), [*x]
    for i, j, kind in choices:
        one, other = values[-i], values[-j]
        values.append(one * other if kind < 2 else one - 0.5 * other if kind < 4 else one / (1.0 + other * other))
    return sum(values)


def test_large_code_runs_sample_by_sample(tmp_path):
    function = jit(vmap(irregular, reduce="sum"), backend="lanes")
    function(numpy.ones((2, 5)))
    folder = export(function, tmp_path / "library", name="library")
    assert not (folder / "library_lanes.h").exists()
    assert "too many lines (more than 5,000)" in (folder / "README.md").read_text()
    run_test(folder, "library", "-std=c99", "-O0", exact=False)


# Refusals


SCALE = Value(2.0)


@primitive
def doubled(x: float) -> float:
    return 2.0 * x


def solved(a: Any) -> Any:
    return gnp.linalg.eigh(a + a.T)[0]


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (jit(lambda x: x if x > 0 else -x), (1.5,), r"branches on its arguments, .* gradwalk.loops.cond"),
        (jit(lambda x: x * SCALE), (1.5,), "uses Values that are not among its arguments: pass them"),
        (jit(doubled), (1.5,), r"calls doubled, a Python function, which C does not have\. Write it"),
        (jit(solved), (numpy.eye(3) * 2.0,), "Python function, which C does not have"),
        (jit(vmap(lambda x: x if x > 0 else -x)), (Y,), "branches on its arguments"),
        (jit(vmap(doubled)), (Y,), "calls Python functions"),
        (jit(vmap(lambda x: x, reduce="max")), (Y,), "takes batches with reduce=None, 'sum' or 'mean', not 'max'"),
        (jit(vmap(lambda x: x * 2.0)), (numpy.zeros((2, 20_000)),), "would need .* bytes of stack"),
    ],
)
def test_what_c_cannot_run_is_refused(function, args, message, tmp_path):
    function(*args)
    with pytest.raises(ProgramError, match=message):
        export(function, tmp_path / "library")
    assert not list(tmp_path.iterdir())


def test_other_arguments_are_refused(tmp_path):
    with pytest.raises(TypeError, match=r"export\(\) takes a function that was recorded"):
        export(lambda x: x, tmp_path / "library")
    with pytest.raises(ValueError, match="has not been called yet"):
        export(jit(math.sin), tmp_path / "library")
    refused = "a-b int _f 2x std exp main test all lambda None import zip numpy gradwalk json aux con limits memory m"
    for name in ["", *refused.split(), "n" * 201]:
        with pytest.raises(ValueError, match="name must be a name for a C function"):
            export(recorded(math.sin, (1.0,)), tmp_path / "library", name=name)
    assert not list(tmp_path.iterdir())


def test_folders(tmp_path, monkeypatch):
    one, other = recorded(math.sin, (1.0,)), recorded(math.cos, (1.0,))
    folder = export(one, tmp_path / "a" / "library", name="f")
    before = (folder / "f.c").read_text()
    (folder / "build").mkdir()
    (folder / "MINE.txt").write_text("mine")
    export(other, folder, name="g")  # replaces the files of the library and keeps other files
    assert not (folder / "f.c").exists()
    assert (folder / "g.c").exists()
    assert (folder / "build").is_dir()
    assert (folder / "MINE.txt").read_text() == "mine"
    (folder / "f.c").write_text("mine")
    with pytest.raises(FileExistsError, match=r"f\.c exists and was not written by export"):
        export(one, folder, name="f")
    (folder / "f.c").unlink()
    (tmp_path / "empty").mkdir()
    assert (export(one, tmp_path / "empty", name="f") / "f.c").read_text() == before
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="exists and was not written by export"):
        export(one, mine)
    with pytest.raises(FileExistsError):
        export(one, mine / "notes.txt")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="disk full"):
        export(one, folder, name="f")
    assert (folder / "g.c").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"a", "empty", "mine"}
    assert [path.name for path in folder.parent.iterdir()] == ["library"]
    assert not list(folder.glob(".gradwalk-*/"))


def test_folders_keep_their_place(tmp_path, monkeypatch):
    one = recorded(math.sin, (1.0,))
    monkeypatch.chdir(tmp_path)
    for name in "fg":
        export(one, ".", name=name)
    assert {path.name for path in Path().iterdir()} >= {"g.c", "README.md"}
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to("own")
    assert export(one, "link", name="f") == tmp_path / "link"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "own" / "f.c").is_file()


def test_loaded_batches_can_be_exported(tmp_path):
    function = batched("loss", "mean")
    loaded = BatchProgram.from_json(function.program.to_json())
    one, other = export(function, tmp_path / "a", name="f"), export(loaded, tmp_path / "b", name="f")
    assert {path.name: path.read_text() for path in one.iterdir()} == {
        path.name: path.read_text() for path in other.iterdir()
    }


def test_names_cannot_end_a_comment(tmp_path):
    function = recorded(lambda p: p["*/ int main"] * p["@NAME@\\"], ({"*/ int main": 1.0, "@NAME@\\": 2.0},))
    folder = export(function, tmp_path / "library", name="library")
    run_test(folder, "library", "-std=c99", exact=True)
    assert with_loader(folder, "library")({"*/ int main": 3.0, "@NAME@\\": 2.0}) == 6.0


def test_exporting_does_not_import_other_packages(tmp_path):
    program = (
        "import sys; from gradwalk import export; print([x for x in ('scipy', 'llvmlite', 'jax') if x in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
