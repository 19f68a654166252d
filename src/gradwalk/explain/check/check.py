"""`check(root)` and `gradcheck(f, ...)`: compare every gradient with a difference quotient."""

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

from gradwalk.base.array_types import Floats
from gradwalk.explain.check.error_bounds import EPSILON, gradient_errors, noise_weights
from gradwalk.explain.check.finite_differences import Method, Noisy, Slope, quotient, slope
from gradwalk.explain.node_names import with_node_names
from gradwalk.explain.passes import checkable, gradients, passing, swept
from gradwalk.explain.report import LONGEST, print_rest
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.variable_names import graph_with_names
from gradwalk.graph.graph import Graph
from gradwalk.graph.json.plain_json import as_json, plain
from gradwalk.graph.node import Node
from gradwalk.graph.reevaluate import Reevaluator
from gradwalk.ops.table import BY_NAME
from gradwalk.trees.tree import Parameters, TreeDef, flatten, scalars, tupled
from gradwalk.value.modes import source_lines
from gradwalk.value.source.source_line import SourceLine
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_TOLERANCE = 1e-7  # relative difference that is accepted in addition to the error bounds
_KINK_SLACK = 1e-3  # tolerance at a kink, as a fraction of the gap between the two slopes
_NOT_RUN_AGAIN = {
    "by hand": "hand-made nodes",
    "stored": "nodes with stored local derivatives, which cannot be recomputed",
}
_COMPARISONS = {BY_NAME[name].symbol for name in ("less", "less_equal", "equal")}
_TOO_VAGUE = 1e-2  # a quotient is inconclusive if its error bound exceeds this fraction of the gradient


class StaleError(ValueError):
    """Raised if the value of a node differs from the result of its operation, so the graph cannot be reevaluated."""


