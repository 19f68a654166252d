"""`to_jax`: wrap a function for JAX. Only this module imports JAX.

A call of the function is a JAX primitive. Code compiled by JAX runs the primitive by calling back into gradwalk. The
rules below define the primitive's derivatives, its transpose if the function is linear, and its batching rule.
The rules for derivatives and transposes bind the same primitive to another function, and the batching rule adds a batch
axis.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import jax
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from gradwalk.interop.array_function import ArrayFunction
from gradwalk.program.tracing.wrapper import WrappedFunction

P = ParamSpec("P")

_call = Primitive("gradwalk")
_call.multiple_results = True


def to_jax(f: Callable[P, Any]) -> Callable[P, Any]:
    """Convert a function that gradwalk can record to a JAX function, for use in `jit`, `grad`, `vmap` and `scan`.

    As by `gradwalk.jit`, `f` is recorded once for each structure of the arguments and each combination of shapes.
    gradwalk computes the derivatives of `f`, in forward and reverse mode and to any order. `jax.vmap` passes a whole
    batch to gradwalk in a single call, and gradwalk computes the samples on SIMD lanes.

    The function runs on the CPU. Under `jax.jit`, and on other devices, each call transfers the arguments to the host
    and the results back. Computations are in float64; a batch is computed in float32 if all its arrays are float32.
    Results have the widest floating-point type among the arguments. Integer arguments are allowed, but not
    differentiated.

    Args:
        f: A function that takes numbers, arrays or pytrees of them, and returns a number, an array or a pytree of them.

    Returns:
        A function that takes JAX arrays or pytrees of them. Its result has the structure of the result of `f`, with JAX
        arrays as leaves. The function raises `TypeError` if an argument contains anything but real numbers, and
        otherwise the same exceptions as `gradwalk.jit` with `branches="refuse"`. It can be pickled if `f` can be
        pickled.

    Raises:
        TypeError: `f` is not callable.

    Example:
        >>> from gradwalk import math
        >>> energy = to_jax(lambda x: math.exp(-(x @ x)))
        >>> [f"{x:.6f}" for x in jax.jit(jax.grad(energy))(jax.numpy.array([0.0, 1.0]))]
        ['-0.000000', '-0.735759']
        >>> jax.jit(jax.vmap(jax.hessian(energy)))(jax.numpy.zeros((5, 2))).shape
        (5, 2, 2)
    """
    return JaxFunction(f)


class JaxFunction(WrappedFunction[P, Any]):
    """A function of JAX arrays, returned by `to_jax`."""

    def __init__(self, f: Callable[P, Any]) -> None:
        super().__init__(f, "to_jax")
        self._functions: dict[Any, ArrayFunction] = {}  # keyed by the structure of the arguments

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the result for arrays."""
        paths, structure = jax.tree.flatten_with_path((args, kwargs))
        leaves = [_array(leaf, self._f, path) for path, leaf in paths]
        if structure not in self._functions:
            self._functions[structure] = _of_leaves(self._f, structure)
        function = self._functions[structure]
        results = _call.bind(*leaves, function=function, batch=0)
        return function.result([leaf.shape for leaf in leaves]).unflatten(results)

    def _reduce_args(self) -> tuple[Any, ...]:
        return (self._f,)


def _of_leaves(f: Callable[..., Any], structure: Any) -> ArrayFunction:
    """Convert `f` to a function of the leaves of its arguments."""

    def of_trees(args: Any, kwargs: Any) -> Any:
        return f(*args, **kwargs)

    of_trees.__name__ = getattr(f, "__name__", "function")
    return ArrayFunction(of_trees, functools.partial(jax.tree.unflatten, structure))


def _array(leaf: Any, f: Callable[..., Any], path: Any) -> Any:
    """Convert a leaf of the arguments to an array."""
    try:
        array = jax.numpy.asarray(leaf)
    except TypeError:
        array = None
    if array is None or not (_is_differentiable(array) or getattr(array.dtype, "kind", "O") in "iub"):
        given = type(leaf).__name__ if array is None else f"an array of {array.dtype}"
        where = jax.tree_util.keystr(path[1:]) or "all"
        name = getattr(f, "__name__", "function")
        raise TypeError(
            f"argument {where} of {name}() must be a pytree of real numbers and of JAX or NumPy arrays of real "
            f"numbers, got {given}"
        )
    return array


def _is_differentiable(array: Any) -> bool:
    return bool(jax.dtypes.issubdtype(array.dtype, numpy.floating))


