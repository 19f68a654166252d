"""`check(root)` and `gradcheck(f, ...)`: every gradient beside a difference quotient."""

from __future__ import annotations

import inspect
import io
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from gradwalk.engine import Value, no_grad, source_lines, topological_order
from gradwalk.formula import variables
from gradwalk.graph import Floats, Graph, Node, as_graph, as_json
from gradwalk.ops import TABLE
from gradwalk.quotients import Method, Slope, slope
from gradwalk.replay import Replay
from gradwalk.report import LONGEST, print_rest
from gradwalk.source import SourceLine
from gradwalk.steps import contribution, gradients, passing, swept
from gradwalk.terminal import Terminal

_EPSILON = sys.float_info.epsilon
_TOLERANCE = 1e-7  # of the gradient: an error below that is no wrong derivative
_KINK_SLACK = 1e-3  # of the gap between the slopes at a kink: slopes over a finite step are off by that much
_NEGLIGIBLE = 1e-9  # of the root
_TOO_VAGUE = 1e-2  # of the gradient: a quotient that is not known better than that says nothing


class Checked(NamedTuple):
    """A gradient and its check. `bound`: how far off the quotient can be by its own error; `h`: its step.

    `verdict`: "right" or "wrong"; or why that cannot be told. "kink": the slopes to both sides differ, and the gradient
    lies between them. "jump": the root's value jumps. "rounding": rounding errors leave less than two digits. "not
    finite": the gradient or the slope is not, or the root has no number on one side and another slope on the other. "by
    hand": a hand-made node stands in between, which has no rule to compute it again by.
    """

    name: str
    operation: str
    source: SourceLine | None
    backprop: float
    quotient: float
    bound: float
    h: float
    verdict: str

    @property
    def error(self) -> float:
        """How far gradient and quotient are apart."""
        return abs(self.backprop - self.quotient)

    @property
    def relative_error(self) -> float:
        """The same in relation to the larger of both."""
        size = max(abs(self.backprop), abs(self.quotient))
        return self.error / size if size else 0.0

    def cells(self) -> list[str]:
        """The row of a table."""
        line = f"{Path(self.source.filename).name}:{self.source.number}" if self.source else ""
        numbers = [f"{self.backprop:.10g}", f"{self.quotient:.10g}", f"{self.error:.1e}"]
        return [self.name, self.operation, *numbers, self.verdict, line]

    def __str__(self) -> str:
        made = f" ({self.operation})" if self.operation else ""
        line = f", {self.source}" if self.source else ""
        return f"{self.name}{made}, {self.verdict}, off by {self.relative_error:.1e} of its gradient{line}"


class Culprit(NamedTuple):
    """A local derivative that is wrong: that of a node with respect to one of its operands."""

    name: str
    operation: str
    source: SourceLine | None
    operand: str
    local: float
    quotient: float

    def __str__(self) -> str:
        place = f", {self.source}" if self.source else ""
        return (
            f"d {self.name} / d {self.operand} is {self.local!r} and should be about {self.quotient:.10g}:"
            f" the derivative of {self.operation} is wrong{place}"
        )


