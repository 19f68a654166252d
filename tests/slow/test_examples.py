"""The examples run and print the expected results."""

from __future__ import annotations

import copy
import ctypes
import importlib
import itertools
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from c_compiler import needs_program
from checkout import IS_COMPILED, ROOT

from gradwalk import jit, sparse_hessian, value_and_grad, vmap
from gradwalk.nn import MLP
from gradwalk.program.reroll.repeats import written

PNG = b"\x89PNG\r\n\x1a\n"


def run(name: str, *arguments: str, cwd: Path) -> str:
    command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(os.environ.get("PYTHONPATH", ""))}  # noqa: PTH100  may be empty
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def loaded(name: str, monkeypatch) -> Any:
    """Import an example as a module."""
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def numbers(output: str, row: str) -> list[float]:
    """Return the numbers in the line of the output that begins with `row`."""
    [line] = [line for line in output.splitlines() if line.startswith(row)]
    return [float(number) for number in re.findall(r"(?<![\w.])[-+]?\d[\d.]*(?:e[-+]?\d+)?", line.removeprefix(row))]


def test_asian_option(tmp_path):
    paths = 100_000 if IS_COMPILED else 1000
    output = run("asian_option", "--paths", str(paths), "--output", "picture.png", cwd=tmp_path)
    known = numbers(output, "geometric, known answer")
    estimated, errors = (numbers(output, f"{row:40}") for row in ("geometric", "geometric, standard error"))
    assert len(known) == 6, output
    assert all(abs(a - b) < 4 * error for a, b, error in zip(estimated, known, errors, strict=True)), output
    plain, controlled = (numbers(output, f"arithmetic{way}, standard error") for way in ("", ", with control"))
    assert controlled[0] < plain[0] / 20, output
    assert all(error < its_error / 3 for error, its_error in zip(controlled, plain, strict=True)), output
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_breast_cancer(tmp_path):
    epochs = 30 if IS_COMPILED else 3
    output = run("breast_cancer", "--epochs", str(epochs), cwd=tmp_path)
    accuracy = re.search(r"test accuracy\D*([\d.]+) ?%", output)
    assert accuracy, output
    assert float(accuracy[1]) >= (95.0 if IS_COMPILED else 90.0)
    assert (tmp_path / "breast_cancer.png").read_bytes().startswith(PNG)


def test_breast_cancer_eager_gives_the_same_output(tmp_path):
    replayed = run("breast_cancer", "--epochs", "1", "--output", "picture.png", cwd=tmp_path)
    assert run("breast_cancer", "--epochs", "1", "--eager", "--output", "picture.png", cwd=tmp_path) == replayed


def test_bundle_adjustment(tmp_path):
    output = run("bundle_adjustment", cwd=tmp_path)
    pixels, points = numbers(output, "adjusted")
    expected_pixels, expected_points = numbers(output, "known answer")
    assert pixels == pytest.approx(expected_pixels, rel=0.1)
    assert points < 1.5 * expected_points < 10.0, output
    assert numbers(output, "guessed")[0] > 10.0, output
    assert (tmp_path / "bundle_adjustment.png").read_bytes().startswith(PNG)


def test_bundle_adjustment_without_noise_is_exact(tmp_path):
    assert numbers(run("bundle_adjustment", "--noise", "0", cwd=tmp_path), "adjusted") == [0.0, 0.0]


def test_moons(tmp_path):
    steps = 100 if IS_COMPILED else 5
    output = run("moons", "--steps", str(steps), "--output", "picture.png", cwd=tmp_path)
    assert not IS_COMPILED or re.search("final .* 100%", output), output
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_moons_training_agrees_with_values_and_backward(monkeypatch):
    example = loaded("moons", monkeypatch)
    points, classes = example.make_moons(n_samples=100, noise=0.1, random_state=1)
    replayed = jit(vmap(value_and_grad(example.loss_and_hit, has_aux=True), in_axes=(None, 0, 0), reduce="mean"))
    random.seed(1)
    model = MLP(2, [16, 16, 1])
    eager = copy.deepcopy(model)
    for _ in range(100 if IS_COMPILED else 3):
        (loss, accuracy), gradient = replayed(model, points, 2.0 * classes - 1.0)
        for p, g in zip(model.parameters(), gradient.parameters(), strict=True):
            p.data -= 0.5 * g
        samples = zip(points.tolist(), (2 * classes - 1).tolist(), strict=True)
        losses, hits = zip(*[example.loss_and_hit(eager, *sample) for sample in samples], strict=True)
        mean = sum(losses) / len(losses)
        eager.zero_grad()
        mean.backward()
        for p in eager.parameters():
            p.data -= 0.5 * p.grad
        assert loss == pytest.approx(mean.data, rel=1e-9)
        assert accuracy == pytest.approx(sum(hits) / len(hits))
    assert replayed.kernel is not None


