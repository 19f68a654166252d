"""`Transform`: what `grad`, `jacobian` and their kin have in common.

Each records the function that it is given, differentiates the recording, and evaluates the result: on numbers, or on
Values where an argument is a Value or where the function uses one that is being differentiated outside of it. Every
recording has inputs of its own, so derivatives nest to any order, and one is never taken for another.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.tracing.trace import Indices, Recordable, Recording, display_name
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.tree import Parameters, TreeDef, tupled

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Argnums = int | Sequence[int]


class Transform(WrappedFunction[P, R_co], Recordable):
    """A function that returns derivatives of another one.

    Args:
        f: The function.
        argnums: The positional arguments to differentiate by.
        maker: The function that makes it, by name, for messages.
    """

    def __init__(self, f: Callable[..., Any], argnums: Argnums, maker: str) -> None:
        super().__init__(f, maker)
        self._argnums = checked_argnums(argnums)
        self._parameters = Parameters(f)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the derivatives at these arguments."""
        recording = Recording()
        outputs, treedef = self.record(recording, args, kwargs)
        return treedef.filled(recording.evaluate(outputs))  # type: ignore[no-any-return]

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums

    def _opened(self, recording: Recording, args: Sequence[Any]) -> tuple[list[Any], Indices, TreeDef]:
        """Open the arguments to differentiate by.

        Returns:
            All arguments, with inputs in place of these numbers; the indices of the inputs; and the treedef of a
            gradient, which is that of the argument, or of a tuple of arguments.
        """
        opened = list(args)
        names = self._parameters.first(len(opened))
        inputs: Indices = []
        treedefs = []
        for i in self._positions(len(opened)):
            opened[i] = recording.add_inputs(opened[i], names[i])
            indices, treedef = recording.input_indices(opened[i])
            inputs += indices
            treedefs.append(treedef)
        return opened, inputs, treedefs[0] if isinstance(self._argnums, int) else tupled(treedefs)

    def _positions(self, count: int) -> list[int]:
        """`argnums` as positions among so many positional arguments, counted from 0."""
        argnums = [self._argnums] if isinstance(self._argnums, int) else self._argnums
        for i in argnums:
            if not -count <= i < count:
                raise ValueError(
                    f"argnums={self._argnums} of {display_name(self._f)}, which was called with {count} positional "
                    f"argument{'s' if count != 1 else ''}: give the number of one of them, counted from 0"
                )
        return [i % count for i in argnums]


def checked_argnums(argnums: Any) -> Argnums:
    """Return `argnums` as an int, or as a tuple of ints. Raises `TypeError` where they are something else.

    Args:
        argnums: An int, or several.

    Returns:
        An int or a tuple of ints.
    """
    numbers = list(argnums) if isinstance(argnums, Iterable) else [argnums]
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"argnums takes an int or a sequence of ints, not {argnums!r}")
    positions = tuple(map(operator.index, numbers))
    return positions if isinstance(argnums, Iterable) else positions[0]


def transformed(
    f: Callable[..., Any], argnums: Argnums, transform: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Any:
    """Apply a transform to a function.

    The derivative of a sum over a batch, by what all samples share, is the sum of the derivatives. So for a vmapped
    function with `reduce` the transform is applied to the function of one sample.

    Args:
        f: The function.
        argnums: The arguments to differentiate by.
        transform: What to make of a function.

    Returns:
        What the transform made of `f`; for such a vmapped function, a vmapped function again.
    """
    if isinstance(f, Vmap) and f.sums_over_others(checked_argnums(argnums)):
        return f.of_samples(transform)
    return transform(f)
