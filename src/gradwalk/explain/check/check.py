"""`check(root)` and `gradcheck(f, ...)`: every gradient beside a difference quotient."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from gradwalk.explain.check.error_bounds import EPSILON, gradient_errors, noise_weights
from gradwalk.explain.check.finite_differences import Method, Noisy, Slope, quotient, slope
from gradwalk.explain.passes import gradients, passing, swept
from gradwalk.explain.report import LONGEST, print_rest
from gradwalk.explain.terminal import Terminal
from gradwalk.graph.graph import Floats, Graph, Node, as_graph, as_json
from gradwalk.graph.reevaluate import Replay
from gradwalk.trees.tree import Parameters, Structure, flattened, scalars, tupled
from gradwalk.value.modes import source_lines
from gradwalk.value.order import topological_order
from gradwalk.value.source_line import SourceLine
from gradwalk.value.value import Value

_TOLERANCE = 1e-7  # of the gradient: an error below that is no wrong derivative
_KINK_SLACK = 1e-3  # of the gap between the slopes at a kink: slopes over a finite step are off by that much
_TOO_VAGUE = 1e-2  # of the gradient: a quotient that is not known better than that says nothing


class StaleError(ValueError):
    """Which number is not what its operation gives, so that the graph cannot be run again."""


class Checked(NamedTuple):
    """A gradient and its check. `bound`: how far off the quotient can be by its own error; `h`: its step.

    `verdict`: "right" or "wrong"; or why that cannot be told. "kink": the slopes to both sides differ, and the gradient
    lies between them; or the way to the root leads through a kink, where rules choose. "jump": the root's value jumps.
    "rounding": rounding errors leave less than two digits. "not finite": the gradient or the slope is not, or the root
    has no number on one side and another slope on the other. "by hand": a hand-made node stands in between, which has
    no rule to compute it again by. "stopped": gradient and slope differ, and a `stop_gradient` stands in between.
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
        by_hand = sum(row.verdict == "by hand" for row in self.rows)
        if by_hand:
            terminal.line(f"not checked: {by_hand} behind hand-made nodes; gradcheck(f, ...) can, by running f again")

    def __repr__(self) -> str:
        wrong = sum(row.verdict == "wrong" for row in self.rows)
        return f"<Check of {len(self.rows)} gradients: {f'{wrong} wrong' if wrong else 'none wrong'}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self)}