class Checked(NamedTuple):
    """A gradient and the result of its check.

    The verdict is "right" or "wrong", or the reason why the check cannot decide:

    - "kink": the slopes on both sides differ and the gradient lies between them, or a path to the root has a kink,
      where the derivative is a convention.
    - "jump": the root is discontinuous.
    - "rounding": fewer than two digits of the slope are reliable because of rounding errors.
    - "not finite": the gradient or the slope is not finite, or the root is finite on one side only and the slope there
      differs from the gradient.
    - "by hand": a path to the root has a hand-made node, which cannot be recomputed.
    - "stored": a path to the root has a node whose value and local derivatives are stored and cannot be recomputed,
      such as a node of `linalg.solve`.
    - "stopped": gradient and slope differ, and a path to the root has a `stop_gradient`.

    Attributes:
        name: The name of the node (for `check`), or of the number in the arguments (for `gradcheck`).
        operation: The symbol of the node's operation; "" for leaves.
        source: The line of the user's program that created the node, or None if the line is unknown.
        backprop: The gradient computed by backpropagation.
        quotient: The difference quotient.
        bound: A bound on the error of the quotient.
        h: The step size of the quotient.
        verdict: The verdict.
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
        """The absolute difference between the gradient and the quotient."""
        return abs(self.backprop - self.quotient)

    @property
    def relative_error(self) -> float:
        """`error` divided by the larger of |gradient| and |quotient|; 0 if both are 0."""
        size = max(abs(self.backprop), abs(self.quotient))
        return self.error / size if size else 0.0

    def cells(self) -> list[str]:
        """Return the cells of this row in the printed table."""
        line = f"{Path(self.source.filename).name}:{self.source.number}" if self.source else ""
        numbers = [f"{self.backprop:.10g}", f"{self.quotient:.10g}", f"{self.error:.1e}"]
        return [self.name, self.operation, *numbers, self.verdict, line]

    def __str__(self) -> str:
        made = f" ({self.operation})" if self.operation else ""
        line = f", {self.source}" if self.source else ""
        return f"{self.name}{made}, {self.verdict}, off by {self.relative_error:.1e} of its gradient{line}"


class Culprit(NamedTuple):
    """A wrong local derivative of a node with respect to one of its operands.

    Attributes:
        name: The name of the node.
        operation: The symbol of the node's operation.
        source: The line of the user's program that created the node, or None if the line is unknown.
        operand: The name of the operand.
        local: The derivative recorded in the graph.
        quotient: The difference quotient.
    """

    name: str
    operation: str
    source: SourceLine | None
    operand: str
    local: float
    quotient: float

    def __str__(self) -> str:
        line = f", {self.source}" if self.source else ""
        return (
            f"d {self.name} / d {self.operand} is {self.local!r} and should be about {self.quotient:.10g}:"
            f" the derivative of {self.operation} is wrong{line}"
        )


@dataclass(frozen=True, repr=False)
class Check:
    """The result of a check. It is truthy if no gradient is wrong, and prints as a table.

    Attributes:
        rows: The checked gradients: one per node for `check`, one per number for `gradcheck`.
        culprits: The wrong local derivatives that cause the wrong gradients.
    """

    rows: tuple[Checked, ...]
    culprits: tuple[Culprit, ...]

    @property
    def ok(self) -> bool:
        """Whether no gradient is wrong."""
        return not any(row.verdict == "wrong" for row in self.rows)

    @property
    def worst(self) -> Checked | None:
        """The wrong row with the largest relative error. If no row is wrong, the right row with the largest error."""
        wanted = "right" if self.ok else "wrong"
        return max(
            (row for row in self.rows if row.verdict == wanted), key=lambda row: row.relative_error, default=None
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the check as data that JSON can represent, with nan and inf as strings.

        Returns:
            A dictionary with the keys "gradwalk", "ok", "rows" and "culprits". Each row and each culprit is a
            dictionary of its fields.

        Example:
            >>> a = Value(2.0, label="a")
            >>> [(row["name"], row["verdict"]) for row in check(a * a).to_dict()["rows"]]
            [('a', 'right'), ('a * a', 'right')]
        """
        rows = [row._asdict() | {"error": row.error} for row in self.rows]
        culprits = [culprit._asdict() for culprit in self.culprits]
        described: dict[str, Any] = plain({"gradwalk": "check", "ok": self.ok, "rows": rows, "culprits": culprits})
        return described

    def to_json(self) -> str:
        """Return the result of `to_dict` as indented JSON text.

        Example:
            >>> import json
            >>> json.loads(check(Value(2.0).tanh()).to_json())["ok"]
            True
        """
        return as_json(self.to_dict())

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        stream = io.StringIO()
        self.print(Terminal(stream))
        return stream.getvalue()

    def print(self, terminal: Terminal) -> None:
        """Print the table, the worst row, and the wrong local derivatives to a terminal."""
        terminal.heading("Check: gradients compared with finite differences")
        columns = ("node", "operation", "backprop", "quotient", "error", "verdict", "line")
        with_lines = any(row.source for row in self.rows)
        cells = [row.cells()[: None if with_lines else -1] for row in self.rows[:LONGEST]]
        terminal.table(columns[: None if with_lines else -1], cells)
        print_rest(terminal, len(self.rows))
        if self.worst is not None:
            terminal.line(f"worst: {self.worst}")
        for culprit in self.culprits:
            terminal.line(f"to blame: {culprit}")
        for verdict, nodes in _NOT_RUN_AGAIN.items():
            count = sum(row.verdict == verdict for row in self.rows)
            if count:
                terminal.line(
                    f"not checked: {count} with a path to the root through {nodes}; gradcheck(f, ...) checks them by "
                    "calling f"
                )

    def __repr__(self) -> str:
        wrong = sum(row.verdict == "wrong" for row in self.rows)
        return f"<Check of {len(self.rows)} gradients: {f'{wrong} wrong' if wrong else 'none wrong'}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self)}


def check(root: Value | Graph, *, method: Method = "central", h: float | None = None) -> Check:
    """Compare the gradient of every node of a graph, leaf or not, with a finite difference.

    A difference is computed by perturbing the value of a node and recomputing the root. The Values and their gradients
    do not change. The gradient of a node that receives no gradient, such as the operand of `floor`, counts as 0. A node
    that is used only as the condition of a `where` or the index of a `take` is not checked.

    Args:
        root: The Value whose graph is checked, or a Graph with one root.
        method: "central" or "forward" differences.
        h: The step size of the quotients. By default, a suitable step size is found for each node.

    Returns:
        A `Check`, which is truthy if no gradient is wrong.

    Raises:
        StaleError: The value of a node differs from the result of its operation, for example because the node's `.data`
            was set later, so the graph cannot be reevaluated.
        TypeError: `h` is not a number.
        ValueError: `h` is not positive, or `method` is invalid.

    Example:
        >>> a, b = Value(2.0, label="a"), Value(-3.0, label="b")
        >>> found = check(a * b + a)
        >>> found.ok, [row.name for row in found.rows]
        (True, ['a', 'b', 'a * b', 'a*b + a'])
    """
    step = _checked_step(method, h)
    return _GraphChecker(with_node_names(graph_with_names(root)), method, step).check()


