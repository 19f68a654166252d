"""Conversion of a user's visiting order, given by names or Values, to node indices."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from gradwalk.explain.text import one_line
from gradwalk.graph.graph import Graph
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_MOST_NAMES = 20  # maximum number of names in an error message


class OrderError(ValueError):
    """Raised if an order repeats or omits nodes, or contains nodes that cannot be visited."""


def visit_order(
    root: Value | Graph, graph: Graph, order: Iterable[Value | str], reached: Sequence[int]
) -> tuple[int, ...]:
    """Convert an order of names or Values to node indices.

    Args:
        root: The Value or Graph that `graph` was recorded from. If it is a Graph, `order` can only contain names.
        graph: The graph to visit.
        order: Names of nodes, or the Values themselves. v3 is the third node, unless it is the name of another.
        reached: The indices of the nodes that receive a gradient; each must be visited exactly once.

    Raises:
        OrderError: The order repeats or omits nodes, or contains nodes that cannot be visited.
        TypeError: The order is not an iterable of Values and strings.
    """
    known: dict[object, int] = {f"v{index + 1}": index for index in range(len(graph))}
    known |= {name: index for index, name in enumerate(graph.names)}
    if isinstance(root, Value):
        known |= {value: index for index, value in enumerate(topological_order(root))}
    indices = [_index(item, known, graph) for item in _listed(order)]
    left = set(reached)
    for index in indices:
        name = one_line(graph.names[index])
        if index not in left:
            twice = indices.count(index) > 1
            problem = "twice" if twice else "but no gradient flows to it: leave it out"
            raise OrderError(f"the order visits {name}{' ' if twice else ', '}{problem}")
        left.remove(index)
    omitted = [one_line(graph.names[index]) for index in reached if index in left]
    if omitted:
        raise OrderError(f"the order omits {', '.join(omitted)}; it must visit every node once, including the root")
    return tuple(indices)


def _listed(order: Iterable[Value | str]) -> list[Value | str]:
    try:
        return list(order)
    except TypeError:
        raise TypeError(f"order must be a list of Values or their names, got {type(order).__name__}") from None


def _index(item: Value | str, known: dict[object, int], graph: Graph) -> int:
    """Return the index of a node given by name or as a Value."""
    if not isinstance(item, (Value, str)):
        raise TypeError(f"order must contain Values or their names, got {type(item).__name__}")
    if item in known:
        return known[item]
    if isinstance(item, str):
        raise OrderError(_unknown_name(item, graph.names))
    if not any(isinstance(node, Value) for node in known):
        raise OrderError("a Graph does not keep its Values: give the order by names, such as " + repr(graph.names[0]))
    raise OrderError(f"the order visits {item!r}, which is not part of this graph")


def _unknown_name(given: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(given, names, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    shown = ", ".join(map(one_line, names[:_MOST_NAMES])) + (", ..." if names[_MOST_NAMES:] else "")
    return f"the order visits {given!r}, which is not a node; {hint}the nodes are: {shown}"