def test_orbit(tmp_path):
    steps = 800 if IS_COMPILED else 400
    output = run("orbit", "--steps", str(steps), "--output", "picture.png", cwd=tmp_path)
    coarse, fine, known = (numbers(output, row) for row in (f"{steps // 2:5}", f"{steps:5}", "known"))
    assert fine == pytest.approx(known, abs=0.05)
    ratios = [before / after for before, after in zip(coarse, fine, strict=True)]
    assert [ratios[i] for i in (0, 1, 4)] == pytest.approx([4.0, 4.0, 4.0], rel=0.1)  # errors of second order
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_robertson(tmp_path):
    tolerance = 1e-8 if IS_COMPILED else 1e-6
    output = run("robertson", "--tolerance", str(tolerance), "--output", "picture.png", cwd=tmp_path)
    exact, differences = (numbers(output, f"concentrations      {row}") for row in ("exact", "by differences"))
    assert max(exact[2], differences[2]) < 10 * tolerance, output
    assert exact[0] < differences[0], output
    exact, differences = (numbers(output, f"with_sensitivities  {row}") for row in ("exact", "by differences"))
    assert exact[3:] == numbers(output, "known answer")[1:] == [-2.0, -1.0, 2.0]
    assert 2 * exact[0] < differences[0], output
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_adaptive_ode(tmp_path):
    tolerance = 1e-8 if IS_COMPILED else 1e-6
    output = run("adaptive_ode", "--tolerance", str(tolerance), "--seconds", "2", "--output", "a.png", cwd=tmp_path)
    rows = [numbers(output, line[:7]) for line in output.splitlines()[2:] if not line.startswith(("known", "picture"))]
    known = [[float(x) for x in line.split()[1:]] for line in output.splitlines() if line.startswith("known")]
    for found, expected in zip(rows, known, strict=True):
        assert found == pytest.approx(expected, rel=200 * tolerance, abs=200 * tolerance)
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)


def test_barrier_option(tmp_path):
    paths = "4000" if IS_COMPILED else "40"
    output = run("barrier_option", "--paths", paths, "--output", "picture.png", cwd=tmp_path)
    names = ("price", "d spot", "d strike", "d barrier", "d rate", "d volatility", "d years")
    rows = [numbers(output, f"{name:12}") for name in names]
    assert all(abs(deviations) < 4.5 for *_, deviations in rows), output
    days = int(re.search(r"of (\d+) days", output)[1])
    assert 100 < days < 252
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_heston(tmp_path):
    output = run("heston", "--output", "picture.png", cwd=tmp_path)
    assert numbers(output, "largest difference")[0] < 1e-7
    for name in ("variance ", "reversion", "long-run variance", "volatility of variance", "correlation"):
        known, _, exact, noisy = numbers(output, name)
        assert exact == pytest.approx(known, rel=1e-6)
        assert noisy == pytest.approx(known, rel=0.02)
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_satellite(tmp_path):
    output = run("satellite", "--hours", "2", "--steps", "25", "--output", "picture.png", cwd=tmp_path)
    assert numbers(output, "largest difference")[0] < 1e-6
    assert numbers(output, "all elements")[-1] == pytest.approx(0.23, abs=0.03)
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_long_path(tmp_path):
    steps = [252, 25_200] if IS_COMPILED else [60, 300]
    *lines, last = run("long_path", "--steps", *map(str, steps), cwd=tmp_path).splitlines()[1:]
    assert last == "picture: long_path.png"
    rows = {(int(line.split()[0]), line.split()[1]): line.split()[2:] for line in lines}
    for kept in ("all", "sqrt", "binomial", "16"):
        assert rows[steps[1], kept][3] == rows[steps[1], "all"][3]  # every digit of the derivative
        assert rows[steps[1], kept][2] == rows[steps[0], kept][2]  # instructions
    if IS_COMPILED:
        size = {key: int(row[0].replace(",", "")) for key, row in rows.items()}
        assert size[25_200, "all"] > 50 * size[252, "all"]
        assert size[25_200, "binomial"] < 1.5 * size[252, "binomial"]
        assert size[25_200, "sqrt"] < 5 * size[252, "sqrt"]


