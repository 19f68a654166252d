"""`Transform`: the base class of `grad`, `jacobian` and the other derivative transforms.

A transform records the given function, differentiates the recording, and evaluates the derivative. The derivative is
evaluated on Values if an argument or a captured variable is a Value, and on numbers otherwise. Every recording has
separate inputs, so nested transforms do not confuse the perturbations of different levels.
"""

from __future__ import annotations

import collections
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypeVar

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import ArrayRecorder
from gradwalk.program.tracing.trace import Recordable, Recording, display_name, takes_arrays
from gradwalk.program.tracing.wrapper import WrappedFunction
from gradwalk.trees.tree import Parameters, TreeDef, refuse_static, tupled

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Argnums = int | Sequence[int]


class Transform(WrappedFunction[P, R_co], Recordable):
    """A function that returns derivatives of `f`. `maker` is the name of the transform, such as "grad"."""

    def __init__(self, f: Callable[..., Any], argnums: Argnums, maker: str) -> None:
        super().__init__(f, maker)
        self._argnums = checked_argnums(argnums)
        self._parameters = Parameters(f)

    _arrays: ArrayRecorder | None = None  # makes large arrays single operands, in transforms that can
    _opens_whole = True  # whether arrays to differentiate with respect to can be single operands

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the derivatives at these arguments."""
        recording = Recording(arrays=self._arrays if self.takes_arrays else None)
        outputs, treedef = self.record(recording, args, kwargs)
        return recording.results(outputs, treedef)  # type: ignore[no-any-return]

    @property
    def takes_arrays(self) -> bool:
        """Whether large arrays among the arguments can be single inputs: see `Recordable.takes_arrays`."""
        return self._arrays is not None and takes_arrays(self._f)

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums

    def _opened(self, recording: Recording, args: Sequence[Any]) -> tuple[list[Any], Indices, TreeDef]:
        """Replace the numbers in the arguments at `argnums` by new inputs of the recording.

        Returns:
            The arguments after the replacement, the indices of the inputs, and the treedef of the gradient.
        """
        opened = list(args)
        names = self._parameters.first(len(opened))
        inputs: Indices = []
        treedefs = []
        for i in self._positions(len(opened)):
            refuse_static(opened[i], names[i])
            opened[i] = recording.add_inputs(opened[i], names[i], whole=self._opens_whole)
            indices, treedef = recording.input_indices(opened[i])
            inputs += indices
            treedefs.append(treedef)
        return opened, inputs, treedefs[0] if isinstance(self._argnums, int) else tupled(treedefs)

    def _positions(self, count: int) -> list[int]:
        """Return `argnums` as nonnegative positions, given the number of positional arguments."""
        argnums = [self._argnums] if isinstance(self._argnums, int) else self._argnums
        for i in argnums:
            if not -count <= i < count:
                raise ValueError(
                    f"argnums of {display_name(self._f)} must be positions of its {count} positional "
                    f"argument{'s' if count != 1 else ''}, counted from 0, got {self._argnums}"
                )
        return [i % count for i in argnums]


def conjugated(tape: Tape, indices: Indices, treedef: TreeDef) -> Indices:
    """Return the tape indices of numbers, with the imaginary parts of complex numbers negated."""
    if not treedef.pairs:
        return indices
    flags = iter(treedef.imaginary)
    found = []
    for index in indices:
        is_imaginary = next(flags)
        found.append(tape.append("neg", index) if is_imaginary else index)
        if index in tape.arrays:  # an array of real numbers, which has a flag for each number
            collections.deque(itertools.islice(flags, tape.arrays[index].size - 1), maxlen=0)
    return found


def refuse_real_arguments(name: str, f: Callable[..., Any], arguments: TreeDef) -> None:
    """Raise `TypeError` if an argument of a holomorphic function is a real number."""
    if 2 * len(arguments.pairs) != len(arguments.shapes):
        raise TypeError(
            f"{name} with holomorphic=True needs complex arguments, and {display_name(f)} was called with {arguments}: "
            "pass complex numbers, such as complex(x), or omit holomorphic"
        )


def with_aux(f: Callable[..., Any], treedef: TreeDef) -> tuple[TreeDef, TreeDef]:
    """Return the treedefs of the result and of aux, given the treedef of the pair that a function returned."""
    parts = treedef.parts()
    if len(parts) != 2:
        raise TypeError(f"with has_aux=True, {display_name(f)} must return a pair (value, aux), got {treedef}")
    return parts[0], parts[1]


def checked_argnums(argnums: Any) -> Argnums:
    """Return `argnums` as an int or a tuple of ints, or raise `TypeError`."""
    numbers = list(argnums) if isinstance(argnums, Iterable) else [argnums]
    for number in numbers:
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise TypeError(f"argnums must be an int or a sequence of ints, got {argnums!r}")
    positions = tuple(map(operator.index, numbers))
    return positions if isinstance(argnums, Iterable) else positions[0]


def transformed(
    f: Callable[..., Any], argnums: Argnums, transform: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Any:
    """Apply a transform to a function, which may be a vmapped function.

    If `f` is a vmapped function that reduces by "sum" or "mean", and all samples share the arguments at `argnums`, the
    transform is applied to the function of one sample, and the result is a vmapped function. This is correct because
    the derivative of a sum is the sum of the derivatives.
    """
    if isinstance(f, Vmap) and f.sums_over_others(checked_argnums(argnums)):
        return f.of_samples(transform)
    return transform(f)