@dataclass(frozen=True, repr=False)
class Check:
    """What a check found, a row a node. It is true where no gradient is wrong, and prints as a table."""

    rows: tuple[Checked, ...]
    culprits: tuple[Culprit, ...]

    @property
    def ok(self) -> bool:
        """Whether no gradient is wrong."""
        return not any(row.verdict == "wrong" for row in self.rows)

    @property
    def worst(self) -> Checked | None:
        """The row with the largest relative error: of those that are wrong, or else of those that are right."""
        wanted = "right" if self.ok else "wrong"
        return max(
            (row for row in self.rows if row.verdict == wanted), key=lambda row: row.relative_error, default=None
        )

    def to_json(self) -> str:
        """The check as JSON: a row a gradient, and what is to blame for the wrong ones."""
        rows = [row._asdict() | {"error": row.error} for row in self.rows]
        culprits = [culprit._asdict() for culprit in self.culprits]
        return as_json({"gradwalk": "check", "ok": self.ok, "rows": rows, "culprits": culprits})

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        stream = io.StringIO()
        self.print(Terminal(stream))
        return stream.getvalue()

    def print(self, terminal: Terminal) -> None:
        """Print the table, the worst row, and the local derivatives that are to blame."""
        terminal.heading("Check: gradients beside difference quotients")
        columns = ("node", "operation", "backprop", "quotient", "error", "verdict", "line")
        with_lines = any(row.source for row in self.rows)
        cells = [row.cells()[: None if with_lines else -1] for row in self.rows[:LONGEST]]
        terminal.table(columns[: None if with_lines else -1], cells)
        print_rest(terminal, len(self.rows))
        if self.worst is not None:
            terminal.line(f"worst: {self.worst}")
        for culprit in self.culprits:
            terminal.line(f"to blame: {culprit}")

    def __repr__(self) -> str:
        wrong = sum(row.verdict == "wrong" for row in self.rows)
        return f"<Check of {len(self.rows)} gradients: {f'{wrong} wrong' if wrong else 'none wrong'}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self)}


def check(root: Value | Graph, *, method: Method = "central", h: float | None = None) -> Check:
    """Nudge every node of a graph, leaves and intermediates, and compare what becomes of the root with its gradient.

    `method`: "central" or "forward". `h`: the step of the quotients; if not given, one is found for each node. The
    Values and their gradients are not changed. Raises `ValueError` where a number is not what the operation gives
    for the operands, for then nothing can be run again, and where `h` is not positive.

    >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
    >>> found = check(a * b + a)
    >>> found.ok, [row.name for row in found.rows]
    (True, ['a', 'b', 'v3', 'v4'])
    """
    step = _checked_step(method, h)
    graph = as_graph(root)
    replay = Replay(graph, graph.root)
    _refuse_stale(graph, replay)
    found = gradients(graph)
    noises, own = _noises(graph, found), _own_errors(graph, found)
    rows = {}
    for place in sorted(swept(graph)):
        node = graph.nodes[place]
        blocked = replay.select(place)
        about = (node.name, node.symbol, node.source, found[place])
        if blocked >= 0:
            rows[place] = Checked(*about, math.nan, math.inf, 0.0, "by hand")
        else:
            rows[place] = _judged(about, replay.root_with, node.data, replay.noise(noises), own[place], method, step)
    return Check(tuple(rows.values()), tuple(_culprits(graph, rows, replay)))


def gradcheck(f: Callable[..., Any], *args: Any, method: Method = "central", h: float | None = None) -> Check:
    """Compare the gradient of a function with difference quotients, a row an argument.

    `f` takes numbers, or lists, tuples, dicts and arrays of numbers, nested, and returns a Value; it is called with
    Values, many times. `method` and `h`: as for `check`. Raises `TypeError` where f returns something else, or where an
    argument has something else in it.

    >>> assert gradcheck(lambda x, y: (x * y).tanh(), 0.5, 2.0)
    """
    step = _checked_step(method, h)
    named = list(_numbers(f, args))
    with source_lines():
        values = [Value(number, label=name) for name, number in named]
        root = _called(f, args, values)
    graph = Graph.record(root)
    places = {id(value): place for place, value in enumerate(topological_order(root))}
    found = gradients(graph)
    noise, own = float(_noises(graph, found).sum()), _own_errors(graph, found)
    rows = []
    for i, (name, number) in enumerate(named):

        def nudged(to: float, i: int = i) -> float:
            with no_grad():
                others = [number for _, number in named]
                return _called(f, args, [Value(x) for x in (*others[:i], to, *others[i + 1 :])]).data

        place = places.get(id(values[i]))
        gradient, vague = (0.0, 0.0) if place is None else (found[place], own[place])
        rows.append(_judged((name, "", values[i].source, gradient), nudged, number, noise, vague, method, step))
    return Check(tuple(rows), ())


