"""`walk(root)`: watch the gradients being made, in the right order or in a wrong one."""

from __future__ import annotations

import difflib
import html
import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from gradwalk.explain import report
from gradwalk.explain.draw.animation import Film
from gradwalk.explain.draw.diagram import Moment
from gradwalk.explain.draw.draw import Drawing, draw
from gradwalk.explain.draw.raster import PictureError
from gradwalk.explain.draw.svg import Theme
from gradwalk.explain.lost_gradients import WrongGradient, is_legal, legal_orders, lost_contributions, wrong_gradients
from gradwalk.explain.passes import BackwardStep, ForwardStep, backward_steps, forward_steps, gradients, swept
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph, as_graph, as_json
from gradwalk.value.order import topological_order
from gradwalk.value.value import Value

if TYPE_CHECKING:
    from gradwalk.explain.page.notebook import WalkWidget

VERSION = 1  # of the JSON form

_Bundle = dict[str, Any]  # by MIME type

_LONGEST_FILM = 60
_LARGEST_PICTURE = 60
_LONGEST_LIST = 200
_MOST_NAMES = 20  # in an error message


class OrderError(ValueError):
    """Why an order of visits is none."""


@dataclass(frozen=True, repr=False)
class Walk:
    """The forward and the backward pass over a graph, step by step. It prints as text and shows itself in notebooks.

    `order`: the places of the nodes in the order in which the backward pass visits them. `overwrite`: whether a
    contribution is written over what an operand has, as `=` does, instead of added to it. A node that has been visited
    is done with: what comes to it later is lost. (In a program it may still land in `.grad`; it is not passed on.)
    """

    graph: Graph
    order: tuple[int, ...]
    overwrite: bool

    # Makes the widget of a walk; gradwalk/__init__ sets it, for this module cannot import what stands above it.
    make_widget: ClassVar[Callable[[Walk], WalkWidget]]

    @cached_property
    def forward(self) -> tuple[ForwardStep, ...]:
        """The forward pass: a step a node, operands before results."""
        return forward_steps(self.graph)

    @cached_property
    def backward(self) -> tuple[BackwardStep, ...]:
        """The backward pass: a step a node, each with its contributions to its operands."""
        return backward_steps(self.graph, self.order, self.overwrite)

    @cached_property
    def steps(self) -> tuple[ForwardStep | BackwardStep, ...]:
        """Both passes, one after the other."""
        return (*self.forward, *self.backward)

    @cached_property
    def gradients(self) -> dict[str, float]:
        """The gradient of every node by name, as this walk has it."""
        return {step.name: step.upstream for step in self.backward}

    @cached_property
    def right_gradients(self) -> dict[str, float]:
        """The same as they should be."""
        right = gradients(self.graph)
        return {self.graph.names[place]: right[place] for place in self.order}

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
        """How many legal orders there are; None where they are too many to count."""
        return legal_orders(self.graph, self.order)

    def start(self) -> Cursor:
        """A place in the walk before its first step."""
        return Cursor(self, 0)

    def end(self) -> Cursor:
        """A place in the walk after its last step."""
        return Cursor(self, len(self.steps))

    def moment(self, position: int) -> Moment:
        """What is known after so many steps."""
        taken = self.steps[:position]
        known = frozenset(step.place for step in taken if isinstance(step, ForwardStep))
        gradients: dict[int, float] = {}
        contributions: dict[tuple[int, int], float] = {}
        backward = [step for step in taken if isinstance(step, BackwardStep)]
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
        """The graph with the gradients of this walk; contributions that were lost are dashed."""
        end = replace(self.moment(len(self.steps)), caption="", active=None)
        return draw(self.graph, theme=theme, rankdir=rankdir, moment=end)

    def film(self, *, seconds: float = 2.0, theme: Theme = "auto") -> Film:
        """A picture after every step that computes something, each shown for so many seconds.

        Raises `PictureError` for graphs of more than 60 nodes, which nobody would watch, `ValueError` where the seconds
        are not between 0.02 and 60.
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
        """What all else about the walk follows from, as it stands in JSON: the graph, the order, and the rule."""
        return {
            "gradwalk": "walk",
            "version": VERSION,
            "graph": json.loads(self.graph.to_json()),
            "order": list(self.order),
            "overwrite": self.overwrite,
        }

    def to_json(self) -> str:
        """The walk as JSON, by docs/walk.schema.json: graph, order, steps, gradients, and what is wrong with them."""
        walked = self.essence() | {
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
        return as_json(walked)

    def __str__(self) -> str:
        stream = io.StringIO()
        self.print(Terminal(stream))
        return stream.getvalue()

    def print(self, terminal: Terminal) -> None:
        """Print all of it: the graph, both passes, the gradients, and what is wrong with them."""
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
        """The page of this walk as a widget, to have it in hand: `widget.state` says where the page stands.

        A walk that is the last line of a cell shows its widget anyway. Raises `ModuleNotFoundError` where anywidget is
        not installed.
        """
        return Walk.make_widget(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> _Bundle | tuple[_Bundle, _Bundle]:
        # Text and HTML stay in the notebook's file for programs that show it without a widget.
        still = {"text/html": _as_html(self), "text/plain": str(self)}
        if not (_has_widgets() and _has_front_end()):
            return still
        shown, metadata = self.widget()._repr_mimebundle_() or ({}, {})
        return shown | still, metadata

    def _display_(self) -> object:
        """What marimo shows."""
        return self.widget() if _has_widgets() else _Still(_as_html(self))


class Cursor:
    """A place in a walk, between two of its steps. `position`: how many steps have been taken.

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
        """Take the next step and return it; None at the end."""
        if self.position == len(self.walk.steps):
            return None
        self.position += 1
        return self.walk.steps[self.position - 1]

    def back(self) -> ForwardStep | BackwardStep | None:
        """Take back the last step and return it; None at the start."""
        if self.position == 0:
            return None
        self.position -= 1
        return self.walk.steps[self.position]

    @property
    def moment(self) -> Moment:
        """What is known here."""
        return self.walk.moment(self.position)


