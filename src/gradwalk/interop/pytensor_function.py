"""`to_pytensor`: a function that gradwalk runs and differentiates, as one of PyTensor's, on which PyMC is built.

Only this module imports PyTensor.
"""

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
    """Make a function of PyTensor's of one that gradwalk records, such as a log-density for PyMC's samplers.

    `f` is recorded as by `gradwalk.jit`. Its derivatives, of any order, are gradwalk's, in reverse mode. Numbers are
    computed in float64, and results are of PyTensor's `floatX`. Integers are passed as numbers that nothing is
    differentiated by.

    Args:
        f: A function of numbers and arrays that returns a number, an array, or a tree of these.

    Returns:
        A function of PyTensor's variables that returns what `f` returns, with variables. It raises `TypeError` where an
        argument is no real tensor, and `ValueError` where the length of an axis is not known beforehand. It can be
        pickled if `f` can be, and so can graphs of PyTensor with its results.

    Raises:
        TypeError: `f` is no function.

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
    """A function of PyTensor's variables, as `to_pytensor` makes it.

    Args:
        f: The function that gradwalk records.
    """

    def __init__(self, f: Callable[P, Any]) -> None:
        super().__init__(f, "to_pytensor")
        self._call = _Call(ArrayFunction(f))

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the result for variables."""
        if kwargs:
            raise TypeError(f"{self._call} takes its arguments by position, not {', '.join(kwargs)} by keyword")
        inputs = [as_tensor_variable(arg) for arg in args]
        results = self._call(*inputs, return_list=True)
        return self._call.function.result([variable.type.shape for variable in inputs]).unflatten(results)

    def _reduce_args(self) -> tuple[Any, ...]:
        return (self._f,)


class _Call(Op):  # type: ignore[misc]  # PyTensor is Any
    """A call of an `ArrayFunction`.

    Args:
        function: The function.
    """

    __props__ = ("function",)

    def __init__(self, function: ArrayFunction) -> None:
        self.function = function

    def __str__(self) -> str:
        return f"{self.function.__name__}()"

    def make_node(self, *inputs: Any) -> Apply[Any]:
        """Return the call with these arguments."""
        for i, variable in enumerate(inputs):
            if variable.type.numpy_dtype.kind not in "fiub":
                raise TypeError(f"argument {i + 1} of {self} is of {variable.type.dtype}, and not of real numbers")
            if None in variable.type.shape:
                raise ValueError(
                    f"argument {i + 1} of {self} is of shape {variable.type.shape}: gradwalk records a function for "
                    "the lengths of its arrays; say them by pytensor.tensor.specify_shape(x, (3,)), or where x is made"
                )
        shapes = self.function.result_shapes([variable.type.shape for variable in inputs])
        return Apply(self, list(inputs), [tensor(shape=shape, dtype=config.floatX) for shape in shapes])

    def perform(self, node: Any, inputs: Sequence[Any], output_storage: Any) -> None:
        """Compute the results."""
        for cell, kind, result in zip(output_storage, node.outputs, self.function(inputs), strict=True):
            cell[0] = result.astype(kind.dtype)

    def pullback(self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Return the adjoints of the arguments."""
        argnums = _differentiable(inputs)
        adjoints = [
            result.zeros_like() if isinstance(adjoint.type, DisconnectedType) else _like(adjoint, result)
            for result, adjoint in zip(outputs, cotangents, strict=True)
        ]
        pulled = _Call(self.function.pulled(len(inputs), argnums))
        found = dict(zip(argnums, pulled(*inputs, *adjoints, return_list=True), strict=True))
        return [found.get(i, x.zeros_like(dtype=config.floatX)) for i, x in enumerate(inputs)]

    L_op = pullback  # its name before PyTensor 3


def _like(adjoint: Any, variable: Any) -> Any:
    """An adjoint, whose shape is known from what it belongs to."""
    return specify_shape(adjoint, variable.type.shape)


def _differentiable(inputs: Sequence[Any]) -> tuple[int, ...]:
    return tuple([i for i, variable in enumerate(inputs) if variable.type.numpy_dtype.kind == "f"])