def test_rosenbrock(tmp_path):
    n = 200 if IS_COMPILED else 10
    output = run("rosenbrock", "--n", str(n), "--output", "picture.png", cwd=tmp_path)
    assert f"Hessian of {3 * n - 2} stored entries" in output
    for method in ("Newton-CG     sparse Hessian", "trust-krylov  Hessian times vector", "L-BFGS-B      gradient"):
        assert numbers(output, method)[-2:] == pytest.approx(numbers(output, "known answer"), abs=1e-5)
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


GPT_RUNS = ("program", "recorded", "eager")  # values of --run that train on one name at a time


def test_microgpt_prints_the_same_in_every_mode(tmp_path):
    steps = 6 if IS_COMPILED else 2
    outputs = {
        way: run("microgpt", "--steps", str(steps), "--samples", "3", "--run", way, cwd=tmp_path) for way in GPT_RUNS
    }
    assert set(outputs.values()) == {outputs["eager"]}
    lines = outputs["eager"].splitlines()
    assert lines[0] == "5163 names, 27 tokens, 4192 parameters"
    assert len(lines) == 1 + steps + 1 + 3


def test_microgpt_learns_and_generates_names(tmp_path):
    steps = 300 if IS_COMPILED else 1
    output = run("microgpt", "--steps", str(steps), "--run", "batches", "--samples", "20", cwd=tmp_path)
    losses = [float(loss) for loss in re.findall(r"loss (\d\.\d+)", output)]
    assert sum(losses[-20:]) / len(losses[-20:]) < (2.3 if IS_COMPILED else 4.0)
    invented = output.split("--- invented names ---\n")[1].splitlines()
    assert len(invented) == 20
    assert re.fullmatch("[a-z]*", "".join(invented))


def test_microgpt_losses_agree_with_plain_values(monkeypatch):
    # The losses of the first training steps agree up to rounding.
    gpt = loaded("microgpt", monkeypatch)
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    plain = importlib.import_module("plain_microgpt")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)  # the plain Values' backward recurses as deep as the graph
    steps = 10 if IS_COMPILED else 2
    rng = random.Random(42)
    names = gpt.read_names(gpt.NAMES)
    rng.shuffle(names)
    tokenizer = gpt.Tokenizer(names)
    weights = gpt.initial_weights(len(tokenizer), rng)
    peer = plain.Trainer(weights, 1000)
    expected = [peer.train(tokenizer.encode(name)) for name in names[:steps]]
    sys.setrecursionlimit(before)
    for way in ("program", "recorded"):
        training = gpt.train(weights, names, tokenizer, 1000, way, rng)
        found = [value for value, _ in itertools.islice(training, steps)]
        assert found == pytest.approx(expected, rel=1e-9)


def test_microgpt_batch_loss_is_the_mean(monkeypatch):
    gpt = loaded("microgpt", monkeypatch)
    weights = gpt.initial_weights(27, random.Random(0))
    spellings = numpy.array([[26, 0, 1, 26], [26, 2, 3, 26], [26, 4, 5, 26]], float)
    tokens, targets = spellings[:, :-1], spellings[:, 1:]
    together = jit(vmap(value_and_grad(gpt.loss), in_axes=(None, 0, 0), reduce="mean"))
    value, gradient = together(weights, tokens, targets)
    alone = jit(value_and_grad(gpt.loss))
    values, gradients = zip(*[alone(weights, *one) for one in zip(tokens, targets, strict=True)], strict=True)
    assert value == pytest.approx(numpy.mean(values), rel=1e-13)
    for name, slopes in gradient.items():
        mean = numpy.mean([one[name] for one in gradients], axis=0)
        assert slopes == pytest.approx(mean, rel=1e-9, abs=1e-13)