def walk(root: Value | Graph, order: Iterable[Value | str] | None = None, *, overwrite: bool = False) -> Walk:
    """Walk through the computation of a Value: forward, then backward, a step a node.

    `order`: the nodes, or their names, in which the backward pass visits them; the right one if not given. `overwrite`:
    with `=` in place of `+=`. Neither the Values nor their gradients are changed. Raises `OrderError` where the order
    repeats, omits or invents nodes, `TypeError` where root is not a Value, `ValueError` for several roots.

    >>> a = Value(3.0, label="a")
    >>> b = a + a
    >>> walk(b).gradients["a"], walk(b, overwrite=True).gradients["a"]
    (2.0, 1.0)
    """
    graph = as_graph(root)
    visited = swept(graph)
    places = visited if order is None else _places(root, graph, _listed(order), visited)
    return Walk(graph, places, overwrite)


def _listed(order: Iterable[Value | str]) -> list[Value | str]:
    try:
        return list(order)
    except TypeError:
        raise TypeError(f"an order is a list of Values or their names, not {type(order).__name__}") from None


def _places(root: Value | Graph, graph: Graph, order: Sequence[Value | str], visited: Sequence[int]) -> tuple[int, ...]:
    """An order as places. Raises `OrderError` where it is not an order of the nodes that gradient flows to."""
    known: dict[object, int] = {name: place for place, name in enumerate(graph.names)}
    if isinstance(root, Value):
        known |= {value: place for place, value in enumerate(topological_order(root))}
    places = [_place(item, known, graph) for item in order]
    left = set(visited)
    for place in places:
        name = one_line(graph.names[place])
        if place not in left:
            twice = places.count(place) > 1
            problem = "twice" if twice else "which no gradient flows to: it only decides what is chosen"
            raise OrderError(f"the order visits {name}{' ' if twice else ', '}{problem}")
        left.remove(place)
    omitted = [one_line(graph.names[place]) for place in visited if place in left]
    if omitted:
        raise OrderError(f"the order omits {', '.join(omitted)}; it has to visit every node once, the root included")
    return tuple(places)


def _place(item: Value | str, known: dict[object, int], graph: Graph) -> int:
    if not isinstance(item, (Value, str)):
        raise TypeError(f"an order is made of Values or their names, not of {type(item).__name__}")
    if item in known:
        return known[item]
    if isinstance(item, str):
        close = difflib.get_close_matches(item, graph.names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        known_names = ", ".join(map(one_line, graph.names[:_MOST_NAMES])) + (
            ", ..." if graph.names[_MOST_NAMES:] else ""
        )
        raise OrderError(f"the order visits {item!r}, and there is no such node; {hint}there are: {known_names}")
    if not any(isinstance(node, Value) for node in known):
        raise OrderError("a Graph has no Values any more: give the order by names, such as " + repr(graph.names[0]))
    raise OrderError(f"the order visits {item!r}, which is not part of this graph")


def _has_widgets() -> bool:
    return find_spec("anywidget") is not None


def _has_front_end() -> bool:
    """Whether IPython runs for something that shows more than text."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "text/html" in shell.display_formatter.active_types


@dataclass(frozen=True)
class _Still:
    """A walk that cannot be stepped through, as an object: marimo takes no bundle."""

    html: str

    def _repr_html_(self) -> str:
        return self.html


def _as_html(walk: Walk) -> str:
    """The picture, if it can be read, and the steps in words."""
    parts = []
    if len(walk.graph) <= _LARGEST_PICTURE:
        parts.append(f'<div style="overflow-x: auto">{walk.draw().svg}</div>')
    parts += [_list("Forward", walk.forward), _list("Backward", walk.backward)]
    if walk.wrong:
        parts.append(_list("Wrong gradients", walk.wrong))
    return "".join(parts)


def _list(heading: str, items: Sequence[ForwardStep | BackwardStep | WrongGradient]) -> str:
    shown = "".join(f"<li>{html.escape(item.sentence)}</li>" for item in items[:_LONGEST_LIST])
    more = f"<p>and {len(items) - _LONGEST_LIST:,} more</p>" if len(items) > _LONGEST_LIST else ""
    return f"<details open><summary>{heading}: {len(items):,}</summary><ol>{shown}</ol>{more}</details>"
