"""to_torch: gradwalk functions in PyTorch against the same functions written in PyTorch, and gradcheck."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from gradwalk import RecordingError, math
from gradwalk.nn import MLP

torch = pytest.importorskip("torch")

from gradwalk.interop import to_torch  # noqa: E402  after the check that PyTorch is installed
from gradwalk.solvers import odeint, root  # noqa: E402

# PyTorch compiles parts of its forward mode with torch.jit at first use.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")

func = torch.func


def bell(module):
    return lambda x: module.exp(-(x @ x)) + x[0] * x[1] ** 3


OURS, THEIRS = to_torch(bell(math)), bell(torch)
X = torch.tensor([0.3, 0.7], dtype=torch.float64)
BATCH = torch.arange(24.0).reshape(3, 4, 2) / 20.0


def layer(module):
    """Return a function of a dict that contains a list."""
    return lambda p, x: {"hidden": module.tanh(p["w"] @ x + p["b"][0]), "scaled": [x * p["b"][0]]}


PARAMS = {"w": torch.tensor([[0.5, -1.0], [1.5, 0.25]]), "b": [torch.tensor(0.3)]}


class TestGradcheck:
    @pytest.mark.parametrize("check", [torch.autograd.gradcheck, torch.autograd.gradgradcheck])
    @pytest.mark.parametrize("inputs", [[(2,)], [(2, 3), (3,), ()]])
    def test_derivatives_against_finite_differences(self, check, inputs):
        torch.manual_seed(0)
        tensors = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in inputs]
        f = OURS if len(inputs) == 1 else to_torch(lambda a, x, s: (math.tanh(a @ x) * s, (math.exp(-x) * s).sum()))
        assert check(f, tensors)

    def test_forward_mode(self):
        x = X.clone().requires_grad_()
        assert torch.autograd.gradcheck(OURS, x, check_forward_ad=True)
        assert torch.autograd.gradgradcheck(OURS, x, check_fwd_over_rev=True)

    def test_batch(self):
        x = BATCH[0].double().requires_grad_()
        assert torch.autograd.gradcheck(func.vmap(OURS), x)
        assert torch.autograd.gradgradcheck(func.vmap(OURS), x)


@pytest.mark.parametrize(
    "transform",
    [
        func.grad,
        func.grad_and_value,
        func.jacfwd,
        func.hessian,
        lambda f: func.jacrev(func.jacrev(f)),
        lambda f: func.jacfwd(func.jacrev(func.jacfwd(f))),
        lambda f: lambda x: func.jvp(f, (x,), (x,)),
    ],
    ids=["grad", "pair", "forward", "hessian", "reverse", "third", "jvp"],
)
def test_transforms(transform):
    torch.testing.assert_close(transform(OURS)(X), transform(THEIRS)(X))


@pytest.mark.parametrize(
    "transform",
    [
        func.vmap,
        lambda f: func.vmap(f, in_dims=1, chunk_size=2),
        lambda f: func.vmap(func.grad(f)),
        lambda f: func.vmap(func.hessian(f)),
        lambda f: func.grad(lambda x: func.vmap(f)(x).sum()),
    ],
    ids=["vmap", "chunks", "gradients", "hessians", "sum"],
)
def test_batches(transform):
    x = BATCH[0, :2]
    torch.testing.assert_close(transform(OURS)(x), transform(THEIRS)(x), rtol=1e-5, atol=1e-6)


def test_nested_batches():
    def nested(f):
        return func.vmap(func.vmap(f), in_dims=1, out_dims=1)

    torch.testing.assert_close(nested(OURS)(BATCH), nested(THEIRS)(BATCH), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("transform", [func.grad, func.hessian])
def test_gradients_of_shared_parameters_are_summed(transform):
    def loss(f):
        def of_params(params):
            outputs = func.vmap(f, (None, 0))(params, BATCH[0])
            return (outputs["hidden"] ** 2).sum() + outputs["scaled"][0].sum()

        return of_params

    ours, theirs = transform(loss(to_torch(layer(math))))(PARAMS), transform(loss(layer(torch)))(PARAMS)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)


@dataclasses.dataclass
class Line:
    slope: Any
    start: Any


def test_trees_and_keyword_arguments():
    torch.testing.assert_close(to_torch(layer(math))(p=PARAMS, x=BATCH[0, 1]), layer(torch)(PARAMS, BATCH[0, 1]))
    line = to_torch(lambda line, x: Line(line.slope * x, line.start + x))(Line(torch.tensor(2.0), 1.0), 3.0)
    assert line == Line(torch.tensor(6.0), torch.tensor(4.0))


class Neurons(torch.nn.Module):
    def __init__(self, neuron):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([0.1, -0.2]))
        self.b = torch.nn.Parameter(torch.tensor(0.0))
        self.of_batch = func.vmap(neuron, in_dims=(None, None, 0))

    def forward(self, x):
        return self.of_batch(self.w, self.b, x)


def trained(neuron):
    torch.manual_seed(0)
    x = torch.randn(50, 2)
    y = torch.tanh(x @ torch.tensor([0.5, -1.0]) + 0.2)
    model = Neurons(neuron)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(20):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


def test_modules_can_be_trained():
    ours = trained(to_torch(lambda w, b, x: math.tanh(w @ x + b)))
    theirs = trained(lambda w, b, x: torch.tanh(w @ x + b))
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_dtypes_are_kept(dtype):
    tolerance = {"rtol": 0.05, "atol": 0.05} if dtype.itemsize == 2 else {"rtol": 1e-5, "atol": 1e-6}
    x = X.to(dtype)
    torch.testing.assert_close(func.grad(OURS)(x), func.grad(THEIRS)(x), **tolerance)
    torch.testing.assert_close(func.vmap(OURS)(x[None]), func.vmap(THEIRS)(x[None]), **tolerance)


def test_mixed_dtypes_are_promoted():
    narrow, wide = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    result = to_torch(lambda a, b: a * b)(narrow, wide)
    result.backward()
    assert (result.dtype, narrow.grad, wide.grad) == (torch.float64, torch.tensor(3.0), torch.tensor(2.0).double())
    assert narrow.grad.dtype == torch.float32


@pytest.mark.parametrize("integer", [3, torch.tensor(3), torch.tensor(True)])
def test_integer_arguments_have_no_gradient(integer):
    x = torch.tensor(2.0, requires_grad=True)
    to_torch(lambda x, n: x * x * n)(x, integer).backward()
    assert x.grad == 4 * int(integer)


def test_integer_arguments_only():
    assert to_torch(lambda n: n / 2)(torch.tensor(3)) == torch.tensor(1.5)


def test_only_tensors_that_require_grad_get_one():
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0)
    to_torch(lambda a, b: a * b)(a, b).backward()
    assert (a.grad, b.grad) == (torch.tensor(3.0), None)
    assert not to_torch(lambda a, b: a * b)(b, b).requires_grad


def test_unused_results_contribute_no_gradient():
    x = torch.tensor(2.0, requires_grad=True)
    to_torch(lambda x: (x * x, x**3))(x)[0].backward()
    assert x.grad == 4.0


@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        (torch.empty(2, device="meta"), ValueError, r"f\(\) must be on the CPU, got device meta: pass x\.cpu\(\)"),
        (torch.ones(2) + 1j, TypeError, r"got torch\.complex64 .*pass x\.real and x\.imag"),
        (torch.eye(2).to_sparse(), TypeError, r"torch\.sparse_coo.*x\.to_dense\(\)"),
        (
            {"a"},
            TypeError,
            r"tensor 2 in the arguments of f\(\) must be a tensor or a number, got set: .* torch\.as_tensor",
        ),
    ],
)
def test_unsupported_tensors_raise(argument, error, message):
    def f(x):
        return x[0]

    with pytest.raises(error, match=message):
        to_torch(f)([torch.tensor(1.0), argument])


def test_argument_must_be_a_function():
    with pytest.raises(TypeError, match=r"to_torch\(\) takes a function, not int: 3"):
        to_torch(3)


def test_branches_raise():
    with pytest.raises(RecordingError, match="branches on"):
        to_torch(lambda x: x if x > 0 else 0.0)(torch.tensor(1.0))


def test_captured_values_raise():
    model = MLP(2, [1])
    with pytest.raises(TypeError, match="uses Values that are not among its arguments"):
        to_torch(model)(X)


def test_functions_undefined_at_one():
    from_root = to_torch(lambda a: root(lambda x: x * x - (a - 2.0), 1.0))
    a = torch.tensor(11.0, requires_grad=True, dtype=torch.float64)
    from_root(a).backward()
    assert a.grad.item() == pytest.approx(1 / 6)
    times = torch.tensor([0.0, 1.0], dtype=torch.float64)
    torch.testing.assert_close(to_torch(lambda ts: odeint(lambda y, t: -y, 1.0, ts))(times), torch.exp(-times))


def energy(x):
    return math.exp(-(x @ x))


@to_torch
def decorated(x):
    return x @ x


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_functions_can_be_pickled_and_copied(copied):
    function = copied(to_torch(energy))
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    function(x).backward()
    again = copied(function)  # after calls
    assert torch.equal(torch.func.grad(again)(x.detach()), x.grad)
    assert torch.equal(torch.func.vmap(again)(torch.ones(3, 2)), torch.full((3,), 2.0).neg().exp())
    assert copied(decorated)(torch.ones(2)) == 2.0
    assert function.__name__ == "energy"


def test_module_with_a_function_can_be_copied():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.function = to_torch(energy)

    layer = copy.deepcopy(Layer())
    assert layer.function(torch.zeros(2)) == 1.0
    assert pickle.loads(pickle.dumps(layer.function))(torch.zeros(2)) == 1.0
