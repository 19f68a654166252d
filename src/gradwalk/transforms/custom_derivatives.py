"""Functions that stay whole in a graph: those with a derivative of the user's own, and those that are recomputed.

On a tape such a function is a call, with as many results as the function has. A call knows how to pull adjoints of its
results back to its operands, and how to push tangents forward: by instructions, or by calls again.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy

from gradwalk.program.program import Program
from gradwalk.program.tape import NO_PLACE, Tape
from gradwalk.program.trace import Places, Recording, named, reduced
from gradwalk.transforms.jit import Jit
from gradwalk.trees.tree import flattened, scalars
from gradwalk.value.convert import is_number
from gradwalk.value.modes import RecordingError
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value, with_rule


class Call:
    """A function of numbers as graphs hold it. `outputs`: how many results it has; `name`: for displays."""

    outputs = 1
    name = ""

    def numbers(self, operands: Sequence[float]) -> Sequence[float]:
        """The results for numbers."""
        raise NotImplementedError

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """The derivatives of one result, known already, with respect to every operand."""
        raise NotImplementedError

    def pull(self, tape: Tape, operands: Places, base: int, adjoints: Places) -> Places:
        """The places of what is passed back to every operand. `base`: the place of the first result."""
        raise NotImplementedError

    def push(self, tape: Tape, operands: Places, base: int, tangents: Places) -> Places:
        """The places of the results' tangents."""
        raise NotImplementedError

    def values(self, operands: Sequence[Any]) -> list[Value]:
        """The results for Values and floats, as Values."""
        given = tuple([operand if isinstance(operand, Value) else Value(operand) for operand in operands])
        results = self.numbers([primal_of(operand) for operand in given])
        return [with_rule(number, given, self.name, Result(self, given, i)) for i, number in enumerate(results)]


class Result:
    """The rule of a Value that is a result of a call: the call, its operands, and which of its results it is.

    All results of one call share one tuple of operands: that is how they are known to belong together.
    """

    def __init__(self, call: Call, operands: tuple[Value, ...], position: int) -> None:
        self.call = call
        self.operands = operands
        self.position = position

    def __call__(self, node: Value) -> None:
        """Add to the operands' gradients, in a sweep."""
        numbers = [primal_of(operand) for operand in self.operands]
        partials = self.call.partials(numbers, self.position, primal_of(node))
        for operand, partial in zip(self.operands, partials, strict=True):
            operand.grad += partial * node.grad

    def replaced(self, memo: dict[int, Any]) -> Result:
        """The same for copies of the operands: `memo` has them, by `id`."""
        copies = memo.setdefault(id(self.operands), tuple([memo[id(operand)] for operand in self.operands]))
        return Result(self.call, copies, self.position)

    def recomputed(self) -> float:
        """The result for the numbers that the operands have now."""
        return self.call.numbers([primal_of(operand) for operand in self.operands])[self.position]


