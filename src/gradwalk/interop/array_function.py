"""`ArrayFunction`: a function of arrays with derivatives and batching, used by the wrappers for other libraries."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.batching.vectorize import Vectorized, vectorize
from gradwalk.program.tracing.trace import display_name
from gradwalk.transforms.jit.jit import jit
from gradwalk.transforms.jit.jit_class import Jit
from gradwalk.transforms.jvp import jvp, vjp
from gradwalk.trees.tree import TreeDef, flatten
from gradwalk.value.modes import without_numbers
from gradwalk.value.value import Value

Argnums = tuple[int, ...]


class ArrayFunction:
    """A function that takes arrays and returns a list of arrays.

    The function is recorded on the first call for each combination of shapes.

    The derivatives are ArrayFunctions, too, so derivatives of any order exist. The forward-mode derivative is linear in
    the tangents, and the reverse-mode derivative is linear in the cotangents. Each is the transpose of the other.

    Args:
        f: The function to call, which takes numbers, arrays or trees of them.
        rebuilt: A function that builds the arguments of `f` from a list of arrays.
        transposed: A function that returns the derivative in the other mode (forward or reverse) if this function is a
            derivative, else None.
        points: The number of primals if this function is a derivative, else 0. The primals are the leading arguments,
            in which the derivative is nonlinear.
        derived: The origin of a derivative, for pickling: the differentiated function, the name of the method that
            returned the derivative ("pushed" or "pulled"), and the method's arguments. None if this function is not a
            derivative.

    Attributes:
        transposed: The argument `transposed`.
        points: The argument `points`.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        rebuilt: Callable[[Sequence[Any]], Sequence[Any]] = list,
        transposed: Callable[[], ArrayFunction] | None = None,
        points: int = 0,
        derived: tuple[ArrayFunction, str, int, Argnums] | None = None,
    ) -> None:
        self.__name__ = getattr(f, "__name__", "function")
        self.transposed = transposed
        self.points = points
        self._f = f
        self._rebuilt = rebuilt
        self._one = jit(self.leaves, branches="refuse")
        self._many: dict[str, Vectorized[...]] = {}
        self._results: dict[tuple[tuple[int, ...], ...], TreeDef] = {}
        self._derivatives: dict[Any, ArrayFunction] = {}
        self._derived = derived

    def __reduce__(self) -> Any:
        if self._derived is None:
            return ArrayFunction, (self._f, self._rebuilt)
        return _derivative, self._derived

    def __call__(self, arrays: Sequence[Any], batch: int = 0) -> list[Any]:
        """Return the leaves of the result.

        Args:
            arrays: The leaves of the arguments.
            batch: Number of batch axes, which are the leading axes of each array. The batch axes of all arrays are
                broadcast to one shape, which becomes the shape of the leading axes of the results.

        Returns:
            Arrays of float64, or of float32 if `batch` > 0 and all arrays are float32.
        """
        self.result([array.shape[batch:] for array in arrays])
        if batch:
            return self._of_samples(arrays, batch)
        return [numpy.asarray(leaf) for leaf in self._one(*map(_plain, arrays))]

    def leaves(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the leaves of the result for arguments that may contain Values."""
        result = self._f(*self._rebuilt(arrays))
        leaves, treedef = flatten(result, f"the result of {display_name(self)}")
        if treedef.pairs:
            raise TypeError(
                f"{display_name(self)} must return real numbers, got {treedef}: return the real and imaginary parts"
            )
        if not leaves:
            raise TypeError(
                f"{display_name(self)} must return at least one number, got {result!r}: is a `return` missing?"
            )
        self._results[tuple([getattr(array, "shape", ()) for array in arrays])] = treedef
        return tuple(leaves)

    def result(self, shapes: Sequence[tuple[int, ...]]) -> TreeDef:
        """Return the treedef of the result for arguments of these shapes, without computing the result.

        `f` is recorded if necessary. Raises `TypeError` if `f` returns no numbers or captures Values.
        """
        key = tuple(map(tuple, shapes))
        if key not in self._results:
            try:
                structure(self._one, [_plain(numpy.ones(shape)) for shape in key], display_name(self))
            except TypeError:
                self._results.pop(key, None)
                raise
        return self._results[key]

    def result_shapes(self, shapes: Sequence[tuple[int, ...]], batch: int = 0) -> list[tuple[int, ...]]:
        """Return the shapes of the leaves of the result, given the arguments' shapes and the number of batch axes."""
        samples = numpy.broadcast_shapes(*[shape[:batch] for shape in shapes])
        return [samples + shape for shape in self.result([shape[batch:] for shape in shapes]).array_shapes]

    def pushed(self, count: int, argnums: Argnums) -> ArrayFunction:
        """Return the forward-mode derivative with respect to some of the `count` arrays.

        The derivative takes the arrays, followed by a tangent for each array at a position in `argnums`. It returns the
        tangents of the leaves of the result.
        """

        def push(*arrays: Any) -> Any:
            part, chosen = self._of_chosen(arrays[:count], argnums)
            return jvp(part, chosen, arrays[count:])[1]

        return self._derivative(("pushed", count, argnums), push, lambda: self.pulled(count, argnums))

    def pulled(self, count: int, argnums: Argnums) -> ArrayFunction:
        """Return the reverse-mode derivative with respect to some of the `count` arrays.

        The derivative takes the arrays, followed by a cotangent for each leaf of the result. It returns the cotangents
        of the arrays at the positions in `argnums`.
        """

        def pull(*arrays: Any) -> Any:
            part, chosen = self._of_chosen(arrays[:count], argnums)
            return vjp(part, *chosen)[1](arrays[count:])

        return self._derivative(("pulled", count, argnums), pull, lambda: self.pushed(count, argnums))

    def _derivative(
        self, key: tuple[str, int, Argnums], f: Callable[..., Any], transposed: Callable[[], ArrayFunction]
    ) -> ArrayFunction:
        if key not in self._derivatives:
            f.__name__ = f"{'forward' if key[0] == 'pushed' else 'reverse'} derivative of {self.__name__}"
            derivative = ArrayFunction(f, transposed=transposed, points=key[1], derived=(self, *key))
            self._derivatives.setdefault(key, derivative)
        return self._derivatives[key]

    def _of_chosen(self, arrays: Sequence[Any], argnums: Argnums) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a function that takes only the arrays at the positions in `argnums`, and a tuple of these arrays."""

        def of_chosen(*chosen: Any) -> Any:
            given = list(arrays)
            for i, array in zip(argnums, chosen, strict=True):
                given[i] = array
            return self.leaves(*given)

        return of_chosen, tuple([arrays[i] for i in argnums])

    def _of_samples(self, arrays: Sequence[Any], batch: int) -> list[Any]:
        shapes = [array.shape[batch:] for array in arrays]
        signature = _signature(shapes, self.result(shapes).array_shapes)
        if signature not in self._many:
            self._many[signature] = vectorize(self.leaves, signature=signature)
        found = self._many[signature](*arrays)
        return list(found) if isinstance(found, tuple) else [found]


def _derivative(function: ArrayFunction, mode: str, count: int, argnums: Argnums) -> ArrayFunction:
    """Return a derivative of a function by calling its method `mode`, "pushed" or "pulled". Used for unpickling."""
    found: ArrayFunction = getattr(function, mode)(count, argnums)
    return found


def structure(f: Jit[..., Any], args: Sequence[Any], name: str) -> TreeDef:
    """Record a function for arguments like `args`, and return the treedef of the result without computing the result.

    Raises `TypeError` if the function returns no numbers or captures Values.
    """
    with without_numbers():
        trace = f.recorded(*args)
    if any(isinstance(number, Value) for number in trace.captured):
        raise TypeError(
            f"{name} uses Values that are not among its arguments, so other libraries could not differentiate with "
            "respect to them: pass them as arguments, or use their numbers, x.data"
        )
    return trace.treedef


def _plain(array: Any) -> Any:
    """Convert an array with 0 dimensions to a number; return any other array unchanged."""
    return array if array.ndim else array.item()


def _signature(operands: Sequence[tuple[int, ...]], results: Sequence[tuple[int, ...]]) -> str:
    """Return a `vectorize` signature for these shapes in which all dimensions have different names."""
    names = map("d{}".format, itertools.count())
    sides = [[f"({','.join([next(names) for _ in shape])})" for shape in side] for side in (operands, results)]
    return "->".join(map(",".join, sides))
