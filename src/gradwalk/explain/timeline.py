"""A timeline of a program's `backward()` calls, with the gradients that leaves had before each call.

`backward()` adds to `.grad`, so `.grad` also contains the gradients of earlier passes that were not zeroed. The number
of stored graphs and passes is bounded, so a program may call `backward()` any number of times.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy

from gradwalk.explain.node_names import with_names_as_labels, with_node_names
from gradwalk.explain.variable_names import graph_with_names
from gradwalk.graph.graph import Graph
from gradwalk.graph.grouping import grouping
from gradwalk.graph.json.plain_json import to_number
from gradwalk.graph.record import record_from
from gradwalk.value.source.source_line import SourceLine, users_line
from gradwalk.value.value import Value

_FIRST = 3  # number of first passes whose graphs are kept
_LAST = 200  # number of last passes that are kept
_MOST_BETWEEN = 1000  # maximum number of passes kept between the first and the last
_MOST_NODES = 20_000  # maximum total number of nodes of the kept graphs, not counting the requested graph
_MOST_LEAVES = 20_000  # maximum number of leaves remembered from earlier passes


class Earlier(NamedTuple):
    """A gradient that a leaf had before a pass began.

    Attributes:
        place: The index of the leaf in the graph.
        grad: The value of `.grad` before the pass.
        since: The number of the first pass that contributed to `grad`; 0 if the program assigned `.grad`.
    """

    place: int
    grad: float
    since: int

    @property
    def because(self) -> str:
        """The origin of the gradient in words."""
        return f"not zeroed since pass {self.since}" if self.since else "set by the program"


@dataclass(frozen=True)
class Pass:
    """One `backward()` call of a program.

    Attributes:
        number: The number of the call, counted from 1.
        data: The value of the root, such as a loss.
        nodes: The number of nodes of the graph.
        line: The line that called `backward()`.
        root_line: The line that created the root, or None if it is not known.
        graph: The graph after the call; None if it was not kept.
        earlier: The nonzero gradients of leaves before the call.
    """

    number: int
    data: float
    nodes: int
    line: SourceLine
    root_line: SourceLine | None
    graph: Graph | None = None
    earlier: tuple[Earlier, ...] = ()

    def bare(self) -> Pass:
        """Return the pass without its graph and without `earlier`, whose indices refer to the graph."""
        return replace(self, graph=None, earlier=())

    def with_graph(self, graph: Graph) -> Pass:
        """Return the pass with a transformed graph, such as the result of `opened`.

        The transformed graph must have the same leaves in the same order.
        """
        assert self.graph is not None
        leaves = dict(zip(_leaves(self.graph.offsets), _leaves(graph.offsets), strict=True))
        moved = tuple(kept._replace(place=leaves[kept.place]) for kept in self.earlier)
        return replace(self, graph=graph, nodes=len(graph), earlier=moved)

    def to_dict(self, *, with_graph: bool) -> dict[str, Any]:
        """Return the pass as data in the format of docs/walk.schema.json, with the graph if `with_graph` is true."""
        described: dict[str, Any] = {
            "number": self.number,
            "data": to_number(self.data),
            "nodes": self.nodes,
            "line": _described(self.line),
            "root": _described(self.root_line) if self.root_line else None,
        }
        if self.graph is not None:
            described["earlier"] = [kept._asdict() | {"grad": to_number(kept.grad)} for kept in self.earlier]
            if with_graph:
                named = with_names_as_labels(with_node_names(self.graph))
                described |= {"graph": named.to_dict()} | grouping(self.graph).entry()
        return described


@dataclass(frozen=True)
class Timeline:
    """The passes of a program.

    Attributes:
        count: The number of all passes.
        passes: The kept passes in order: the first passes, the last passes, and some passes between them.
        chosen: The pass to walk through. Its graph was kept.
        counts: A dict from lines that created roots to the number of passes with such a root.
    """

    count: int
    passes: tuple[Pass, ...]
    chosen: Pass
    counts: Mapping[SourceLine | None, int]

    @property
    def graph(self) -> Graph:
        """The graph of the chosen pass."""
        assert self.chosen.graph is not None
        return self.chosen.graph

    @property
    def alike(self) -> tuple[Pass, ...]:
        """The kept passes whose roots were created by the same line as the chosen pass's root."""
        line = self.chosen.root_line
        return tuple(one for one in self.passes if line is not None and one.root_line == line)

    def mapped(self, form: Callable[[Graph], Graph]) -> Timeline:
        """Apply a function such as `opened` to all graphs of the timeline."""
        passes = tuple(one if one.graph is None else one.with_graph(form(one.graph)) for one in self.passes)
        chosen = next(one for one in passes if one.number == self.chosen.number)
        return replace(self, passes=passes, chosen=chosen)

    def to_dict(self) -> dict[str, Any]:
        """Return the timeline as plain data. The graph of the chosen pass is omitted: it is part of the walk."""
        passes = [one.to_dict(with_graph=one is not self.chosen) for one in self.passes]
        return {"pass": self.chosen.number, "calls": self.count, "passes": passes}


