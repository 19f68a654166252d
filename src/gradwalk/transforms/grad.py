"""`grad` and `value_and_grad`: gradients of functions that return one number, in reverse mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from gradwalk.arrays.recorder import RECORDER
from gradwalk.batching.vmapped import Vmap
from gradwalk.program.run.fast_call import MISSED
from gradwalk.program.tape import Indices
from gradwalk.program.tracing.trace import Recordable, Recording, display_name
from gradwalk.transforms.base import Argnums, Transform, conjugated, refuse_real_arguments, transformed, with_aux
from gradwalk.transforms.zero_derivatives import warn_of_zeros
from gradwalk.trees.tree import SCALAR, TreeDef, tupled
from gradwalk.value.arrays import array_maker
from gradwalk.value.modes import depth, new_mark, recorded, refuses_nans
from gradwalk.value.node import close_inputs, open_inputs, primal_of
from gradwalk.value.sweep.backward import derivatives_within
from gradwalk.value.value import Value

# The first gradients for which `warn_of_zeros` is called.
_MOST_EXAMINED = 8

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Grad(Transform[P, R_co]):
    """A function that computes a gradient, returned by `grad` and `value_and_grad`."""

    _arrays = RECORDER

    def __init__(
        self, f: Callable[..., Any], argnums: Argnums, has_aux: bool, with_value: bool, holomorphic: bool = False
    ) -> None:
        super().__init__(f, argnums, "grad")
        self._holomorphic = holomorphic
        self._has_aux = has_aux
        self._with_value = with_value
        self._unexamined = _MOST_EXAMINED

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the gradient at these arguments."""
        if not (self._has_aux or self._holomorphic or isinstance(self._f, Recordable) or depth()):
            found = self._of_numbers(args, kwargs)
            if found is not MISSED:
                return found  # type: ignore[no-any-return]
        return super().__call__(*args, **kwargs)

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append the gradient, and the value and aux if requested, to the tape; return the indices and treedef."""
        opened, inputs, gradient_treedef = self._opened(recording, args)
        if self._holomorphic:
            refuse_real_arguments("grad", self._f, gradient_treedef)
        return self._differentiated(recording, recording.run(self._f, opened, kwargs), inputs, gradient_treedef)

    def _of_numbers(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Compute the gradient with a sweep over Values, which costs less than a tape for small functions.

        Returns `MISSED` if an argument to differentiate is not a float or an int.
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
            asked: list[Any] = []
            result = recorded(lambda: _called(self._f, opened, kwargs), 1, mark, staged=False, asked=asked)
            gradient = derivatives_within(result, leaves)
            if gradient is None:
                return self._of_result(result, leaves, asked)
        finally:
            close_inputs(leaves)
        found = gradient[0] if isinstance(self._argnums, int) else tuple(gradient)
        return (primal_of(result), found) if self._with_value else found

    def _of_result(self, result: Any, leaves: list[Value], asked: list[Any]) -> Any:
        """Compute the gradient on a tape, from the result that the function returned for these leaves.

        `asked` are the numbers that the function asked for: see `recorded`.
        """
        recording = Recording(arrays=RECORDER)
        recording.asked = asked
        inputs = recording.install(leaves)
        numbers = [SCALAR] * len(leaves)
        gradient_treedef = SCALAR if isinstance(self._argnums, int) else tupled(numbers)
        found = recording.result(self._f, result)
        outputs, treedef = self._differentiated(recording, found, inputs, gradient_treedef)
        return treedef.results(recording.evaluate(outputs))

    def _differentiated(
        self, recording: Recording, found: tuple[Indices, TreeDef], inputs: Indices, gradient_treedef: TreeDef
    ) -> tuple[Indices, TreeDef]:
        """Append the gradient of the recorded outputs `found`: see `record`."""
        outputs, treedef = found
        parts = self._parts(treedef)
        value, aux = outputs[0], outputs[parts[0].size :]
        tape = recording.tape
        # The gradient with respect to a complex number x + iy is d/dx - i d/dy, as in JAX. For the real part of a
        # holomorphic function, this is the complex derivative of the function.
        gradient = conjugated(tape, tape.reverse([(value, tape.constant(1.0))], inputs), gradient_treedef)
        if recording.asked and self._unexamined and not tape.has_arrays:
            self._unexamined -= 1
            warn_of_zeros(self._f, recording, value, inputs)
        if self._with_value:
            result = tupled(parts) if self._has_aux else treedef
            return [*outputs, *gradient], tupled([result, gradient_treedef])
        if self._has_aux:
            return [*gradient, *aux], tupled([gradient_treedef, parts[1]])
        return gradient, gradient_treedef

    def _reduce_args(self) -> tuple[Any, ...]:
        return self._f, self._argnums, self._has_aux, self._with_value, self._holomorphic

    def _parts(self, treedef: TreeDef) -> list[TreeDef]:
        """Return the treedefs of the value and of aux; raise `TypeError` if the value is not one number."""
        parts = [*with_aux(self._f, treedef)] if self._has_aux else [treedef]
        if self._holomorphic and not parts[0].is_complex:
            raise TypeError(
                f"grad with holomorphic=True needs a function that returns one complex number, and "
                f"{display_name(self._f)} returned {parts[0]}: omit holomorphic for a real result"
            )
        if parts[0].is_complex and not self._holomorphic:
            raise TypeError(
                f"grad needs a function that returns a real number, and {display_name(self._f)} returned {parts[0]}: "
                "return its real part or absolute value, pass holomorphic=True for the complex derivative of a "
                "holomorphic function, or use jacobian for a function of real numbers"
            )
        if not (parts[0].has_one_number or parts[0].is_complex):
            raise TypeError(
                f"grad needs a function that returns one number, and {display_name(self._f)} returned {parts[0]}: "
                "use jacobian, or return a sum"
            )
        return parts


def _called(f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function that may use large arrays of numbers. The caller must discard the context."""
    array_maker.set(None if refuses_nans() else RECORDER)
    return f(*args, **kwargs)


