"""The order in which a backward pass visits the nodes, as the user gave it: by names or by Values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_MOST_NAMES = 20  # in an error message


class OrderError(ValueError):
    """An order repeats, omits or invents nodes: the message says which, and what there is."""


def visit_order(
    root: Value | Graph, graph: Graph, order: Iterable[Value | str], reached: Sequence[int]
) -> tuple[int, ...]:
    """Translate an order given by names or Values into indices of nodes.

    Args:
        root: What the graph was recorded from; only a Value's own nodes can be given as Values.
        graph: The graph to visit.
        order: Names of nodes, or the Values themselves.
        reached: The indices of the nodes that gradient flows to, which have to be visited once each.

    Returns:
        The indices, in the order of the visits.

    Raises:
        OrderError: The order repeats, omits or invents nodes.
        TypeError: The order is not an iterable of Values and strings.
    """
    known: dict[object, int] = {name: index for index, name in enumerate(graph.names)}
    if isinstance(root, Value):
        known |= {value: index for index, value in enumerate(topological_order(root))}
    indices = [_index(item, known, graph) for item in _listed(order)]
    left = set(reached)
    for index in indices:
        name = one_line(graph.names[index])
        if index not in left:
            twice = indices.count(index) > 1
            problem = "twice" if twice else "which no gradient flows to: it only decides what is chosen"
            raise OrderError(f"the order visits {name}{' ' if twice else ', '}{problem}")
        left.remove(index)
    omitted = [one_line(graph.names[index]) for index in reached if index in left]
    if omitted:
        raise OrderError(f"the order omits {', '.join(omitted)}; it has to visit every node once, the root included")
    return tuple(indices)


def _listed(order: Iterable[Value | str]) -> list[Value | str]:
    try:
        return list(order)
    except TypeError:
        raise TypeError(f"an order is a list of Values or their names, not {type(order).__name__}") from None


def _index(item: Value | str, known: dict[object, int], graph: Graph) -> int:
    """Return the index of a node that was given by name or as a Value."""
    if not isinstance(item, (Value, str)):
        raise TypeError(f"an order is made of Values or their names, not of {type(item).__name__}")
    if item in known:
        return known[item]
    if isinstance(item, str):
        raise OrderError(_unknown_name(item, graph.names))
    if not any(isinstance(node, Value) for node in known):
        raise OrderError("a Graph has no Values any more: give the order by names, such as " + repr(graph.names[0]))
    raise OrderError(f"the order visits {item!r}, which is not part of this graph")


def _unknown_name(given: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(given, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(map(one_line, names[:_MOST_NAMES])) + (", ..." if names[_MOST_NAMES:] else "")
    return f"the order visits {given!r}, and there is no such node; {hint}there are: {shown}"