def _judged(
    about: tuple[str, str, SourceLine | None, float],
    f: Callable[[float], float],
    x: float,
    noise: float,
    own: float,
    method: Method,
    h: float,
) -> Checked:
    """A gradient beside the slope of what it should be the gradient of; `own`: how far off it can be by rounding."""
    found = slope(f, x, noise, method, h)
    bound = found.bound + own
    verdict = _verdict(about[3], found, bound, bound * max(abs(x), 1.0) <= _NEGLIGIBLE * abs(f(x)))
    return Checked(*about, found.quotient, found.bound, found.h, verdict)


def _verdict(gradient: float, found: Slope, bound: float, is_negligible: bool) -> str:
    """`bound`: on the error of gradient and slope; `is_negligible`: whether that would hardly change the root."""
    if not math.isfinite(gradient) or found.shape == "undefined":
        return "not finite"
    size = max(abs(gradient), abs(found.estimate))
    if found.shape == "jump":
        return "jump"
    if found.shape == "kink":
        low, high = sorted((found.left, found.right))
        slack = _KINK_SLACK * (high - low)
        return "kink" if low - slack <= gradient <= high + slack else "wrong"
    error = abs(gradient - found.estimate)
    if error > 4 * bound + _TOLERANCE * size:
        return "not finite" if found.shape == "edge" else "wrong" if error > 4 * found.resolution else "rounding"
    return "rounding" if error and bound > _TOO_VAGUE * size and not is_negligible else "right"


def _culprits(graph: Graph, rows: Mapping[int, Checked], replay: Replay) -> Iterator[Culprit]:
    """The local derivatives behind wrong gradients: where a node is wrong, and none of the nodes that use it is."""
    for place, row in rows.items():
        users = (
            [graph.nodes[user] for user in rows if place in graph.nodes[user].arguments]
            if row.verdict == "wrong"
            else []
        )
        if any(rows[user.place].verdict == "wrong" for user in users):
            continue
        yield from (culprit for user in users if user.opcode for culprit in _local_culprit(graph, user, place, replay))


def _local_culprit(graph: Graph, user: Node, operand: int, replay: Replay) -> Iterator[Culprit]:
    """The derivative of a node by one of its operands, if that is wrong."""
    local = sum(user.partials[position] for position, place in passing(user) if place == operand)
    about = (user.name, user.symbol, user.source)
    replay.select(operand)
    noise = _EPSILON * abs(user.data)
    row = _judged(
        (*about, local), partial(replay.local, user.place), graph.nodes[operand].data, noise, 0.0, "central", 0.0
    )
    if row.verdict == "wrong":
        yield Culprit(*about, graph.names[operand], local, row.quotient)


def _own_errors(graph: Graph, found: Sequence[float]) -> list[float]:
    """How far off each gradient can be by rounding, to first order: cancellation in a number makes derivatives vague.

    Forward, an operation passes on the errors of its operands, times its partials, and adds one of its own. Backward,
    a contribution has the relative errors of its upstream gradient and of all that its partial is computed from.
    """
    errors = [0.0] * len(graph)
    for node in graph.nodes:
        if not node.is_leaf:
            passed = [
                abs(p) * errors[x] for p, x in zip(node.partials, node.arguments, strict=True) if isinstance(x, int)
            ]
            errors[node.place] = sum(e for e in passed if e == e) + _EPSILON * abs(node.data)
    relative = [e / abs(node.data) if node.data else 0.0 for e, node in zip(errors, graph.nodes, strict=True)]
    own = [0.0] * len(graph)
    for place in swept(graph):
        node = graph.nodes[place]
        for position, operand in passing(node):
            vague = sum(relative[x] for x in _needed(node, position)) + _EPSILON
            amount = contribution(node, position, found[place])
            own[operand] += abs(node.partials[position]) * own[place] + abs(amount) * vague
    return own


