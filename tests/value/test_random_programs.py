"""Random graphs over all operations, compared with PyTorch; mpmath with 50 digits decides where they differ."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from programs import EVERY, EXTREME, OPCODES, ORDINARY, TAME, Program, programs
from references import JUMPS, MPMATH, TORCH, mpmath, torch, torch_leaf

from gradwalk import Value, refresh, topological_order, zero_grad
from gradwalk.value.apply import apply


def with_values(program: Program) -> tuple[float, list[float]]:
    leaves, root = program.run(Value, lambda name, *operands: apply(OPCODES[name], *operands))
    root.backward()
    return root.data, [leaf.grad for leaf in leaves]


def with_torch(program: Program) -> tuple[float, list[float]]:
    def call(name: str, *operands: Any) -> torch.Tensor:
        tensors = [x if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64) for x in operands]
        return TORCH[name](*tensors)

    leaves, root = program.run(torch_leaf, call)
    if root.requires_grad:
        root.backward()
    return root.item(), [0.0 if leaf.grad is None else leaf.grad.item() for leaf in leaves]


class Dual:
    """A value and its derivative in mpmath, differentiated numerically without gradwalk's rules."""

    def __init__(self, primal: mpmath.mpf, tangent: mpmath.mpf) -> None:
        self.primal, self.tangent = primal, tangent


def dual(name: str, *operands: Any) -> Dual:
    primals = [x.primal if isinstance(x, Dual) else mpmath.mpf(x) for x in operands]
    if any(isinstance(x, mpmath.mpc) or abs(x) > 1e8 for x in primals):
        raise ValueError("complex, or too large for 50 digits")
    tangent = mpmath.mpf(0)
    for i, x in enumerate(operands):
        if isinstance(x, Dual) and x.tangent != 0:
            tangent += x.tangent * mpmath.diff(
                lambda t, i=i: MPMATH[name](*primals[:i], t, *primals[i + 1 :]), primals[i]
            )
    if abs(tangent) > 1e15:
        raise ValueError("a pole, of which a difference quotient knows nothing")
    return Dual(MPMATH[name](*primals), tangent)


def exactly(program: Program) -> tuple[mpmath.mpf, list[mpmath.mpf]]:
    root = None
    gradients = []
    for wanted in range(len(program.leaves)):
        seeds = iter(range(len(program.leaves)))
        _, root = program.run(lambda number: Dual(mpmath.mpf(number), mpmath.mpf(next(seeds) == wanted)), dual)  # noqa: B023
        gradients.append(root.tangent)
    return root.primal, gradients


def close(a: float, b: float) -> bool:
    """Return whether two numbers agree within a relative error of 1e-10; nan equals nan."""
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-10)


@given(programs(ORDINARY, EVERY, longest=25))
def test_agrees_with_torch(program):
    judge(program, with_values(program), with_torch(program))


@given(programs(ORDINARY, TAME, longest=12))
def test_agrees_with_torch_on_smooth_functions(program):
    judge(program, with_values(program), with_torch(program))


def judge(program: Program, ours: tuple[float, list[float]], torchs: tuple[float, list[float]]) -> None:
    """Check that our results match PyTorch's within 1e-10 or are at least as close to the exact numbers."""
    if raises_to_zero(program):
        return
    pairs = list(zip((ours[0], *ours[1]), (torchs[0], *torchs[1]), strict=True))
    if all(close(mine, other) for mine, other in pairs):
        return
    exact = exactly_or_none(program)
    if exact is None:
        return
    for (mine, other), truth in zip(pairs, (exact[0], *exact[1]), strict=True):
        if not close(mine, other):
            # 1e-40 allows for rounding in the last of 50 digits.
            bound = max(1e-10 * abs(truth), 16 * abs(other - truth), 1e-40)
            assert abs(mine - truth) <= bound, (mine, other, truth)


def raises_to_zero(program: Program) -> bool:
    """Return whether x**0 occurs: PyTorch stops the gradient there, but gradwalk computes 0 · inf = nan."""
    _, root = program.run(Value, lambda name, *operands: apply(OPCODES[name], *operands))
    powers = [v.arguments[1] for v in topological_order(root) if v.op == "**"]
    return any((y.data if isinstance(y, Value) else y) == 0.0 for y in powers)


def exactly_or_none(program: Program) -> tuple[mpmath.mpf, list[mpmath.mpf]] | None:
    """Return the exact results, or None at a pole, at a kink or if a number is complex."""
    try:
        exact = exactly(program)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError, mpmath.libmp.NoConvergence):
        return None
    return None if any(isinstance(number, mpmath.mpc) for number in (exact[0], *exact[1])) else exact


# Step functions give a zero gradient in gradwalk and 0 · nan in PyTorch. For the other rows PyTorch is inaccurate at
# extremes, or the formula that we use for it cancels, overflows or is undefined; test_table.py compares them with
# mpmath (see torch_is_off there).
OFF = {"sign", "abs", "expm1", "cbrt", "log1mexp", "tanh", "asin", "acos", "asinh", "acosh", "atanh", "sinc", "sigmoid"}
OFF |= {"silu", "gelu", "erfcx", "norm_pdf", "norm_cdf", "gamma", "digamma", "trigamma", "atan2", "hypot", "logaddexp"}
OFF |= JUMPS


@given(programs(EXTREME, [name for name in EVERY if name not in OFF], longest=3))
def test_agrees_with_torch_at_extremes(program):
    """nan, inf and zero stay the same, and overflow happens in the same places."""
    if raises_to_zero(program):
        return
    ours, torchs = with_values(program), with_torch(program)
    for mine, other in zip((ours[0], *ours[1]), (torchs[0], *torchs[1]), strict=True):
        is_close = close(mine, other) or abs(mine - other) < 1e-290
        assert is_close, "if PyTorch is less accurate than gradwalk here, add the row to OFF above"


@given(programs(ORDINARY, EVERY, longest=15))
def test_invariants(program):
    _, root = program.run(Value, lambda name, *operands: apply(OPCODES[name], *operands))
    order = topological_order(root)
    places = {node: place for place, node in enumerate(order)}
    assert order[-1] is root
    assert len(places) == len(order)
    assert all(places[operand] < places[node] for node in order for operand in node.operands)

    root.backward()
    once = [node.grad for node in order]
    data = [node.data for node in order]
    refresh(root)
    assert all(a == b or a != a for a, b in zip(data, [node.data for node in order], strict=True))
    zero_grad(root)
    root.backward()
    assert all(a == b or a != a for a, b in zip(once, [node.grad for node in order], strict=True))
    for node in order[:-1]:  # a node receives the sum of the cotangents that its users send
        received = sum(
            partial * user.grad
            for user in order
            for operand, partial in zip(user.operands, user.partials, strict=True)
            if operand is node
        )
        assert received == pytest.approx(node.grad, rel=1e-9, nan_ok=True) or not math.isfinite(received)