def _types(*arrays: Any, function: ArrayFunction, batch: int) -> list[Any]:
    """Return the abstract values (shapes and dtype) of the results."""
    dtype = jax.dtypes.result_type(*[a.dtype for a in arrays if _is_differentiable(a)] or [float])
    shapes = function.result_shapes([array.shape for array in arrays], batch)
    return [jax.core.ShapedArray(shape, dtype) for shape in shapes]


def _on_host(arrays: Sequence[Any], types: Sequence[Any], function: ArrayFunction, batch: int) -> list[Any]:
    """Compute the results as NumPy arrays."""
    results = function([_of_numpy(numpy.asarray(array)) for array in arrays], batch)
    return [numpy.asarray(result, kind.dtype) for result, kind in zip(results, types, strict=True)]


def _run(*given: Any, function: ArrayFunction, batch: int) -> list[Any]:
    """Compute the results for concrete arrays, and convert them to JAX arrays."""
    arrays = list(map(jax.numpy.asarray, given))
    types = _types(*arrays, function=function, batch=batch)
    return list(map(jax.numpy.asarray, _on_host(arrays, types, function, batch)))


def _lowered(context: Any, *operands: Any, function: ArrayFunction, batch: int) -> Any:
    """Emit a Python callback in compiled code.

    This does not use `jax.pure_callback`, which creates JAX arrays inside the callback. An XLA thread has to fill these
    arrays. If all XLA threads are inside callbacks, as happens on a machine with a single core, the callback would
    deadlock.
    """
    types = context.avals_out

    def on_host(*given: Any) -> tuple[Any, ...]:
        return tuple(_on_host(given, types, function, batch))

    results, _, _ = mlir.emit_python_callback(
        context, on_host, None, list(operands), context.avals_in, types, has_side_effect=False
    )
    return results


def _of_numpy(array: Any) -> Any:
    """Convert an array of a type that NumPy lacks, such as bfloat16, to float32."""
    return array if array.dtype.kind in "fiub" else array.astype(numpy.float32)


def _pushed(primals: Sequence[Any], tangents: Sequence[Any], *, function: ArrayFunction, batch: int) -> Any:
    """Compute the results and their tangents."""
    argnums = tuple([i for i, tangent in enumerate(tangents) if not isinstance(tangent, ad.Zero)])
    pushed = function.pushed(len(primals), argnums)
    seeds = [tangents[i] for i in argnums]
    return (
        _call.bind(*primals, function=function, batch=batch),
        _call.bind(*primals, *seeds, function=pushed, batch=batch),
    )


def _transposed(adjoints: Sequence[Any], *arrays: Any, function: ArrayFunction, batch: int) -> list[Any]:
    """Compute the cotangents of the undefined primals, which are the arguments in which a derivative is linear."""
    if function.transposed is None:
        raise TypeError(
            f"{function.__name__}() cannot be transposed because it is not known to be linear: transpose its "
            "derivative, jax.linearize(f, x)[1]"
        )
    given = [ad.instantiate_zeros(adjoint) for adjoint in adjoints]
    points, linear = arrays[: function.points], arrays[function.points :]
    found = _call.bind(*points, *given, function=function.transposed(), batch=batch)
    pairs = zip(found, linear, strict=True)
    return [
        *[None] * len(points),
        *[_of_one(array, own.aval) if ad.is_undefined_primal(own) else None for array, own in pairs],
    ]


def _of_one(array: Any, aval: Any) -> Any:
    """Sum a cotangent over the batch axes along which its argument was broadcast."""
    axes = [i for i, (length, own) in enumerate(zip(array.shape, aval.shape, strict=True)) if length != own]
    return array.sum(axes, keepdims=True).astype(aval.dtype)


def _batched(
    arrays: Sequence[Any], axes: Sequence[Any], *, function: ArrayFunction, batch: int
) -> tuple[Any, list[int]]:
    """Compute the results of a batch; the first axis of each result is the batch axis."""
    moved = [
        jax.numpy.expand_dims(array, 0) if axis is None else jax.numpy.moveaxis(array, axis, 0)
        for array, axis in zip(arrays, axes, strict=True)
    ]
    results = _call.bind(*moved, function=function, batch=batch + 1)
    return results, [0] * len(results)


_call.def_impl(_run)
_call.def_abstract_eval(_types)
ad.primitive_jvps[_call] = _pushed
ad.primitive_transposes[_call] = _transposed
batching.primitive_batchers[_call] = _batched
mlir.register_lowering(_call, _lowered)
