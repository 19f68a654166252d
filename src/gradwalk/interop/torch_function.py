"""`to_torch`: a function that gradwalk runs and differentiates, as one of PyTorch's, which only this module imports."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import torch

from gradwalk.interop.array_function import ArrayFunction
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.tree import opened

P = ParamSpec("P")


def to_torch(f: Callable[P, Any]) -> Callable[P, Any]:
    """Make a function of PyTorch's tensors of one that gradwalk records: autograd and `torch.func` go through it.

    `f` is recorded as by `gradwalk.jit` for each structure and shapes of its arguments. Its derivatives are gradwalk's,
    in reverse and forward mode and to any order. A batch of `torch.func.vmap` runs on gradwalk's lanes in one call.

    Numbers are computed in float64, those of batches that are all float32 in float32, and results have the widest type
    of the floating-point arguments. Tensors of integers are passed as numbers that nothing is differentiated by.

    Args:
        f: A function of numbers, or of trees of arrays, that returns such a tree.

    Returns:
        A function of tensors, and of lists, tuples, dicts and dataclasses of them, that returns what `f` returns, with
        tensors. It raises `TypeError` where an argument holds something else than tensors of real numbers and numbers,
        `ValueError` where a tensor is not on the processor, and what `gradwalk.jit` raises. It can be pickled if `f`
        can be.

    Raises:
        TypeError: `f` is no function.

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
    """A function of PyTorch's tensors, as `to_torch` makes it.

    Args:
        f: The function that gradwalk records.
    """

    def __init__(self, f: Callable[P, Any]) -> None:
        super().__init__(f, "to_torch")
        self._functions: dict[Any, ArrayFunction] = {}  # by the structure of the arguments

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
    """The leaves of the arguments, and what puts these together again: None where they are the arguments themselves."""
    if not kwargs and all(isinstance(arg, torch.Tensor) for arg in args):
        return list(args), None
    return opened((args, kwargs), "the arguments")


def _of_leaves(f: Callable[..., Any], structure: Any) -> ArrayFunction:
    """The function of the leaves of its arguments."""
    if structure is None:
        return ArrayFunction(f)

    def of_trees(args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs)

    of_trees.__name__ = getattr(f, "__name__", "function")
    return ArrayFunction(of_trees, structure.unflatten)


def _tensor(leaf: Any, i: int, f: Callable[..., Any]) -> torch.Tensor:
    """A leaf of the arguments as a tensor."""
    name = f"number {i + 1} of the tensors that {getattr(f, '__name__', 'function')}() is given"
    if isinstance(leaf, (int, float)):
        return torch.tensor(leaf, dtype=None if isinstance(leaf, int) else torch.get_default_dtype())
    if not isinstance(leaf, torch.Tensor):
        raise TypeError(
            f"{name} is a {type(leaf).__name__}: what to_torch() returns takes tensors and numbers, in lists, tuples, "
            "dicts and dataclasses; make a tensor of an array with torch.as_tensor(x)"
        )
    if leaf.device.type != "cpu":
        raise ValueError(
            f"{name} is on the device {leaf.device}, and gradwalk computes on the processor: give x.cpu(), and move "
            "the result back with .to(x.device), which gradients follow"
        )
    if leaf.is_complex() or leaf.layout != torch.strided:
        raise TypeError(
            f"{name} is of {leaf.dtype} and {leaf.layout}: gradwalk computes with real numbers in dense tensors; give "
            "x.real and x.imag, or x.to_dense()"
        )
    return leaf


class _Call(torch.autograd.Function):  # type: ignore[misc]  # PyTorch is Any
    """A call of an `ArrayFunction`, of which so many first axes of all tensors are samples."""

    @staticmethod
    def forward(function: ArrayFunction, batch: int, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the leaves of the result."""
        floating = [tensor.dtype for tensor in tensors if tensor.is_floating_point()]
        dtype = functools.reduce(torch.promote_types, floating) if floating else torch.get_default_dtype()
        return tuple([torch.from_numpy(array).to(dtype) for array in function([*map(_array, tensors)], batch)])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Remember what derivatives are taken at."""
        ctx.function, ctx.batch, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *adjoints: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the adjoints of the arguments that need them."""
        tensors = ctx.saved_tensors
        argnums = tuple([i for i, is_needed in enumerate(ctx.needs_input_grad[2:]) if is_needed])
        pulled = ctx.function.pulled(len(tensors), argnums)
        found = dict(zip(argnums, _Call.apply(pulled, ctx.batch, *tensors, *adjoints), strict=True))
        # A tensor that was broadcast over samples has the sum of what they send back.
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
        """Return the leaves of the results of a batch, along their first axis."""
        moved = [
            tensor.unsqueeze(0) if axis is None else tensor.movedim(axis, 0)
            for tensor, axis in zip(tensors, in_dims[2:], strict=True)
        ]
        return _Call.apply(function, batch + 1, *moved), 0


def _array(tensor: torch.Tensor) -> Any:
    """The numbers of a tensor as a NumPy array, of a type that NumPy has."""
    known = tensor.detach().to(torch.float32) if tensor.dtype == torch.bfloat16 else tensor.detach()
    return known.numpy(force=True)