def test_microgpt_reads_names_with_any_letters(tmp_path):
    (tmp_path / "names.txt").write_text("Zoë\nMary Ann\n\n" + 40 * "o" + "\n", encoding="utf-8")
    output = run("microgpt", "--names", "names.txt", "--steps", "3", "--samples", "1", cwd=tmp_path)
    assert output.startswith(f"3 names, {len(set('ZoëMary Ann')) + 1} tokens")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--names", "none.txt"], "cannot read none.txt as text"),
        (["--names", "empty.txt"], "empty.txt must contain at least one name, one per line"),
        (["--names", "latin.txt"], "cannot read latin.txt as text"),
        (["--temperature", "0"], "--temperature must be > 0, got 0.0"),
        (["--run", "fast"], "invalid choice: 'fast'"),
    ],
)
def test_microgpt_reports_invalid_arguments(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text(" \n", encoding="utf-8")
    Path("latin.txt").write_bytes("Zoë".encode("latin-1"))
    monkeypatch.setattr(sys, "argv", ["microgpt.py", *arguments])
    with pytest.raises(SystemExit) as stopped:
        loaded("microgpt", monkeypatch).main()
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_cart_pole(tmp_path):
    pytest.importorskip("cyipopt")
    intervals = 40 if IS_COMPILED else 10
    output = run("cart_pole", "--intervals", str(intervals), "--c", "c", "--output", "picture.png", cwd=tmp_path)
    efforts = [float(effort) for effort in re.findall(r"effort ([\d.]+)", output)]
    missed = [float(error) for error in re.findall(r"misses the end by ([-+.e\d]+)", output)]
    assert efforts == pytest.approx([58.8, 58.8], abs=0.6 if IS_COMPILED else 9.0)
    assert max(missed) < (0.003 if IS_COMPILED else 0.3), output
    assert len(list((tmp_path / "c").glob("*.c"))) == 10
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


@needs_program("gcc")
def test_c_code_of_cart_pole_computes_the_same(tmp_path, monkeypatch):
    pytest.importorskip("cyipopt")
    method = loaded("cart_pole", monkeypatch).methods(3)[1]
    hessian, point = sparse_hessian(method.lagrangian), 0.1 * numpy.arange(1.0, 24.0)
    multipliers = numpy.linspace(-1.0, 2.0, 12)
    expected = hessian(point, multipliers, 0.7).data
    (tmp_path / "hessian.c").write_text(hessian.program.to_c("hessian"), encoding="utf-8")
    command = ["gcc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "hessian.c", "-o", "hessian.so", "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    inputs, outputs = numpy.concatenate([point, multipliers, [0.7]]), numpy.zeros(len(expected))
    compiled = ctypes.CDLL(str(tmp_path / "hessian.so")).hessian
    compiled(*(ctypes.c_void_p(array.ctypes.data) for array in (inputs, outputs)))
    numpy.testing.assert_allclose(outputs, expected, rtol=1e-13, atol=1e-13)


def test_eight_schools(tmp_path):
    pytest.importorskip("nutpie")
    draws = 1000 if IS_COMPILED else 100
    output = run("eight_schools", "--draws", str(draws), "--output", "picture.png", cwd=tmp_path)
    for row in ("mean", "spread", *(f"school {name}" for name in "ABCDEFGH")):
        *_, sampled, exact = numbers(output, row)
        assert sampled == pytest.approx(exact, abs=0.5 if IS_COMPILED else 2.0), output
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_yield_curve(tmp_path):
    output = run("yield_curve", "--output", "picture.png", cwd=tmp_path)
    for name in ("level", "slope", "first hump", "second hump", "first place", "second place"):
        calibrated, known, deviation = numbers(output, name)
        assert abs(calibrated - known) < 3 * deviation, output
    assert numbers(output, "curve up to 30 years:")[0] < 1.0  # basis points
    bonds, error = numbers(output, "its hedge: up to")
    assert error < 1e-5 * bonds
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_yield_curve_without_noise_is_exact(tmp_path):
    output = run("yield_curve", "--noise", "0", "--output", "picture.png", cwd=tmp_path)
    for name in ("level", "slope", "first hump", "second hump", "first place", "second place"):
        calibrated, known, _ = numbers(output, name)
        assert calibrated == known, output
    pension, known = numbers(output, "pension:")
    assert pension == known, output


def test_unrolled_loops_of_the_examples_are_rerolled(monkeypatch):
    option, gpt = loaded("asian_option", monkeypatch), loaded("microgpt", monkeypatch)
    price = jit(value_and_grad(option.arithmetic))
    price(numpy.array([100.0, 100.0, 0.03, 0.2, 1.0]), numpy.full(252, 0.1))
    assert len(price.program.repeats) == 2
    assert written(len(price.program), price.program.repeats) <= 61
    letters = numpy.array([26, 14, 11, 8, 21, 8, 0, 26], float)  # olivia
    loss = jit(value_and_grad(gpt.loss))
    loss(gpt.initial_weights(27, random.Random(1)), letters[:-1], letters[1:])
    assert len(loss.program) > 80_000
    assert written(len(loss.program), loss.program.repeats) <= 3000