def check(root: Value | Graph, *, method: Method = "central", h: float | None = None) -> Check:
    """Nudge every node of a graph, leaves and intermediates, and compare what becomes of the root with its gradient.

    `method`: "central" or "forward". `h`: the step of the quotients; if not given, one is found for each node. The
    Values and their gradients are not changed. Raises `StaleError` where a number is not what the operation gives
    for the operands, for then nothing can be run again, and `ValueError` where `h` is not positive.

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
    weights, own = noise_weights(graph, found), gradient_errors(graph, found)
    conditions = [x for node in graph.nodes for x in node.condition_operands if graph.data[x] == 0.0]
    stopped = [x for node in graph.nodes if node.row and not node.row.is_exact for x in node.operands]
    users = _users(graph)
    rows: dict[int, Checked] = {}
    for place in swept(graph):  # users before what they use
        node = graph.nodes[place]
        about = _About(node.name, node.symbol, node.source, found[place], own[place])
        if replay.select(place) >= 0:
            rows[place] = Checked(*about[:4], math.nan, math.inf, 0.0, "by hand")
            continue

        def nudged(number: float) -> tuple[float, float]:
            return replay.root_with(number), replay.noise(weights)

        def is_chosen(place: int = place) -> bool:
            return (
                any(replay.depends(condition) for condition in conditions)
                or any(rows[user.place].verdict in ("kink", "jump") for user in users[place])
                or any(_is_at_kink(graph, user, place, replay) for user in users[place])
            )

        row = _judged(about, nudged, node.data, method, step, is_chosen)
        is_stopped = row.verdict == "wrong" and any(replay.depends(operand) for operand in stopped)
        rows[place] = row._replace(verdict="stopped") if is_stopped else row
    ordered = {place: rows[place] for place in sorted(rows)}
    return Check(tuple(ordered.values()), tuple(_culprits(graph, ordered, users, replay)))


def gradcheck(f: Callable[..., Any], *args: Any, method: Method = "central", h: float | None = None) -> Check:
    """Compare the gradient of a function with difference quotients, a row an argument.

    `f` takes numbers, or lists, tuples, dicts and arrays of numbers, nested, and returns a Value; it is called with
    Values, many times. `method` and `h`: as for `check`. Raises `TypeError` where f returns something else, or where an
    argument has something else in it.

    >>> assert gradcheck(lambda x, y: (x * y).tanh(), 0.5, 2.0)
    """
    step = _checked_step(method, h)
    if not callable(f):
        raise TypeError(f"gradcheck takes a function first, then its arguments; not {type(f).__name__}")
    named, structure = _named_numbers(f, args)
    with source_lines():
        values = [Value(number, label=name) for name, number in named]
        root = _called(f, structure, values)
    graph = Graph.record(root)
    places = {id(value): place for place, value in enumerate(topological_order(root))}
    found = gradients(graph)
    weights, own = noise_weights(graph, found), gradient_errors(graph, found)
    by_backward = _swept_gradients(root, values)
    rows = []
    for i, (name, number) in enumerate(named):

        def nudged(to: float, i: int = i) -> tuple[float, float]:
            numbers = [number for _, number in named]
            numbers[i] = to
            return _noisy(_called(f, structure, [Value(x) for x in numbers]), weights)

        place = places.get(id(values[i]))
        known = (by_backward[i], 0.0 if place is None else own[place])
        is_chosen = partial(_is_kink, graph, place)
        about = _About(name, "", values[i].source, *known)
        rows.append(_judged(about, nudged, number, method, step, is_chosen))
    return Check(tuple(rows), ())


def _is_kink(graph: Graph, place: int | None) -> bool:
    """Whether a check of the graph, which knows what is inside, tells that a node reaches the root by way of a kink."""
    return (
        place is not None and dict(zip(sorted(swept(graph)), check(graph).rows, strict=True))[place].verdict == "kink"
    )


def _swept_gradients(root: Value, values: Sequence[Value]) -> list[float]:
    """What `backward` really gives to some leaves: a rule made by hand may overwrite. All else is left as it was."""
    nodes = topological_order(root)
    before = [node.grad for node in nodes]
    try:
        root.backward()
        return [value.grad for value in values]
    finally:
        for node, gradient in zip(nodes, before, strict=True):
            node.grad = gradient


def _named_numbers(f: Callable[..., Any], args: Sequence[Any]) -> tuple[list[tuple[str, float]], Structure]:
    """The numbers in the arguments of a function, with their names; and how they make up the tuple of arguments."""
    names = Parameters(f).first(len(args))
    numbers: list[tuple[str, float]] = []
    structures = []
    for name, arg in zip(names, args, strict=True):
        leaves, structure = flattened(arg, name)
        found = [x.data if isinstance(x, Value) else x for x in scalars(leaves)]
        numbers += zip(structure.names(name), found, strict=True)
        structures.append(structure)
    return numbers, tupled(structures)


def _called(f: Callable[..., Any], structure: Structure, values: Sequence[Value]) -> Value:
    """f of its arguments with Values in place of their numbers."""
    result = f(*structure.filled(values))
    if not isinstance(result, Value):
        raise TypeError(f"gradcheck is for functions that return a Value; this one returned {type(result).__name__}")
    return result


def _noisy(root: Value, weights: Floats) -> tuple[float, float]:
    """A root's number, and a bound on its rounding error; `weights`: those of a graph that is likely the same."""
    graph = Graph.record(root)
    if len(graph) != len(weights):
        weights = noise_weights(graph, gradients(graph))
    weighted = weights > 0.0
    return root.data, float(weights[weighted] @ numpy.abs(graph.data[weighted]))


class _About(NamedTuple):
    """Whose gradient is checked, what it is, and how far off it can be by rounding."""

    name: str
    operation: str
    source: SourceLine | None
    gradient: float
    own: float


def _judged(
    about: _About, f: Noisy, x: float, method: Method, h: float, is_chosen: Callable[[], bool] = lambda: False
) -> Checked:
    """A gradient beside the slope of what it should be the gradient of.

    `is_chosen`: whether the gradient has come by way of a kink, where a rule chose it. That is asked where the slope is
    smooth and another one: two kinks can undo each other.
    """
    found = slope(f, x, method)
    verdict = _verdict(about.gradient, found, found.bound + about.own, is_chosen)
    shown = (quotient(f, x, h, method), h) if h else (found.estimate, found.h)
    return Checked(*about[:4], shown[0], found.bound, shown[1], verdict)


