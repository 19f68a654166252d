"""A function of numbers, recorded: run once on Values, and read off what they became."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from gradwalk.graph.node import GraphError
from gradwalk.graph.record import record_from
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_PLACE, Tape
from gradwalk.trees.tree import TreeDef, flattened, scalars
from gradwalk.value.modes import RecordingError, depth, recording
from gradwalk.value.node import ENDED, close_inputs, level_of, primal_of, rule_of
from gradwalk.value.value import Value, inputs

Places = list[int]


class Recording:
    """The recording of one function: a tape, and what its inputs stand for.

    `operands`: for each input of the tape, a float, or a Value of the world around. `strict`: whether the recording is
    to be used for other numbers too, so that the function may not ask for any.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self.tape = Tape()
        self.operands: list[Any] = []
        self._strict = strict
        self._level = depth() + 1
        self._places: dict[int, int] = {}  # of the inputs, by the id of the Value that stands for each
        self._inputs: list[Value] = []  # these Values
        self._captured: list[Value] = []  # those that the function uses without being given them

    def opened(self, tree: Any, what: str, names: list[str] | None = None) -> Any:
        """A tree with inputs in place of its numbers. `names`: a list to append theirs to; they become their labels."""
        leaves, structure = flattened(tree, what)
        numbers = scalars(leaves)
        if all(isinstance(x, Value) and id(x) in self._places for x in numbers):
            return tree
        inputs = [self._input(x) for x in numbers]
        if names is not None:
            for value, name in zip(inputs, structure.names(what), strict=True):
                value.label = name
                names.append(name)
        return structure.filled(inputs)

    def places(self, tree: Any) -> tuple[Places, TreeDef]:
        """The places of the inputs that an opened tree holds, and its structure."""
        leaves, structure = flattened(tree, "an argument")
        return [self._places[id(x)] for x in scalars(leaves)], structure

    def extra(self, numbers: Sequence[Any]) -> Places:
        """The places of new inputs that the function does not know of, such as tangents."""
        self.operands.extend(numbers)
        return [self.tape.input() for _ in numbers]

    def run(self, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Places, TreeDef]:
        """Run a function, or apply a transformed one: the places of the numbers in its result, and its structure."""
        if isinstance(f, Recordable):
            return f.record(self, args, kwargs)
        with recording(self._level, staged=self._strict):
            result = f(*args, **kwargs)
        try:
            return self.result(f, result)
        finally:
            close_inputs(self._inputs)

    def result(self, f: Callable[..., Any], result: Any) -> tuple[Places, TreeDef]:
        """The places of the numbers in what a function has returned."""
        if result is None:
            raise TypeError(f"{named(f)} returned None; it has to return a number, or numbers: is a `return` missing?")
        leaves, structure = flattened(result, f"the result of {named(f)}")
        numbers = scalars(leaves)
        roots = [x for x in numbers if isinstance(x, Value)]
        places = iter(self._loaded(roots, f) if roots else ())
        return [next(places) if isinstance(x, Value) else self.tape.constant(x) for x in numbers], structure

    def evaluated(self, outputs: Places) -> Any:
        """The numbers at some places of the tape, as `evaluated` gives them."""
        return evaluated(self.tape.program(outputs), self.operands)

    def _input(self, number: Any) -> Value:
        """A new leaf that stands for a new input; the Value itself where it stands for one already."""
        if isinstance(number, Value) and id(number) in self._places:
            return number
        data = primal_of(number) if isinstance(number, Value) else number
        [leaf] = inputs([data], self._level)
        self._places[id(leaf)] = self.tape.input()
        self._inputs.append(leaf)
        self.operands.append(number)
        return leaf

    def _loaded(self, roots: list[Value], f: Callable[..., Any]) -> Places:
        """Load what computed some Values onto the tape; their places there."""
        nodes = record_from(roots, self._level)
        places = numpy.full(len(nodes.opcodes), NO_PLACE, numpy.int32)
        calls = {}
        for i, node in nodes.noted.items():
            rule = rule_of(node)
            if nodes.offsets[i] == nodes.offsets[i + 1]:
                places[i] = self._leaf(node)
            elif hasattr(rule, "call"):
                calls[i] = rule
            elif rule is not None or nodes.opcodes[i] == 0:
                raise GraphError(_by_hand(node, f))
        self.tape.load(nodes.opcodes, nodes.offsets, nodes.operands, nodes.partials, places, calls)
        return [int(places[i]) for i in nodes.outputs]

    def _leaf(self, leaf: Value) -> int:
        """The place of a Value that the function did not compute: an input, one from outside, or a constant."""
        if id(leaf) in self._places:
            return self._places[id(leaf)]
        if level_of(leaf) == ENDED:
            raise RecordingError(
                f"a Value that was an argument ({leaf!r}) is used after the recording that it belongs to has ended; a "
                "function that is recorded or differentiated may not keep its arguments, or what it computes from them"
            )
        if level_of(leaf) >= self._level:
            return self.tape.constant(primal_of(leaf))
        self._places[id(leaf)] = self.tape.input()
        self._captured.append(leaf)
        self.operands.append(leaf)
        return self._places[id(leaf)]


def evaluated(program: Program, operands: Sequence[Any]) -> Any:
    """The outputs of a program: an array of numbers or, where an operand is a Value, a list with Values in it."""
    if any(isinstance(operand, Value) for operand in operands):
        return program(list(operands))
    return program.run(numpy.array(operands, numpy.float64))


class Recordable:
    """A function that knows how to put itself onto a tape, such as the gradient of another one."""

    def record(self, recording: Recording, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Places, TreeDef]:
        """The places of the numbers in its result, and their structure, for these arguments."""
        raise NotImplementedError


def named(f: Callable[..., Any]) -> str:
    """What a function is called, in messages."""
    return f"{getattr(f, '__name__', repr(f))}()"


def reduced(function: Any, arguments: tuple[Any, ...]) -> Any:
    """How a function made from another is pickled: by its name where that leads to it, as for decorators."""
    found: Any = sys.modules.get(function.__module__)
    path: str = getattr(function, "__qualname__", "")  # what functools.partial makes has none
    for name in path.split("."):
        found = getattr(found, name, None)
    return path if found is function else (type(function), arguments)


def _by_hand(node: Value, f: Callable[..., Any]) -> str:
    where = f"at {node.source}" if node.source is not None else "its line is known under gradwalk.source_lines()"
    return (
        f"{named(f)} uses a node made by hand, of the operation {node.op!r} ({where}): nothing is known of how it is "
        "computed. Make its operation a function with @gradwalk.primitive"
    )
