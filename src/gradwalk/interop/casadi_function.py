"""`to_casadi`: a function that gradwalk runs and differentiates, as one of CasADi's, which only this module imports."""

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
    """Make a function of CasADi's of one that gradwalk records, with exact derivatives for its solvers.

    `f` is recorded as by `gradwalk.jit`, and not run. CasADi gets the patterns of Jacobians, as `sparse_jacobian` finds
    them, and products with derivatives in forward and reverse mode, which have the same again: so `nlpsol` has the
    exact Hessian of a Lagrangian in which the function stands, and its pattern.

    Args:
        f: A function of numbers and arrays that returns a number or an array, or a tuple of them.
        *shapes: The shape of each argument: an int for a vector of so many numbers, a pair for a matrix, () for a
            number.

    Returns:
        A `casadi.Callback`, which is to be kept for as long as functions that it stands in are used. CasADi's vectors
        are columns, for it and for its results. It is copied and pickled as far as `f` is.

    Raises:
        TypeError: `f` is no function, or does not return numbers; or a shape is none.
        ValueError: A shape has more than two dimensions, or that of a result has.

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
                f"{name}() takes or returns an array of shape {shape}: CasADi has matrices, of at most two axes"
            )

    def of_columns(*columns: Any) -> list[Any]:
        arrays = [_shaped(column, shape) for column, shape in zip(columns, inputs, strict=True)]
        return [numpy.ravel(part, "F") for part in of_arrays.leaves(*arrays)]

    of_columns.__name__ = name if casadi.Function.check_name(name) else "gradwalk_function"
    taken, returned = ([_Port(_matrix(shape)) for shape in side] for side in (inputs, outputs))
    return _Function(of_columns.__name__, ArrayFunction(of_columns), taken, returned, (f, *shapes))


def _checked(shape: Any, i: int) -> Shape:
    """The shape of an argument as a tuple."""
    try:
        lengths = tuple(map(index, shape if isinstance(shape, Iterable) else [shape]))
    except TypeError:
        lengths = (-1,)
    if any(length < 0 for length in lengths):
        raise TypeError(
            f"to_casadi() takes {shape!r} as the shape of argument {i + 1}: give an int, such as 3, for a vector of "
            "so many numbers, a pair of them for a matrix, () for a number"
        )
    return lengths


def _shaped(column: Any, shape: Shape) -> Any:
    """An argument whose numbers are given in the order of its columns."""
    return column[0] if shape == () else numpy.reshape(column, shape, "F")


def _matrix(shape: Shape) -> Shape:
    """The shape of an array as a matrix of CasADi's."""
    return (*shape, 1, 1)[:2]


class _Port(NamedTuple):
    """An input or output of a function of CasADi's.

    Attributes:
        shape: Its shape as a matrix.
        is_used: Whether its numbers are looked at, or computed. Those of the results that derivatives are given are
            not, and there are no derivatives by them.
    """

    shape: Shape
    is_used: bool = True

    @property
    def size(self) -> int:
        """The count of numbers."""
        return math.prod(self.shape) if self.is_used else 0

    @property
    def pattern(self) -> Any:
        """Which entries can differ from 0: all or none."""
        return casadi.Sparsity.dense(*self.shape) if self.is_used else casadi.Sparsity(*self.shape)

    @property
    def ignored(self) -> _Port:
        """The same, not looked at."""
        return self._replace(is_used=False)


class _Function(casadi.Callback):  # type: ignore[misc]  # CasADi is Any
    """What CasADi calls: a function of columns of numbers, with its derivatives.

    There is no Jacobian of its own, which CasADi could not differentiate: it makes one from products, by the pattern.

    Args:
        name: Its name.
        function: The function of the columns of the inputs that are used.
        inputs: Its inputs.
        outputs: Its outputs.
        made_from: The arguments of `to_casadi` that make it again; none for a derivative, which is CasADi's alone.
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
        self._kept: list[Any] = []  # derivatives, which have to live as long as this does
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
        """The inputs of derivatives before their seeds."""
        return [*self._inputs, *[port.ignored for port in self._outputs]]

    @functools.cached_property
    def _patterns(self) -> list[Any]:
        """The pattern of the Jacobian of each output by each input, in CasADi's order of columns."""
        columns = [numpy.ones(port.size) for port in self._inputs if port.is_used]
        with without_numbers():  # of the columns the lengths count
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
    """Each, and where its numbers are among those of all."""
    starts = itertools.accumulate([port.size for port in ports], initial=0)
    return [(port, slice(*ends)) for port, ends in zip(ports, itertools.pairwise(starts), strict=True)]
