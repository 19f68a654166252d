"""`jvp`, `vjp`, `linearize` and `hvp`: Jacobian-vector, vector-Jacobian and Hessian-vector products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, overload

from gradwalk.arrays.recorder import RECORDER
from gradwalk.arrays.run.array_program import ArrayProgram, operands_of
from gradwalk.program.tape import Indices
from gradwalk.program.tracing.trace import Recording, display_name, takes_arrays
from gradwalk.transforms.base import conjugated, with_aux
from gradwalk.transforms.grad import grad
from gradwalk.transforms.linear_map import LinearMap
from gradwalk.trees.tree import Parameters, TreeDef, flatten, scalars, tupled

R = TypeVar("R")
A = TypeVar("A")


@overload
def jvp(
    f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
) -> tuple[R, R]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, A]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """Evaluate a function and its directional derivative (Jacobian-vector product) in one forward-mode pass.

    Args:
        f: A function that takes and returns trees of numbers.
        primals: The arguments of `f`, a tuple or list.
        tangents: The direction: a tuple or list with the structure of `primals`.
        has_aux: Whether `f` returns a pair (result, aux). Only the result is differentiated.

    Returns:
        The pair (result, tangents of the result) at `primals`, or (result, tangents, aux) if `has_aux` is true.

    Raises:
        TypeError: `primals` and `tangents` differ in structure, or contain something other than numbers. With
            `has_aux`, `f` does not return a pair.

    Example:
        >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
        (6.0, 23.0)
    """
    recording, args, inputs = _open(f, primals)
    directions = recording.add_seeds(_like(primals, tangents, "tangents", _kinds(recording, inputs)))
    outputs, treedefs, aux = _run(recording, f, args, has_aux)
    of_outputs = recording.tape.forward(list(zip(inputs, directions, strict=True)), outputs)
    results = recording.evaluate([*outputs, *of_outputs, *aux])
    size = len(outputs)
    tree = recording.unflattened
    found = [tree(treedefs[0], results[:size]), tree(treedefs[0].as_floats(), results[size : 2 * size])]
    return (*found, *[tree(treedef, results[2 * size :]) for treedef in treedefs[1:]])


@overload
def vjp(
    f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[R], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[[R], tuple[Any, ...]], A]: ...
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Evaluate a function. Return the result, and a function that computes vector-Jacobian products.

    Args:
        f: A function that takes and returns numbers or trees of numbers. It is called once.
        *primals: The arguments of `f`, each passed separately. They may be complex.
        has_aux: Whether `f` returns a pair (result, aux). Only the result is differentiated.

    Returns:
        The pair (result, pull), or (result, pull, aux) if `has_aux` is true. `pull` takes the cotangent of the result:
        a tree like the result, with one weight per number. It returns a tuple with one cotangent per argument: the
        gradient of the weighted sum of the result's numbers, computed in reverse mode. For complex numbers it is the
        gradient of the real part of the sum: see `grad`.

    Raises:
        TypeError: The arguments or the result contain something other than numbers. With `has_aux`, `f` does not return
            a pair.

    Example:
        >>> value, pull = vjp(lambda x, y: x * y, 2.0, 3.0)
        >>> value, pull(1.0), pull(10.0)
        (6.0, (3.0, 2.0), (30.0, 20.0))
    """
    recording, args, inputs = _open(f, primals)
    outputs, treedefs, aux = _run(recording, f, args, has_aux)
    result, *others = _evaluated(recording, outputs, treedefs, aux)
    arguments = tupled([flatten(primal, "an argument")[1] for primal in primals])
    operands = recording.operands.copy()
    tape = recording.tape
    kinds = _kinds(recording, outputs)
    adjoints = recording.add_inputs_like(outputs)
    # The real part of w · z is the product of w's real part and z's, minus the product of the imaginary parts.
    seeds = list(zip(outputs, conjugated(tape, adjoints, treedefs[0]), strict=True))
    products = _products(recording, conjugated(tape, tape.reverse(seeds, inputs), arguments), operands)

    def pull(adjoint: Any) -> tuple[Any, ...]:
        found = products(_like(result, adjoint, "adjoints", kinds))
        pulled: tuple[Any, ...] = recording.unflattened(arguments, found)
        return pulled

    return (result, pull, *others)


