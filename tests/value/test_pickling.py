"""Tests of copies and pickles: which stay connected to the graph of the original and which are independent."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

from gradwalk import (
    RecordingError,
    Value,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jit,
    jvp,
    loops,
    sparse_jacobian,
    topological_order,
    value_and_grad,
    vmap,
)

Function = Callable[[Any], Any]

COPIES: dict[str, Function] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "copy of a product": lambda x: copy.copy(x * 1.0),
    "deepcopy of a product": lambda x: copy.deepcopy(x * 1.0),
    "deepcopy of a list": lambda x: copy.deepcopy([x])[0],
    "deepcopy of a list of products": lambda x: copy.deepcopy([x, x * 1.0])[1],
    "deepcopy of a dict of an array": lambda x: copy.deepcopy({"a": numpy.array([x * 1.0, 2.0])})["a"][0],
}
# Derivatives of x -> 3 x² at 2, by one or several transforms.
RESULTS: dict[str, tuple[Function, Any]] = {
    "grad": (lambda f: grad(f)(2.0), 12.0),
    "value_and_grad": (lambda f: value_and_grad(f)(2.0), (12.0, 12.0)),
    "jacrev": (lambda f: jacrev(f)(2.0), 12.0),
    "jacfwd": (lambda f: jacfwd(f)(2.0), 12.0),
    "jvp": (lambda f: jvp(f, (2.0,), (1.0,)), (12.0, 12.0)),
    "grad of grad": (lambda f: grad(grad(f))(2.0), 6.0),
    "hessian": (lambda f: hessian(f)(2.0), 6.0),
    "jit of grad": (lambda f: jit(grad(f))(2.0), 12.0),
    "grad of jit": (lambda f: grad(jit(f))(2.0), 12.0),
    "recorded branches": (lambda f: grad(jit(f, branches="record"))(2.0), 12.0),
    "vmap of grad": (lambda f: vmap(grad(f))(numpy.array([2.0, 3.0])).tolist(), [12.0, 18.0]),
    "vmap of hessian": (lambda f: vmap(hessian(f))(numpy.array([2.0, 3.0])).tolist(), [6.0, 6.0]),
    "sparse_jacobian": (
        lambda f: sparse_jacobian(lambda xs: [f(xs[0]), f(xs[1])])([2.0, 3.0]).toarray().tolist(),
        [[12.0, 0.0], [0.0, 18.0]],
    ),
    "a list": (lambda f: grad(lambda xs: f(xs[0]) * f(xs[1]))([1.0, 2.0]), [72.0, 36.0]),
}


def in_a_thread(f: Function, x: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f, x).result()


@pytest.mark.parametrize("threaded", [False, True], ids=["", "in another thread"])
@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("copied", COPIES)
def test_copies_of_recorded_values_stay_connected(copied: str, result: str, threaded: bool) -> None:
    make = (lambda x: in_a_thread(COPIES[copied], x)) if threaded else COPIES[copied]
    derivative, expected = RESULTS[result]
    assert derivative(lambda x: make(x) * 3.0 * x) == expected


@pytest.mark.parametrize("copied", COPIES)
def test_copies_inside_loops_stay_connected(copied: str) -> None:
    f = lambda x: loops.fori_loop(0, 40, lambda _, carry: COPIES[copied](carry) * COPIES[copied](x), 1.0 * x)  # noqa: E731
    for derivative in (grad, jit, jacfwd):
        assert derivative(f)(1.5) == pytest.approx(derivative(lambda x: x**41)(1.5), rel=1e-12)
    assert grad(grad(f))(1.5) == pytest.approx(41 * 40 * 1.5**39, rel=1e-12)
    branch = lambda x: loops.cond(x > 0.0, lambda x: COPIES[copied](x) * x, lambda x: x, x)  # noqa: E731
    assert grad(jit(branch))(3.0) == 6.0
    assert vmap(grad(branch))(numpy.array([3.0, -1.0])).tolist() == [6.0, 1.0]


@pytest.mark.parametrize("copied", COPIES)
def test_recorded_copies_are_not_constants(copied: str) -> None:
    f = jit(lambda x: in_a_thread(COPIES[copied], x) * x)
    assert [f(2.0), f(3.0), f(4.0)] == [4.0, 9.0, 16.0]


@pytest.mark.parametrize("run", [lambda f, x: f(x), in_a_thread], ids=["", "in another thread"])
@pytest.mark.parametrize("transform", [grad, jit, vmap, jacfwd, hessian])
def test_recorded_values_cannot_be_pickled(run: Callable[[Function, Any], Any], transform: Any) -> None:
    f = transform(lambda x: run(lambda x: pickle.loads(pickle.dumps(x)), x * 2.0) * x)
    with pytest.raises(RecordingError, match=r"cannot be pickled while .* use copy\.copy or copy\.deepcopy"):
        f(numpy.array([2.0, 3.0]) if transform is vmap else 2.0)


def test_deep_copy_of_a_leaf_is_independent() -> None:
    """The copy starts with a copy of the gradient, as a PyTorch leaf tensor does."""
    v = Value(2.0, label="v")
    (v * v).backward()
    for twin in (copy.deepcopy(v), copy.deepcopy([v])[0], pickle.loads(pickle.dumps(v)), copy.copy(v)):
        assert (twin.data, twin.grad, twin.label, twin.operands) == (2.0, 4.0, "v", ())
        (twin * 3.0).backward()
        assert (twin.grad, v.grad) == (7.0, 4.0)


def test_deep_copy_of_a_graph_is_independent() -> None:
    v = Value(2.0)
    w = v * v
    for twin in (copy.deepcopy(w), copy.deepcopy({"w": w})["w"], pickle.loads(pickle.dumps(w))):
        assert not {*topological_order(twin)} & {v, w}
        (twin * 3.0).backward()
        assert (twin.operands[0].grad, v.grad) == (12.0, 0.0)
    (copy.copy(w) * 3.0).backward()
    assert v.grad == 12.0


def test_deep_copy_keeps_relations_between_values() -> None:
    v = Value(2.0)
    for names in (("v", "w"), ("w", "v")):
        given = {"v": v, "w": v * v}
        twins = copy.deepcopy({name: given[name] for name in names})
        (twins["w"] * 3.0).backward()
        assert (twins["v"].grad, v.grad) == (12.0, 0.0)


def test_deep_copy_after_a_recording() -> None:
    kept: list[Any] = []
    grad(lambda x: (kept.append(x * x), x * x)[1])(2.0)
    assert copy.deepcopy(kept)[0] is not kept[0]
    assert copy.deepcopy(kept)[0].data == 4.0
