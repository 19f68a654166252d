"""Unselected operands of `where`, `maximum`, `relu` and `take` get no derivative. PyTorch is the reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from references import torch

import gradwalk.math as gm
from gradwalk import Value, check, grad, hessian, jit, jvp, loops, primitive, vmap, walk

# "x", "y", a number, or a tuple of a function name and its operands.
Expression = Any

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": gm.log,
    "sqrt": gm.sqrt,
    "exp": gm.exp,
    "asin": gm.asin,
    "reciprocal": lambda x: 1.0 / x,
    "square": lambda x: x * x,
    "tanh": gm.tanh,
    "bell": lambda x: gm.exp(-x * x),
    "scaled": lambda x: x / gm.sqrt(x * x + 1e-5),
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "logsumexp": lambda x, y: gm.logsumexp([x, y]),
    "share": lambda x, y: gm.softmax([x, y, 0.0])[1],
    "log_share": lambda x, y: gm.log_softmax([x, y])[0],
}
TWO = ["add", "sub", "mul", "div", "logsumexp", "share", "log_share"]
ONE = [name for name in FUNCTIONS if name not in TWO]
POINTS = st.sampled_from([0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 1000.0])


def compound(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.tuples(st.sampled_from([*ONE, "relu"]), inner),
        st.tuples(st.sampled_from([*TWO, "maximum"]), inner, inner),
        st.tuples(st.just("where"), inner, inner, inner, inner),
        st.tuples(st.just("take"), st.sampled_from([0.0, 1.0]), inner, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(["x", "y", 0.0, 1.0, -2.0]), compound, max_leaves=25)


def both_branches(expression: Expression, variables: dict[str, Any]) -> Any:
    """Evaluate an expression with gradwalk, including the unselected branches."""
    if not isinstance(expression, tuple):
        return variables[expression] if isinstance(expression, str) else 0.0 * variables["x"] + expression
    name, *operands = expression
    found = [both_branches(operand, variables) for operand in operands]
    if name == "where":
        return gm.where(gm.less(found[0], found[1]), found[2], found[3])
    if name == "take":
        return gm.take(found[1:], found[0])
    return FUNCTIONS[name](*found) if name in FUNCTIONS else getattr(gm, name)(*found)


class CornerError(Exception):
    """A comparison of equal or nan operands, which selects no branch."""


def selected_branch(expression: Expression, variables: dict[str, Any]) -> Any:
    """Evaluate an expression in PyTorch with Python's `if`, so that unselected branches do not run."""
    if not isinstance(expression, tuple):
        return variables[expression] if isinstance(expression, str) else 0.0 * variables["x"] + expression
    name, *operands = expression
    if name == "take":
        return selected_branch(operands[1 + int(operands[0])], variables)
    if name == "where":
        a, b = (selected_branch(operand, variables) for operand in operands[:2])
        return selected_branch(operands[2] if a.item() < b.item() else operands[3], variables)
    found = [selected_branch(operand, variables) for operand in operands]
    if name in ("relu", "maximum"):
        x, y = (*found, torch.tensor(0.0, dtype=torch.float64))[:2]
        if not x.item() > y.item() and not y.item() > x.item():
            raise CornerError
        return x if x.item() > y.item() else y
    return FUNCTIONS[name](*found) if name in ("add", "sub", "mul", "div", "square") else in_torch(name, *found)


def in_torch(name: str, *operands: Any) -> Any:
    if name in IN_TORCH:
        return IN_TORCH[name](*operands)
    return getattr(torch, name)(*operands)


IN_TORCH: dict[str, Callable[..., Any]] = {
    "reciprocal": lambda x: 1.0 / x,
    "bell": lambda x: torch.exp(-x * x),
    "scaled": lambda x: x / torch.sqrt(x * x + 1e-5),
    "logsumexp": torch.logaddexp,
    "share": lambda x, y: torch.softmax(torch.stack([x, y, torch.zeros_like(x)]), 0)[1],
    "log_share": lambda x, y: torch.log_softmax(torch.stack([x, y]), 0)[0],
}