def _verdict(gradient: float, found: Slope, bound: float, is_chosen: Callable[[], bool]) -> str:
    """`bound`: on the errors of gradient and slope together."""
    if found.shape == "undefined":
        return "not finite"
    has_settled = found.shape == "smooth" and found.bound < _TOO_VAGUE * abs(found.estimate)
    if not has_settled and abs(gradient) > 2 * found.steepest > 0.0:
        return "rounding"  # such as sin at 1e99: the function changes faster than numbers near x follow each other
    if found.shape == "jump":
        return "jump"
    if found.shape == "kink":
        low, high = sorted((found.left, found.right))
        slack = _KINK_SLACK * (high - low)
        between = low - slack <= gradient <= high + slack
        return "kink" if between else "wrong" if math.isfinite(gradient) else "not finite"
    size = max(abs(gradient), abs(found.estimate))
    if not math.isfinite(gradient):
        return "wrong" if has_settled else "not finite"
    error = abs(gradient - found.estimate)
    if not error <= 4 * bound + _TOLERANCE * size:
        if found.shape == "edge":
            return "not finite"
        return "rounding" if error <= 4 * found.resolution else "kink" if is_chosen() else "wrong"
    return "rounding" if error and 4 * bound > _TOO_VAGUE * size else "right"


def _users(graph: Graph) -> list[list[Node]]:
    """By place, the nodes that a gradient flows through to that one."""
    users: list[list[Node]] = [[] for _ in range(len(graph))]
    for place in swept(graph):
        for operand in dict.fromkeys(operand for _, operand in passing(graph.nodes[place])):
            users[operand].append(graph.nodes[place])
    return users


def _culprits(
    graph: Graph, rows: Mapping[int, Checked], users: Sequence[Sequence[Node]], replay: Replay
) -> Iterator[Culprit]:
    """The local derivatives behind wrong gradients: where a node is wrong, and none of the nodes that use it is."""
    for place, row in rows.items():
        if row.verdict == "wrong" and not any(rows[user.place].verdict == "wrong" for user in users[place]):
            for user in users[place]:
                if user.opcode:
                    yield from _local_culprit(graph, user, place, replay)


def _local_culprit(graph: Graph, user: Node, operand: int, replay: Replay) -> Iterator[Culprit]:
    """The derivative of a node by one of its operands, if that is wrong."""
    local = sum(user.partials[position] for position, place in passing(user) if place == operand)
    about = _About(user.name, user.symbol, user.source, local, 0.0)
    row = _judged(about, _local(user, operand, replay), graph.nodes[operand].data, "central", 0.0)
    if row.verdict == "wrong":
        yield Culprit(*about[:3], graph.names[operand], local, row.quotient)


def _is_at_kink(graph: Graph, user: Node, operand: int, replay: Replay) -> bool:
    """Whether an operation has a kink just where its operand is; there its rule chooses a derivative."""
    if not user.opcode:
        return False
    return slope(_local(user, operand, replay), graph.nodes[operand].data).shape in ("kink", "jump")


def _local(user: Node, operand: int, replay: Replay) -> Noisy:
    """A node's number as a function of one of its operands'."""
    replay.select(operand)

    def nudged(number: float) -> tuple[float, float]:
        result = replay.local(user.place, number)
        return result, EPSILON * abs(result)

    return nudged


def _refuse_stale(graph: Graph, replay: Replay) -> None:
    """Raise `StaleError` where a number is not what its operation gives."""
    for node in graph.nodes:
        again = replay.recomputed(node.place)
        if again != node.data and not (math.isnan(again) and math.isnan(node.data)):
            raise StaleError(
                f"{node.name} is {node.data!r}, and {node.symbol} of its operands is {again!r}: some .data was set"
                " since it was computed. Call refresh(root) first"
            )


def _checked_step(method: object, h: object) -> float:
    """The step, 0.0 for one that is to be found."""
    if method not in ("central", "forward"):
        raise ValueError(f"method is 'central' or 'forward', not {method!r}")
    if h is None:
        return 0.0
    if not isinstance(h, Real) or isinstance(h, bool):
        raise TypeError(f"the step h is a positive number, not {type(h).__name__}")
    step = float(h)
    if not 0.0 < step < math.inf:
        raise ValueError(f"the step h is a positive number, not {h!r}")
    return step