class Recorder:
    """An observer for `observed` that records passes. `wanted` is the number of the requested pass (None: the last)."""

    def __init__(self, wanted: int | None = None) -> None:
        self._wanted = wanted
        self._count = 0
        self._counts: Counter[SourceLine | None] = Counter()
        self._kept: dict[int, Pass] = {}  # the first passes and the requested pass
        self._last: deque[Pass] = deque()
        self._between: list[Pass] = []
        self._stride = 1  # difference between consecutive pass numbers in `_between`
        self._files: Mapping[str, str] = {}
        self._after: dict[int, tuple[Any, float, int]] = {}  # leaf id -> (leaf, gradient, first contributing pass)
        self._lock = threading.RLock()

    def __call__(self, root: Value) -> Callable[[], None]:
        """Store the leaf gradients before a sweep, and return a function that records the pass after the sweep."""
        before = {id(leaf): leaf.grad for _, leaf in _leaves_of(root) if leaf.grad != 0.0}
        line = users_line()

        def end() -> None:
            graph = graph_with_names(root)
            leaves = _leaves_of(root)
            with self._lock:
                self._add(graph, line, before, leaves)

        return end

    @property
    def count(self) -> int:
        """The number of passes."""
        return self._count

    def timeline(self) -> Timeline | None:
        """Return the passes, or None if the requested pass does not exist."""
        kept = {one.number: one for one in (*self._between, *self._last, *self._kept.values())}
        chosen = kept.get(self._wanted or self._count)
        if chosen is None or chosen.graph is None:
            return None
        return Timeline(self._count, tuple(kept[number] for number in sorted(kept)), chosen, self._counts)

    def _add(self, graph: Graph, line: SourceLine, before: Mapping[int, float], leaves: list[tuple[int, Any]]) -> None:
        """Add a pass, and drop passes and graphs beyond the limits."""
        self._count += 1
        if graph.files == self._files:
            graph = replace(graph, files=self._files)  # all passes share one copy of the source text
        self._files = graph.files
        earlier = self._earlier(before, leaves)
        root = graph.sources.get(graph.root)
        new = Pass(self._count, float(graph.data[graph.root]), len(graph), line, root, graph, earlier)
        self._counts[root] += 1
        if new.number == self._wanted or (
            new.number <= _FIRST and _nodes([*self._kept.values(), new]) <= _MOST_NODES // 2
        ):
            self._kept[new.number] = new
        self._last.append(new)
        if len(self._last) > _LAST:
            self._thin(self._last.popleft())
        self._drop_graphs()

    def _earlier(self, before: Mapping[int, float], leaves: list[tuple[int, Any]]) -> tuple[Earlier, ...]:
        """Return the nonzero gradients that leaves had before this pass. Store the leaf gradients after this pass."""
        found = []
        for place, leaf in leaves:
            grad = before.get(id(leaf), 0.0)
            _, after, since = self._after.pop(id(leaf), (None, 0.0, 0))
            if grad == 0.0:
                since = self._count
            else:
                since = since if after == grad or (math.isnan(after) and math.isnan(grad)) else 0
                found.append(Earlier(place, grad, since))
            if leaf.grad != 0.0:
                self._after[id(leaf)] = leaf, leaf.grad, since
        while len(self._after) > max(_MOST_LEAVES, len(leaves)):
            del self._after[next(iter(self._after))]
        return tuple(found)

    def _thin(self, old: Pass) -> None:
        """Keep an old pass without its graph if the stride selects it. Double the stride if too many are kept."""
        if (old.number - 1) % self._stride == 0:
            self._between.append(old.bare())
        if len(self._between) > _MOST_BETWEEN:
            self._stride *= 2
            self._between = [one for one in self._between if (one.number - 1) % self._stride == 0]

    def _drop_graphs(self) -> None:
        """Drop the oldest graphs of the last passes until the remaining graphs have at most `_MOST_NODES` nodes."""
        nodes = _nodes(self._last) - self._last[-1].nodes
        for i in range(len(self._last) - 1):
            if nodes <= _MOST_NODES:
                break
            if self._last[i].graph is not None:
                nodes -= self._last[i].nodes
                self._last[i] = self._last[i].bare()


def _nodes(passes: Iterable[Pass]) -> int:
    """Count the nodes of the kept graphs."""
    return sum(one.nodes for one in passes if one.graph is not None)


def _leaves(offsets: Any) -> list[int]:
    found: list[int] = numpy.flatnonzero(numpy.diff(offsets) == 0).tolist()
    return found


def _leaves_of(root: Value) -> list[tuple[int, Any]]:
    """Return the leaves of a root's graph with their indices."""
    nodes = record_from([root], 0)
    return [(index, nodes.noted[index]) for index in _leaves(nodes.offsets)]


def _described(line: SourceLine) -> dict[str, Any]:
    return {"file": line.filename, "line": line.number} | ({"text": line.text} if line.text else {})