class Primitive(Call):
    """A function with a derivative of its own: see `primitive`."""

    __name__ = "function"

    def __init__(self, f: Callable[..., float]) -> None:
        if not callable(f):
            raise TypeError(f"primitive() takes a function, not {type(f).__name__}: {f!r:.60}")
        functools.update_wrapper(self, f)
        self.name = self.__name__
        self._f = f
        self._rule: Callable[..., Any] | None = None
        self._latest: list[float] = []  # the numbers of the latest call: those that the rule is recorded for
        self._programs: dict[int, Program] = {}  # of the rule, by the number of operands

    def __call__(self, *operands: Any) -> Any:
        """The function, at numbers or Values."""
        if not any(isinstance(operand, Value) for operand in operands):
            return self._f(*operands)
        for i, operand in enumerate(operands):
            if not isinstance(operand, Value) and not is_number(operand):
                kind = type(operand).__name__
                raise TypeError(f"argument {i + 1} of the primitive {named(self._f)} is a {kind}, not a number")
        return self.values(operands)[0]

    def __reduce__(self) -> Any:
        return reduced(self, (self._f,))

    def __repr__(self) -> str:
        return f"<primitive {named(self._f)}>"

    def derivative(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule: a function of the result and the operands that returns the partials. To be used as a decorator.

        It returns one number where there is one operand, else a tuple with one for each of them.
        """
        self._rule = rule
        self._programs.clear()
        return rule

    def numbers(self, operands: Sequence[float]) -> Sequence[float]:
        """The result for numbers. Raises `TypeError` where the function does not return a real number."""
        self._latest = list(operands)
        result = self._f(*operands)
        if not is_number(result):
            raise TypeError(f"the primitive {named(self._f)} returned a {type(result).__name__}, not a number")
        return [float(result)]

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """The derivatives with respect to every operand, by the rule."""
        given = self._ruled(result, *operands)
        return [float(partial) for partial in self._counted(scalars(flattened(given, self._what)[0]), len(operands))]

    def pull(self, tape: Tape, operands: Places, base: int, adjoints: Places) -> Places:
        """The adjoint times every partial."""
        return [tape.append("mul", adjoints[0], partial) for partial in self._partials(tape, operands, base)]

    def push(self, tape: Tape, operands: Places, base: int, tangents: Places) -> Places:
        """The sum of tangents times partials."""
        terms = zip(tangents, self._partials(tape, operands, base), strict=True)
        products = [tape.append("mul", tangent, partial) for tangent, partial in terms if tangent != NO_PLACE]
        return [functools.reduce(lambda total, product: tape.append("add", total, product), products)]

    def _partials(self, tape: Tape, operands: Places, base: int) -> Places:
        """The places of the partials: the rule, recorded once for each number of operands."""
        if len(operands) not in self._programs:
            self._programs[len(operands)] = self._recorded_rule(len(operands))
        return tape.inline(self._programs[len(operands)], [base, *operands])

    def _recorded_rule(self, count: int) -> Program:
        recording = Recording(strict=True)
        [result] = self.numbers(self._latest)
        given = [recording.opened(number, "operand") for number in (result, *self._latest)]
        try:
            places, _ = recording.run(self._ruled, given, {})
        except RecordingError as error:
            error.add_note(
                f"The derivative of the primitive {named(self._f)} is recorded here, to be used in a recorded graph. "
                "Write it with gradwalk.math, or make what cannot be a primitive as well."
            )
            raise
        if len(recording.operands) > count + 1:
            raise ValueError(f"{self._what} uses a Value that is none of its arguments: make that an operand")
        return recording.tape.program(list(self._counted(places, count)))

    def _ruled(self, *result_and_operands: Any) -> Any:
        if self._rule is None:
            name = self.__name__
            raise TypeError(f"the primitive {name}() has no derivative: give it one with @{name}.derivative")
        return self._rule(*result_and_operands)

    def _counted(self, partials: Sequence[Any], count: int) -> Sequence[Any]:
        if len(partials) != count:
            raise ValueError(f"{self._what} returned {len(partials)} partials, and there are {count} operands")
        return partials

    @property
    def _what(self) -> str:
        return f"the derivative of the primitive {named(self._f)}"


class Block(Call):
    """A program as a call: the numbers in it are kept nowhere, but computed anew wherever they are needed."""

    def __init__(self, program: Program, name: str) -> None:
        self.outputs = len(program.outputs)
        self.name = name
        self._program = program

    def __repr__(self) -> str:
        return f"<block {self.name}>"

    def numbers(self, operands: Sequence[float]) -> Sequence[float]:
        """The results for numbers."""
        results: list[float] = self._program.run(numpy.array(operands, numpy.float64)).tolist()
        return results

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """The derivatives of one result: one run there and back."""
        adjoints = [float(i == position) for i in range(self.outputs)]
        return self._pulled.numbers([*operands, *adjoints])

    def pull(self, tape: Tape, operands: Places, base: int, adjoints: Places) -> Places:
        """What a call of the block that runs there and back gives."""
        return self._called(self._pulled, tape, operands, adjoints)

    def push(self, tape: Tape, operands: Places, base: int, tangents: Places) -> Places:
        """What a call of the block that runs forward with tangents gives."""
        return self._called(self._pushed, tape, operands, tangents)

    def _called(self, block: Block, tape: Tape, operands: Places, seeds: Places) -> Places:
        given = [tape.constant(0.0) if seed == NO_PLACE else seed for seed in seeds]
        base = tape.call(block, [*operands, *given])
        return list(range(base, base + block.outputs))

    @functools.cached_property
    def _pulled(self) -> Block:
        """The block that gives the operands' adjoints, for operands and results' adjoints."""
        tape, inputs, outputs = self._unrolled()
        seeds = [(output, tape.input()) for output in outputs]
        return Block(tape.program(tape.reverse(seeds, inputs)), f"{self.name}'")

    @functools.cached_property
    def _pushed(self) -> Block:
        """The block that gives the results' tangents, for operands and their tangents."""
        tape, inputs, outputs = self._unrolled()
        seeds = [(place, tape.input()) for place in inputs]
        return Block(tape.program(tape.forward(seeds, outputs)), f"{self.name}'")

    def _unrolled(self) -> tuple[Tape, Places, Places]:
        """A tape with the program on it, its inputs and its outputs."""
        tape = Tape()
        inputs = [tape.input() for _ in range(self._program.inputs)]
        return tape, inputs, tape.inline(self._program, inputs)


class Checkpoint(Jit):
    """A recorded function that stays whole: see `checkpoint`."""

    def __init__(
        self, f: Callable[..., Any], static_argnums: int | Iterable[int], static_argnames: str | Iterable[str]
    ) -> None:
        super().__init__(f, static_argnums, static_argnames)
        self._blocks: dict[int, Block] = {}  # by the id of the recorded program

    def __repr__(self) -> str:
        return f"<checkpoint of {named(self._f)}>"

    def _on_values(self, program: Program, operands: Sequence[Any]) -> Sequence[Any]:
        block = self._blocks.setdefault(id(program), Block(program, self.__name__))
        return block.values(operands)


def primitive(f: Callable[..., float]) -> Primitive:
    """A function of numbers as one operation, whose derivative is given and not found: for what cannot be recorded.

    `f` takes and returns real numbers. Its rule, set by `@f.derivative`, takes the result and the operands and returns
    the partial, or a tuple with one for each operand. In `backward` it is called with numbers. Every other derivative
    records it, so that it can be differentiated again: it may use `gradwalk.math` and primitives, not ask for numbers.

    Raises `TypeError` where there is no rule, or where `f` or an operand is no number; `ValueError` where the rule
    gives too few or too many partials; `RecordingError` where the rule cannot be recorded.

    >>> import math
    >>> @primitive
    ... def gamma(x):
    ...     return math.lgamma(x)
    >>> @primitive
    ... def digamma(x, h=1e-4):
    ...     return (math.lgamma(x + h) - math.lgamma(x - h)) / (2 * h)
    >>> @gamma.derivative
    ... def _(out, x):
    ...     return digamma(x)
    >>> x = Value(5.0)
    >>> y = 2.0 * gamma(x)
    >>> y.backward()
    >>> round(x.grad, 4)  # twice 1 + 1/2 + 1/3 + 1/4, less Euler's constant
    3.0122
    """
    return Primitive(f)


def checkpoint(
    f: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Iterable[int] = (),
    static_argnames: str | Iterable[str] = (),
) -> Any:
    """The same function, whose numbers between arguments and results are not kept but computed anew: time for memory.

    `f` is recorded once, by the rules of `jit`. In a graph it is one node for each result, however long it is, and each
    derivative runs the recording again. A loop of n checkpointed steps needs memory for n states, not for n times all
    that a step computes. In `backward` that is one run of the step for each of its results.

    >>> @checkpoint
    ... def step(x):
    ...     for _ in range(100):
    ...         x = x + 0.01 * x
    ...     return x
    >>> x = Value(1.0)
    >>> y = step(step(x))
    >>> len(y.operands), y.operands[0].operands[0] is x
    (1, True)
    """
    if f is None:
        return functools.partial(checkpoint, static_argnums=static_argnums, static_argnames=static_argnames)
    return Checkpoint(f, static_argnums, static_argnames)


def stop_gradient(x: Any) -> Any:
    """The same numbers as constants: no gradient passes. `x` is a number or Value, or a tree of them.

    >>> from gradwalk import grad
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    3.0
    """
    leaves, structure = flattened(x, "x")
    return structure.filled([number.detach() if isinstance(number, Value) else number for number in scalars(leaves)])
