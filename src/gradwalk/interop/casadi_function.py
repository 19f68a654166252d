"""`to_casadi`: wrap a function for CasADi. Only this module imports CasADi."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from operator import index
from typing import Any, NamedTuple

import casadi
import numpy

from gradwalk.interop.array_function import ArrayFunction
from gradwalk.transforms.sparse.sparse import sparse_jacobian
from gradwalk.value.modes import without_numbers

Shape = tuple[int, ...]


def to_casadi(f: Callable[..., Any], *shapes: int | Shape) -> Any:
    """Convert a function that gradwalk can record to a CasADi function with exact derivatives.

    `f` is recorded as by `gradwalk.jit`. CasADi receives the sparsity patterns of the Jacobians (see
    `sparse_jacobian`), and functions that compute Jacobian-vector and vector-Jacobian products. CasADi can
    differentiate these functions again. `nlpsol` therefore gets the exact Hessian of a Lagrangian that contains `f`,
    and the sparsity pattern of this Hessian.

    Args:
        f: A function that takes numbers and arrays and returns a number, an array, or a tuple of numbers and arrays.
        *shapes: The shape of each argument: an int for a vector of this length, a pair of ints for a matrix, () for a
            number.

    Returns:
        A `casadi.Callback`. Keep a reference to the callback while any CasADi function that contains it is in use.
        Vectors are CasADi column vectors, as arguments and as results. The callback can be copied, and it can be
        pickled if `f` can be pickled.

    Raises:
        TypeError: `f` is not callable or does not return numbers, or a shape is invalid.
        ValueError: The shape of an argument or of a result has more than two dimensions.

    Example:
        >>> from gradwalk import math
        >>> energy = to_casadi(lambda x: math.exp(x @ x), 2)
        >>> x = casadi.MX.sym("x", 2)
        >>> hessian = casadi.Function("hessian", [x], [casadi.hessian(energy(x), x)[0]])
        >>> hessian([0.0, 0.0]).full().tolist()
        [[2.0, 0.0], [0.0, 2.0]]
    """
    if not callable(f):
        raise TypeError(f"to_casadi() takes a function, not {type(f).__name__}: {f!r:.60}")
    inputs = [_checked(shape, i) for i, shape in enumerate(shapes)]
    of_arrays = ArrayFunction(f)
    outputs = of_arrays.result(inputs).array_shapes
    name = of_arrays.__name__
    for shape in [*inputs, *outputs]:
        if len(shape) > 2:
            raise ValueError(
                f"arguments and results of {name}() must have at most two axes for CasADi, got the shape {shape}"
            )

    def of_columns(*columns: Any) -> list[Any]:
        arrays = [_shaped(column, shape) for column, shape in zip(columns, inputs, strict=True)]
        return [numpy.ravel(part, "F") for part in of_arrays.leaves(*arrays)]

    of_columns.__name__ = name if casadi.Function.check_name(name) else "gradwalk_function"
    taken, returned = ([_Port(_matrix(shape)) for shape in side] for side in (inputs, outputs))
    return _Function(of_columns.__name__, ArrayFunction(of_columns), taken, returned, (f, *shapes))


def _checked(shape: Any, i: int) -> Shape:
    """Return the shape of an argument as a tuple."""
    try:
        lengths = tuple(map(index, shape if isinstance(shape, Iterable) else [shape]))
    except TypeError:
        lengths = (-1,)
    if any(length < 0 for length in lengths):
        raise TypeError(
            f"the shape of argument {i + 1} must be an int for the length of a vector, such as 3, a pair of ints for "
            f"a matrix, or () for a number, got {shape!r}"
        )
    return lengths


def _shaped(column: Any, shape: Shape) -> Any:
    """Reshape a column to an argument of `f`; CasADi stores matrices in column-major order."""
    return column[0] if shape == () else numpy.reshape(column, shape, "F")


def _matrix(shape: Shape) -> Shape:
    """Return the shape of the CasADi matrix for an array of this shape."""
    return (*shape, 1, 1)[:2]


class _Port(NamedTuple):
    """An input or output of a CasADi function.

    Attributes:
        shape: The shape of the matrix.
        is_used: Whether the numbers of the matrix are used. CasADi passes the results of a function to the derivatives
            of the function, but gradwalk's derivatives ignore these inputs.
    """

    shape: Shape
    is_used: bool = True

    @property
    def size(self) -> int:
        """Number of entries that are used."""
        return math.prod(self.shape) if self.is_used else 0

    @property
    def pattern(self) -> Any:
        """The CasADi sparsity pattern: dense if the numbers are used, otherwise empty."""
        return casadi.Sparsity.dense(*self.shape) if self.is_used else casadi.Sparsity(*self.shape)

    @property
    def ignored(self) -> _Port:
        """This port, marked as not used."""
        return self._replace(is_used=False)


class _Function(casadi.Callback):  # type: ignore[misc]  # CasADi is Any
    """A callback for CasADi: a function of columns, and its derivatives.

    The callback does not define a Jacobian, because CasADi could not differentiate such a Jacobian again. Instead,
    CasADi builds the Jacobian from Jacobian-vector products and the sparsity pattern.

    Args:
        name: The name of the callback.
        function: The function that computes the outputs. It takes the inputs that are used, as columns.
        inputs: The inputs of the callback.
        outputs: The outputs of the callback.
        made_from: The arguments of `to_casadi`, for pickling; empty for a derivative.
    """

    def __init__(
        self,
        name: str,
        function: ArrayFunction,
        inputs: Sequence[_Port],
        outputs: Sequence[_Port],
        made_from: tuple[Any, ...] = (),
    ) -> None:
        casadi.Callback.__init__(self)
        self._function = function
        self._inputs = inputs
        self._outputs = outputs
        self._reduce_args = made_from
        self._argnums = tuple(range(sum(port.is_used for port in inputs)))
        self._kept: list[Any] = []  # the derivatives, which must live as long as this function
        self.construct(name)

    def __reduce__(self) -> Any:
        return to_casadi, self._reduce_args

    def __copy__(self) -> Any:
        return to_casadi(*self._reduce_args)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return to_casadi(*self._reduce_args)

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_sparsity_in(self, i: int) -> Any:
        return self._inputs[i].pattern

    def get_sparsity_out(self, i: int) -> Any:
        return self._outputs[i].pattern

    def eval(self, args: Sequence[Any]) -> list[Any]:
        columns = [numpy.array(arg.nonzeros()) for arg, port in zip(args, self._inputs, strict=True) if port.is_used]
        results = iter(self._function(columns))
        return [
            casadi.DM(port.pattern, next(results)) if port.is_used else casadi.DM(*port.shape) for port in self._outputs
        ]

    def has_forward(self, directions: int) -> bool:
        return directions == 1

    def get_forward(self, directions: int, name: str, *_: Any) -> Any:
        pushed = self._function.pushed(len(self._argnums), self._argnums)
        return self._kept_alive(_Function(name, pushed, [*self._nominal, *self._inputs], self._outputs))

    def has_reverse(self, directions: int) -> bool:
        return directions == 1

    def get_reverse(self, directions: int, name: str, *_: Any) -> Any:
        pulled = self._function.pulled(len(self._argnums), self._argnums)
        return self._kept_alive(_Function(name, pulled, [*self._nominal, *self._outputs], self._inputs))

    def has_jac_sparsity(self, output: int, inp: int) -> bool:
        return True

    def get_jac_sparsity(self, output: int, inp: int, symmetric: bool) -> Any:
        return self._patterns[output * len(self._inputs) + inp]

    @property
    def _nominal(self) -> list[_Port]:
        """The inputs of a derivative that precede the tangents or cotangents: this function's inputs and results."""
        return [*self._inputs, *[port.ignored for port in self._outputs]]

    @functools.cached_property
    def _patterns(self) -> list[Any]:
        """The sparsity pattern of the Jacobian for each pair of an output and an input."""
        columns = [numpy.ones(port.size) for port in self._inputs if port.is_used]
        with without_numbers():  # only the lengths of the columns are used
            whole = sparse_jacobian(self._function.leaves, argnums=self._argnums).structure(*columns)
        patterns = []
        for (row, across), (column, along) in itertools.product(_ranges(self._outputs), _ranges(self._inputs)):
            block = whole[across, along].tocsc()
            block.sort_indices()
            entries = [block.indptr.tolist(), block.indices.tolist()] if row.is_used and column.is_used else []
            patterns.append(casadi.Sparsity(math.prod(row.shape), math.prod(column.shape), *entries))
        return patterns

    def _kept_alive(self, derivative: Any) -> Any:
        self._kept.append(derivative)
        return derivative


def _ranges(ports: Sequence[_Port]) -> list[tuple[_Port, slice]]:
    """Return a pair for each port: the port, and the slice of its numbers in the concatenated numbers of all ports."""
    starts = itertools.accumulate([port.size for port in ports], initial=0)
    return [(port, slice(*ends)) for port, ends in zip(ports, itertools.pairwise(starts), strict=True)]
