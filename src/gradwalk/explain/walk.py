"""`walk(root)`: watch the gradients being made, in the right order or in a wrong one."""

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
from gradwalk.explain.draw.draw import Drawing, draw
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.draw.svg import Theme
from gradwalk.explain.lost_gradients import WrongGradient, is_legal, legal_orders, lost_contributions, wrong_gradients
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
from gradwalk.explain.visit_order import visit_order
from gradwalk.graph.graph import Graph, as_graph
from gradwalk.graph.json.plain_json import as_json, plain
from gradwalk.value.value import Value

if TYPE_CHECKING:
    from gradwalk.explain.page.notebook import WalkWidget

VERSION = 1  # of the JSON form

_Bundle = dict[str, Any]  # what a notebook can show, by MIME type

_LONGEST_FILM = 60  # nodes
_LARGEST_PICTURE = 60  # nodes; larger graphs are not drawn in notebooks
_LARGEST_TOLD = 2_000  # nodes; larger graphs go to the page in columns, and are drawn by module in notebooks without it


@dataclass(frozen=True, repr=False)
class Walk:
    """The forward and the backward pass over a graph, step by step. It prints as text and shows itself in notebooks.

    A node that has been visited is finished: a contribution that comes to it later is lost. (In a program it may still
    land in `.grad`; it is not passed on.)

    Attributes:
        graph: The graph that is walked.
        order: The indices of the nodes in the order in which the backward pass visits them.
        overwrite: Whether a contribution replaces what an operand has, as `=` does, instead of being added to it.
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
        """The backward pass: one step for each node, with its contributions to its operands."""
        return backward_steps(self.graph, self.order, self.overwrite)

    @cached_property
    def steps(self) -> tuple[ForwardStep | BackwardStep, ...]:
        """Both passes, one after the other."""
        return (*self.forward, *self.backward)

    @cached_property
    def gradients(self) -> dict[str, float]:
        """The gradient of every node by name, as this walk computes it: 0 for those that no gradient flows to."""
        return {step.name: step.upstream for step in self.backward} | self._not_visited

    @cached_property
    def right_gradients(self) -> dict[str, float]:
        """The true gradient of every node by name."""
        right = gradients(self.graph)
        return {self.graph.names[index]: right[index] for index in self.order} | self._not_visited

    @cached_property
    def _not_visited(self) -> dict[str, float]:
        """The nodes that no gradient flows to, because all that uses them is flat, with gradients of 0."""
        return {node.name: 0.0 for node in not_swept(self.graph)}

    @cached_property
    def wrong(self) -> tuple[WrongGradient, ...]:
        """The nodes whose gradient is wrong, each with the contributions that were lost. Empty for a right walk."""
        if self.is_legal and not self.overwrite:
            return ()
        return wrong_gradients(self.graph, self.backward, gradients(self.graph), self.overwrite)

    @cached_property
    def is_legal(self) -> bool:
        """Whether the order visits every node after all nodes that it is an operand of."""
        return is_legal(self.graph, self.order)

    @cached_property
    def legal_orders(self) -> int | None:
        """How many legal orders there are; None if there are too many to count."""
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
        """Return what is known after the first `position` steps.

        Args:
            position: The number of steps taken, from 0 to `len(walk.steps)`.

        Returns:
            The nodes that have a number by then, the gradients so far, and which contributions were made or lost.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).moment(1).caption
            'a is given: 2'
        """
        taken = self.steps[:position]
        known = frozenset(step.place for step in taken if isinstance(step, ForwardStep))
        contributions: dict[tuple[int, int], float] = {}
        backward = [step for step in taken if isinstance(step, BackwardStep)]
        gradients = {self.graph.root: 1.0} if backward else {}  # the seed, also where a wrong order comes late to it
        for step in backward:
            gradients.setdefault(step.place, step.upstream)
            for given in step.contributions:
                gradients[given.place] = given.after
                contributions[step.place, given.position] = given.amount
        lost = frozenset((loss.giver, loss.position) for loss in lost_contributions(backward, self.overwrite))
        active = taken[-1].place if taken else None
        caption = taken[-1].sentence if taken else "Nothing is known yet."
        return Moment(known, gradients, contributions, lost, active, caption)

    def draw(self, *, theme: Theme = "auto", rankdir: str = "LR") -> Drawing:
        """Draw the graph with the gradients of this walk; contributions that were lost are dashed.

        Args:
            theme: "light", "dark", or "auto" for what the viewer prefers.
            rankdir: "LR" for left to right, "TB" for top to bottom.

        Returns:
            The drawing, which shows itself in notebooks and can be saved.

        Raises:
            ValueError: An option has none of the values above.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).draw().svg[:4]
            '<svg'
        """
        end = replace(self.moment(len(self.steps)), caption="", active=None)
        return draw(self.graph, theme=theme, rankdir=rankdir, moment=end)

    def film(self, *, seconds: float = 2.0, theme: Theme = "auto") -> Film:
        """Draw a picture after every step that computes something.

        Args:
            seconds: How long each picture is shown, from 0.02 to 60.
            theme: "light", "dark", or "auto" for what the viewer prefers.

        Returns:
            The film, which plays in notebooks and can be saved. Its last picture shows the end of the walk.

        Raises:
            PictureError: The graph has more than 60 nodes.
            ValueError: `seconds` is out of range.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).film(seconds=1.0)
            <Film of 3 pictures of <Graph of 2 nodes to v2>>
        """
        if not 0.02 <= seconds <= 60.0:
            raise ValueError(f"a picture is shown for 0.02 to 60 seconds, not {seconds!r}")
        if len(self.graph) > _LONGEST_FILM:
            raise PictureError(
                f"a film is for graphs of at most {_LONGEST_FILM} nodes, and this one has {len(self.graph)}"
            )
        last = len(self.steps)
        positions = [i + 1 for i, step in enumerate(self.steps) if not self.graph.nodes[step.place].is_leaf]
        return Film(self.graph, [self.moment(i) for i in dict.fromkeys([*positions, last])], seconds, theme)

    def essence(self) -> dict[str, Any]:
        """Describe the walk as plain data, in its JSON form: the graph, the order, the rule and the program's files.

        Everything else about the walk follows from these; the page computes it again.

        Returns:
            A dictionary with the keys "gradwalk", "version", "graph", "order", "overwrite" and "files"; nan and inf are
            strings in it. A graph of more than 2,000 nodes is in columns, as `Graph.to_columns` writes it.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).essence()["order"]
            [1, 0]
        """
        is_large = len(self.graph) > _LARGEST_TOLD
        return {
            "gradwalk": "walk",
            "version": VERSION,
            "graph": self.graph.to_columns() if is_large else self.graph.to_dict(),
            "order": list(self.order),
            "overwrite": self.overwrite,
            "files": dict(self.graph.files),
        }

    def to_dict(self) -> dict[str, Any]:
        """Describe the walk and what follows from it as plain data: what `to_json` writes, nan and inf as strings.

        Returns:
            What `essence` returns, with the nodes of the graph one by one, and under further keys the steps of both
            passes, the gradients as walked and as they should be, and what is wrong.

        Example:
            >>> a = Value(2.0, label="a")
            >>> walk(a * a).to_dict()["gradients"]
            {'v2': 1.0, 'a': 4.0}
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
        return self.essence() | {"graph": self.graph.to_dict()} | plain_data

    def to_json(self) -> str:
        """Write the walk as JSON, by docs/walk.schema.json: graph, order, files, steps, gradients and what is wrong.

        Returns:
            What `to_dict` returns, as indented JSON text.

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
        """Print the graph, both passes, the gradients, and what is wrong with them.

        Args:
            terminal: The terminal to print to.
        """
        report.print_graph(terminal, self.graph)
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
        """Return the page of this walk as a widget, whose `state` says where the page stands.

        A walk that is the last line of a notebook cell shows its widget without this.

        Raises:
            ModuleNotFoundError: anywidget is not installed.
        """
        from gradwalk.explain.page.notebook import WalkWidget  # anywidget takes longer to import than gradwalk

        return WalkWidget(self.essence())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> _Bundle | tuple[_Bundle, _Bundle]:
        # Text and HTML stay in the notebook's file for programs that show it without a widget.
        text = str(self) if len(self.graph) <= _LARGEST_TOLD else repr(self)
        still = {"text/html": self._html(), "text/plain": text}
        if not (_has_widgets() and _has_front_end()):
            return still
        shown, metadata = self.widget()._repr_mimebundle_() or ({}, {})
        return shown | still, metadata

    def _display_(self) -> object:
        """Return what marimo shows."""
        return self.widget() if _has_widgets() else _Still(self._html())

    def _html(self) -> str:
        """Return the picture, where it can be read, and the steps in words; of a large graph that of its modules."""
        if len(self.graph) > _LARGEST_TOLD:
            return static_html(draw(self.graph).svg, {})
        picture = self.draw().svg if len(self.graph) <= _LARGEST_PICTURE else ""
        lists = {
            "Forward": [step.sentence for step in self.forward],
            "Backward": [step.sentence for step in self.backward],
        }
        if self.wrong:
            lists["Wrong gradients"] = [wrong.sentence for wrong in self.wrong]
        return static_html(picture, lists)


class Cursor:
    """A position in a walk, between two of its steps.

    Attributes:
        walk: The walk.
        position: How many steps have been taken.

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
            The step that was taken; None at the end, where the cursor stays.

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
        """Take back the last step.

        Returns:
            The step that was taken back; None at the start, where the cursor stays.

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
        """The numbers that are known at this position."""
        return self.walk.moment(self.position)


def walk(root: Value | Graph, order: Iterable[Value | str] | None = None, *, overwrite: bool = False) -> Walk:
    """Walk through the computation of a Value: forward, then backward, one step for each node.

    Neither the Values nor their gradients are changed.

    Args:
        root: The Value whose gradients are made, or a Graph with one root.
        order: The nodes, or their names, in the order in which the backward pass visits them; by default a right one.
        overwrite: Write contributions with `=` in place of `+=`.

    Returns:
        The walk, which can be printed, drawn, stepped through and shown in a notebook.

    Raises:
        OrderError: The order repeats, omits or invents nodes.
        TypeError: `root` is not a Value, or the order is not made of Values and names.
        ValueError: There are several roots.

    Example:
        >>> a = Value(3.0, label="a")
        >>> b = a + a
        >>> walk(b).gradients["a"], walk(b, overwrite=True).gradients["a"]
        (2.0, 1.0)
    """
    graph = as_graph(root)
    reached = swept(graph)
    return Walk(graph, reached if order is None else visit_order(root, graph, order, reached), overwrite)


def _has_widgets() -> bool:
    return find_spec("anywidget") is not None


def _has_front_end() -> bool:
    """Whether IPython runs for something that shows more than text."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "text/html" in shell.display_formatter.active_types


@dataclass(frozen=True)
class _Still:
    """HTML as an object that marimo shows; marimo takes no bundle."""

    html: str

    def _repr_html_(self) -> str:
        return self.html
