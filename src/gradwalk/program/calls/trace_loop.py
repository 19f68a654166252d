"""Trace the functions of a loop or switch as programs. Values from the enclosing scope become inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from gradwalk.program.calls.call import Call
from gradwalk.program.calls.callback import Callback
from gradwalk.program.calls.effect_loop import EffectLoop
from gradwalk.program.calls.loop import Loop, Sizes
from gradwalk.program.calls.program_derivatives import has_effects
from gradwalk.program.calls.switch import Switch
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.effects import current_effects
from gradwalk.program.tracing.trace import Recording
from gradwalk.trees.tree import TreeDef, common_types, flatten, scalars, type_of
from gradwalk.value.modes import RecordingError, refusals_here, without_numbers
from gradwalk.value.value import Value

# If `__index__` raises a `RecordingError`, NumPy and C functions may raise one of these errors instead.
_IN_PLACE_OF_REFUSALS = TypeError, ValueError, LookupError


class Part:
    """A traced function of a loop or switch: a step, a condition or a branch.

    The function `f` is traced for arguments with the structures of the trees `args`. The numbers in `args` are ignored.

    `is_step` says whether the function is the step of a loop.

    Attributes:
        sizes: The number of scalars in each argument.
        results: The number of scalars in the result.
        captured: The Values from the enclosing scope that the function uses.
        effects: The calls that the function makes for their side effects.

    Raises:
        RecordingError: If the function needs the number of a traced value.
    """

    def __init__(self, f: Callable[..., Any], *args: Any, is_step: bool = False) -> None:
        self._recording = Recording(staged=True)
        self.effects = self._recording.effects
        self.effects.is_step = is_step
        self.sizes: list[int] = []
        opened = []
        for arg in args:
            before = len(self._recording.operands)
            opened.append(self._recording.add_inputs(arg, "the carry"))
            self.sizes.append(len(self._recording.operands) - before)
        self._outputs = self._recorded(f, opened)
        self.results = len(self._outputs)
        self.captured: list[Any] = self._recording.operands[sum(self.sizes) :]

    def _recorded(self, f: Callable[..., Any], args: Sequence[Any]) -> Indices:
        """Trace a call of the function; return the tape indices of the numbers in its result."""
        refusals: list[RecordingError] = []

        @functools.wraps(f)
        def watched(*args: Any) -> Any:
            try:
                return f(*args)
            finally:
                refusals.extend(refusals_here())

        try:
            with without_numbers():
                return self._recording.run(watched, args, {})[0]
        except _IN_PLACE_OF_REFUSALS as error:
            if refusals and error is not refusals[0]:
                raise refusals[0] from error
            raise

    def program(self, fixed: Sequence[Any], before: int) -> Program:
        """Return the program of the function. The captured numbers are inputs of the program.

        The inputs are the numbers of the first `before` arguments, then `fixed`, then the numbers of the remaining
        arguments. `fixed` contains the numbers captured by all functions of the loop or switch. The outputs are the
        numbers of the result, followed by the tokens of a step.
        """
        tape = Tape()
        split = sum(self.sizes[:before])
        first = [tape.input() for _ in range(split)]
        places = {id(number): tape.input() for number in fixed}
        rest = [tape.input() for _ in range(sum(self.sizes) - split)]
        operands = [*first, *rest, *(places[id(number)] for number in self.captured)]
        outputs = [*self._outputs, *self.effects.indices]
        return tape.program(tape.inline(self._recording.tape.program(outputs), operands))


class Carried:
    """The carry of a loop: its numbers and its structure.

    Args:
        tree: The initial carry.
        name: Name of the carry in error messages.
        function: Name of the function that returns the next carry, for error messages.
    """

    def __init__(self, tree: Any, name: str, function: str) -> None:
        leaves, treedef = flatten(tree, name)
        self.treedef = treedef.with_numbers()  # 0-d arrays count as numbers, because arithmetic turns them into numbers
        self.numbers: list[Any] = list(scalars(leaves))
        self.types = list(map(type_of, leaves))  # of the leaves, in all carries so far
        self._name, self._function = name, function
        self._is_known = False

    def checked(self, tree: Any, before: Any = None) -> list[Any]:
        """Return the numbers of the next carry; raise TypeError if its structure differs from the first carry's.

        `before` is the carry that the function was called with. A leaf that is returned unchanged keeps its type.
        """
        leaves, treedef = flatten(tree, f"the carry that {self._function} returned")
        if treedef.with_numbers() != self.treedef:
            raise TypeError(
                f"{self._function} returned {treedef} as the next carry, but {self._name} is {self.treedef}: it must "
                "return the structure that it is given"
            )
        own = flatten(before, self._name)[0] or [None] * len(leaves)
        self.types = [
            known if leaf is kept or type_of(leaf) is known else float
            for known, leaf, kept in zip(self.types, leaves, own, strict=True)
        ]
        return list(scalars(leaves))

    def next(self, tree: Any) -> Any:
        """Return the next carry unchanged. The first call checks the structure of the carry."""
        if not self._is_known:
            self.checked(tree)
            self._is_known = True
        return tree


def recorded_loop(
    step: Callable[[Any, Any, Any], tuple[Any, Any]],
    carry: Carried,
    rows: Sequence[Any],
    span: tuple[int, int | None],
    goes_on: Callable[[Any], Any] | None = None,
    memory: str | int | None = None,
) -> tuple[Any, list[Any], TreeDef | None]:
    """Trace a loop as a `Loop` and compute its results.

    Args:
        step: Function that maps (count, carry, xs slice) to (next carry, ys slice or None).
        carry: The initial carry.
        rows: The slice of xs for each step: a tree of numbers or None.
        span: The count of the first step and the number of steps. If `goes_on` is given, this is the maximum number of
            steps, or None for no maximum.
        goes_on: Function that takes the carry and returns whether there is another step; None if `span` gives the
            number of steps.
        memory: Checkpoint policy of the reverse pass: see `Loop`.

    Returns:
        The final carry, the numbers of all ys slices, and the treedef of a ys slice, or None if there are no ys.
    """
    found: list[TreeDef | None] = []

    def numbers(count: Any, tree: Any, row: Any) -> list[Any]:
        following, given = step(count, tree, row)
        leaves, treedef = ([], None) if given is None else flatten(given, "what f returned")
        found.append(treedef and treedef.typed(list(map(type_of, leaves))))
        return [*carry.checked(following, tree), *scalars(leaves)]

    first, steps = span
    tree = carry.treedef.filled(carry.numbers)
    body = Part(numbers, 0.0, tree, rows[0] if rows else (), is_step=True)
    guard = None if goes_on is None else Part(lambda val: _number(goes_on(val)), tree)
    fixed = list({id(number): number for number in [*body.captured, *(guard.captured if guard else ())]}.values())
    out = body.results - carry.treedef.size
    sizes = Sizes(carry.treedef.size, len(fixed), body.sizes[2], out)
    condition = None if guard is None else guard.program(fixed, 1)
    program = body.program(fixed, 2)
    gone_through = [number for row in rows for number in scalars(flatten(row, "xs")[0])] if sizes.row else []
    operands = [*carry.numbers, *fixed, *gone_through]
    if body.effects.indices or any(map(has_effects, (program, condition) if condition else (program,))):
        results = _with_effects(EffectLoop(program, sizes, first, steps, condition, memory), operands)
    else:
        results = bind(Loop(program, sizes, first, steps, condition, memory), operands)
    return carry.treedef.typed(carry.types).results(results[: sizes.carry]), results[sizes.carry :], found[0]


def _with_effects(loop: EffectLoop, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a loop with side effects, and add its token to the effects of the enclosing recording."""
    *results, token = bind(loop, operands)
    if not isinstance(token, Value):
        return results
    effects = current_effects()
    anchor = effects.anchor if effects else [x for x in operands if isinstance(x, Value)][:1]
    [anchored] = Callback("effects of a loop", _nothing).values([*anchor, token])
    if effects is None:  # `grad` of a function of numbers has no `Effects`
        return [x + anchored for x in results]
    effects.tokens.append(anchored)
    return results