def gradcheck(f: Callable[..., Any], *args: Any, method: Method = "central", h: float | None = None) -> Check:
    """Compare the gradient of a function with finite differences: one difference per number in the arguments.

    Args:
        f: A function that takes Values and returns a Value. It is called many times. If it returns a plain number, its
            derivatives count as 0.
        *args: The arguments: numbers, or nested lists, tuples, dicts and arrays of numbers.
        method: "central" or "forward" differences.
        h: The step size of the quotients. By default, a suitable step size is found for each number.

    Returns:
        A `Check`, which is truthy if no gradient is wrong.

    Raises:
        TypeError: `f` does not return a number, an argument contains something other than numbers, or `h` is not a
            number.
        ValueError: `h` is not positive, or `method` is invalid.

    Example:
        >>> assert gradcheck(lambda x, y: (x * y).tanh(), 0.5, 2.0)
    """
    step = _checked_step(method, h)
    if not callable(f):
        raise TypeError(
            f"the first argument of gradcheck must be a function, followed by its arguments; got {type(f).__name__}"
        )
    named, treedef = _named_numbers(f, args)
    with source_lines():
        values = [Value(number, label=name) for name, number in named]
        root = _called(f, treedef, values)
    graph = Graph.record(root)
    indices = {id(value): index for index, value in enumerate(topological_order(root))}
    found = gradients(graph)
    weights, own = noise_weights(graph, found), gradient_errors(graph, found)
    by_backward = _swept_gradients(root, values)
    rows = []
    for i, (name, number) in enumerate(named):

        def nudged(to: float, i: int = i) -> tuple[float, float]:
            numbers = [number for _, number in named]
            numbers[i] = to
            return _noisy(_called(f, treedef, [Value(x) for x in numbers]), weights)

        index = indices.get(id(values[i]))
        known = (by_backward[i], 0.0 if index is None else own[index])
        is_chosen = partial(_is_kink, graph, index)
        about = _About(name, "", values[i].source, *known)
        rows.append(_judged(about, nudged, number, method, step, is_chosen))
    return Check(tuple(rows), ())


def _is_kink(graph: Graph, index: int | None) -> bool:
    """Return whether a check of the graph gives the verdict "kink" for a node."""
    rows = dict(zip(checkable(graph), check(graph).rows, strict=True))
    return index in rows and rows[index].verdict == "kink"


def _swept_gradients(root: Value, values: Sequence[Value]) -> list[float]:
    """Call `backward`, return the gradients of `values`, and restore all `.grad`.

    `backward` itself is called because a hand-made rule may overwrite gradients instead of adding to them.
    """
    nodes = topological_order(root)
    before = [node.grad for node in nodes]
    try:
        root.backward()
        return [value.grad for value in values]
    finally:
        for node, gradient in zip(nodes, before, strict=True):
            node.grad = gradient


def _named_numbers(f: Callable[..., Any], args: Sequence[Any]) -> tuple[list[tuple[str, float]], TreeDef]:
    """Return a (name, number) pair for each number in the arguments, and the treedef of the arguments."""
    names = Parameters(f).first(len(args))
    numbers: list[tuple[str, float]] = []
    treedefs = []
    for name, arg in zip(names, args, strict=True):
        leaves, treedef = flatten(arg, name)
        found = [x.data if isinstance(x, Value) else x for x in scalars(leaves)]
        numbers += zip(treedef.names(name), found, strict=True)
        treedefs.append(treedef)
    return numbers, tupled(treedefs)


def _called(f: Callable[..., Any], treedef: TreeDef, values: Sequence[Value]) -> Value:
    """Call f with Values instead of the numbers in its arguments. A plain number is a result without derivatives."""
    result = f(*treedef.filled(values))
    if isinstance(result, (int, float)):
        return Value(result)
    if not isinstance(result, Value):
        raise TypeError(f"the function of gradcheck must return a number, got {type(result).__name__}")
    return result


