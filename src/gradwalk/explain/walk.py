"""`walk(root)`: show step by step how gradients are computed, in a correct or a wrong order."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gradwalk.base.cached import cached_property
from gradwalk.explain import report
from gradwalk.explain.draw.animation import Film
from gradwalk.explain.draw.diagram import Moment
from gradwalk.explain.draw.draw import Drawing, draw, overview
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.draw.svg import Theme
from gradwalk.explain.findings.find import explained
from gradwalk.explain.findings.structure import Finding
from gradwalk.explain.findings.summary import Summary
from gradwalk.explain.lost_gradients import WrongGradient, is_legal, legal_orders, lost_contributions, wrong_gradients
from gradwalk.explain.node_names import with_names_as_labels, with_node_names
from gradwalk.explain.page.static import static_html
from gradwalk.explain.passes import (
    BackwardStep,
    ForwardStep,
    backward_steps,
    forward_steps,
    gradients,
    not_swept,
    swept,
)
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.variable_names import graph_with_names
from gradwalk.explain.visit_order import visit_order
from gradwalk.graph.boxes import boxes
from gradwalk.graph.graph import Graph
from gradwalk.graph.grouping import grouping
from gradwalk.graph.json.plain_json import as_json, plain
from gradwalk.value.value import Value

if TYPE_CHECKING:
    from gradwalk.explain.page.notebook import WalkWidget

VERSION = 1  # version of the JSON format

_Bundle = dict[str, Any]  # maps MIME types to representations for a notebook

_LONGEST_FILM = 60  # maximum number of nodes for a film
_LARGEST_PICTURE = 60  # maximum number of nodes that a picture in a notebook shows one by one
# Graphs with more nodes use the column format and, in notebooks without widgets, are shown without the steps in words.
_LARGEST_TOLD = 2_000


@dataclass(frozen=True, repr=False)
class Walk:
    """The forward and backward pass over a graph, step by step. It prints as text and displays itself in notebooks.

    A contribution that arrives at a node after the node was visited is lost. (In a program the contribution may still
    be added to `.grad`, but it is not propagated further.)

    Attributes:
        graph: The graph.
        order: The node indices in the order in which the backward pass visits them.
        overwrite: Whether contributions replace earlier gradients (`=`) instead of being added to them (`+=`).
    """

    graph: Graph
    order: tuple[int, ...]
    overwrite: bool

    @cached_property
    def forward(self) -> tuple[ForwardStep, ...]:
        """The forward pass: one step for each node, operands before results."""
        return forward_steps(self.graph)

    @cached_property
    def backward(self) -> tuple[BackwardStep, ...]:
        """The backward pass: one step for each node, with the contributions to its operands."""
        return backward_steps(self.graph, self.order, self.overwrite)

    @cached_property
    def steps(self) -> tuple[ForwardStep | BackwardStep, ...]:
        """The forward steps followed by the backward steps."""
        return (*self.forward, *self.backward)

    @cached_property
    def gradients(self) -> dict[str, float]:
        """A dict from node names to the gradients computed in this walk; 0 for nodes that receive no gradient."""
        return {step.name: step.upstream for step in self.backward} | self._not_visited

    @cached_property
    def right_gradients(self) -> dict[str, float]:
        """A dict from node names to the correct gradients."""
        right = gradients(self.graph)
        return {self.graph.names[index]: right[index] for index in self.order} | self._not_visited

    @cached_property
    def _not_visited(self) -> dict[str, float]:
        """A dict from the names of the nodes that receive no gradient to 0."""
        return {node.name: 0.0 for node in not_swept(self.graph)}

    @cached_property
    def wrong(self) -> tuple[WrongGradient, ...]:
        """The nodes with a wrong gradient, each with the lost contributions; empty for a correct walk."""
        if self.is_legal and not self.overwrite:
            return ()
        return wrong_gradients(self.graph, self.backward, gradients(self.graph), self.overwrite)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The problems found in the graph, each with a sentence; empty if there are none.

        They are: values that are stale, because the program has changed a leaf since the graph was computed; values and
        gradients that are nan or infinite; ReLU units that are 0 in all samples; parameters that
        no gradient reaches; gradients of the first layer or time step whose mean absolute value is below 0.001 times,
        or above 1000 times, the mean of the last layer or time step; and inner tanh or sigmoid units whose derivative
        is below 0.01 in more than half of the samples. The correct gradients are used, whatever the order of this walk.
        """
        return self._explained[0]

    @cached_property
    def _explained(self) -> tuple[tuple[Finding, ...], Summary]:
        """The findings and the summary of the graph."""
        return explained(self.graph)

    @cached_property
    def is_legal(self) -> bool:
        """Whether the order visits every node after all nodes that use it."""
        return is_legal(self.graph, self.order)

    @cached_property
    def legal_orders(self) -> int | None:
        """The number of legal orders; None if there are too many to count."""
        return legal_orders(self.graph, self.order)

    def start(self) -> Cursor:
        """Return a cursor before the first step.

        Example:
            >>> walk(Value(2.0, label="a")).start().next().sentence
            'a is given: 2'
        """
        return Cursor(self, 0)

    def end(self) -> Cursor:
        """Return a cursor after the last step.

        Example:
            >>> walk(Value(2.0) * 3.0).end().position
            4
        """
        return Cursor(self, len(self.steps))

    def moment(self, position: int) -> Moment:
        """Return the state after the first `position` steps.

        Args:
            position: A number of steps, from 0 to `len(walk.steps)`.

        Returns:
            The nodes with known values, the gradients so far, and the contributions made and lost so far.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).moment(1).caption
            'a is given: 2'
        """
        taken = self.steps[:position]
        known = frozenset(step.place for step in taken if isinstance(step, ForwardStep))
        contributions: dict[tuple[int, int], float] = {}
        backward = [step for step in taken if isinstance(step, BackwardStep)]
        gradients = {self.graph.root: 1.0} if backward else {}  # the seed, even if a wrong order visits the root late
        for step in backward:
            gradients.setdefault(step.place, step.upstream)
            for given in step.contributions:
                gradients[given.place] = given.after
                contributions[step.place, given.position] = given.amount
        lost = frozenset((loss.giver, loss.position) for loss in lost_contributions(backward, self.overwrite))
        active = taken[-1].place if taken else None
        caption = taken[-1].sentence if taken else "Nothing is known yet."
        return Moment(known, gradients, contributions, lost, active, caption)

    @property
    def _end(self) -> Moment:
        """The state after the last step, without a caption."""
        return replace(self.moment(len(self.steps)), caption="", active=None)

    def draw(self, *, theme: Theme = "auto", rankdir: str = "LR") -> Drawing:
        """Draw the graph with the gradients of this walk. The edges of lost contributions are dashed.

        Args:
            theme: "light", "dark", or "auto" for the viewer's preference.
            rankdir: "LR" for left to right, "TB" for top to bottom.

        Returns:
            The drawing, which displays itself in notebooks and can be saved.

        Raises:
            ValueError: `theme` or `rankdir` is invalid.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).draw().svg[:4]
            '<svg'
        """
        return draw(self.graph, theme=theme, rankdir=rankdir, moment=self._end)

    def film(self, *, seconds: float = 2.0, theme: Theme = "auto") -> Film:
        """Draw a picture after every step, except the steps of leaves.

        Args:
            seconds: Duration of each picture in seconds, from 0.02 to 60.
            theme: "light", "dark", or "auto" for the viewer's preference.

        Returns:
            The film, which plays in notebooks and can be saved. Its last picture shows the end of the walk.

        Raises:
            PictureError: The graph has more than 60 nodes.
            ValueError: `seconds` is out of range.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).film(seconds=1.0)
            <Film of 3 pictures of <Graph of 2 nodes to a * a>>
        """
        if not 0.02 <= seconds <= 60.0:
            raise ValueError(f"seconds must be from 0.02 to 60, got {seconds!r}")
        if len(self.graph) > _LONGEST_FILM:
            raise PictureError(f"a film can show a graph of at most {_LONGEST_FILM} nodes, got {len(self.graph)} nodes")
        last = len(self.steps)
        positions = [i + 1 for i, step in enumerate(self.steps) if not self.graph.nodes[step.place].is_leaf]
        return Film(self.graph, [self.moment(i) for i in dict.fromkeys([*positions, last])], seconds, theme)

    def essence(self) -> dict[str, Any]:
        """Return the data that determine the walk, in JSON form. The page computes the steps from these data.

        Returns:
            A dictionary with the keys "gradwalk", "version", "graph", "order", "overwrite" and "files", with nan and
            inf as strings. A graph of more than 2,000 nodes is in the format of `Graph.to_columns`. If the graph has
            modules, samples or time steps, the key "groups" has the module and the sample of each node, and the key
            "overview" has a picture of the modules. If there are findings, the key "findings" has them. The key
            "summary" has facts about a graph of more than 60 nodes.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).essence()["order"]
            [1, 0]
        """
        is_large = len(self.graph) > _LARGEST_TOLD
        graph = with_names_as_labels(self.graph)
        divided = boxes(self.graph)
        groups = divided.grouping if divided else grouping(self.graph)
        is_right = self.is_legal and not self.overwrite
        told = {"findings": plain([finding._asdict() for finding in self.findings])} if self.findings else {}
        summary = self._explained[1]
        if len(self.graph) > report.LARGEST_TREE:
            parts = {key: [one._asdict() for one in getattr(summary, key)] for key in ("largest", "zeros")}
            told["summary"] = plain(summary._asdict() | parts)
        return {
            "gradwalk": "walk",
            "version": VERSION,
            "graph": graph.to_columns() if is_large else graph.to_dict(),
            "order": list(self.order),
            "overwrite": self.overwrite,
            "files": dict(self.graph.files),
            **groups.entry(),
            **(overview(self.graph, divided, is_right) if divided else {}),
            **told,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the walk with its steps and gradients as plain data, with nan and inf as strings.

        Returns:
            The result of `essence`, with the graph in the format of `Graph.to_dict`, and with further keys for the
            steps of both passes, the gradients of the walk, the correct gradients, and the losses.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).to_dict()["gradients"]
            {'a * a': 1.0, 'a': 4.0}
        """
        derived = {
            "legal": self.is_legal,
            "legal_orders": self.legal_orders,
            "forward": [step._asdict() for step in self.forward],
            "backward": [
                step._asdict() | {"contributions": [given._asdict() for given in step.contributions]}
                for step in self.backward
            ],
            "gradients": self.gradients,
            "right_gradients": self.right_gradients,
            "wrong": [
                wrong._asdict() | {"losses": [loss._asdict() | {"sentence": loss.sentence} for loss in wrong.losses]}
                for wrong in self.wrong
            ],
        }
        plain_data: dict[str, Any] = plain(derived)
        return self.essence() | {"graph": with_names_as_labels(self.graph).to_dict()} | plain_data

    def to_json(self) -> str:
        """Return the result of `to_dict` as indented JSON text, in the format of docs/walk.schema.json.

        Example:
            >>> import json
            >>> a = Value(2.0, label="a")
            >>> json.loads(walk(a * a).to_json())["gradients"]["a"]
            4.0
        """
        return as_json(self.to_dict())

    def __str__(self) -> str:
        stream = io.StringIO()
        self.print(Terminal(stream))
        return stream.getvalue()

    def print(self, terminal: Terminal) -> None:
        """Print the graph, both passes, and the gradients with their losses to a terminal."""
        report.print_graph(terminal, self.graph)
        report.print_summary(terminal, self.graph, self._explained[1])
        report.print_findings(terminal, self.findings)
        report.print_forward(terminal, self.forward)
        report.print_backward(terminal, self.backward)
        if self.is_legal and not self.overwrite:
            report.print_gradients(terminal, self.graph, self.backward)
        else:
            report.print_wrong(terminal, self.backward, self.right_gradients, self.wrong)
        if not self.is_legal:
            count = "many" if self.legal_orders is None else f"{self.legal_orders:,}"
            legal = "There is 1 legal order." if count == "1" else f"There are {count} legal orders."
            terminal.heading(f"This order is not legal: a node has to come after all nodes that use it. {legal}")

    def __repr__(self) -> str:
        return f"<Walk over {self.graph!r}>"

    def widget(self) -> WalkWidget:
        """Return a notebook widget that shows the page of this walk. Its attribute `state` holds the page's state.

        A walk on the last line of a notebook cell displays its widget automatically, without a call to this method.

        Raises:
            ModuleNotFoundError: anywidget is not installed.
        """
        from gradwalk.explain.page.notebook import WalkWidget  # anywidget takes longer to import than gradwalk

        return WalkWidget(self.essence())

    def _ipython_display_(self) -> None:
        """Display the widget and, for viewers without widgets, HTML."""
        if not (_has_widgets() and _has_front_end()):
            raise NotImplementedError  # IPython then calls _repr_mimebundle_
        from gradwalk.explain.page.notebook import show

        show(self.essence(), self._html(), self._text(), repr(self))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> _Bundle:
        return {"text/html": self._html(), "text/plain": self._text()}

    def _text(self) -> str:
        """Return all steps as text, or a short description of a large graph."""
        return str(self) if len(self.graph) <= _LARGEST_TOLD else repr(self)

    def _display_(self) -> object:
        """Return the object that marimo displays."""
        return self.widget() if _has_widgets() else _Still(self._html())

    def _html(self) -> str:
        """Return HTML with a picture and the steps in words.

        For a large graph, return only a picture of its modules and the findings.
        """
        lists = {"What to look at": [finding.sentence for finding in self.findings]} if self.findings else {}
        if len(self.graph) > _LARGEST_TOLD:
            return static_html(draw(self.graph).svg, lists)
        picture = draw(self.graph, moment=self._end, max_nodes=_LARGEST_PICTURE).svg
        lists |= {
            "Forward": [step.sentence for step in self.forward],
            "Backward": [step.sentence for step in self.backward],
        }
        if self.wrong:
            lists["Wrong gradients"] = [wrong.sentence for wrong in self.wrong]
        return static_html(picture, lists)


class Cursor:
    """A position between two steps of a walk.

    Attributes:
        walk: The walk.
        position: The number of steps taken.

    Example:
        >>> a = Value(2.0, label="a")
        >>> cursor = walk(a * a).start()
        >>> cursor.next().sentence
        'a is given: 2'
        >>> cursor.back().sentence, cursor.back()
        ('a is given: 2', None)
    """

    def __init__(self, walk: Walk, position: int) -> None:
        self.walk = walk
        self.position = position

    def next(self) -> ForwardStep | BackwardStep | None:
        """Take the next step.

        Returns:
            The step; None at the end of the walk.

        Example:
            >>> cursor = walk(Value(2.0, label="a")).start()
            >>> cursor.next().sentence, cursor.position
            ('a is given: 2', 1)
        """
        if self.position == len(self.walk.steps):
            return None
        self.position += 1
        return self.walk.steps[self.position - 1]

    def back(self) -> ForwardStep | BackwardStep | None:
        """Undo the last step.

        Returns:
            The undone step; None at the start of the walk.

        Example:
            >>> cursor = walk(Value(2.0, label="a")).end()
            >>> cursor.back().name, cursor.position
            ('a', 1)
        """
        if self.position == 0:
            return None
        self.position -= 1
        return self.walk.steps[self.position]

    @property
    def moment(self) -> Moment:
        """The state of the walk at this position."""
        return self.walk.moment(self.position)


def walk(root: Value | Graph, order: Iterable[Value | str] | None = None, *, overwrite: bool = False) -> Walk:
    """Walk through the computation of a Value: forward, then backward, one step for each node.

    The Values and their gradients are not changed.

    Args:
        root: The Value to differentiate, or a Graph with one root.
        order: The nodes or their names, in the order in which the backward pass visits them; by default, the order of
            `Value.backward`.
        overwrite: Whether to write contributions with `=` instead of `+=`.

    Returns:
        The walk, which can be printed, drawn, stepped through, and displayed in a notebook.

    Raises:
        OrderError: The order repeats or omits nodes, or contains nodes that cannot be visited.
        TypeError: `root` is not a Value or Graph, or `order` is not a list of Values and names.
        ValueError: The graph has several roots.

    Example:
        >>> a = Value(3.0, label="a")
        >>> b = a + a
        >>> walk(b).gradients["a"], walk(b, overwrite=True).gradients["a"]
        (2.0, 1.0)
    """
    graph = with_node_names(graph_with_names(root))
    reached = swept(graph)
    return Walk(graph, reached if order is None else visit_order(root, graph, order, reached), overwrite)


def _has_widgets() -> bool:
    return find_spec("anywidget") is not None


def _has_front_end() -> bool:
    """Return whether IPython runs in a front end that displays HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "text/html" in shell.display_formatter.active_types


@dataclass(frozen=True)
class _Still:
    """An object with HTML for marimo, which does not support MIME bundles."""

    html: str

    def _repr_html_(self) -> str:
        return self.html
