"""Trace the functions of a loop or switch as programs. Values from the enclosing scope become inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from gradwalk.program.calls.call import Call
from gradwalk.program.calls.effect_loop import EffectLoop, with_unused_input
from gradwalk.program.calls.loop import Loop, Sizes
from gradwalk.program.calls.program_derivatives import has_effects
from gradwalk.program.calls.switch import Switch
from gradwalk.program.program import Program
from gradwalk.program.tape import Indices, Tape
from gradwalk.program.tracing.array_handle import (
    ArrayHandle,
    ArrayRecorder,
    RecordedArray,
    TracedPart,
    flat_operands,
)
from gradwalk.program.tracing.trace import Recording, current_arrays
from gradwalk.trees.tree import TreeDef, common_types, flatten, scalars, type_of
from gradwalk.value.modes import RecordingError, refusals_here, without_numbers
from gradwalk.value.value import Value

# If `__index__` raises a `RecordingError`, NumPy and C functions may raise one of these errors instead.
_IN_PLACE_OF_REFUSALS = TypeError, ValueError, LookupError


class Part:
    """A traced function of a loop or switch: a step, a condition or a branch.

    The function `f` is traced for arguments with the structures of the trees `args`. The numbers in `args` are ignored.

    `is_step` says whether the function is the step of a loop, whose tokens are not added to its results.

    Attributes:
        sizes: The number of inputs for each argument: one for each number, and one for each array that stays whole.
        results: The number of numbers and whole arrays in the result.
        captured: The Values and the handles of arrays from the enclosing scope that the function uses.
        tokens: The tape indices of the tokens of a step: see `program/tracing/effects.py`.

    Raises:
        RecordingError: If the function needs the number of a traced value.
    """

    def __init__(self, f: Callable[..., Any], *args: Any, is_step: bool = False) -> None:
        self._recording = Recording(staged=True, arrays=current_arrays())
        self.sizes: list[int] = []
        opened = []
        for arg in args:
            before = len(self._recording.operands)
            opened.append(self._recording.add_inputs(arg, "the carry"))
            self.sizes.append(len(self._recording.operands) - before)
        self._outputs = self._recorded(f, opened)
        self.results = len(self._outputs)
        self.tokens = self._recording.effects.indices if is_step else []
        if not is_step:
            self._outputs = self._recording.with_effects(self._outputs)
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

    @property
    def given(self) -> list[Any]:
        """The arguments: a number, an array or a handle for each input."""
        return self._recording.operands[: sum(self.sizes)]

    def traced(self, fixed: Sequence[Any], before: int) -> TracedPart:
        """Return the function as a tape. The captured numbers and arrays are inputs of the tape.

        The inputs are the numbers and arrays of the first `before` arguments, then `fixed`, then the numbers of the
        remaining arguments. `fixed` contains the numbers and arrays captured by all functions of the loop or switch.
        The outputs are the numbers and arrays of the result, followed by the tokens of a step.
        """
        source, tape = self._recording.tape, Tape()
        split, end = sum(self.sizes[:before]), sum(self.sizes)
        kinds = [source.arrays.get(index) for index in source.input_indices]
        first = [_new_input(tape, kind) for kind in kinds[:split]]
        places = {id(x): _new_input(tape, x.kind if isinstance(x, ArrayHandle) else None) for x in fixed}
        rest = [_new_input(tape, kind) for kind in kinds[split:end]]
        operands = [*first, *rest, *(places[id(x)] for x in self.captured)]
        return TracedPart(tape, tape.copy(source, [*self._outputs, *self.tokens], operands))

    def program(self, fixed: Sequence[Any], before: int) -> Program:
        """Return the function as a program of numbers: see `traced`."""
        tape, outputs = self.traced(fixed, before)
        return tape.program(outputs)


class Carried:
    """The carry of a loop: its first value and its structure.

    Args:
        tree: The initial carry.
        name: Name of the carry in error messages.
        function: Name of the function that returns the next carry, for error messages.
    """

    def __init__(self, tree: Any, name: str, function: str) -> None:
        leaves, treedef = flatten(tree, name)
        self.treedef = treedef.with_numbers()  # 0-d arrays count as numbers, because arithmetic turns them into numbers
        self._leaves = leaves
        self.types = list(map(type_of, leaves))  # of the leaves, in all carries so far
        self._name, self._function = name, function
        self._is_known = False

    @property
    def opened(self) -> Any:
        """The first carry as an argument of parts. Arrays that a recording may keep whole stay arrays."""
        if current_arrays() is None or self.treedef.pairs:
            return self.treedef.filled(scalars(self._leaves))
        shapes = self.treedef.shapes
        return self.treedef.unflatten(
            [
                _kept_whole(leaf) if _may_be_whole(leaf) else TreeDef(None, (shape,)).filled(scalars([leaf]))
                for leaf, shape in zip(self._leaves, shapes, strict=True)
            ]
        )

    def checked(self, tree: Any, before: Sequence[Any] | None = None) -> list[Any]:
        """Return the leaves of the next carry; raise TypeError if its structure differs from the first carry's.

        `before` has copies of the leaves that the function was called with. A leaf that is returned unchanged keeps its
        type.
        """
        leaves, treedef = flatten(tree, f"the carry that {self._function} returned")
        if treedef.with_numbers() != self.treedef:
            raise TypeError(
                f"{self._function} returned {treedef} as the next carry, but {self._name} is {self.treedef}: it must "
                "return the structure that it is given"
            )
        self.types = [
            known if type_of(leaf) is known or _is_unchanged(leaf, old) else float
            for known, leaf, old in zip(self.types, leaves, before or [None] * len(leaves), strict=True)
        ]
        return leaves

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
) -> tuple[Any, list[Any] | None]:
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
        The final carry, and the ys slice of each step, or None if there are no ys.
    """
    found: list[TreeDef | None] = []
    kinds_of_row: list[Any] = []

    def numbers(count: Any, tree: Any, row: Any) -> list[Any]:
        given_leaves = flatten(tree, "the carry")[0]
        kinds = _kinds(given_leaves)  # before the step can use the elements of an array one by one
        before = [leaf.copy() if isinstance(leaf, numpy.ndarray) else leaf for leaf in given_leaves]  # or change them
        kinds_of_row[:] = _kinds(flatten(row, "xs")[0])
        following, given = step(count, tree, row)
        leaves, treedef = ([], None) if given is None else flatten(given, "what f returned")
        found.append(treedef and treedef.typed(list(map(type_of, leaves))))
        return [
            *_numbers_and_arrays(carry.checked(following, before), kinds),
            *_numbers_and_arrays(leaves, _kinds(leaves)),
        ]

    tree = carry.opened
    body = Part(numbers, 0.0, tree, rows[0] if rows else (), is_step=True)
    guard = None if goes_on is None else Part(lambda val: _number(goes_on(val)), tree)
    xs = [x for row in rows for x in _numbers_and_arrays(flatten(row, "xs")[0], kinds_of_row)] if body.sizes[2] else []
    treedef, of_step = carry.treedef.typed(carry.types), found[0]
    arrays = current_arrays()
    if arrays is not None and (loop := _traced_with_arrays(arrays, body, guard, span, memory)):
        call, operands = loop
        results = arrays.apply(call, [*operands, *xs])
        size, unflattened = body.sizes[1], arrays.unflattened
    else:
        results = _of_numbers(body, guard, span, memory, xs)
        size, unflattened = treedef.size, lambda treedef, numbers: treedef.results(numbers)
    last = unflattened(treedef, results[:size])
    if of_step is None:
        return last, None
    width = (len(results) - size) // len(rows)
    return last, [unflattened(of_step, results[i : i + width]) for i in range(size, len(results), width)]


