"""`Recording`: runs a function once on Values and appends the operations that computed its result to a tape."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy

from gradwalk.graph.node import GraphError
from gradwalk.graph.record import record_from
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.program.tracing.array_handle import ArrayHandle, ArrayRecorder, RecordedArray
from gradwalk.program.tracing.effects import Effects
from gradwalk.trees.tree import TreeDef, flatten, scalars, type_of
from gradwalk.value.arrays import ValueArray, array_maker
from gradwalk.value.modes import (
    AskedNumber,
    RecordingError,
    depth,
    follow_number,
    followed_branches,
    is_abstract,
    is_staging,
    known_number,
    new_mark,
    note_comparison,
    note_number,
    recorded,
    refuses_nans,
    remember,
)
from gradwalk.value.node import (
    ENDED,
    close_inputs,
    level_of,
    mark_of,
    open_inputs,
    primal_of,
    rule_of,
    set_primal,
    with_number_type,
)
from gradwalk.value.value import Value

T = TypeVar("T")


def current_arrays() -> ArrayRecorder | None:
    """Return what makes the arrays of the innermost recording, or None if each of its inputs is a number."""
    found: Any = array_maker.get()
    return found


def without_arrays(f: Callable[[], T]) -> T:
    """Call a function whose recordings have numbers only. The caller must discard the context."""
    array_maker.set(None)
    return f()


# The outcome of a condition of a path: whether it holds, or the number that it must be equal to.
Outcome = bool | float


def has_outcome(condition: Any, outcome: Outcome) -> bool:
    """Return whether a condition has an outcome. An enclosing recording, if any, records or refuses this branch."""
    if isinstance(condition, Value) and level_of(condition) == 0:
        condition = primal_of(condition)
    elif isinstance(condition, Value) and not is_staging():
        (note_comparison if isinstance(outcome, bool) else note_number)(condition)
    if isinstance(outcome, bool):
        return bool(condition) is outcome
    if isinstance(condition, Value):
        condition = follow_number(condition) if is_staging() else primal_of(condition)
    return condition == outcome or (condition != condition and outcome != outcome)


_HAVE_FRACTIONS = frozenset([float, Value])  # types of leaves that are not ints


class Recording:
    """The recording of a function: a tape, and an operand for each input of the tape.

    Args:
        staged: Whether the recording will be run on other numbers. If so, the function cannot read the number of a
            Value.
        follows_branches: Whether a function may branch on Values even if the recording is staged. A recording that is
            not staged, such as the recording of a gradient, also records branches if the enclosing function may branch.
        arrays: Makes an input that is a large array one input of the tape. None if each number is an input.
        imposed: Outcomes of the first conditions of a staged function. The function branches as if its conditions had
            these outcomes, which another way of computing them has found.

    Attributes:
        level: The number of nested recordings, including this one.
        tape: The tape of the function's operations.
        operands: The operand for each input of the tape: a float, an array, or a Value from outside the recording.
        branches: The tape indices of the conditions that the function branched on, and the outcome of each condition:
            a bool, or the number if the function used it.
        asked: The numbers that the function asked for: see `recorded`. Conditions that it branched on are included.
        effects: The calls that the function made for their side effects.
    """

    def __init__(
        self,
        *,
        staged: bool = False,
        follows_branches: bool = False,
        arrays: ArrayRecorder | None = None,
        imposed: Sequence[Outcome] = (),
    ) -> None:
        self.tape = Tape()
        self.operands: list[Any] = []
        self.branches: tuple[Indices, list[Outcome]] = ([], [])
        self.asked: list[Value | AskedNumber] = []
        self.imposed = imposed
        self._staged = staged
        self._arrays = None if refuses_nans() else arrays  # the nan of a single number could not be found in an array
        self._follows_branches = follows_branches or (not staged and is_staging() and not is_abstract())
        self.level = depth() + 1
        self._mark = new_mark()
        self._indices: dict[int, int] = {}  # maps the id of the Value for an input to the tape index of the input
        self._input_indices: Indices = []  # the tape index of each input
        self._inputs: list[Value] = []  # the Values for the inputs
        self.effects = Effects()

    def refuse_branches_of_placeholders(self) -> None:
        """Refuse branches if an operand belongs to an enclosing recording that refuses branches, as in a loop body."""
        if is_abstract() and any(isinstance(x, Value) and level_of(x) > 0 for x in self.operands):
            self._follows_branches = False

    def add_inputs(self, tree: Any, what: str, names: list[str] | None = None, *, whole: bool = True) -> Any:
        """Append an input to the recording for each number in a tree; return the tree with the Values of the inputs.

        If all numbers are inputs already, the tree is returned unchanged. `what` is the name of the argument in error
        messages. If `names` is a list, the name of each input is appended to it and becomes the label of the input's
        Value. A large array is one input if the recording has arrays and `whole` is true.
        """
        leaves, treedef = flatten(tree, what)
        arrays = self._arrays_of(leaves) if whole and self._arrays is not None and not treedef.pairs else None
        if arrays is not None:
            return treedef.unflatten(self._with_arrays(leaves, arrays, treedef.paths(what), names))
        numbers = self._numbers(leaves) if whole else scalars(leaves)
        if all(isinstance(x, Value) and id(x) in self._indices for x in numbers):
            return tree
        inputs = self._inputs_of(numbers)
        if not _HAVE_FRACTIONS.issuperset(map(type, leaves)):
            self._note_ints(leaves, treedef, inputs)
        if names is not None:
            for value, name in zip(inputs, treedef.names(what), strict=True):
                value.label = name
                names.append(name)
        return treedef.filled(inputs, ValueArray)

    def _arrays_of(self, leaves: Sequence[Any]) -> list[Any] | None:
        """Return what `ArrayRecorder.opened` returns for each leaf, or None if no leaf is a large array."""
        assert self._arrays is not None
        found = [
            self._arrays.opened(leaf) if getattr(leaf, "ndim", 0) and not self._is_input(leaf) else None
            for leaf in leaves
        ]
        return found if any(found) else None

    def _is_input(self, leaf: Any) -> bool:
        """Return whether a leaf is an array that is an input already."""
        return isinstance(leaf, RecordedArray) and id(leaf.in_order()) in self._indices

    def _with_arrays(
        self, leaves: Sequence[Any], arrays: Sequence[Any], paths: Sequence[str], names: list[str] | None
    ) -> list[Any]:
        """Append an input to the recording for each array and each other number; return the leaves of Values."""
        found = []
        for leaf, opened, path in zip(leaves, arrays, paths, strict=True):
            if opened is None:
                found.append(leaf if self._is_input(leaf) else self.add_inputs(leaf, path, names))
                continue
            handle, operand, array = opened
            open_inputs([handle], self.level, self._mark)
            self._indices[id(handle)] = self._input(handle.kind)
            self._inputs.append(handle)
            self.operands.append(operand)
            if names is not None:
                handle.label = path
            found.append(array())
        return found

    @staticmethod
    def _note_ints(leaves: Sequence[Any], treedef: TreeDef, inputs: Sequence[Value]) -> None:
        """Note which inputs are ints, so that they can be indices and counts."""
        for (part, _), leaf in zip(treedef.ranges(), leaves, strict=True):
            if type(leaf) not in _HAVE_FRACTIONS and type_of(leaf) is int:
                for value in inputs[part]:
                    with_number_type(value, int)

    def install(self, leaves: Sequence[Value]) -> Indices:
        """Append an input to the tape for each of these new leaves; return the tape indices of the inputs."""
        self._indices.update((id(leaf), self._input()) for leaf in leaves)
        self._inputs += leaves
        self.operands += map(primal_of, leaves)
        return [self._indices[id(leaf)] for leaf in leaves]

    def indices_of(self, nodes: Sequence[Value], f: Callable[..., Any]) -> Indices:
        """Append the operations that computed these Values in the function `f` to the tape; return their indices."""
        return self._load(list(nodes), f)

    def input_flags(self, inputs: Indices) -> list[bool]:
        """Return a flag for each input of the tape: whether its tape index is in `inputs`."""
        wanted = set(inputs)
        return [index in wanted for index in self._input_indices]

    def input_indices(self, tree: Any) -> tuple[Indices, TreeDef]:
        """Return the tape indices of the inputs in a tree that `add_inputs` returned, and the tree's treedef."""
        leaves, treedef = flatten(tree, "an argument")
        return [self._indices[id(x)] for x in self._numbers(leaves)], treedef

    def _numbers(self, leaves: Sequence[Any]) -> list[Any]:
        """Return all numbers of the leaves: see `scalars`. If the recording has arrays, each is an `ArrayHandle`."""
        if self._arrays is None or not any(isinstance(leaf, RecordedArray) for leaf in leaves):
            return scalars(leaves)
        found: list[Any] = []
        for leaf in leaves:
            is_array = isinstance(leaf, RecordedArray) and math.prod(leaf.shape) > 1
            handle = leaf.in_order() if is_array else None
            found += scalars([leaf]) if handle is None else [handle]
        return found

    def add_seeds(self, numbers: Sequence[Any]) -> Indices:
        """Append an input to the tape for each seed, such as a tangent; return the tape indices of the inputs.

        The seeds are inputs of the tape, but not arguments of the function.
        """
        self.operands.extend(numbers)
        return [self._input(None if self._arrays is None else self._arrays.kind_of(x)) for x in numbers]

    def add_inputs_like(self, indices: Indices) -> Indices:
        """Append an input to the tape for each of these instructions: a number, or an array of the same kind."""
        return [self._input(self.tape.arrays.get(index)) for index in indices]

    def count_of(self, treedef: TreeDef, indices: Indices) -> int:
        """Return how many of the first `indices` are the numbers and arrays of a tree with this treedef."""
        size = 0
        for count, index in enumerate(indices):
            if size >= treedef.size:
                return count
            kind = self.tape.arrays.get(index)
            size += 1 if kind is None else kind.size
        return len(indices)

    def run(self, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Record a call of a function. A `Recordable` is recorded by its own method `record`.

        Args:
            f: The function.
            args: The positional arguments of the function, as `add_inputs` returned them.
            kwargs: The keyword arguments of the function.

        Returns:
            The tape indices of the numbers in the result, and the treedef of the result.

        Raises:
            TypeError: The result contains something other than numbers.
            GraphError: The result depends on a node made by hand, whose formula is unknown.
            RecordingError: The function uses a Value of a recording that has ended, or the number of a Value whose
                number is unknown.
        """
        if isinstance(f, Recordable):
            return f.record(self, args, kwargs)
        try:
            branches = Followed(self, f) if self._follows_branches else None
            result = recorded(
                lambda: self._called(lambda: f(*args, **kwargs)),
                self.level,
                self._mark,
                staged=self._staged,
                branches=branches,
                asked=self.asked,
            )
            self.asked += branches or ()
            return self.result(f, result, branches or ())
        finally:
            close_inputs(self._inputs)

    def _called(self, f: Callable[[], Any]) -> Any:
        """Call a function in the context of this recording. The caller must discard the context."""
        array_maker.set(self._arrays)
        with numpy.errstate(all="ignore") if self._staged else nullcontext():  # some numbers are placeholders
            return self.effects.during(f)

    def result(
        self, f: Callable[..., Any], result: Any, asked: Sequence[Value | AskedNumber] = ()
    ) -> tuple[Indices, TreeDef]:
        """Append the operations that computed the result of a function to the tape. Returns the same as `run`.

        The operations that computed the conditions `asked` are appended, too, and the conditions to `branches`.
        """
        if result is None:
            raise TypeError(
                f"{display_name(f)} returned None; it must return a number or a tree of numbers: is a `return` missing?"
            )
        leaves, treedef = flatten(result, f"the result of {display_name(f)}")
        types = list(map(type_of, leaves))
        tokens = self.effects.take()
        numbers = self._numbers(leaves)
        nodes = [x.node if isinstance(x, AskedNumber) else x for x in asked]
        roots = [x for x in [*tokens, *numbers, *nodes] if isinstance(x, Value)]
        indices = iter(self._load(roots, f) if roots else ())
        self.effects.indices += [next(indices) for _ in tokens]
        found = [next(indices) if isinstance(x, Value) else self.tape.constant(x) for x in numbers]
        conditions, outcomes = self.branches
        conditions += indices
        for x, number in zip(asked, map(primal_of, nodes), strict=True):
            outcome = number if isinstance(x, AskedNumber) else number != 0.0
            outcomes.append(math.nan if outcome != outcome else outcome)  # one object, for equal keys of caches
        return found, treedef.typed(types)

    def evaluate(self, outputs: Indices) -> Any:
        """Compute the results of the instructions `outputs` of the tape.

        If an enclosing function is being recorded, the branches of this recording become branches of the enclosing
        recording, too.
        """
        conditions, outcomes = self.branches
        numbers = self._evaluated([*outputs, *conditions, *self.effects.indices])
        for condition, outcome in zip(numbers[len(outputs) :], outcomes, strict=False):
            has_outcome(condition, outcome)
        return numbers[: len(outputs)]

    def program(self, outputs: Indices) -> Program:
        """Return the program that computes outputs of the tape and makes the calls for side effects."""
        return self.tape.program(self.with_effects(outputs))

    def with_effects(self, outputs: Indices) -> Indices:
        """Return outputs of the tape that depend on the calls for side effects."""
        for token in self.effects.indices:
            outputs = [self._with_token(index, token) for index in outputs]
        return outputs

    def _with_token(self, index: int, token: int) -> int:
        kind = self.tape.arrays.get(index)
        return self.tape.append("add", index, token) if kind is None else kind.add_token(self.tape, index, token)

    def results(self, outputs: Indices, treedef: TreeDef) -> Any:
        """Compute the results of the instructions `outputs`, which may be arrays; return the tree of the results."""
        return self.unflattened(treedef, self.evaluate(outputs))

    def unflattened(self, treedef: TreeDef, numbers: Any) -> Any:
        """Return the tree with these results of the recorded function, which may be arrays."""
        if self._arrays is None or not self.tape.has_arrays:
            return treedef.results(numbers)
        return self._arrays.unflattened(treedef, numbers)

    def _evaluated(self, outputs: Indices) -> Any:
        if self._arrays is None or not self.tape.has_arrays:
            program = self.tape.program(outputs)
            if self.effects.indices and is_staging():  # an enclosing recording makes the side effects
                return program(list(self.operands))
            return evaluate(program, self.operands)
        return self._arrays.evaluate(self.tape, outputs, self.operands)

    def number_of(self, node: Value, f: Callable[..., Any]) -> Any:
        """Compute the number or array of a Value that the function `f` has computed, from the current operands."""
        kept = self.tape, self.operands, self._indices, self._input_indices
        self.tape = Tape()
        moved = {index: self._input_of(kept[0].arrays.get(index)) for index in kept[3]}
        self.operands = [*kept[1]]
        self._indices = {leaf: moved[index] for leaf, index in kept[2].items()}
        self._input_indices = list(moved.values())
        try:
            outputs = self._load([node], f)
            self.operands = [_known(x) for x in self.operands]
            return self._evaluated(outputs)[0]
        finally:
            self.tape, self.operands, self._indices, self._input_indices = kept

    def _input(self, kind: Any = None) -> int:
        """Append an input to the tape, which is an array if `kind` is given; return its index."""
        index = self._input_of(kind)
        self._input_indices.append(index)
        return index

    def _input_of(self, kind: Any) -> int:
        return self.tape.input() if kind is None else self.tape.array_input(kind)

    def _inputs_of(self, numbers: Sequence[Any]) -> list[Value]:
        """Return a Value for each number: the number itself if it is already an input, else a Value for a new input."""
        are_known = [isinstance(x, Value) and id(x) in self._indices for x in numbers]
        new = [x for x, is_known in zip(numbers, are_known, strict=True) if not is_known]
        leaves = [Value(primal_of(x) if isinstance(x, Value) else x) for x in new]
        open_inputs(leaves, self.level, self._mark)
        self._indices.update(zip(map(id, leaves), [self._input() for _ in leaves], strict=True))
        self._inputs += leaves
        self.operands += new
        if len(new) == len(numbers):
            return leaves
        fresh = iter(leaves)
        return [x if is_known else next(fresh) for x, is_known in zip(numbers, are_known, strict=True)]

    def _load(self, roots: list[Value], f: Callable[..., Any]) -> Indices:
        """Append the operations that computed these Values to the tape; return the tape indices of the Values."""
        nodes = record_from(roots, self.level)
        indices = numpy.full(len(nodes.opcodes), NO_INDEX, numpy.int32)
        calls = {}
        for i, node in nodes.noted.items():
            if id(node) in self._indices:
                indices[i] = self._indices[id(node)]
                continue
            rule = rule_of(node)
            if nodes.offsets[i] == nodes.offsets[i + 1]:
                indices[i] = self._leaf(node)
            elif hasattr(rule, "call"):
                calls[i] = rule
            elif rule is not None or nodes.opcodes[i] == 0:
                raise GraphError(_made_by_hand(node, f))
        self.tape.load(nodes.opcodes, nodes.offsets, nodes.operands, nodes.partials, indices, calls)
        return [int(indices[i]) for i in nodes.outputs]

    def _leaf(self, leaf: Value) -> int:
        """Return the tape index of a Value that the function did not compute: a captured Value or a constant."""
        if level_of(leaf) == ENDED:
            raise _remembered(
                leaf,
                f"a Value that was an argument ({leaf!r}) is used after the recording of its function has ended; a "
                "function that is recorded or differentiated must not keep its arguments or values computed from them",
            )
        if level_of(leaf) >= self.level:
            if mark_of(leaf):
                raise _remembered(
                    leaf,
                    f"a Value ({leaf!r}) belongs to a function that another thread is recording or differentiating. To "
                    "use it in a transformed function in this thread, run this thread in the other thread's context: "
                    "pool.submit(contextvars.copy_context().run, f)",
                )
            if not isinstance(leaf, ArrayHandle):
                return self.tape.constant(primal_of(leaf))
        if isinstance(leaf, ArrayHandle):
            self._indices[id(leaf)] = self._captured(leaf)
        else:
            self._indices[id(leaf)] = self._input()
            self.operands.append(leaf)
        return self._indices[id(leaf)]

    def _captured(self, handle: ArrayHandle) -> int:
        """Return the tape index of an array that the function did not compute."""
        if not handle.operands and not mark_of(handle):
            return handle.constant(self.tape)
        if self._arrays is not None:
            self.operands.append(handle)
            return self._input(handle.kind)
        elements = handle.elements()
        return handle.packed(
            self.tape, [self._indices[id(x)] if id(x) in self._indices else self._leaf(x) for x in elements]
        )


def _known(operand: Any) -> Any:
    """Return the number of an operand, or its array: see `known_number`."""
    number = known_number(operand) if isinstance(operand, Value) else operand
    return operand.numbers if isinstance(operand, ArrayHandle) else number


def _remembered(leaf: Value, message: str) -> RecordingError:
    """Return an error for a Value that cannot be recorded. Enclosing recordings raise this error, too."""
    error = RecordingError(message)
    remember(error, leaf)
    return error


def evaluate(program: Program, operands: Sequence[Any]) -> Any:
    """Run a program on one operand per input.

    Returns a float64 array or, if an operand is a Value, a list of Values and floats.
    """
    if any(isinstance(operand, Value) for operand in operands):
        return program(list(operands))
    return program.run(numpy.array(operands, numpy.float64))


class Followed(list[Any]):
    """The conditions that a function has branched on so far: Values, and an `AskedNumber` for each number.

    Args:
        recording: The recording.
        f: The function.

    Attributes:
        has_unknown: Whether the recording contains a call that was not run, so that the numbers of Values that depend
            on it are placeholders.
    """

    def __init__(self, recording: Recording, f: Callable[..., Any]) -> None:
        super().__init__()
        self.has_unknown = False
        self._recording = recording
        self._f = f
        self._enclosing: Followed | None = followed_branches()

    def resolve(self, node: Value) -> None:
        """Compute the number of a Value if it may be a placeholder."""
        own: Followed | None = self
        while own is not None and own._recording.level > level_of(node):
            own = own._enclosing
        if own is None or not own._may_be_unknown():
            return
        found = own._recording.number_of(node, own._f)
        if isinstance(node, ArrayHandle):
            node.numbers = found
        else:
            set_primal(node, float(found))

    def impose(self, node: Value) -> None:
        """Give the condition that was appended last the number of its imposed outcome, if it has one."""
        imposed = self._recording.imposed
        if len(self) <= len(imposed):
            outcome = imposed[len(self) - 1]
            if not isinstance(outcome, bool) or outcome is not (primal_of(node) != 0.0):
                set_primal(node, float(outcome))

    def _may_be_unknown(self) -> bool:
        return self.has_unknown or (self._enclosing is not None and self._enclosing._may_be_unknown())


class Recordable:
    """A function that records itself, such as the gradient of another function."""

    @property
    def takes_arrays(self) -> bool:
        """Whether the function can be recorded if large arrays among its arguments are single inputs."""
        return False

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append the operations of the function to the tape of `recording`, the recording of its caller.

        Returns the tape indices of the numbers in the result, and the treedef of the result, as `Recording.run` does.
        """
        raise NotImplementedError


def takes_arrays(f: Callable[..., Any]) -> bool:
    """Return whether a function can be recorded if large arrays among its arguments are single inputs."""
    return not isinstance(f, Recordable) or f.takes_arrays


def display_name(f: Callable[..., Any]) -> str:
    """Return the name of a function for error messages, such as "f()"."""
    return f"{getattr(f, '__name__', repr(f))}()"


def reduce_for_pickle(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the result of `__reduce__` for a function that was made from another function.

    The result is the qualified name if this name refers to the function in its module, as for a decorated function.
    Otherwise the result is the pair of the class and `arguments`.
    """
    found: Any = sys.modules.get(function.__module__)
    path: str = getattr(function, "__qualname__", "")  # functools.partial objects have none
    for name in path.split("."):
        found = getattr(found, name, None)
    return path if found is function else (type(function), arguments)


def _made_by_hand(node: Value, f: Callable[..., Any]) -> str:
    """Return the error message for a node made by hand, which has only a closure for its derivative."""
    where = f"at {node.source}" if node.source is not None else "use gradwalk.source_lines() to find its line"
    return (
        f"{display_name(f)} uses a hand-made node with the operation {node.op!r} ({where}). Such a node cannot be "
        "recorded, because its formula is unknown: write the operation as a function with @gradwalk.primitive"
    )