def _nothing(numbers: list[float]) -> None:
    """Do nothing: the operands have the side effects."""


def _number(holds: Any) -> Any:
    """Convert the result of a condition to a number."""
    return float(holds) if isinstance(holds, (bool, numpy.bool_)) else holds


def recorded_choice(index: Any, functions: Mapping[str, Callable[[], Any]]) -> Any:
    """Trace functions as the branches of a `Switch` and compute its result.

    Args:
        index: A Value: the index of the function to call.
        functions: Maps names to functions. The names are used in error messages.

    Raises:
        TypeError: If the results of the functions differ in structure.
    """
    treedefs: list[TreeDef] = []
    types: list[list[type]] = []

    def numbers(name: str, f: Callable[[], Any]) -> list[Any]:
        leaves, treedef = flatten(f(), f"the result of {name}")
        treedefs.append(treedef)
        types.append(list(map(type_of, leaves)))
        if treedef != treedefs[0]:
            raise TypeError(
                f"{next(iter(functions))} returned {treedefs[0]} and {name} returned {treedef}: when branches are "
                "traced, all functions must return the same structure"
            )
        return list(scalars(leaves))

    parts = [Part(functools.partial(numbers, name, f)) for name, f in functions.items()]
    shared = list({id(number): number for part in parts for number in part.captured}.values())
    choice = Switch([part.program(shared, 0) for part in parts])
    return treedefs[0].typed(common_types(types)).results(bind(choice, [index, *shared]))


def bind(call: Call, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a call: Values if an operand is a Value, else floats."""
    if any(isinstance(operand, Value) for operand in operands):
        return list(call.values(operands))
    return list(call.numbers(numpy.array(operands, numpy.float64)).tolist())