def _kinds(leaves: Sequence[Any]) -> list[Any]:
    """Return the kind of each leaf that is a whole array, and None for the other leaves."""
    handles = [leaf.in_order() if isinstance(leaf, RecordedArray) else None for leaf in leaves]
    return [None if handle is None else handle.kind for handle in handles]


def _numbers_and_arrays(leaves: Sequence[Any], kinds: Sequence[Any]) -> list[Any]:
    """Return the numbers of the leaves, and the handle of each array that has a kind."""
    arrays = current_arrays()
    found: list[Any] = []
    for leaf, kind in zip(leaves, kinds, strict=True):
        found += scalars([leaf]) if arrays is None or kind is None else [arrays.handle_of(leaf, kind)]
    return found


def _captured(body: Part, guard: Part | None) -> list[Any]:
    """Return what the parts of a loop use from the enclosing scope."""
    return list({id(x): x for x in [*body.captured, *(guard.captured if guard else ())]}.values())


def _traced_with_arrays(
    arrays: ArrayRecorder, body: Part, guard: Part | None, span: tuple[int, int | None], memory: str | int | None
) -> tuple[Call, list[Any]] | None:
    """Return the call of a loop with whole arrays, and its operands without xs; None if all operands are numbers."""
    fixed = _captured(body, guard)
    step, condition = body.traced(fixed, 2), None if guard is None else guard.traced(fixed, 1)
    if not _have_arrays([part.tape for part in (step, condition) if part is not None]):
        return None
    _, carry, row = body.sizes
    call = arrays.loop(step, condition, Sizes(carry, len(fixed), row, body.results - carry), span, memory)
    return None if call is None else (call, [*body.given[1 : 1 + carry], *fixed])


