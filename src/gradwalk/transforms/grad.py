"""`grad` and `value_and_grad`: the gradient of a function with one number as result, in reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from gradwalk.batching.vmapped import Vmap
from gradwalk.program.run.fast_call import MISSED
from gradwalk.program.tracing.trace import Indices, Recordable, Recording, display_name
from gradwalk.transforms.base import Argnums, Transform, transformed
from gradwalk.trees.tree import SCALAR, TreeDef, tupled
from gradwalk.value.modes import depth, new_mark, recorded
from gradwalk.value.node import close_inputs, open_inputs, primal_of
from gradwalk.value.sweep.backward import derivatives_within
from gradwalk.value.value import Value

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Grad(Transform[P, R_co]):
    """The gradient of a function, as `grad` and `value_and_grad` make it.

    Args:
        f: The function.
        argnums: See `grad`.
        has_aux: See `grad`.
        with_value: Whether to return the value as well.
    """

    def __init__(self, f: Callable[..., Any], argnums: Argnums, has_aux: bool, with_value: bool) -> None:
        super().__init__(f, argnums, "grad")
        self._has_aux = has_aux
        self._with_value = with_value

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the gradient at these arguments."""
        if not (self._has_aux or isinstance(self._f, Recordable) or depth()):
            found = self._of_numbers(args, kwargs)
            if found is not MISSED:
                return found  # type: ignore[no-any-return]
        return super().__call__(*args, **kwargs)

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append what computes the gradient, and value and aux where they are asked for, to a tape.

        Args:
            recording: The recording that the tape belongs to.
            args: The positional arguments.
            kwargs: The keyword arguments.

        Returns:
            The indices of the numbers of the result, and its treedef.
        """
        opened, inputs, gradient_treedef = self._opened(recording, args)
        return self._differentiated(recording, recording.run(self._f, opened, kwargs), inputs, gradient_treedef)

    def _of_numbers(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return the gradient by numbers as a sweep over Values finds it: without a tape, of which small ones are dear.

        `MISSED` where arguments are something else, and tapes are differentiated.
        """
        positions = (self._argnums,) if isinstance(self._argnums, int) else self._argnums
        opened = list(args)
        leaves = []
        for i in positions:
            if not 0 <= i < len(opened) or type(opened[i]) not in (float, int):
                return MISSED
            opened[i] = Value(opened[i])
            leaves.append(opened[i])
        if not leaves:
            return MISSED
        mark = new_mark()
        open_inputs(leaves, 1, mark)
        try:
            result = recorded(lambda: self._f(*opened, **kwargs), 1, mark, staged=False)
            gradient = derivatives_within(result, leaves)
            if gradient is None:
                return self._of_result(result, leaves)
        finally:
            close_inputs(leaves)
        found = gradient[0] if isinstance(self._argnums, int) else tuple(gradient)
        return (primal_of(result), found) if self._with_value else found

    def _of_result(self, result: Any, leaves: list[Value]) -> Any:
        """Return the gradient of what the function has returned for some leaves, from a tape."""
        recording = Recording()
        inputs = recording.install(leaves)
        numbers = [SCALAR] * len(leaves)
        gradient_treedef = SCALAR if isinstance(self._argnums, int) else tupled(numbers)
        found = recording.result(self._f, result)
        outputs, treedef = self._differentiated(recording, found, inputs, gradient_treedef)
        return treedef.filled(recording.evaluate(outputs))

    def _differentiated(
        self, recording: Recording, found: tuple[Indices, TreeDef], inputs: Indices, gradient_treedef: TreeDef
    ) -> tuple[Indices, TreeDef]:
        """Append the gradient of what a function has returned: see `record`."""
        outputs, treedef = found
        parts = self._parts(treedef)
        value, *aux = outputs
        gradient = recording.tape.reverse([(value, recording.tape.constant(1.0))], inputs)
        if self._with_value:
            result = tupled(parts) if self._has_aux else treedef
            return [value, *aux, *gradient], tupled([result, gradient_treedef])
        if self._has_aux:
            return [*gradient, *aux], tupled([gradient_treedef, parts[1]])
        return gradient, gradient_treedef

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._has_aux, self._with_value

    def _parts(self, treedef: TreeDef) -> list[TreeDef]:
        """The treedefs of the value, and of what the function returns beside it. Raises `TypeError` without a value."""
        parts = [treedef]
        if self._has_aux:
            parts = treedef.parts()
            if len(parts) != 2:
                raise TypeError(
                    f"with has_aux, {display_name(self._f)} has to return a pair (value, aux), not {treedef}"
                )
        if not parts[0].has_one_number:
            raise TypeError(
                f"a gradient is that of one number, and {display_name(self._f)} returned {parts[0]}: use jacobian, "
                "or return a sum"
            )
        return parts


# Type checkers are told no more of a gradient than Any. It is like an argument in general, but a Module with numbers in
# place of Values for a Module (see `nn.Module`). Of vmapped functions, some become vmapped functions again.
@overload
def grad(f: Vmap[...], argnums: Argnums = 0, *, has_aux: bool = False) -> Any: ...
@overload
def grad(f: Callable[P, Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Grad[P, Any]: ...
def grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Differentiate a function that returns one number, with respect to one of its arguments, or to several.

    Args:
        f: A function of numbers, or of lists, tuples, dicts, dataclasses, Modules and arrays of them. With `has_aux` it
            returns a pair: the number to differentiate, and other numbers. An array of one number is one, too.
        argnums: The position of the argument to differentiate by, or a sequence of positions.
        has_aux: Whether `f` returns such a pair.

    Returns:
        A function that returns the gradient: like the argument, or a tuple for a sequence of them; with `has_aux`, a
        pair of it and of the other numbers. It raises `TypeError` where `f` does not return one number or an argument
        holds something else than numbers, and `ValueError` where `argnums` are out of range.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> grad(lambda x, y: x * x + 3.0 * y)(2.0, 1.0)
        4.0
        >>> grad(grad(grad(lambda x: x**4)))(2.0)
        48.0
    """
    return transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, with_value=False))


@overload
def value_and_grad(f: Vmap[...], argnums: Argnums = 0, *, has_aux: bool = False) -> Any: ...
@overload
def value_and_grad(f: Callable[P, R], argnums: Argnums = 0, *, has_aux: bool = False) -> Grad[P, tuple[R, Any]]: ...
def value_and_grad(f: Callable[..., Any], argnums: Argnums = 0, *, has_aux: bool = False) -> Any:
    """Differentiate a function as `grad` does, and return its value as well.

    Args:
        f: A function that returns one number: see `grad`.
        argnums: The position of the argument to differentiate by, or a sequence of positions.
        has_aux: Whether `f` returns a pair of the number to differentiate and of other numbers.

    Returns:
        A function that returns the pair (value, gradient), with `has_aux` the pair ((value, aux), gradient). It raises
        what the result of `grad` raises.

    Raises:
        TypeError: `f` is no function, or `argnums` are no ints.

    Example:
        >>> value_and_grad(lambda x: x * x)(3.0)
        (9.0, 6.0)
    """
    return transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, with_value=True))