def reference_derivatives(expression: Expression, point: list[float]) -> tuple[list[float], list[list[float]]]:
    """Return the gradient and the Hessian of the selected branch."""
    leaves = [torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in point]
    root = selected_branch(expression, dict(zip("xy", leaves, strict=True)))
    gradient = torch_gradient(root, leaves, create_graph=True)
    return [g.item() for g in gradient], [[h.item() for h in torch_gradient(g, leaves)] for g in gradient]


def torch_gradient(root: Any, leaves: list[Any], **options: bool) -> list[Any]:
    zeros = [torch.zeros((), dtype=torch.float64) for _ in leaves]
    if not root.requires_grad:
        return zeros
    found = torch.autograd.grad(root, leaves, allow_unused=True, retain_graph=True, **options)
    return [zero if g is None else g for g, zero in zip(found, zeros, strict=True)]


@given(EXPRESSIONS, st.lists(POINTS, min_size=2, max_size=2))
def test_unselected_branches_contribute_no_derivative(expression, point):
    def f(x: Any, y: Any) -> Any:
        return both_branches(expression, {"x": x, "y": y}) + 0.0 * x

    try:
        gradient, second = reference_derivatives(expression, point)
    except CornerError:
        return
    flat = [*gradient, *second[0], *second[1]]
    assume(all(math.isfinite(number) and abs(number) < 1e200 for number in flat))
    x, y = Value(point[0]), Value(point[1])
    root = f(x, y)
    root.backward()
    assert [x.grad, y.grad] == pytest.approx(gradient, rel=1e-9, abs=1e-12)
    for gradients in (grad(f, (0, 1)), jit(grad(f, (0, 1)))):
        assert list(gradients(*point)) == pytest.approx(gradient, rel=1e-9, abs=1e-12)
    columns = numpy.array([point, [0.7, 0.3], point]).T
    on_lanes = numpy.array(jit(vmap(grad(f, (0, 1))))(*columns))
    assert on_lanes[:, 0].tolist() == pytest.approx(gradient, rel=1e-9, abs=1e-12)
    assert on_lanes[:, 2].tolist() == pytest.approx(gradient, rel=1e-9, abs=1e-12)
    for k in (0, 1):  # reverse mode twice, and forward mode over reverse
        twice = grad(lambda x, y, k=k: grad(f, (0, 1))(x, y)[k], (0, 1))
        assert list(jit(twice)(*point)) == pytest.approx(second[k], rel=1e-8, abs=1e-10)
    found = numpy.array(jit(hessian(f, (0, 1)))(*point))
    assert found.tolist() == [pytest.approx(row, rel=1e-8, abs=1e-10) for row in second]


CHOICES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "where": (lambda x: gm.where(x > 0.0, gm.sqrt(x), 0.0), 0.0, 0.0),
    "where, outside the domain": (lambda x: gm.where(x > 0.0, gm.log(x), x), -1.0, 1.0),
    "where, at a pole": (lambda x: gm.where(gm.equal(x, 0.0), 1.0, gm.sin(x) / x), 0.0, 0.0),
    "where, at an overflow": (lambda x: gm.where(x > 30.0, x, gm.log1p(gm.exp(x))), 1000.0, 1.0),
    "maximum": (lambda x: gm.maximum(gm.sqrt(x), 1.0), 0.0, 0.0),
    "relu": (lambda x: gm.relu(-1.0 - gm.sqrt(x)), 0.0, 0.0),
    "take": (lambda x: gm.take([gm.log(x), x * x], 1), 0.0, 0.0),
    "relu within where": (lambda x: gm.where(x > 0.0, gm.relu(gm.sqrt(x) - 2.0) + x, 3.0 * x), 0.0, 3.0),
    "relu within sqrt": (lambda x: gm.sqrt(gm.relu(x)) * x, -1.0, 0.0),
    "unselected by two relus": (lambda x: gm.relu(gm.sqrt(x) - 1.0) + gm.relu(gm.sqrt(x) - 2.0) + x, 0.0, 1.0),
    "unselected by one of two relus": (lambda x: gm.relu(gm.sqrt(x) - 1.0) + gm.relu(gm.sqrt(x) + 1.0), 4.0, 0.5),
}


