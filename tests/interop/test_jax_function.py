"""to_jax: gradwalk functions in JAX against the same functions written in JAX."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy
import pytest

from gradwalk import RecordingError, math
from gradwalk.nn import MLP

jax = pytest.importorskip("jax")
jnp = jax.numpy

from gradwalk.interop import to_jax  # noqa: E402  after the check that JAX is installed
from gradwalk.solvers import odeint, root  # noqa: E402


def bell(module):
    return lambda x: module.exp(-(x @ x)) + x[0] * x[1] ** 3


OURS, THEIRS = to_jax(bell(math)), bell(jnp)
X = jnp.array([0.3, 0.7], jnp.float32)
BATCH = jnp.arange(24, dtype=jnp.float32).reshape(3, 4, 2) / 20


@pytest.fixture(autouse=True)
def single_precision():
    """Restore JAX's default precision, which other tests of the process may have changed."""
    with jax.enable_x64(False):
        yield


def layer(module):
    """Return a function of a dict that contains a list."""
    return lambda p, x: {"hidden": module.tanh(p["w"] @ x + p["b"][0]), "scaled": [x * p["b"][0]]}


PARAMS = {"w": jnp.array([[0.5, -1.0], [1.5, 0.25]], jnp.float32), "b": [jnp.float32(0.3)]}


def close(found, expected, tolerance=1e-5):
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert one.dtype == other.dtype
        numpy.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def compared(transform, *args, tolerance=1e-5):
    """Compare a transform of both functions under jax.jit: op by op, JAX would compile each operation."""
    close(jax.jit(transform(OURS))(*args), jax.jit(transform(THEIRS))(*args), tolerance)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: f,
        jax.value_and_grad,
        jax.jacfwd,
        jax.hessian,
        lambda f: jax.jacrev(jax.jacrev(f)),
        lambda f: jax.jacrev(jax.jacfwd(f)),
        lambda f: jax.jacfwd(jax.jacrev(jax.jacfwd(f))),
        lambda f: jax.grad(jax.checkpoint(lambda x: jnp.sin(f(x)))),
        lambda f: lambda x: jax.linear_transpose(jax.linearize(f, x)[1], x)(2.0),
    ],
    ids=["value", "pair", "forward", "hessian", "reverse", "mixed", "third", "checkpoint", "transpose"],
)
def test_derivatives_of_any_order(transform):
    compared(transform, X)


@pytest.mark.parametrize("transform", [lambda f: f, jax.value_and_grad, jax.hessian], ids=["value", "pair", "hessian"])
def test_without_jit(transform):
    close(transform(OURS)(X), jax.jit(transform(THEIRS))(X))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: jax.vmap(jax.value_and_grad(f)),
        lambda f: jax.vmap(jax.hessian(f)),
        lambda f: jax.grad(lambda x: jax.vmap(f)(x).sum()),
    ],
    ids=["pairs", "hessians", "sum"],
)
def test_batches(transform):
    compared(transform, BATCH[0])


@pytest.mark.parametrize(("outer", "inner"), [(0, 0), (1, 0), (0, 1), (2, 1)])
def test_nested_batches_along_any_axes(outer, inner):
    batch = jnp.moveaxis(BATCH, (0, 1), (outer, inner if inner < outer else inner + 1))
    compared(lambda f: jax.vmap(jax.vmap(f, inner), outer, out_axes=1), batch)


@pytest.mark.parametrize("transform", [jax.grad, jax.hessian])
def test_gradients_of_shared_parameters_are_summed(transform):
    def loss(f):
        def of_params(params):
            outputs = jax.vmap(f, (None, 0))(params, BATCH[0])
            return (outputs["hidden"] ** 2).sum() + outputs["scaled"][0].sum()

        return of_params

    ours, theirs = jax.jit(transform(loss(to_jax(layer(math))))), jax.jit(transform(loss(layer(jnp))))
    close(ours(PARAMS), theirs(PARAMS))


def test_trees_and_keyword_arguments():
    close(to_jax(layer(math))(PARAMS, X), layer(jnp)(PARAMS, X))
    close(to_jax(layer(math))(p=PARAMS, x=X), layer(jnp)(PARAMS, X))


def test_in_a_jax_loop():
    compared(lambda f: lambda x: jax.lax.scan(lambda x, _: (x - 0.1 * jax.grad(f)(x), f(x)), x, None, length=5), X)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_dtypes_are_kept(dtype):
    x = X.astype(dtype)
    compared(jax.grad, x, tolerance=0.05)
    compared(jax.vmap, x[None], tolerance=0.05)


def test_double_precision():
    with jax.enable_x64(True):
        x = jnp.array([0.3, 0.7])
        compared(jax.hessian, x, tolerance=1e-14)
        compared(lambda f: jax.vmap(jax.grad(f)), x[None], tolerance=1e-14)
        gradients = jax.grad(to_jax(lambda a, b: a * b), argnums=(0, 1))(jnp.float32(0.5), jnp.float64(0.25))
        assert [(x.item(), str(x.dtype)) for x in gradients] == [(0.25, "float32"), (0.5, "float64")]


