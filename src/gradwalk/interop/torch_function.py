"""`to_torch`: wrap a function for PyTorch. Only this module imports PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import torch

from gradwalk.interop.array_function import ArrayFunction
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.registry import opened

P = ParamSpec("P")


def to_torch(f: Callable[P, Any]) -> Callable[P, Any]:
    """Convert a function that gradwalk can record to a PyTorch function that autograd and `torch.func` differentiate.

    As by `gradwalk.jit`, `f` is recorded once for each structure of the arguments and each combination of shapes.
    gradwalk computes the derivatives of `f`, in reverse and forward mode and to any order. `torch.func.vmap` passes a
    whole batch to gradwalk in a single call, and gradwalk computes the samples on SIMD lanes.

    Computations are in float64; a batch is computed in float32 if all its tensors are float32. Results have the widest
    floating-point type among the arguments. Integer tensors are allowed, but not differentiated.

    Args:
        f: A function that takes numbers, arrays or trees of them, and returns a number, an array or a tree of them.

    Returns:
        A function that takes tensors, or lists, tuples, dicts and dataclasses of tensors. Its result has the structure
        of the result of `f`, with tensors as leaves. The function raises `TypeError` if an argument contains anything
        but real numbers and real tensors, `ValueError` if a tensor is not on the CPU, and otherwise the same exceptions
        as `gradwalk.jit`. It can be pickled if `f` can be pickled.

    Raises:
        TypeError: `f` is not callable.

    Example:
        >>> from gradwalk import math
        >>> energy = to_torch(lambda x: math.exp(-(x @ x)))
        >>> x = torch.tensor([0.0, 1.0], requires_grad=True)
        >>> energy(x).backward()
        >>> x.grad
        tensor([-0.0000, -0.7358])
    """
    return TorchFunction(f)


class TorchFunction(WrappedFunction[P, Any]):
    """A function of PyTorch tensors, returned by `to_torch`."""

    def __init__(self, f: Callable[P, Any]) -> None:
        super().__init__(f, "to_torch")
        self._functions: dict[Any, ArrayFunction] = {}  # keyed by the structure of the arguments

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the result for tensors."""
        leaves, structure = _parted(args, kwargs)
        tensors = [_tensor(leaf, i, self._f) for i, leaf in enumerate(leaves)]
        if structure not in self._functions:
            self._functions[structure] = _of_leaves(self._f, structure)
        function = self._functions[structure]
        results = _Call.apply(function, 0, *tensors)
        return function.result([tensor.shape for tensor in tensors]).unflatten(results)

    def _reduce_args(self) -> tuple[Any, ...]:
        return (self._f,)


def _parted(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], Any]:
    """Flatten the arguments to leaves and a structure. If all arguments are positional tensors, it is None."""
    if not kwargs and all(isinstance(arg, torch.Tensor) for arg in args):
        return list(args), None
    return opened((args, kwargs))


def _of_leaves(f: Callable[..., Any], structure: Any) -> ArrayFunction:
    """Convert `f` to a function of the leaves of its arguments."""
    if structure is None:
        return ArrayFunction(f)

    def of_trees(args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs)

    of_trees.__name__ = getattr(f, "__name__", "function")
    return ArrayFunction(of_trees, structure.unflatten)


def _tensor(leaf: Any, i: int, f: Callable[..., Any]) -> torch.Tensor:
    """Convert a leaf of the arguments to a tensor."""
    name = f"tensor {i + 1} in the arguments of {getattr(f, '__name__', 'function')}()"
    if isinstance(leaf, (int, float)):
        return torch.tensor(leaf, dtype=None if isinstance(leaf, int) else torch.get_default_dtype())
    if not isinstance(leaf, torch.Tensor):
        raise TypeError(
            f"{name} must be a tensor or a number, got {type(leaf).__name__}: arguments may be nested in lists, "
            "tuples, dicts and dataclasses; convert an array with torch.as_tensor(x)"
        )
    if leaf.device.type != "cpu":
        raise ValueError(
            f"{name} must be on the CPU, got device {leaf.device}: pass x.cpu(), and move the result back with "
            ".to(x.device); gradients flow through both"
        )
    if leaf.is_complex() or leaf.layout != torch.strided:
        raise TypeError(
            f"{name} must be dense and real, got {leaf.dtype} and {leaf.layout}: pass x.real and x.imag, or "
            "x.to_dense()"
        )
    return leaf


class _Call(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any
    """Call an `ArrayFunction` on tensors whose first `batch` axes are batch axes."""

    @staticmethod
    def forward(function: ArrayFunction, batch: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the leaves of the result."""
        floating = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
        dtype = functools.reduce(torch.promote_types, floating) if floating else torch.get_default_dtype()
        return tuple([torch.from_numpy(array).to(dtype) for array in function([*map(_array, tensors)], batch)])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save the tensors for the derivatives."""
        ctx.function, ctx.batch, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *adjoints: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the cotangents of the arguments that need a gradient."""
        tensors = ctx.saved_tensors
        argnums = tuple([i for i, is_needed in enumerate(ctx.needs_input_grad[2:]) if is_needed])
        pulled = ctx.function.pulled(len(tensors), argnums)
        found = dict(zip(argnums, _Call.apply(pulled, ctx.batch, *tensors, *adjoints), strict=True))
        # If a tensor was broadcast over the batch, its cotangent is the sum over the batch.
        return None, None, *[found[i].sum_to_size(x.shape).to(x) if i in found else None for i, x in enumerate(tensors)]

    @staticmethod
    def jvp(ctx: Any, *tangents: torch.Tensor | None) -> tuple[torch.Tensor, ...]:
        """Return the tangents of the leaves of the result."""
        tensors = ctx.saved_tensors
        argnums = tuple([i for i, tangent in enumerate(tangents[2:]) if tangent is not None])
        pushed = ctx.function.pushed(len(tensors), argnums)
        return _Call.apply(pushed, ctx.batch, *tensors, *[tangents[2:][i] for i in argnums])  # type: ignore[no-any-return]

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], function: ArrayFunction, batch: int, *tensors: torch.Tensor
    ) -> tuple[tuple[torch.Tensor, ...], int]:
        """Return the leaves of the results of a batch; the first axis of each leaf is the batch axis."""
        moved = [
            tensor.unsqueeze(0) if axis is None else tensor.movedim(axis, 0)
            for tensor, axis in zip(tensors, in_dims[2:], strict=True)
        ]
        return _Call.apply(function, batch + 1, *moved), 0


def _array(tensor: torch.Tensor) -> Any:
    """Return the data of a tensor as a NumPy array; bfloat16, which NumPy lacks, becomes float32."""
    known = tensor.detach().to(torch.float32) if tensor.dtype == torch.bfloat16 else tensor.detach()
    return known.numpy(force=True)
