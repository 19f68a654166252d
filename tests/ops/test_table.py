"""Tests of every row of the table, called in every way and compared with mpmath and PyTorch."""

from __future__ import annotations

import itertools
import math
import random

import numpy
import pytest
from derivatives import FIRST
from references import MPMATH, TORCH, mpmath, psi, torch, torch_leaf, ulps_apart

import gradwalk.math
from gradwalk import Value
from gradwalk.complex_numbers.plain import OPERATORS
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.formula import Formula, textbook
from gradwalk.ops.rows import Operation
from gradwalk.ops.table import TABLE
from gradwalk.value.apply import apply

ROWS = pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
NAMES = ("x", "y", "z", "out")
EPSILON = 2.0**-52
# Ufuncs that compare objects themselves or do not accept objects.
NO_METHOD_OF_OBJECTS = ("maximum", "minimum", "fmax", "fmin", "sign", "copysign", "logaddexp")
EDGES = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.5,
    0.5,
    1e-300,
    -1e-300,
    5e-324,
    1e300,
    -1e300,
    710.0,
    -745.0,
    math.inf,
    -math.inf,
    math.nan,
)


def points(row: Operation, count: int = 200) -> list[tuple[float, ...]]:
    """Draw operands from the domain, with a fixed seed."""
    draw = random.Random(row.name)
    return [tuple(draw.uniform(low, high) for low, high in row.domain) for _ in range(count)]


def applied(row: Operation, operands: tuple[float, ...]) -> tuple[Value, list[Value]]:
    leaves = [Value(operand) for operand in operands]
    return apply(OPCODES[row.name], *leaves), leaves


@ROWS
def test_value_agrees_with_mpmath(row):
    for operands in points(row):
        exact = MPMATH[row.name](*map(mpmath.mpf, operands))
        assert ulps_apart(applied(row, operands)[0].data, float(exact)) <= 4


@ROWS
def test_partials_agree_with_mpmath(row):
    for operands in points(row):
        out, _ = applied(row, operands)
        for position, partial in enumerate(out.partials):
            exact = derivative(row, operands, position)
            bound = rounding(textbook(row.partial(position)), (*operands, *[0.0] * (3 - row.arity), out.data))
            assert abs(partial - exact) <= bound + 4 * EPSILON * abs(exact)


@ROWS
def test_all_magnitudes_agree_with_mpmath(row):
    """Operands have any magnitude and sign for which the operation and its derivative are real and finite."""
    draw = random.Random(row.name)
    compared = 0
    for _ in range(300):
        lowest = draw.choice((-300, 0))
        operands = tuple(draw.choice((-1, 1)) * 10 ** draw.uniform(lowest, 8) for _ in range(row.arity))
        if row.name == "equal":
            operands = (operands[0], operands[0])
        out, _ = applied(row, operands)
        if out.data == 0.0 or not math.isfinite(out.data) or not all(map(math.isfinite, out.partials)):
            continue
        exact = MPMATH[row.name](*map(mpmath.mpf, operands))
        assert ulps_apart(out.data, float(exact)) <= 4 or has_zeros(row, operands), operands
        for position, partial in enumerate(out.partials):
            slope = FIRST[row.name][position](*map(mpmath.mpf, operands))
            bound = rounding(textbook(row.partial(position)), (*operands, *[0.0] * (3 - row.arity), out.data))
            is_near = abs(partial - slope) <= bound + 4 * EPSILON * abs(slope) + 5e-324
            assert is_near or has_zeros(row, operands), (operands, position)
        compared += 1
    assert compared > 20


def has_zeros(row: Operation, operands: tuple[float, ...]) -> bool:
    """Return whether the function has zeros near which only the absolute error is small: see test_accuracy.py."""
    return row.name in ("digamma", "gamma", "lgamma", "trigamma") and operands[0] < 0.0


@pytest.mark.parametrize("operands", [(1.0, 1e300), (1e300, 1.0), (1e-300, 1e-300), (-1e-170, 1e-180), (0.5, -1e200)])
def test_partials_of_atan2_agree_with_mpmath_at_extremes(operands):
    row = next(row for row in TABLE if row.name == "atan2")
    y, x = map(mpmath.mpf, operands)
    expected = (x / (x * x + y * y), -y / (x * x + y * y))
    for partial, exact in zip(applied(row, operands)[0].partials, expected, strict=True):
        assert ulps_apart(partial, float(exact)) <= 4