# The gradient is typed as Any. Usually it has the type of the argument, but the gradient of a Module contains numbers
# instead of Values (see `nn.Module`). For some vmapped functions, grad returns a vmapped function.
@overload
def grad(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def grad(
    f: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Grad[P, Any]: ...
def grad(f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any:
    """Compute the gradient of a function that returns one number, with respect to one or several arguments.

    An argument is a number or a tree of numbers: nested lists, tuples, dicts, dataclasses, Modules and arrays. The
    numbers may be complex. The gradient with respect to a complex number x + iy is ∂f/∂x - i·∂f/∂y, as in JAX; its
    conjugate is the direction of steepest ascent.

    Args:
        f: A function that returns a real number or an array with one element, or a pair (value, aux) if `has_aux` is
            true.
        argnums: Position of the argument to differentiate with respect to (default 0), or a sequence of positions.
        has_aux: Whether `f` returns a pair (value, aux). Only the value is differentiated; aux is a tree of numbers,
            which is returned unchanged.
        holomorphic: Whether `f` is a holomorphic function of complex arguments that returns a complex number. The
            result is then its complex derivative.

    Returns:
        A function with the arguments of `f` that returns the gradient. The gradient has the structure of the argument
        at `argnums`. If `argnums` is a sequence, the gradient is a tuple with one such tree per position. If `has_aux`
        is true, the function returns the pair (gradient, aux).

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints. When the returned function is called: `f` does not
            return one real number, or one complex number and `holomorphic` is true; an argument contains something
            other than numbers, or a real number and `holomorphic` is true.
        ValueError: When the returned function is called: a position in `argnums` is out of range.

    Example:
        >>> grad(lambda x, y: x * x + 3.0 * y)(2.0, 1.0)
        4.0
        >>> grad(grad(grad(lambda x: x**4)))(2.0)
        48.0
        >>> grad(abs)(3 + 4j)
        (0.6-0.8j)
        >>> grad(lambda z: z * z, holomorphic=True)(3 + 4j)
        (6+8j)
    """
    return transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, False, holomorphic))


@overload
def value_and_grad(f: Vmap[...], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Any: ...
@overload
def value_and_grad(
    f: Callable[P, R], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Grad[P, tuple[R, Any]]: ...
def value_and_grad(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Any:
    """Compute the value and the gradient of a function in one pass.

    The arguments, the gradient and the exceptions are described at `grad`.

    Args:
        f: A function that returns a real number or an array with one element, or a pair (value, aux) if `has_aux` is
            true.
        argnums: Position of the argument to differentiate with respect to (default 0), or a sequence of positions.
        has_aux: Whether `f` returns a pair (value, aux), of which only the value is differentiated.
        holomorphic: Whether `f` is a holomorphic function: see `grad`.

    Returns:
        A function with the arguments of `f` that returns the pair (value, gradient). If `has_aux` is true, it returns
        ((value, aux), gradient).

    Raises:
        TypeError: `f` is not callable, or `argnums` are not ints.

    Example:
        >>> value_and_grad(lambda x: x * x)(3.0)
        (9.0, 6.0)
    """
    return transformed(f, argnums, lambda g: Grad(g, argnums, has_aux, True, holomorphic))
