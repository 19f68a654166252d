"""Recording a function of numbers: it is run once on Values, and what computed its result is loaded onto a tape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.graph.node import GraphError
from gradwalk.graph.record import record_from
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Tape
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.modes import RecordingError, depth, is_abstract, is_staging, new_mark, recorded, remember
from gradwalk.value.node import ENDED, close_inputs, level_of, mark_of, open_inputs, primal_of, rule_of
from gradwalk.value.value import Value

Indices = list[int]


class Recording:
    """The recording of one function: a tape, and what the inputs of the tape stand for.

    Args:
        staged: Whether the recording is for later numbers too, so that the function may not ask a Value for its number.
        follows_branches: Whether the function may branch on Values all the same. Recordings that are not staged, such
            as the recording of a gradient, also follow branches if the function around them may.

    Attributes:
        tape: What the function computes.
        operands: For each input of the tape, a float or a Value from outside the recording.
        branches: The indices of what the function branched on, and whether that held.
    """

    def __init__(self, *, staged: bool = False, follows_branches: bool = False) -> None:
        self.tape = Tape()
        self.operands: list[Any] = []
        self.branches: tuple[Indices, list[bool]] = ([], [])
        self._staged = staged
        self._follows_branches = follows_branches or (not staged and is_staging() and not is_abstract())
        self._level = depth() + 1
        self._mark = new_mark()
        self._indices: dict[int, int] = {}  # by the id of a Value, the index of the input that it stands for
        self._inputs: list[Value] = []  # the Values that stand for inputs

    def add_inputs(self, tree: Any, what: str, names: list[str] | None = None) -> Any:
        """Append an input for each number in a tree, unless all of them are inputs already.

        Args:
            tree: An argument of the function.
            what: What messages call it.
            names: A list to which the names of the inputs are appended; each becomes its input's label.

        Returns:
            The tree with a Value for each input, to be given to the function.
        """
        leaves, treedef = flatten(tree, what)
        numbers = scalars(leaves)
        if all(isinstance(x, Value) and id(x) in self._indices for x in numbers):
            return tree
        inputs = self._inputs_of(numbers)
        if names is not None:
            for value, name in zip(inputs, treedef.names(what), strict=True):
                value.label = name
                names.append(name)
        return treedef.filled(inputs)

    def install(self, leaves: Sequence[Value]) -> Indices:
        """Append an input for each leaf that a function has been called with: its number.

        Args:
            leaves: New leaves of the level of this recording.

        Returns:
            The indices of the inputs.
        """
        self._indices.update((id(leaf), self.tape.input()) for leaf in leaves)
        self._inputs += leaves
        self.operands += map(primal_of, leaves)
        return [self._indices[id(leaf)] for leaf in leaves]

    def input_indices(self, tree: Any) -> tuple[Indices, TreeDef]:
        """Return the indices of the inputs in a tree that `add_inputs` has returned, and the treedef of the tree.

        Args:
            tree: The tree.

        Returns:
            The indices, and the treedef.
        """
        leaves, treedef = flatten(tree, "an argument")
        return [self._indices[id(x)] for x in scalars(leaves)], treedef

    def add_seeds(self, numbers: Sequence[Any]) -> Indices:
        """Append an input for each of some seeds, which the function does not see.

        Args:
            numbers: The numbers that the inputs stand for, such as tangents.

        Returns:
            The index of each input on the tape.
        """
        self.operands.extend(numbers)
        return [self.tape.input() for _ in numbers]

    def run(self, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Record a call of a function; one that is transformed is recorded by its own `record`.

        Args:
            f: The function.
            args: Its arguments, as `add_inputs` has returned them.
            kwargs: Its keyword arguments.

        Returns:
            The indices of the numbers in its result, and the treedef of the result.

        Raises:
            TypeError: If the result holds anything but numbers.
            GraphError: If the result depends on a node made by hand, of which no derivative is known.
            RecordingError: If a Value of a recording that has ended is used, or a number that is not known.
        """
        if isinstance(f, Recordable):
            return f.record(self, args, kwargs)
        try:
            asked: list[Value] | None = [] if self._follows_branches else None
            result = recorded(lambda: f(*args, **kwargs), self._level, self._mark, staged=self._staged, branches=asked)
            found = self.result(f, result)
            if asked:
                conditions, outcomes = self.branches
                conditions += self._load(asked, f)
                outcomes += [primal_of(condition) != 0.0 for condition in asked]
            return found
        finally:
            close_inputs(self._inputs)

    def result(self, f: Callable[..., Any], result: Any) -> tuple[Indices, TreeDef]:
        """Load onto the tape what computed the numbers that a function has returned: see `run`.

        Args:
            f: The function, for messages.
            result: What it has returned.

        Returns:
            The indices of the numbers, and the treedef of the result.
        """
        if result is None:
            raise TypeError(
                f"{display_name(f)} returned None; it has to return a number, or numbers: is a `return` missing?"
            )
        leaves, treedef = flatten(result, f"the result of {display_name(f)}")
        numbers = scalars(leaves)
        roots = [x for x in numbers if isinstance(x, Value)]
        indices = iter(self._load(roots, f) if roots else ())
        return [next(indices) if isinstance(x, Value) else self.tape.constant(x) for x in numbers], treedef

    def evaluate(self, outputs: Indices) -> Any:
        """Compute the numbers of some instructions of the tape.

        The function around this recording branches on the conditions of this one, so that they guard its recording.

        Args:
            outputs: The indices of the instructions.

        Returns:
            Their numbers.
        """
        conditions, _ = self.branches
        numbers = evaluate(self.tape.program([*outputs, *conditions]), self.operands)
        for condition in numbers[len(outputs) :]:
            bool(condition)
        return numbers[: len(outputs)]

    def _inputs_of(self, numbers: Sequence[Any]) -> list[Value]:
        """Return a new leaf for each number, which stands for a new input; a Value that stands for one is kept."""
        are_known = [isinstance(x, Value) and id(x) in self._indices for x in numbers]
        new = [x for x, is_known in zip(numbers, are_known, strict=True) if not is_known]
        leaves = [Value(primal_of(x) if isinstance(x, Value) else x) for x in new]
        open_inputs(leaves, self._level, self._mark)
        self._indices.update(zip(map(id, leaves), [self.tape.input() for _ in leaves], strict=True))
        self._inputs += leaves
        self.operands += new
        if len(new) == len(numbers):
            return leaves
        fresh = iter(leaves)
        return [x if is_known else next(fresh) for x, is_known in zip(numbers, are_known, strict=True)]

    def _load(self, roots: list[Value], f: Callable[..., Any]) -> Indices:
        """Load onto the tape what computed some Values, and return their indices."""
        nodes = record_from(roots, self._level)
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
        """Return the index of a Value that the function did not compute: one captured, or a constant."""
        if level_of(leaf) == ENDED:
            raise _remembered(
                leaf,
                f"a Value that was an argument ({leaf!r}) is used after the recording that it belongs to has ended; a "
                "function that is recorded or differentiated may not keep its arguments, or what it computes from them",
            )
        if level_of(leaf) >= self._level:
            if mark_of(leaf):
                raise _remembered(
                    leaf,
                    f"a Value ({leaf!r}) belongs to a function that another thread is recording or differentiating. To "
                    "transform a function of it in this thread, run the thread in the context of the other one: "
                    "pool.submit(contextvars.copy_context().run, f)",
                )
            return self.tape.constant(primal_of(leaf))
        self._indices[id(leaf)] = self.tape.input()
        self.operands.append(leaf)
        return self._indices[id(leaf)]