def derivative(row: Operation, operands: tuple[float, ...], position: int) -> mpmath.mpf:
    """Differentiate mpmath's function numerically, with enough digits for the small step."""
    if not row.is_exact:
        return mpmath.mpf(0)

    def along(number: mpmath.mpf) -> mpmath.mpf:
        return MPMATH[row.name](*(number if i == position else mpmath.mpf(x) for i, x in enumerate(operands)))

    with mpmath.workdps(110):
        return mpmath.diff(along, mpmath.mpf(operands[position]), h=mpmath.mpf(1e-20))


def rounding(formula: Formula, numbers: tuple[float, ...]) -> mpmath.mpf:
    """Bound the first-order error of a formula if each operation and `out` is rounded by 2 ulp."""
    exact = computed(formula, numbers, None)
    return sum(abs(computed(formula, numbers, part) - exact) for part in parts(formula))


def parts(formula: Formula) -> set[Formula]:
    return {formula}.union(*(parts(argument) for argument in formula.arguments))


def computed(formula: Formula, numbers: tuple[float, ...], wrong: Formula | None) -> mpmath.mpf:
    """Evaluate a formula in mpmath with the result of the part `wrong` 2 ulp too large."""
    arguments = [computed(argument, numbers, wrong) for argument in formula.arguments]
    match formula.operator:
        case "name":
            result = mpmath.mpf(numbers[NAMES.index(formula.atom)])
            return result * (1 + 2 * EPSILON) if formula == wrong and formula.atom == "out" else result
        case "number":
            return mpmath.mpf(formula.atom)
        case "+":
            result = arguments[0] + arguments[1]
        case "-":
            result = arguments[0] - arguments[1]
        case "*":
            result = arguments[0] * arguments[1]
        case "/":
            result = arguments[0] / arguments[1]
        case "negative":
            result = -arguments[0]
        case "where":
            result = arguments[1] if arguments[0] else arguments[2]
        case "<" | "<=" | ">" | ">=" | "==" | "and":
            left, right = arguments
            comparisons = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}
            return {**comparisons, "==": left == right, "and": left and right}[formula.operator]
        case function:
            known = {**MPMATH, "fabs": abs, "polygamma": lambda order, x: psi(int(order), x)}
            result = (known[function] if function in known else getattr(mpmath, function))(*arguments)
    return result * (1 + 2 * EPSILON) if formula == wrong else result


@ROWS
def test_domain_and_edges_agree_with_torch(row):
    at_edges = itertools.product(EDGES, repeat=min(row.arity, 2))
    for operands in [*points(row), *(edge + (2.0,) * (row.arity - len(edge)) for edge in at_edges)]:
        out, leaves = applied(row, operands)
        out.backward()
        others = [torch_leaf(operand) for operand in operands]
        expected = TORCH[row.name](*others)
        if expected.requires_grad:  # comparisons and constants do not require a gradient
            expected.backward()
        if row.name in ROUGH_IN_TORCH:
            for mine, other in ((out.data, expected.item()), (leaves[0].grad, others[0].grad.item())):
                if math.isnan(out.data):
                    continue
                is_pole = row.name in ("digamma", "trigamma") and operands[0] < 0.0 and operands[0] % 1.0 == 0.0
                assert is_pole or not math.isfinite(other) or mine == pytest.approx(other, 1e-6, 1e-12), operands
            continue
        assert ulps_apart(out.data, expected.item()) <= 4, operands
        for position, (leaf, other) in enumerate(zip(leaves, others, strict=True)):
            gradient = other.grad.item() if other.grad is not None else 0.0
            if not torch_is_off(row, operands):
                numbers = (*operands, *[0.0] * (3 - row.arity), out.data)
                assert ulps_apart(leaf.grad, gradient) <= 4 or abs(leaf.grad - gradient) <= 2 * rounding(
                    textbook(row.partial(position)), numbers
                ), f"{operands}; where PyTorch is less exact than gradwalk, list the row in ROUGH_IN_TORCH"


# Rows that PyTorch computes less accurately, with overflowing derivatives, or by a formula of references.py. Its inf
# and nan may be wrong there.
ROUGH_IN_TORCH = (
    *("cbrt", "log1mexp", "asinh", "acosh", "sinc", "silu", "gelu", "erfcx"),
    *("norm_pdf", "norm_cdf", "norm_ppf", "gamma", "lgamma", "digamma", "trigamma"),
)


