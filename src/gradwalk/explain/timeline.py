"""Every `backward()` of a program as a pass on a timeline, with the gradients that leaves had before it.

`backward()` adds to `.grad`, so a program sees the gradient of a pass and of those before it that were not zeroed. Only
some graphs are kept, so that a program may call `backward()` as often as it likes.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy

from gradwalk.graph.graph import Graph
from gradwalk.graph.json.plain_json import to_number
from gradwalk.graph.record import record_from
from gradwalk.value.source.source_line import SourceLine, users_line
from gradwalk.value.value import Value

_FIRST = 3  # passes whose graphs are kept, from the first on
_LAST = 200  # passes that are all kept, up to the last
_MOST_BETWEEN = 1000  # other passes
_MOST_NODES = 20_000  # of the graphs that are kept, besides the one that is asked for
_MOST_LEAVES = 20_000  # that are remembered from earlier passes


class Earlier(NamedTuple):
    """A gradient that a leaf had before a pass began.

    Attributes:
        place: The index of the leaf in the graph.
        grad: What `.grad` was.
        since: The number of the first of the passes that it comes from; 0 if it does not come from passes alone.
    """

    place: int
    grad: float
    since: int

    @property
    def because(self) -> str:
        """Where it comes from, in words."""
        return f"not zeroed since pass {self.since}" if self.since else "set by the program"


@dataclass(frozen=True)
class Pass:
    """One `backward()` of a program.

    Attributes:
        number: Which one, counted from 1.
        data: The number of the root, such as a loss.
        nodes: How many nodes its graph has.
        line: The line that called `backward()`.
        root_line: The line that made the root, if it is known.
        graph: The graph just after the sweep; None if it was not kept.
        earlier: The gradients, other than 0, that leaves of the graph had before the sweep.
    """

    number: int
    data: float
    nodes: int
    line: SourceLine
    root_line: SourceLine | None
    graph: Graph | None = None
    earlier: tuple[Earlier, ...] = ()

    def bare(self) -> Pass:
        """Return the pass without its graph and what refers to that."""
        return replace(self, graph=None, earlier=())

    def with_graph(self, graph: Graph) -> Pass:
        """Return the pass with its graph in another form, which has the same leaves in the same order.

        Args:
            graph: The other form, such as `opened` makes.
        """
        assert self.graph is not None
        leaves = dict(zip(_leaves(self.graph.offsets), _leaves(graph.offsets), strict=True))
        moved = tuple(kept._replace(place=leaves[kept.place]) for kept in self.earlier)
        return replace(self, graph=graph, nodes=len(graph), earlier=moved)

    def to_dict(self, *, with_graph: bool) -> dict[str, Any]:
        """Describe the pass as plain data, by docs/walk.schema.json.

        Args:
            with_graph: Whether the graph, if it was kept, is a part of it.
        """
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
                described["graph"] = self.graph.to_dict()
        return described


@dataclass(frozen=True)
class Timeline:
    """The passes of a program.

    Attributes:
        count: How many there were.
        passes: Those that were kept, in order: the first, the last, and some between.
        chosen: The one to walk through; it has a graph.
        counts: How many passes have a root made by each line.
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
        """The passes, of those that were kept, whose roots the same line made as the chosen one's."""
        line = self.chosen.root_line
        return tuple(one for one in self.passes if line is not None and one.root_line == line)

    def mapped(self, form: Callable[[Graph], Graph]) -> Timeline:
        """Return the timeline with all graphs in another form.

        Args:
            form: What makes the other form of a graph, such as `opened`.
        """
        passes = tuple(one if one.graph is None else one.with_graph(form(one.graph)) for one in self.passes)
        chosen = next(one for one in passes if one.number == self.chosen.number)
        return replace(self, passes=passes, chosen=chosen)

    def to_dict(self) -> dict[str, Any]:
        """Describe the timeline as plain data; the graph of the chosen pass is the walk's own, and left out."""
        passes = [one.to_dict(with_graph=one is not self.chosen) for one in self.passes]
        return {"pass": self.chosen.number, "calls": self.count, "passes": passes}


class Recorder:
    """Records passes: an observer for `observed`.

    Args:
        wanted: The number of the pass whose graph is wanted; the last if None.
    """

    def __init__(self, wanted: int | None = None) -> None:
        self._wanted = wanted
        self._count = 0
        self._counts: Counter[SourceLine | None] = Counter()
        self._kept: dict[int, Pass] = {}  # the first ones, and the one that is wanted
        self._last: deque[Pass] = deque()
        self._between: list[Pass] = []
        self._stride = 1  # between passes in `_between`
        self._files: Mapping[str, str] = {}
        self._after: dict[int, tuple[Any, float, int]] = {}  # by id: a leaf, its gradient, and since when it grows
        self._lock = threading.RLock()

    def __call__(self, root: Value) -> Callable[[], None]:
        """Note the gradients before a sweep, and return what records the pass after it."""
        before = {id(leaf): leaf.grad for _, leaf in _leaves_of(root) if leaf.grad != 0.0}
        line = users_line()

        def end() -> None:
            graph = Graph.record(root)
            leaves = _leaves_of(root)
            with self._lock:
                self._add(graph, line, before, leaves)

        return end

    @property
    def count(self) -> int:
        """How many passes there were."""
        return self._count

    def timeline(self) -> Timeline | None:
        """Return the passes; None if there was none, or not the wanted one."""
        kept = {one.number: one for one in (*self._between, *self._last, *self._kept.values())}
        chosen = kept.get(self._wanted or self._count)
        if chosen is None or chosen.graph is None:
            return None
        return Timeline(self._count, tuple(kept[number] for number in sorted(kept)), chosen, self._counts)

    def _add(self, graph: Graph, line: SourceLine, before: Mapping[int, float], leaves: list[tuple[int, Any]]) -> None:
        """Keep a pass, and let go of others."""
        self._count += 1
        if graph.files == self._files:
            graph = replace(graph, files=self._files)  # one copy of the text for all passes
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
        """Return what leaves had before this pass, and remember what they have after it."""
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
        """Keep the summary of an old pass, or of every second of them where there are many."""
        if (old.number - 1) % self._stride == 0:
            self._between.append(old.bare())
        if len(self._between) > _MOST_BETWEEN:
            self._stride *= 2
            self._between = [one for one in self._between if (one.number - 1) % self._stride == 0]

    def _drop_graphs(self) -> None:
        """Drop the oldest graphs of the last passes until the others have few enough nodes."""
        nodes = _nodes(self._last) - self._last[-1].nodes
        for i in range(len(self._last) - 1):
            if nodes <= _MOST_NODES:
                break
            if self._last[i].graph is not None:
                nodes -= self._last[i].nodes
                self._last[i] = self._last[i].bare()


def _nodes(passes: Iterable[Pass]) -> int:
    """Count the nodes of the graphs that are kept."""
    return sum(one.nodes for one in passes if one.graph is not None)


def _leaves(offsets: Any) -> list[int]:
    found: list[int] = numpy.flatnonzero(numpy.diff(offsets) == 0).tolist()
    return found


def _leaves_of(root: Value) -> list[tuple[int, Any]]:
    """Return the leaves that a root was made from, with their indices in its graph."""
    nodes = record_from([root], 0)
    return [(index, nodes.noted[index]) for index in _leaves(nodes.offsets)]


def _described(line: SourceLine) -> dict[str, Any]:
    return {"file": line.filename, "line": line.number} | ({"text": line.text} if line.text else {})