@pytest.mark.parametrize("integer", [3, numpy.int32(3), True, jnp.array(3, jnp.int32)])
def test_integer_arguments_have_no_gradient(integer):
    power = to_jax(lambda x, n: x * x * n)
    assert jax.grad(power)(2.0, integer) == 4.0 * int(integer)
    assert jax.vmap(jax.grad(power), (0, None))(jnp.ones(2), integer).tolist() == [2.0 * int(integer)] * 2
    with pytest.raises(TypeError, match=r"int32|bool"):
        jax.grad(power, argnums=1)(2.0, jnp.asarray(integer))


def test_integer_arguments_only():
    close(to_jax(lambda n: n / 2)(3), jnp.float32(1.5))


@pytest.mark.parametrize("order", [1, 2])
def test_derivatives_by_some_arguments_can_be_transposed(order):
    # The tangents of the remaining arguments are concrete arrays.

    def plain(w, x):
        return (w @ x) ** 3

    w, x, still = jnp.array([0.1, 0.2]), jnp.array([1.0, -0.5]), jnp.zeros(2)
    found = []
    for first in (plain, to_jax(plain)):
        f = jax.grad(first) if order == 2 else first
        seed = jnp.array([2.0, 1.0]) if order == 2 else jnp.array(2.0)
        by_w = jax.linear_transpose(lambda v, f=f: jax.jvp(f, (w, x), (v, still))[1], w)
        by_x = jax.linear_transpose(lambda v, f=f: jax.jvp(f, (w, x), (still, v))[1], x)
        by_both = jax.linear_transpose(lambda v, u, f=f: jax.jvp(f, (w, x), (v, u))[1], w, x)
        seeds = jnp.stack([seed, 3.0 * seed])
        found.append([by_w(seed), by_x(seed), by_both(seed), jax.vmap(by_w)(seeds), jax.jit(by_x)(seed)])
    for ours, expected in zip(*map(jax.tree.leaves, found), strict=True):
        close(ours, expected)


def test_only_derivatives_can_be_transposed():
    with pytest.raises(
        TypeError,
        match=r"double\(\) cannot be transposed because it is not known to be linear: transpose its derivative",
    ):
        jax.linear_transpose(to_jax(double), jnp.ones(2))(jnp.ones(2))
    [found] = jax.linear_transpose(jax.linearize(to_jax(double), jnp.ones(2))[1], jnp.ones(2))(jnp.ones(2))
    close(found, jnp.array([2.0, 2.0]))


def double(x):
    return 2.0 * x


@pytest.mark.parametrize("wrapped", [lambda f: f, jax.jit])
def test_functions_undefined_at_one(wrapped):
    from_root = to_jax(lambda a: root(lambda x: x * x - (a - 2.0), 1.0))
    close(wrapped(from_root)(11.0), jnp.sqrt(9.0))
    close(wrapped(jax.grad(from_root))(11.0), jnp.array(1 / 6))
    decay = to_jax(lambda ts: odeint(lambda y, t: -y, 1.0, ts))
    close(wrapped(decay)(jnp.array([0.0, 1.0])), jnp.exp(-jnp.array([0.0, 1.0])))


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (jax.random.key(0), r"got an array of key<fry>"),
        ("text", r"argument \['x'\]\[1\] of bell\(\) must be a pytree of real numbers .*, got str"),
        (1j, r"got an array of complex64"),
        (object(), r"got object"),
    ],
)
def test_unsupported_arguments_raise(argument, message):
    def bell(x):
        return x[0]

    with pytest.raises(TypeError, match=message):
        to_jax(bell)(x=(1.0, argument))


def test_argument_must_be_a_function():
    with pytest.raises(TypeError, match=r"to_jax\(\) takes a function, not int: 3"):
        to_jax(3)


def test_branches_raise():
    with pytest.raises(RecordingError, match="branches on"):
        jax.jit(to_jax(lambda x: x if x > 0 else 0.0))(1.0)


def test_captured_values_raise():
    model = MLP(2, [1])
    with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
        to_jax(model)(X)


def test_large_batches_on_one_core():
    # With one core XLA has one thread: a callback on it must not wait for another thread.
    program = """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        import jax, numpy
        from gradwalk import math
        from gradwalk.interop import to_jax
        jax.config.update("jax_enable_x64", True)
        slopes = jax.jit(jax.vmap(jax.value_and_grad(to_jax(lambda x: math.exp(-(x @ x))))))
        print(slopes(numpy.zeros((200_000, 3)))[0].sum())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout == "200000.0\n"


def test_function_keeps_its_name():
    def named(x):
        """Return x."""
        return x

    assert to_jax(named).__name__ == "named"
    assert to_jax(named).__doc__ == "Return x."


def energy(x):
    return math.exp(-(x @ x))


@to_jax
def decorated(x):
    return x @ x


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_functions_can_be_pickled_and_copied(copied):
    function = copied(to_jax(energy))
    x = jax.numpy.array([0.0, 1.0])
    gradient = jax.jit(jax.grad(function))(x)
    again = copied(function)  # after calls
    close(jax.jit(jax.grad(again))(x), gradient)
    close(jax.vmap(again)(jax.numpy.ones((3, 2))), jax.numpy.exp(-2.0 * jax.numpy.ones(3)))
    assert copied(decorated)(jax.numpy.ones(2)) == 2.0
