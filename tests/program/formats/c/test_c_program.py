"""Programs as C source: the compiled code gives bitwise equal results."""

from __future__ import annotations

import math
import random
import re
import shutil
import subprocess
from collections.abc import Collection

import numpy
import pytest
from c_compiler import SAME_BITS, STRICT, compiled, installed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from programs import EVERY, EXTREME, OPCODES, as_recorded, fewer, programs
from work import count_calls

from gradwalk import jit, loops, primitive, value_and_grad
from gradwalk import math as gmath
from gradwalk.program.formats.c import c_program
from gradwalk.program.formats.c.reserved import is_taken
from gradwalk.program.program import Program, ProgramError
from gradwalk.program.tape import Tape


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


@pytest.mark.parametrize("piece", [1, 3, 250])
@settings(fewer(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(programs(EXTREME, EVERY, longest=12), min_size=20, max_size=20))
def test_compiled_c_gives_the_same_bits(piece, drawn, tmp_path, monkeypatch):
    monkeypatch.setattr(c_program, "_PIECE", piece)
    program = as_recorded(*drawn)
    numbers = [x for part in drawn for x in part.leaves]
    found = compiled(tmp_path, program.to_c(), *SAME_BITS)(numbers, len(drawn))
    assert all(map(same, found, program.run(numbers)))


def test_value_and_gradient_in_c(tmp_path):
    def option(spot, strike, rate, volatility, time):
        deviation = volatility * gmath.sqrt(time)
        d = (gmath.log(spot / strike) + (rate + volatility**2 / 2) * time) / deviation
        return spot * below(d) - strike * gmath.exp(-rate * time) * below(d - deviation)

    def below(x):
        return 0.5 * (1 + gmath.erf(x / math.sqrt(2)))

    price = jit(value_and_grad(option, (0, 1, 2, 3, 4)))
    numbers = [100.0, 105.0, 0.03, 0.2, 1.5]
    value, slopes = price(*numbers)
    source = price.program.to_c("price")
    assert compiled(tmp_path, source, *SAME_BITS, name="price")(numbers, 6) == [value, *slopes]
    assert "   inputs[3]  volatility\n" in source
    assert "   outputs[1]  out[1][0]\n" in source


def test_constants_are_exact(tmp_path):
    numbers = [-0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 0.1, -1 / 3]
    program = Program(0, numbers, numpy.zeros(0, numpy.int32), [], [*range(8)])
    source = program.to_c()
    assert "0x1.999999999999ap-4, /* 0.1 */" in source
    assert all(map(same, compiled(tmp_path, source)([], 8), numbers))


@pytest.mark.parametrize("piece", [2, 250])
def test_source_is_valid_cpp(piece, tmp_path, monkeypatch):
    monkeypatch.setattr(c_program, "_PIECE", piece)
    tape = Tape()
    x, y = tape.input(), tape.input()
    program = tape.program(
        [tape.append("pow", x, tape.append("sign", y)), tape.append("softplus", y), tape.constant(3.0)]
    )
    (tmp_path / "f.cpp").write_text(program.to_c(), encoding="ascii")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only"]
    subprocess.run([installed("c++"), *flags, tmp_path / "f.cpp"], check=True)


def test_unused_instructions_are_omitted(tmp_path):
    sine = OPCODES["sin"]
    rows = numpy.array([sine, 0, 0, 0, sine, 1, 0, 0], numpy.int32)  # sin(x), and sin(0.5), which is not used
    source = Program(1, [0.5], rows, [], [2]).to_c()
    assert "constants" not in source
    assert "v3" not in source
    assert compiled(tmp_path, source)([0.25], 1) == [math.sin(0.25)]


@pytest.mark.parametrize("piece", [1, 250])
@pytest.mark.parametrize(("inputs", "outputs"), [(0, []), (1, []), (1, [0]), (1, [0, 0])])
def test_programs_without_instructions(inputs, outputs, piece, tmp_path, monkeypatch):
    monkeypatch.setattr(c_program, "_PIECE", piece)
    program = Program(inputs, [], numpy.zeros(0, numpy.int32), [], outputs)
    assert compiled(tmp_path, program.to_c())([0.25] * inputs, len(outputs)) == [0.25] * len(outputs)


def test_only_used_helpers_are_written():
    tape = Tape()
    x, y = tape.input(), tape.input()
    assert "power" not in tape.program([tape.append("sign", x)]).to_c()
    assert "inline double f_power(" in tape.program([tape.append("pow", x, y)]).to_c()
    assert "inline" not in tape.program([tape.append("sin", x)]).to_c()


def test_names_cannot_end_the_comment(tmp_path):
    names = ["*/ int main", "/*", "a\nb", "??/", "\\", "größe", 'p["k"]']
    program = Program(7, [], numpy.zeros(0, numpy.int32), [], [6]).named(names, ["x" * 300])
    source = program.to_c()
    assert "   inputs[0]  *_ int main\n" in source
    assert '   inputs[6]  p["k"]\n' in source
    assert compiled(tmp_path, source)([1.0] * 7, 1) == [1.0]


SPELLED_WRONG = ["", "2f", "a-b", "größe", "f\n", "f()"]
TAKEN = [
    "int",
    "and",
    "exp",
    "main",
    "_Bool",
    "_f",
    "NULL",
    "isnan",
    "printf",
    "gamma",
    "y0",
    "exit",
]
TAKEN += ["signal", "expf", "cosl", "int32_t", "uint_fast8_t", "NAN", "index", "memcpy", "typeof", "stdout", "EOF"]


@pytest.mark.parametrize("name", SPELLED_WRONG + TAKEN)
def test_invalid_function_names_are_refused(name):
    with pytest.raises(ValueError, match=r"must consist of letters, digits and _|already a name in C"):
        Tape().program([]).to_c(name)


@pytest.mark.parametrize("name", ["total", "strike", "isotherm", "f", "g1", "price_and_delta", "Gamma"])
def test_valid_function_names_are_accepted(name, tmp_path):
    program = Tape().program([])
    assert f"void {name}(" in program.to_c(name)


def in_groups(names: Collection[str]) -> list[list[str]]:
    """Divide names into groups in which no name continues another with an underscore, as names of helpers do."""
    groups: dict[int, list[str]] = {}
    for name in names:
        groups.setdefault(sum(name.startswith(f"{other}_") for other in names), []).append(name)
    return [*groups.values()]


def slope_of_a_loop(x, y):
    last = loops.while_loop(lambda c: c < 3.0, lambda c: c * 1.5 + gmath.silu(x) ** y, x)
    return gmath.take([0.5, last, 2.0], gmath.floor(y)) * gmath.sign(x) + x % y


def test_functions_may_have_any_name_that_the_file_uses(tmp_path, monkeypatch):
    monkeypatch.setattr(c_program, "_PIECE", 2)
    slope = jit(value_and_grad(slope_of_a_loop))
    value, derivative = slope(0.75, 1.25)
    text = re.sub(r"/\*.*?\*/|#include.*?$", "", slope.program.to_c("own"), flags=re.DOTALL | re.MULTILINE)
    used = {re.sub("^own_", "", word, flags=re.IGNORECASE) for word in re.findall(r"\w+", text)} | {"gradwalk_silu"}
    names = {re.sub(r"\d+", "1", name): name for name in sorted(used) if name[:1].isalpha() and not is_taken(name)}
    assert {"inputs", "take", "power", "mod", "plan_begin", "PLAN_SWEEP", "own", "constants"} <= {*names.values()}
    # Many functions are in one file, so none of them may be hidden or defined twice.
    for group in in_groups(names.values()):
        path = tmp_path / "all.c"
        path.write_text("\n".join(slope.program.to_c(name) for name in group), encoding="ascii")
        subprocess.run([installed("cc"), *STRICT, "-fsyntax-only", path], check=True)
    for name in ("inputs", "take", "plan_begin", "i"):
        run = compiled(tmp_path, slope.program.to_c(name), *SAME_BITS, name=name)
        assert run([0.75, 1.25], 2) == [value, derivative]


def test_names_declared_in_math_h_are_refused(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    (tmp_path / "m.c").write_text("#include <math.h>\n", encoding="utf-8")
    command = ["cc", "-E", "-P", "-D_GNU_SOURCE", "m.c"]
    text = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    declared = set(re.findall(r"\bextern [\w ]*?\b(\w+) \(", text))
    ours = {name for name in declared if not name.startswith("_")}
    assert "exp" in ours
    of_other_types = re.compile(r".*f(16|32|64|128)x?(_r)?$")  # for _Float32, _Float64 and so on
    assert sorted(name for name in ours if not is_taken(name) and not of_other_types.match(name)) == []


def test_python_functions_are_refused():
    @primitive
    def gamma(x):
        return math.gamma(x)

    f = jit(gamma)
    f(1.5)
    with pytest.raises(ProgramError, match=r"calls gamma, a Python function, which C does not have\. Write it with"):
        f.program.to_c()


def orbit(steps: int) -> Program:
    def position(x):
        for _ in range(steps):
            x = x * 1.0001 + gmath.sin(x) * gmath.exp(-x * x)
        return x

    recorded = jit(value_and_grad(position))
    recorded(0.1)
    return recorded.program


@pytest.fixture(scope="module")
def long() -> Program:
    return orbit(800)


class TestLongPrograms:
    def test_results_are_bitwise_equal(self, long, tmp_path):
        assert len(long) > 10_000
        run = compiled(tmp_path, long.to_c(), "-O1", "-ffp-contract=off", "-fno-builtin")
        assert run([0.1], 2) == long.run([0.1]).tolist()

    def test_memory_is_reused(self):
        functions = [gmath.sin, gmath.cos, gmath.tanh, gmath.atan]
        shuffled = random.Random(1).choices(functions, k=10_000)  # without repetition, so no loop is found
        recorded = jit(lambda x: [x := f(x) for f in shuffled][-1])
        recorded(0.1)
        assert re.findall(r"double (?:kept|memory)\[(\d+)\]", recorded.program.to_c()) == ["1"]

    def test_writing_takes_linear_work(self, long):
        half = orbit(400)
        assert count_calls(long.to_c) < 2.2 * count_calls(half.to_c)
