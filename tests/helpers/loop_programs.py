"""Random programs of loops, branches and reductions, run by gradwalk or by plain Python.

A program is a tree of nested tuples. `evaluate` runs it with `Recorded`, which calls gradwalk, or `Plain`, which
uses Python's loops and branches on `Jet`, a number with its gradient and Hessian.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
from hypothesis import strategies as st

from gradwalk import loops, take
from gradwalk import math as gm

Tree = tuple[Any, ...]

INPUTS = 2
MOST_STEPS = 8
REDUCTIONS = ["sum", "prod", "max", "logsumexp"]
UNARY = ["sin", "cos", "tanh", "bell"]
BINARY = ["add", "sub", "mul", "ratio", "maximum", "choose"]
NUMBERS = st.floats(-2.0, 2.0).map(lambda number: round(number, 2))
SHORT = st.integers(1, 3)


# Drawing programs


def trees(depth: int) -> st.SearchStrategy[Tree]:
    """Draw programs with at most `depth` nested loops, branches and reductions."""
    read = st.tuples(st.just("input"), st.integers(0, 5))
    leaf = st.one_of(read, read, read, st.tuples(st.just("number"), NUMBERS))
    if not depth:
        return _arithmetic(leaf)
    below = st.deferred(lambda: trees(depth - 1))
    several = st.lists(below, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        _arithmetic(below),
        st.tuples(st.just("fori"), st.integers(-1, 2), st.integers(0, 4), below, below),
        st.tuples(st.just("counted"), below, below, below),
        st.tuples(st.just("scan"), st.booleans(), st.lists(NUMBERS, min_size=1, max_size=4).map(tuple), below, below),
        st.tuples(st.just("while"), st.integers(0, 5), NUMBERS, below, below),
        st.tuples(st.just("cond"), below, below, below, below),
        st.tuples(st.just("switch"), below, several),
        st.tuples(st.just("take"), below, several),
        st.tuples(st.just("reduce"), st.sampled_from(REDUCTIONS), several),
    )


def _arithmetic(operands: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    return st.one_of(
        operands,
        st.tuples(st.just("unary"), st.sampled_from(UNARY), operands),
        st.tuples(st.just("binary"), st.sampled_from(BINARY), operands, operands),
    )


# Running them


def evaluate(tree: Tree, language: Any, numbers: Sequence[Any]) -> Any:
    """Run a program; `numbers` are the inputs and the carries of the enclosing loops."""

    def run(part: Tree, *more: Any) -> Any:
        return evaluate(part, language, (*numbers, *more))

    kind, *fields = tree
    if kind == "input":
        return numbers[-1 - fields[0] % len(numbers)]
    if kind == "number":
        return language.number(fields[0])
    if kind == "unary":
        return language.unary(fields[0], run(fields[1]))
    if kind == "binary":
        return language.binary(fields[0], run(fields[1]), run(fields[2]))
    if kind in ("switch", "take"):
        index, several = fields
        place = language.place(run(index), len(several))
        if kind == "switch":
            return language.switch(place, [lambda part=part: run(part) for part in several])
        return language.take([run(part) for part in several], place)
    if kind == "reduce":
        return language.reduce(fields[0], [run(part) for part in fields[1]])
    return LOOPS[kind](language, run, *fields)


def _fori(language: Any, run: Callable[..., Any], lower: int, steps: int, body: Tree, init: Tree) -> Any:
    return language.fori(lower, lower + steps, lambda i, c: language.unary("sin", run(body, i, c)), run(init))


def _counted(language: Any, run: Callable[..., Any], count: Tree, body: Tree, init: Tree) -> Any:
    upper = language.place(run(count), 4)
    return language.fori(0, upper, lambda i, c: language.unary("sin", run(body, i, c)), run(init))


def _scan(language: Any, run: Callable[..., Any], reverse: bool, xs: Sequence[float], body: Tree, out: Tree) -> Any:
    def step(carry: Any, x: Any) -> tuple[Any, Any]:
        return language.unary("sin", run(body, carry, x)), run(out, x, carry)

    last, outputs = language.scan(step, language.number(0.5), xs, reverse)
    return language.binary("add", last, language.reduce("logsumexp", outputs))


def _while(language: Any, run: Callable[..., Any], steps: int, limit: float, body: Tree, init: Tree) -> Any:
    def step(carry: Any) -> Any:
        return language.binary("add", carry[0], language.number(1.0)), language.unary("sin", run(body, *carry))

    start = language.number(0.0), run(init)
    return language.loop(lambda c: language.both(c[0], float(steps), c[1], limit), step, start)[1]


def _cond(language: Any, run: Callable[..., Any], a: Tree, b: Tree, yes: Tree, no: Tree) -> Any:
    return language.cond(run(a), run(b), lambda: run(yes), lambda: run(no))


LOOPS: dict[str, Callable[..., Any]] = {
    "fori": _fori,
    "counted": _counted,
    "scan": _scan,
    "while": _while,
    "cond": _cond,
}


class Recorded:
    """Operations by gradwalk's functions."""

    def number(self, x: float) -> Any:
        return x

    def unary(self, name: str, x: Any) -> Any:
        return gm.exp(-x * x) if name == "bell" else getattr(gm, name)(x)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        if name == "ratio":
            return x / (1.0 + y * y)
        if name == "choose":
            return gm.where(gm.less(x, y), gm.sin(x), x * y)
        if name == "maximum":
            return gm.maximum(x, y)
        return {"add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y}[name]()

    def place(self, x: Any, count: int) -> Any:
        return gm.floor(gm.exp(-x * x) * (count - 0.001))

    def switch(self, place: Any, branches: Sequence[Callable[[], Any]]) -> Any:
        return loops.switch(place, branches)

    def take(self, table: Sequence[Any], place: Any) -> Any:
        return take(table, place)

    def reduce(self, kind: str, numbers: Any) -> Any:
        if kind == "logsumexp":
            return gm.logsumexp(numbers)
        if kind == "sum":
            return numpy.sum(numpy.array(numbers, dtype=object))
        if kind == "prod":
            return numpy.prod(numpy.array(numbers, dtype=object))
        return gm.maximum(*numbers) if len(numbers) > 1 else numbers[0]

    def fori(self, lower: Any, upper: Any, body: Callable[..., Any], init: Any) -> Any:
        return loops.fori_loop(lower, upper, body, init)

    def scan(self, step: Callable[..., Any], init: Any, xs: Sequence[float], reverse: bool) -> Any:
        return loops.scan(step, init, numpy.array(xs), reverse=reverse)

    def loop(self, goes_on: Callable[..., Any], step: Callable[..., Any], init: Any) -> Any:
        return loops.while_loop(goes_on, step, init, max_steps=MOST_STEPS)

    def both(self, count: Any, steps: float, x: Any, limit: float) -> Any:
        return gm.where(gm.less(count, steps), gm.less(x, limit), 0.0)

    def cond(self, a: Any, b: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
        return loops.cond(gm.less(a, b), yes, no)


class Jet:
    """A number with its gradient and Hessian with respect to the inputs."""

    def __init__(self, value: float, slopes: Any = None, bends: Any = None) -> None:
        self.value = value
        self.slopes = numpy.zeros(INPUTS) if slopes is None else slopes
        self.bends = numpy.zeros((INPUTS, INPUTS)) if bends is None else bends

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slopes + other.slopes, self.bends + other.bends)

    def __mul__(self, other: Jet) -> Jet:
        mixed = numpy.outer(self.slopes, other.slopes)
        bends = self.value * other.bends + other.value * self.bends + mixed + mixed.T
        return Jet(self.value * other.value, self.value * other.slopes + other.value * self.slopes, bends)

    def of(self, value: float, first: float, second: float) -> Jet:
        """Apply a function, given its value and its first and second derivative."""
        bends = first * self.bends + second * numpy.outer(self.slopes, self.slopes)
        return Jet(value, first * self.slopes, bends)


def inputs(numbers: Sequence[float]) -> list[Jet]:
    return [Jet(x, row) for x, row in zip(numbers, numpy.eye(INPUTS), strict=True)]


class Plain:
    """Operations in plain Python; `margin` is the smallest difference in a comparison."""

    def __init__(self) -> None:
        self.margin = math.inf

    def _is_less(self, x: float, y: float) -> bool:
        self.margin = min(self.margin, abs(x - y))
        return x < y

    def number(self, x: float) -> Jet:
        return Jet(x)

    def unary(self, name: str, x: Jet) -> Jet:
        sine, cosine = math.sin(x.value), math.cos(x.value)
        if name == "sin":
            return x.of(sine, cosine, -sine)
        if name == "cos":
            return x.of(cosine, -sine, -cosine)
        if name == "tanh":
            t = math.tanh(x.value)
            return x.of(t, 1.0 - t * t, -2.0 * t * (1.0 - t * t))
        bell = math.exp(-x.value * x.value)
        return x.of(bell, -2.0 * x.value * bell, (4.0 * x.value * x.value - 2.0) * bell)

    def binary(self, name: str, x: Jet, y: Jet) -> Jet:
        if name == "add":
            return x + y
        if name == "sub":
            return x + y * Jet(-1.0)
        if name == "mul":
            return x * y
        if name == "ratio":
            size = 1.0 + y.value * y.value
            return x * y.of(1 / size, -2 * y.value / size**2, (6 * y.value**2 - 2) / size**3)
        if name == "maximum":
            return y if self._is_less(x.value, y.value) else x
        return self.unary("sin", x) if self._is_less(x.value, y.value) else x * y

    def place(self, x: Jet, count: int) -> int:
        scaled = math.exp(-x.value * x.value) * (count - 0.001)
        self._is_less(scaled, float(round(scaled)))
        return math.floor(scaled)

    def switch(self, place: int, branches: Sequence[Callable[[], Jet]]) -> Jet:
        return branches[place]()

    def take(self, table: Sequence[Jet], place: int) -> Jet:
        return table[place]

    def reduce(self, kind: str, numbers: Sequence[Jet]) -> Jet:
        total = numbers[0]
        if kind == "logsumexp":
            largest = max(x.value for x in numbers)
            total = Jet(0.0)
            for x in numbers:
                size = math.exp(x.value - largest)
                total = total + x.of(size, size, size)
            return total.of(math.log(total.value) + largest, 1 / total.value, -1 / total.value**2)
        for x in numbers[1:]:
            total = total + x if kind == "sum" else total * x if kind == "prod" else self.binary("maximum", total, x)
        return total

    def fori(self, lower: int, upper: int, body: Callable[..., Jet], init: Jet) -> Jet:
        for i in range(lower, upper):
            init = body(Jet(float(i)), init)
        return init

    def scan(self, step: Callable[..., Any], init: Jet, xs: Sequence[float], reverse: bool) -> tuple[Jet, list[Jet]]:
        outputs = []
        for x in reversed(xs) if reverse else xs:
            init, out = step(init, Jet(x))
            outputs.append(out)
        return init, outputs

    def loop(self, goes_on: Callable[..., bool], step: Callable[..., Any], init: Any) -> Any:
        while goes_on(init):
            init = step(init)
        return init

    def both(self, count: Jet, steps: float, x: Jet, limit: float) -> bool:
        return count.value < steps and self._is_less(x.value, limit)

    def cond(self, a: Jet, b: Jet, yes: Callable[[], Jet], no: Callable[[], Jet]) -> Jet:
        return yes() if self._is_less(a.value, b.value) else no()


def reference(tree: Tree, numbers: Sequence[float]) -> tuple[Jet, float]:
    """Return the result of a program in plain Python and the margin of its comparisons."""
    language = Plain()
    return evaluate(tree, language, inputs(numbers)), language.margin