def _remembered(leaf: Value, message: str) -> RecordingError:
    """Return the error for a Value that a recording cannot use, which the recordings around it raise at their end."""
    error = RecordingError(message)
    remember(error, leaf)
    return error


def evaluate(program: Program, operands: Sequence[Any]) -> Any:
    """Run a program on numbers, or on Values if an operand is one.

    Args:
        program: The program.
        operands: Numbers and Values, one for each input.

    Returns:
        The outputs: an array of float64 or, if an operand is a Value, a list of Values and floats.
    """
    if any(isinstance(operand, Value) for operand in operands):
        return program(list(operands))
    return program.run(numpy.array(operands, numpy.float64))


class Recordable:
    """A function that records itself, such as the gradient of another function."""

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Indices, TreeDef]:
        """Append what the function computes to a recording's tape.

        Args:
            recording: The recording of the function that calls this one.
            args: The arguments, with Values for inputs.
            kwargs: The keyword arguments.

        Returns:
            The indices of the numbers in its result, and the treedef of the result.
        """
        raise NotImplementedError


def display_name(f: Callable[..., Any]) -> str:
    """Return the name of a function, for messages.

    Args:
        f: The function.

    Returns:
        The name.
    """
    return f"{getattr(f, '__name__', repr(f))}()"


def reduce_for_pickle(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the reduction by which a function made from another is pickled.

    Args:
        function: The function.
        arguments: What its class is called with to make it again.

    Returns:
        Its qualified name if that leads to the function, as it does for decorated ones; else the class and arguments.
    """
    found: Any = sys.modules.get(function.__module__)
    path: str = getattr(function, "__qualname__", "")  # what functools.partial makes has none
    for name in path.split("."):
        found = getattr(found, name, None)
    return path if found is function else (type(function), arguments)


def _made_by_hand(node: Value, f: Callable[..., Any]) -> str:
    """Return the message about a node of which nothing is known but its closure."""
    where = f"at {node.source}" if node.source is not None else "its line is known under gradwalk.source_lines()"
    return (
        f"{display_name(f)} uses a node made by hand, of the operation {node.op!r} ({where}): nothing is known of how "
        "it is computed. Make its operation a function with @gradwalk.primitive"
    )
