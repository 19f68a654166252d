"""`to_pytensor`: wrap a function for PyTensor, on which PyMC is built. Only this module imports PyTensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

from pytensor import config
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor import as_tensor_variable, specify_shape, tensor

from gradwalk.interop.array_function import ArrayFunction
from gradwalk.program.tracing.wrapper import WrappedFunction

P = ParamSpec("P")


def to_pytensor(f: Callable[P, Any]) -> Callable[P, Any]:
    """Convert a function that gradwalk can record to a PyTensor function, such as a log-density for PyMC's samplers.

    `f` is recorded as by `gradwalk.jit`. gradwalk computes the derivatives of `f`, in reverse mode and to any order.
    Computations are in float64, and results are converted to the type `pytensor.config.floatX`. Integer arguments are
    allowed, but not differentiated.

    Args:
        f: A function that takes numbers and arrays and returns a number, an array, or a tree of them.

    Returns:
        A function that takes PyTensor variables. Its result has the structure of the result of `f`, with PyTensor
        variables as leaves. The function raises `TypeError` if an argument is not a real tensor, and `ValueError` if
        the shape of an argument is not known statically. If `f` can be pickled, so can the function and every PyTensor
        graph that contains its results.

    Raises:
        TypeError: `f` is not callable.

    Example:
        >>> import pytensor
        >>> from gradwalk import math
        >>> energy = to_pytensor(lambda x: math.exp(-(x @ x)))
        >>> x = tensor("x", shape=(2,), dtype="float64")
        >>> gradient = pytensor.function([x], pytensor.grad(energy(x), x))
        >>> gradient([0.0, 1.0]).round(6).tolist()
        [-0.0, -0.735759]
    """
    return PytensorFunction(f)


class PytensorFunction(WrappedFunction[P, Any]):
    """A function of PyTensor variables, returned by `to_pytensor`."""

    def __init__(self, f: Callable[P, Any]) -> None:
        super().__init__(f, "to_pytensor")
        self._call = _Call(ArrayFunction(f))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the result for PyTensor variables."""
        if kwargs:
            raise TypeError(f"arguments of {self._call} must be positional, got {', '.join(kwargs)} by keyword")
        inputs = [as_tensor_variable(arg) for arg in args]
        results = self._call(*inputs, return_list=True)
        return self._call.function.result([variable.type.shape for variable in inputs]).unflatten(results)

    def _reduce_args(self) -> tuple[Any, ...]:
        return (self._f,)


class _Call(Op):  # type: ignore[misc]  # PyTensor is Any
    """An Op that calls an `ArrayFunction`."""

    __props__ = ("function",)

    def __init__(self, function: ArrayFunction) -> None:
        self.function = function

    def __str__(self) -> str:
        return f"{self.function.__name__}()"

    def make_node(self, *inputs: Any) -> Apply[Any]:
        """Return the Apply node for these arguments."""
        for i, variable in enumerate(inputs):
            if variable.type.numpy_dtype.kind not in "fiub":
                raise TypeError(f"argument {i + 1} of {self} must be a real tensor, got {variable.type.dtype}")
            if None in variable.type.shape:
                raise ValueError(
                    f"argument {i + 1} of {self} must have a static shape, got {variable.type.shape}: declare it with "
                    "pytensor.tensor.specify_shape(x, (3,)), or when x is created"
                )
        shapes = self.function.result_shapes([variable.type.shape for variable in inputs])
        return Apply(self, list(inputs), [tensor(shape=shape, dtype=config.floatX) for shape in shapes])

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Compute the results."""
        for cell, kind, result in zip(output_storage, node.outputs, self.function(inputs), strict=True):
            cell[0] = result.astype(kind.dtype)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Return the cotangents of the arguments."""
        argnums = _differentiable(inputs)
        adjoints = [
            result.zeros_like() if isinstance(adjoint.type, DisconnectedType) else _like(adjoint, result)
            for result, adjoint in zip(outputs, cotangents, strict=True)
        ]
        pulled = _Call(self.function.pulled(len(inputs), argnums))
        found = dict(zip(argnums, pulled(*inputs, *adjoints, return_list=True), strict=True))
        return [found.get(i, x.zeros_like(dtype=config.floatX)) for i, x in enumerate(inputs)]

    L_op = pullback  # the name of pullback before PyTensor 3


def _like(adjoint: Any, variable: Any) -> Any:
    """Declare that a cotangent has the static shape of the variable it belongs to."""
    return specify_shape(adjoint, variable.type.shape)


def _differentiable(inputs: Sequence[Any]) -> tuple[int, ...]:
    return tuple([i for i, variable in enumerate(inputs) if variable.type.numpy_dtype.kind == "f"])