def _noisy(root: Value, weights: Floats) -> tuple[float, float]:
    """Return the value of a root and a bound on its rounding error.

    `weights` are the noise weights of an earlier graph. They are recomputed only if the graph of `root` has a different
    number of nodes.
    """
    graph = Graph.record(root)
    if len(graph) != len(weights):
        weights = noise_weights(graph, gradients(graph))
    weighted = weights > 0.0
    return root.data, float(weights[weighted] @ numpy.abs(graph.data[weighted]))


class _About(NamedTuple):
    """A gradient to check, a bound `own` on its rounding error, and the name, operation and source of its node."""

    name: str
    operation: str
    source: SourceLine | None
    gradient: float
    own: float


def _judged(
    about: _About, f: Noisy, x: float, method: Method, h: float, is_chosen: Callable[[], bool] = lambda: False
) -> Checked:
    """Compare a gradient with the slope of f at x.

    `is_chosen` returns whether the gradient depends on the derivative of an operation at a kink, which is only a
    convention. It is called only if the slope is smooth but differs from the gradient. This happens if two kinks
    cancel.
    """
    found = slope(f, x, method)
    verdict = _verdict(about.gradient, found, found.bound + about.own, is_chosen)
    shown = (quotient(f, x, h, method), h) if h else (found.estimate, found.h)
    return Checked(*about[:4], shown[0], found.bound, shown[1], verdict)


def _verdict(gradient: float, found: Slope, bound: float, is_chosen: Callable[[], bool]) -> str:
    """Return the verdict; `bound` limits the sum of the errors of the gradient and of the slope."""
    if found.shape == "undefined":
        return "not finite"
    has_settled = found.shape == "smooth" and found.bound < _TOO_VAGUE * abs(found.estimate)
    if not has_settled and abs(gradient) > 2 * found.steepest > 0.0:
        return "rounding"  # for example sin at 1e99, where the spacing of floats exceeds the period
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