def torch_is_off(row: Operation, operands: tuple[float, ...]) -> bool:
    """Return whether PyTorch's gradient is not the derivative.

    This is so for abs at nan, where it gives 0; for expm1 below 0, where it uses out + 1 for exp(x); for atan2
    if x² + y² overflows or underflows and the derivative does not; for hypot of subnormal numbers; for powers of
    negative numbers if y - 1 is rounded to another integer, and of subnormal numbers if pow(x, y - 1) overflows;
    for fmod of infinity and remainder by 0, which are nan; for copysign of infinity and logaddexp of two equal
    infinities, where it gives nan; for logaddexp if its exponential overflows. For equal or nan operands of fmax
    and fmin it gives the whole gradient to the first.
    The tests against mpmath show that gradwalk's gradients are right.
    """
    if row.name == "abs":
        return math.isnan(operands[0])
    if row.name == "expm1":
        return operands[0] < 0.0
    if row.name == "pow":
        x, y = operands
        return (x < 0.0 and (y % 1.0 != 0.0 or abs(y) > 2.0**53)) or 0.0 < abs(x) < 1e-310
    if row.name in ("fmod", "copysign"):
        return math.isinf(operands[0])
    if row.name == "remainder":
        return operands[1] == 0.0
    if row.name in ("fmax", "fmin"):
        return operands[0] == operands[1] or all(map(math.isnan, operands))
    if row.name == "logaddexp":
        return operands[0] == operands[1] or abs(operands[0] - operands[1]) > 700.0
    if row.name == "hypot":
        return max(map(abs, operands)) < 1e-300
    squares = sum(x * x for x in operands)
    return row.name == "atan2" and (squares < 1e-290 or squares > 1e290)


@ROWS
def test_all_ways_of_calling_give_the_same(row):
    for operands in points(row, 20):
        expected, expected_leaves = applied(row, operands)
        expected.backward()
        for call in ways(row):
            leaves = [Value(operand) for operand in operands]
            out = call(*leaves)
            out.backward()
            assert out.data == expected.data
            assert [leaf.grad for leaf in leaves] == [leaf.grad for leaf in expected_leaves]
            assert out.op == row.symbol
            assert out.operands == tuple(leaves)


def ways(row: Operation) -> list:
    """Return the functions that call a row."""
    found = []
    if row.operator:
        dunder = f"__{row.operator}__"
        found.append(lambda x, *others: getattr(x, dunder)(*others))
    if row.is_function:
        found.append(getattr(Value, row.name))
        found.append(getattr(gradwalk.math, row.name))
    if hasattr(numpy, row.ufunc):
        found.append(getattr(numpy, row.ufunc))
    if hasattr(numpy, row.ufunc) and row.name not in NO_METHOD_OF_OBJECTS:
        found.append(lambda *xs: getattr(numpy, row.ufunc)(*[numpy.array([x], dtype=object) for x in xs])[0])
    return found


@ROWS
def test_any_operand_can_be_a_constant(row):
    for operands in points(row, 20):
        full, _ = applied(row, operands)
        for kept in range(1, 2**row.arity):
            arguments = [Value(x) if kept >> i & 1 else x for i, x in enumerate(operands)]
            out = apply(OPCODES[row.name], *arguments)
            assert out.data == full.data
            assert out.arguments == tuple(arguments)
            assert out.operands == tuple(x for x in arguments if isinstance(x, Value))
            assert out.partials == tuple(
                p for p, x in zip(full.partials, arguments, strict=True) if isinstance(x, Value)
            )


@ROWS
def test_floats_give_floats(row):
    for operands in points(row, 20):
        result = apply(OPCODES[row.name], *operands)
        assert type(result) is float
        assert result == applied(row, operands)[0].data
        if row.is_function:
            assert getattr(gradwalk.math, row.name)(*operands) == result


@ROWS
def test_repeated_operand_gets_the_sum_of_gradients(row):
    if row.arity == 1:
        return
    for low, high in [max(row.domain, key=lambda interval: interval[0])]:
        for number in (0.3 * low + 0.7 * high, high):
            x = Value(number)
            out = apply(OPCODES[row.name], *[x] * row.arity)
            out.backward()
            assert x.grad == sum(out.partials)
            assert out.operands == (x,) * row.arity


@ROWS
def test_error_for_wrong_operands_names_the_row(row):
    accepts_complex = row.name in (*OPERATORS, "where")
    for wrong in ("2", None, ["2"], *([] if accepts_complex else [1j, numpy.array([1j])])):
        with pytest.raises(TypeError, match=rf"{row.name}\(\) takes Values and real numbers, not"):
            apply(OPCODES[row.name], *[wrong] * row.arity)


def test_a_complex_condition_is_refused():
    with pytest.raises(TypeError, match=r"where\(\) takes Values and real numbers, not \(complex, complex, float\)"):
        gradwalk.math.where(1j, 1j, 2.0)


def test_references_cover_every_row():
    names = {row.name for row in TABLE}
    assert names == set(MPMATH) == set(TORCH)
    assert torch.get_default_dtype() == torch.float32