def _have_arrays(tapes: Sequence[Tape]) -> bool:
    """Return whether there are whole arrays on tapes, and no calls for their side effects."""
    return any(tape.has_arrays for tape in tapes) and not any(
        call.has_effects for tape in tapes for call, _, _ in tape.calls
    )


def _of_numbers(
    body: Part, guard: Part | None, span: tuple[int, int | None], memory: str | int | None, xs: Sequence[Any]
) -> list[Any]:
    """Return the results of a loop with an operand for each number. `xs` has the rows of all steps."""
    fixed = _captured(body, guard)
    program, condition = body.program(fixed, 2), None if guard is None else guard.program(fixed, 1)
    carry, constants = flat_operands(body.given[1 : 1 + body.sizes[1]]), flat_operands(fixed)
    out = len(program.code.outputs) - len(body.tokens) - len(carry)
    of_rows = flat_operands(xs)
    sizes = Sizes(len(carry), len(constants), len(of_rows) // (span[1] or 1), out)
    operands = [*carry, *constants, *of_rows]
    if any(map(has_effects, (program, condition) if condition else (program,))):
        if not operands:  # a call needs at least one operand to be recorded
            program, sizes, operands = with_unused_input(program, 1), sizes._replace(fixed=1), [0.0]
            condition = condition and with_unused_input(condition, 0)
        return bind(EffectLoop(program, sizes, *span, condition, memory), operands)[:-1]
    return bind(Loop(program, sizes, *span, condition, memory), operands)


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
    kinds: list[list[Any]] = []

    def numbers(name: str, f: Callable[[], Any]) -> list[Any]:
        leaves, treedef = flatten(f(), f"the result of {name}")
        treedefs.append(treedef)
        types.append(list(map(type_of, leaves)))
        kinds.append(_kinds(leaves))
        if treedef != treedefs[0]:
            raise TypeError(
                f"{next(iter(functions))} returned {treedefs[0]} and {name} returned {treedef}: when branches are "
                "traced, all functions must return the same structure"
            )
        return _numbers_and_arrays(leaves, kinds[0])

    parts = [Part(functools.partial(numbers, name, f)) for name, f in functions.items()]
    shared = list({id(x): x for part in parts for x in part.captured}.values())
    treedef = treedefs[0].typed(common_types(types))
    arrays = current_arrays()
    call = None if arrays is None else _switch_with_arrays(arrays, parts, shared)
    if arrays is not None and call is not None:
        return arrays.unflattened(treedef, arrays.apply(call, [index, *shared]))
    choice = Switch([part.program(shared, 0) for part in parts])
    return treedef.results(bind(choice, [index, *flat_operands(shared)]))


def _switch_with_arrays(arrays: ArrayRecorder, parts: Sequence[Part], shared: Sequence[Any]) -> Call | None:
    """Return the call that chooses a branch with whole arrays, or None if all operands are numbers."""
    branches = [part.traced(shared, 0) for part in parts]
    call: Call | None = arrays.switch(branches) if _have_arrays([branch.tape for branch in branches]) else None
    return call


def _may_be_whole(leaf: Any) -> bool:
    """Return whether a recording may keep a leaf as one input."""
    is_array = isinstance(leaf, numpy.ndarray) and leaf.ndim > 0
    return is_array and (isinstance(leaf, RecordedArray) or leaf.dtype.kind == "f")


def _is_unchanged(leaf: Any, before: Any) -> bool:
    """Return whether a leaf has the same Values as a copy of an earlier leaf."""
    if isinstance(leaf, RecordedArray):
        handle = leaf.in_order()
        return handle is not None and isinstance(before, RecordedArray) and before.in_order() is handle
    if not isinstance(leaf, numpy.ndarray):
        return leaf is before
    is_like = isinstance(before, numpy.ndarray) and before.shape == leaf.shape
    return is_like and all(x is y for x, y in zip(leaf.ravel().tolist(), before.ravel().tolist(), strict=True))


def _kept_whole(leaf: Any) -> Any:
    """Return a leaf that stays whole if a part uses elements of the same array from the enclosing scope."""
    if not isinstance(leaf, RecordedArray):
        return leaf
    leaf.in_order()  # so that the copy does not compute it again
    return leaf.copy()


def _new_input(tape: Tape, kind: Any) -> int:
    return tape.input() if kind is None else tape.array_input(kind)


def bind(call: Call, operands: Sequence[Any]) -> list[Any]:
    """Return the results of a call: Values if an operand is a Value, else floats."""
    if call.has_effects or any(isinstance(operand, Value) for operand in operands):
        return list(call.values(operands))
    return list(call.numbers(numpy.array(operands, numpy.float64)).tolist())