def _needed(node: Node, position: int) -> Iterator[int]:
    """The nodes whose numbers a partial is computed from: operands, or the node itself."""
    for name in _variables(node.opcode, position) if node.row else "xyz":
        at = (
            node.place
            if name == "out"
            else node.arguments["xyz".index(name)]
            if name in "xyz"[: len(node.arguments)]
            else 0.0
        )
        if isinstance(at, int):
            yield at


@cache
def _variables(opcode: int, position: int) -> tuple[str, ...]:
    return variables(TABLE[opcode - 1].partial(position))


def _noises(graph: Graph, found: Sequence[float]) -> Floats:
    """How much the rounding of each node's number can change the root: an ulp of it, times its gradient."""
    with numpy.errstate(invalid="ignore", over="ignore"):
        noises: Floats = numpy.abs(numpy.array(found) * graph.data) * _EPSILON
    noises[numpy.diff(graph.offsets) == 0] = 0.0
    return noises


def _refuse_stale(graph: Graph, replay: Replay) -> None:
    """Raise `ValueError` where a number is not what its operation gives."""
    for node in graph.nodes:
        again = replay.recomputed(node.place)
        if again != node.data and not (math.isnan(again) and math.isnan(node.data)):
            raise ValueError(
                f"{node.name} is {node.data!r}, and {node.symbol} of its operands is {again!r}: some .data was set"
                " since it was computed. Call refresh(root) first"
            )


def _checked_step(method: str, h: float | None) -> float:
    """The step, 0.0 for one that is to be found."""
    if method not in ("central", "forward"):
        raise ValueError(f"method is 'central' or 'forward', not {method!r}")
    if h is None:
        return 0.0
    if not (math.isfinite(h) and h > 0.0):
        raise ValueError(f"the step h is a positive number, not {h!r}")
    return float(h)


# Arguments that are numbers, or hold them


def _called(f: Callable[..., Any], args: Sequence[Any], values: Sequence[Value]) -> Value:
    """f of its arguments with Values in place of their numbers."""
    given = iter(values)
    result = f(*[_filled(arg, given) for arg in args])
    if not isinstance(result, Value):
        raise TypeError(
            f"gradcheck is for functions that return a Value, and this one returned {type(result).__name__}"
        )
    return result


def _filled(arg: Any, values: Iterator[Value]) -> Any:
    if isinstance(arg, numpy.ndarray):
        filled = numpy.empty(arg.shape, dtype=object)
        filled.ravel()[:] = [next(values) for _ in range(arg.size)]
        return filled
    if isinstance(arg, dict):
        return {key: _filled(item, values) for key, item in arg.items()}
    if isinstance(arg, (list, tuple)):
        return type(arg)([_filled(item, values) for item in arg])
    return next(values)


def _numbers(f: Callable[..., Any], args: Sequence[Any]) -> Iterator[tuple[str, float]]:
    """The numbers in the arguments, with names such as x, x[0] and x['rate']."""
    pending = list(zip(_parameter_names(f, len(args)), args, strict=True))[::-1]
    while pending:
        name, arg = pending.pop()
        if isinstance(arg, numpy.ndarray):
            pending += [(f"{name}[{', '.join(map(str, at))}]", arg[at]) for at in numpy.ndindex(arg.shape)][::-1]
        elif isinstance(arg, dict):
            pending += [(f"{name}[{key!r}]", item) for key, item in arg.items()][::-1]
        elif isinstance(arg, (list, tuple)):
            pending += [(f"{name}[{i}]", item) for i, item in enumerate(arg)][::-1]
        else:
            yield name, arg.data if isinstance(arg, Value) else Value(arg).data


def _parameter_names(f: Callable[..., Any], count: int) -> list[str]:
    try:
        names = [
            p.name
            for p in inspect.signature(f).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"argument {i + 1}" for i in range(len(names), count))][:count]