class _GraphChecker:
    """Checks every node of a graph.

    The users of a node are checked before the node, because a kink at a user affects the verdict on the user's
    operands.

    Raises `StaleError` if the value of a node differs from the result of its operation.
    """

    def __init__(self, graph: Graph, method: Method, step: float) -> None:
        self._graph = graph
        self._method = method
        self._step = step
        self._reevaluator = Reevaluator(graph, graph.root)
        self._refuse_stale()
        self._gradients = gradients(graph)
        self._weights = noise_weights(graph, self._gradients)
        self._errors = gradient_errors(graph, self._gradients)
        self._conditions = [x for node in graph.nodes for x in _at_threshold(graph, node)]
        self._stopped = [x for node in graph.nodes if node.row and not node.row.is_exact for x in node.operands]
        self._users = _users(graph)
        self._rows: dict[int, Checked] = {}

    def check(self) -> Check:
        """Check all nodes, except nodes used only as conditions or indices of selections."""
        indices = checkable(self._graph)
        for index in reversed(indices):
            self._rows[index] = self._checked(index)
        rows = {index: self._rows[index] for index in indices}
        return Check(tuple(rows.values()), tuple(self._culprits(rows)))

    def _checked(self, index: int) -> Checked:
        """Check the gradient of one node."""
        node = self._graph.nodes[index]
        about = _About(node.name, node.symbol, node.source, self._gradients[index], self._errors[index])
        blocked = self._reevaluator.select(index)
        if blocked >= 0:
            verdict = "by hand" if self._graph.nodes[blocked].by_hand else "stored"
            return Checked(*about[:4], math.nan, math.inf, 0.0, verdict)
        is_stopped = any(self._reevaluator.depends(operand) for operand in self._stopped)
        is_chosen = partial(self._is_chosen, index) if not is_stopped else lambda: False
        row = _judged(about, self._nudged, node.data, self._method, self._step, is_chosen)
        return row._replace(verdict="stopped") if is_stopped and row.verdict == "wrong" else row

    def _nudged(self, number: float) -> tuple[float, float]:
        """Set the selected node to `number`. Return the root's value, and a bound on the rounding error of the root."""
        return self._reevaluator.root_with(number), self._reevaluator.noise(self._weights)

    def _is_chosen(self, index: int) -> bool:
        """Return whether a path from the selected node to the root has a kink, jump or condition at its threshold."""
        users = self._users[index]
        return (
            any(self._reevaluator.depends(condition) for condition in self._conditions)
            or any(self._rows[user.place].verdict in ("kink", "jump") for user in users)
            or any(self._is_at_kink(user, index) for user in users)
        )

    def _is_at_kink(self, user: Node, operand: int) -> bool:
        """Return whether the operation of `user` has a kink or jump at the current value of an operand."""
        if not user.opcode:
            return False
        return slope(self._local(user, operand), self._graph.nodes[operand].data).shape in ("kink", "jump")

    def _culprits(self, rows: Mapping[int, Checked]) -> Iterator[Culprit]:
        """Yield the wrong local derivatives that explain wrong gradients.

        If a node has a wrong gradient and all its users have correct gradients, the local derivative of a user must be
        wrong. So only the users of such nodes are examined.
        """
        for index, row in rows.items():
            users = self._users[index]
            if row.verdict == "wrong" and not any(rows[user.place].verdict == "wrong" for user in users):
                for user in users:
                    if user.opcode:
                        yield from self._local_culprit(user, index)

    def _local_culprit(self, user: Node, operand: int) -> Iterator[Culprit]:
        """Yield the derivative of `user` with respect to an operand if this derivative is wrong."""
        local = sum(user.partials[position] for position, index in passing(user) if index == operand)
        about = _About(user.name, user.symbol, user.source, local, 0.0)
        row = _judged(about, self._local(user, operand), self._graph.nodes[operand].data, "central", 0.0)
        if row.verdict == "wrong":
            yield Culprit(*about[:3], self._graph.names[operand], local, row.quotient)

    def _local(self, user: Node, operand: int) -> Noisy:
        """Return a function that computes the value of `user` from the value of one of its operands."""
        self._reevaluator.select(operand)

        def nudged(number: float) -> tuple[float, float]:
            result = self._reevaluator.local(user.place, number)
            return result, EPSILON * abs(result)

        return nudged

    def _refuse_stale(self) -> None:
        """Raise `StaleError` if the value of a node differs from the result of its operation."""
        for node in self._graph.nodes:
            again = self._reevaluator.recomputed(node.place)
            if again != node.data and not (math.isnan(again) and math.isnan(node.data)):
                raise StaleError(
                    f"{node.name} is {node.data!r}, but {node.symbol} of its operands is {again!r}: some .data was set"
                    " after it was computed. Call refresh(root) first"
                )


def _at_threshold(graph: Graph, node: Node) -> list[int]:
    """Return the condition operands of a node that are at the threshold where the selection changes.

    The operands of a comparison are at the threshold if they are equal. The result of a comparison is 0 or 1 and does
    not count as at the threshold.
    """
    if node.symbol in _COMPARISONS:
        left, right = [graph.data[x] if isinstance(x, int) else x for x in node.arguments]
        return list(node.condition_operands) if left == right else []
    deciding = [x for x in node.condition_operands if graph.nodes[x].symbol not in _COMPARISONS]
    return [x for x in deciding if graph.data[x] == 0.0]


def _users(graph: Graph) -> list[list[Node]]:
    """Return one list per node of the graph: the nodes that pass a gradient to that node."""
    users: list[list[Node]] = [[] for _ in range(len(graph))]
    for index in swept(graph):
        for operand in dict.fromkeys(operand for _, operand in passing(graph.nodes[index])):
            users[operand].append(graph.nodes[index])
    return users


def _checked_step(method: object, h: object) -> float:
    """Validate `method` and `h`; return the step, or 0.0 if h is None."""
    if method not in ("central", "forward"):
        raise ValueError(f"method must be 'central' or 'forward', got {method!r}")
    if h is None:
        return 0.0
    if not isinstance(h, Real) or isinstance(h, bool):
        raise TypeError(f"the step h must be a positive number, got {type(h).__name__}")
    step = float(h)
    if not 0.0 < step < math.inf:
        raise ValueError(f"the step h must be positive and finite, got {h!r}")
    return step