@pytest.mark.parametrize("name", CHOICES)
def test_selects_in_all_execution_modes(name):
    f, point, expected = CHOICES[name]
    assert grad(f)(point) == jit(grad(f))(point) == expected
    assert jit(lambda x: jvp(f, (x,), (1.0,))[1])(point) == expected
    assert numpy.array(jit(vmap(grad(f)))(numpy.full(3, point))).tolist() == [expected] * 3
    x = Value(point, label="x")
    root = f(x)
    root.backward()
    assert x.grad == expected
    assert walk(f(Value(point, label="x"))).gradients.get("x", 0.0) == expected
    assert check(root)


def test_nan_in_the_selected_branch_is_kept():
    # The derivative of sqrt(x)**2 at 0 is 1, but the chain rule gives 2 * sqrt(0) * inf = nan. No mask may hide it.
    def f(x: Any) -> Any:
        root = gm.sqrt(x)
        return root * root + gm.relu(root - 1.0)

    x = Value(0.0)
    f(x).backward()
    assert math.isnan(x.grad)
    assert math.isnan(jit(grad(f))(0.0))
    assert math.isnan(jit(lambda x: jvp(f, (x,), (1.0,))[1])(0.0))


def test_unselected_primitives_contribute_no_derivative():
    # The derivative rule gets a zero cotangent or is not called; its result must not reach the gradient.
    @primitive
    def half_power(x):
        return math.sqrt(x)

    @half_power.derivative
    def _(out, x):
        return 0.5 / out

    def f(x: Any) -> Any:
        return gm.where(x > 0.0, half_power(x), 2.0 * x)

    assert grad(f)(0.0) == jit(grad(f))(0.0) == 2.0
    assert jit(grad(f))(4.0) == 0.25


def test_unselected_custom_backward_is_not_called():
    calls = []

    def square(x: Value) -> Value:
        out = Value(x.data**2, (x,))

        def rule() -> None:
            calls.append(out.grad)
            x.grad += 2.0 * x.data * out.grad

        out._backward = rule
        return out

    x = Value(3.0)
    (gm.relu(square(x) - 1.0) + gm.relu(1.0 - square(x))).backward()
    assert (x.grad, calls) == (6.0, [1.0])


def test_relu_networks_need_no_masks():
    # One `where` for each of the 3 + 2 relus, and no masks.
    def network(weights: list[float], x: float) -> Any:
        hidden = [gm.relu(w * x + 1.0) for w in weights]
        return sum(gm.relu(sum(w * h for w, h in zip(weights, hidden, strict=True)) + b) for b in (0.5, 0.25))

    f = jit(grad(network))
    f([0.3, -0.2, 0.1], 2.0)
    assert str(f.program).count("where") <= 5


def test_each_branch_is_masked_once():
    def payoff(shocks: list[float], rate: float) -> Any:
        price = 1.0
        for shock in shocks:
            price = price * gm.exp(rate + shock)
        return gm.relu(price - 1.0)

    f = jit(grad(payoff, 1))
    f([0.1] * 50, 0.02)
    assert str(f.program).count("where") <= 2  # for relu, and for the derivative with respect to the rate
    f([-800.0, 800.0, *[0.0] * 48], 0.02)


def test_deeply_nested_relus_give_programs_of_linear_size():
    def f(x: Any) -> Any:
        for _ in range(3000):
            x = gm.relu(gm.sqrt(x) - 0.1) + 0.2 * x
        return x

    def nested(x: Any) -> Any:
        for _ in range(3000):
            x = gm.relu(gm.sqrt(x))
        return x

    for function in (f, nested):
        recorded = jit(grad(function))
        assert math.isfinite(recorded(2.0))
        assert len(recorded.program) < 3000 * 20


def test_derivatives_of_loops_in_unselected_branches():
    # The second derivative of the loop sums cotangents of its carry and of its consts, each from an unselected branch.
    def f(x, i):
        return gm.where(gm.less(i, 3.0), loops.fori_loop(0, 2, lambda k, c: gm.sqrt(i - 8.0 + x) * c, x), x)

    for transform in (grad, lambda g: grad(grad(g)), hessian):
        assert jit(transform(f))(3.0, 4.0) == vmap(transform(f))(numpy.array([3.0]), numpy.array([4.0]))[0]
        assert jit(transform(f))(3.0, 4.0) == transform(lambda x: x * 1.0)(3.0)