@overload
def linearize(f: Callable[..., R], *primals: Any, has_aux: Literal[False] = False) -> tuple[R, Callable[..., R]]: ...
@overload
def linearize(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[..., R], A]: ...
def linearize(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Evaluate a function. Return the result, and a function that computes Jacobian-vector products at this point.

    `jvp(f, primals, tangents)` computes one product. `linearize` is faster for many products at the same point, because
    `f` is called once.

    Args:
        f: A function that takes and returns trees of numbers. It is called once.
        *primals: The arguments of `f`, each passed separately.
        has_aux: Whether `f` returns a pair (result, aux). Only the result is differentiated.

    Returns:
        The pair (result, push), or (result, push, aux) if `has_aux` is true. `push` takes one tangent per argument and
        returns the tangent of the result.

    Raises:
        TypeError: The arguments or the result contain something other than numbers. With `has_aux`, `f` does not return
            a pair.

    Example:
        >>> value, push = linearize(lambda x, y: x * y, 2.0, 3.0)
        >>> value, push(1.0, 0.0), push(1.0, 10.0)
        (6.0, 3.0, 23.0)
    """
    recording, args, inputs = _open(f, primals)
    outputs, treedefs, aux = _run(recording, f, args, has_aux)
    result, *others = _evaluated(recording, outputs, treedefs, aux)
    operands = recording.operands.copy()
    kinds = _kinds(recording, inputs)
    tangents = recording.add_inputs_like(inputs)
    of_outputs = recording.tape.forward(list(zip(inputs, tangents, strict=True)), outputs)
    products = _products(recording, of_outputs, operands)

    def push(*given: Any) -> Any:
        return recording.unflattened(treedefs[0].as_floats(), products(_like(primals, given, "tangents", kinds)))

    return (result, push, *others)


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
        raise TypeError(f"jvp(), vjp() or linearize() takes a function, not {type(f).__name__}: {f!r:.60}")
    if not isinstance(primals, (tuple, list)):
        raise TypeError(
            f"primals must be a tuple or list of the arguments of {display_name(f)}, got {type(primals).__name__}"
        )
    recording = Recording(arrays=RECORDER if takes_arrays(f) else None)
    args, inputs = [], []
    for primal, name in zip(primals, Parameters(f).first(len(primals)), strict=True):
        args.append(recording.add_inputs(primal, name))
        inputs += recording.input_indices(args[-1])[0]
    return recording, args, inputs


def _run(
    recording: Recording, f: Callable[..., Any], args: Sequence[Any], has_aux: bool
) -> tuple[Indices, list[TreeDef], Indices]:
    """Record a call of a function.

    Returns:
        The indices of the result, the treedefs of the result and, with `has_aux`, of aux, and the indices of aux.
    """
    outputs, treedef = recording.run(f, args, {})
    if not has_aux:
        return outputs, [treedef], []
    treedefs = with_aux(f, treedef)
    size = recording.count_of(treedefs[0], outputs)
    return outputs[:size], [*treedefs], outputs[size:]


def _evaluated(recording: Recording, outputs: Indices, treedefs: Sequence[TreeDef], aux: Indices) -> list[Any]:
    """Compute the result and, if there is one, aux."""
    numbers = recording.evaluate([*outputs, *aux])
    parts = (numbers[: len(outputs)], numbers[len(outputs) :])
    return [recording.unflattened(treedef, part) for treedef, part in zip(treedefs, parts, strict=False)]


def _kinds(recording: Recording, indices: Indices) -> list[Any]:
    """Return the kind of each instruction that is an array, and None for each number."""
    return [recording.tape.arrays.get(index) for index in indices]


def _products(recording: Recording, outputs: Indices, operands: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
    """Return a function of a vector that computes outputs of the tape, whose inputs are the operands and the vector."""
    if recording.tape.has_arrays:
        program = ArrayProgram(recording.tape, outputs)
        return lambda vector: program.evaluate([*operands, *vector])
    return LinearMap(recording.tape.program(outputs), operands)


def _like(expected: Any, given: Any, what: str, kinds: Sequence[Any]) -> list[Any]:
    """Return the numbers of `given`, or raise `TypeError` if its structure differs from `expected`.

    `kinds` has the kind of each number that is a whole array.
    """
    treedef = flatten(expected, what)[1]
    leaves, given_treedef = flatten(given, what)
    if given_treedef.with_numbers() != treedef.with_numbers():
        raise TypeError(f"{what} must have the structure {treedef}, got {given_treedef}")
    return operands_of(leaves, kinds) if any(kinds) else scalars(leaves)
