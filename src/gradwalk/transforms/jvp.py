"""`jvp`, `vjp` and `hvp`: Jacobian-vector, vector-Jacobian and Hessian-vector products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradwalk.program.tracing.trace import Indices, Recording, display_name, evaluate
from gradwalk.transforms.base import conjugated
from gradwalk.transforms.grad import grad
from gradwalk.trees.tree import Parameters, flatten, scalars, tupled

R = TypeVar("R")


def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, R]:
    """Evaluate a function and its directional derivative (Jacobian-vector product) in one forward-mode pass.

    Args:
        f: A function that takes and returns trees of numbers.
        primals: The arguments of `f`, a tuple or list.
        tangents: The direction: a tuple or list with the structure of `primals`.

    Returns:
        The pair (result, tangents of the result) at `primals`.

    Raises:
        TypeError: `primals` and `tangents` differ in structure, or contain something other than numbers.

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
        (6.0, 23.0)
    """
    recording, args, inputs = _open(f, primals)
    seeds = list(zip(inputs, recording.add_seeds(_like(primals, tangents, "tangents")), strict=True))
    outputs, treedef = recording.run(f, args, {})
    results = recording.evaluate(outputs + recording.tape.forward(seeds, outputs))
    return treedef.results(results[: len(outputs)]), treedef.as_floats().filled(results[len(outputs) :])


def vjp(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[[R], tuple[Any, ...]]]:
    """Evaluate a function. Return the result, and a function that computes vector-Jacobian products.

    Args:
        f: A function that takes and returns numbers or trees of numbers. It is called once.
        *primals: The arguments of `f`, each passed separately. They may be complex.

    Returns:
        The pair (result, pull). `pull` takes the cotangent of the result: a tree like the result, with one weight per
        number. It returns a tuple with one cotangent per argument: the gradient of the weighted sum of the result's
        numbers, computed in reverse mode. For complex numbers it is the gradient of the real part of the sum: see
        `grad`.

    Raises:
        TypeError: The arguments or the result contain something other than numbers.

    Example:
        >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, pull(1.0), pull(10.0)
        (6.0, (3.0, 2.0), (30.0, 20.0))
    """
    recording, args, inputs = _open(f, primals)
    outputs, treedef = recording.run(f, args, {})
    result: R = treedef.results(recording.evaluate(outputs))
    arguments = tupled([flatten(primal, "an argument")[1] for primal in primals])
    operands = recording.operands.copy()
    adjoints = recording.add_seeds([0.0] * len(outputs))
    tape = recording.tape
    # The real part of w · z is the product of w's real part and z's, minus the product of the imaginary parts.
    seeds = list(zip(outputs, conjugated(tape, adjoints, treedef), strict=True))
    program = tape.program(conjugated(tape, tape.reverse(seeds, inputs), arguments))

    def pull(adjoint: R) -> tuple[Any, ...]:
        given = _like(result, adjoint, "adjoints")
        pulled: tuple[Any, ...] = arguments.filled(evaluate(program, [*operands, *given]))
        return pulled

    return result, pull


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """Multiply the Hessian of a function by a vector, without forming the Hessian.

    The product is the directional derivative, along `tangents`, of the gradient with respect to the first argument. The
    method is forward over reverse mode. The cost is a few evaluations of `f`, independent of the number of inputs.

    Args:
        f: A function that returns one number.
        primals: The arguments of `f`, a tuple or list.
        tangents: The vector: a tuple or list with the structure of `primals`.

    Returns:
        The product, a tree like the first argument.

    Raises:
        TypeError: `primals` and `tangents` differ in structure, or `f` does not return one number.

    Example:
        >>> hvp(lambda x: x[0] * x[0] * x[1], ([2.0, 3.0],), ([1.0, 0.0],))
        [6.0, 4.0]
    """
    return jvp(grad(f), primals, tangents)[1]


def _open(f: Callable[..., Any], primals: Sequence[Any]) -> tuple[Recording, list[Any], Indices]:
    """Return a new recording, the arguments of `f` as inputs of this recording, and the indices of the inputs."""
    if not callable(f):
        raise TypeError(f"jvp() or vjp() takes a function, not {type(f).__name__}: {f!r:.60}")
    if not isinstance(primals, (tuple, list)):
        raise TypeError(
            f"primals must be a tuple or list of the arguments of {display_name(f)}, got {type(primals).__name__}"
        )
    recording = Recording()
    args, inputs = [], []
    for primal, name in zip(primals, Parameters(f).first(len(primals)), strict=True):
        args.append(recording.add_inputs(primal, name))
        inputs += recording.input_indices(args[-1])[0]
    return recording, args, inputs


def _like(expected: Any, given: Any, what: str) -> list[Any]:
    """Return the numbers of `given`, or raise `TypeError` if its structure differs from `expected`."""
    treedef = flatten(expected, what)[1]
    leaves, given_treedef = flatten(given, what)
    if given_treedef.with_numbers() != treedef.with_numbers():
        raise TypeError(f"{what} must have the structure {treedef}, got {given_treedef}")
    return scalars(leaves)
