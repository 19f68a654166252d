"""Prints graphs, walks, findings, wrong gradients and timelines to a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from gradwalk.explain.findings.structure import Finding
from gradwalk.explain.findings.summary import Summary
from gradwalk.explain.lost_gradients import WrongGradient
from gradwalk.explain.passes import BackwardStep, ForwardStep, gradients, not_swept
from gradwalk.explain.sentences import operation_text
from gradwalk.explain.terminal import Terminal
from gradwalk.explain.text import plural, short, sparkline
from gradwalk.explain.timeline import Timeline
from gradwalk.graph.boxes import boxes
from gradwalk.graph.clusters import grouped
from gradwalk.graph.graph import Graph
from gradwalk.graph.node import Node

LARGEST_TREE = 60  # maximum number of nodes printed as a tree; larger graphs are printed as groups
_NO_BRACKETS = str.maketrans("", "", "() ")
LONGEST = 200  # maximum number of rows of a table; further rows are only counted


def print_graph(terminal: Terminal, graph: Graph) -> None:
    """Print a graph as a tree that starts at the root, or a large graph as a table of modules with operation counts."""
    if len(graph) > LARGEST_TREE:
        _print_modules(terminal, graph)
        return
    terminal.heading("Graph")
    for line in _tree(graph):
        terminal.tree(line)


def _print_modules(terminal: Terminal, graph: Graph) -> None:
    """Print a table of the layers or modules of a graph, with one of the samples or steps."""
    counts = f"Graph: {len(graph):,} nodes, {graph.edges:,} edges"
    divided = boxes(graph)
    if divided is None:
        terminal.heading(counts)
        groups, _ = grouped(graph)
        rows = [[group.name, f"{group.leaves:,}", _operations(group.operations)] for group in groups]
        terminal.table(("module", "leaves", "operations"), rows)
        return
    count, kind = divided.grouping.count, divided.grouping.kind
    terminal.heading(f"{counts}; 1 of {count:,} {kind} in the table" if count else counts)
    rows = [
        [
            box.name,
            plural(len(box.cells), box.unit) if box.unit else "",
            f"{len(box.leaves):,}" if box.leaves else "",
            _operations(box.operations),
        ]
        for box in divided.boxes
    ]
    terminal.table(("module", "parts", "leaves", "operations"), rows)


def _operations(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {symbol}" for symbol, count in counts.most_common())


def print_summary(terminal: Terminal, graph: Graph, summary: Summary) -> None:
    """Print facts about a large graph; print nothing for a graph that is printed as a tree."""
    if len(graph) <= LARGEST_TREE:
        return
    counts = f"{plural(summary.parameters, 'parameters')}, {plural(summary.depth, 'operations')} on the longest path"
    largest = [f"{graph.names[place]}: {short(grad)}" for place, grad in summary.largest]
    terminal.heading(f"Summary: {counts}")
    if largest:
        terminal.line(f"  Largest gradients: {', '.join(largest)}")
    for zero in summary.zeros:
        terminal.line(f"  {zero.sentence}")


def print_findings(terminal: Terminal, findings: Sequence[Finding]) -> None:
    """Print the problems as numbered sentences; print nothing if there are none."""
    if findings:
        terminal.heading("What to look at")
        terminal.numbered([finding.sentence for finding in findings[:LONGEST]])
        print_rest(terminal, len(findings))


def print_forward(terminal: Terminal, steps: Sequence[ForwardStep]) -> None:
    """Print a table of the forward pass, one row for every node."""
    terminal.heading("Values, in forward order")
    rows = [[step.name, step.operation, ", ".join(step.operands), repr(step.data)] for step in steps[:LONGEST]]
    terminal.table(("node", "operation", "operands", "data"), rows)
    print_rest(terminal, len(steps))


def print_backward(terminal: Terminal, steps: Sequence[BackwardStep]) -> None:
    """Print the backward pass as numbered sentences, one for each visit."""
    terminal.heading("Backward pass")
    terminal.numbered([step.sentence for step in steps[:LONGEST]])
    print_rest(terminal, len(steps))


def print_gradients(terminal: Terminal, graph: Graph, steps: Sequence[BackwardStep]) -> None:
    """Print a table of the gradients, one row for every node; nodes that receive no gradient come last."""
    terminal.heading("Gradients, in the order of the backward pass")
    visited = [(graph.nodes[step.place], step.upstream) for step in steps]
    others = [(node, 0.0) for node in not_swept(graph)]
    rows = [
        [node.name, node.symbol, repr(node.data), repr(gradient)] for node, gradient in [*visited, *others][:LONGEST]
    ]
    terminal.table(("node", "operation", "data", "grad"), rows)
    print_rest(terminal, len(graph))


def print_wrong(
    terminal: Terminal,
    steps: Sequence[BackwardStep],
    right: Mapping[str, float],
    wrong: Sequence[WrongGradient],
) -> None:
    """Print every gradient beside the correct gradient, and the losses that explain each wrong gradient.

    `right` maps the names of nodes to the correct gradients.
    """
    terminal.heading("Gradients, in the order of the visits")
    lost = {gradient.name for gradient in wrong}
    rows = [
        [step.name, repr(step.upstream), repr(right[step.name]), "wrong" if step.name in lost else "right"]
        for step in steps[:LONGEST]
    ]
    terminal.table(("node", "grad", "should be", "verdict"), rows)
    print_rest(terminal, len(steps))
    if wrong:
        terminal.heading("What was lost")
        terminal.numbered([gradient.sentence for gradient in wrong[:LONGEST]])


def print_timeline(terminal: Terminal, timeline: Timeline) -> None:
    """Print the number and line of the chosen pass, and the root's value in each pass with the same root line.

    If the program has a single pass, print nothing.
    """
    chosen, graph = timeline.chosen, timeline.graph
    if timeline.count == 1:
        return
    place = f"{PurePath(chosen.line.filename).name}:{chosen.line.number}"
    terminal.heading(f"Pass {chosen.number:,} of {timeline.count:,}, at {place}: {chosen.line.text}")
    numbers = [one.data for one in timeline.alike]
    if len(numbers) > 1:
        calls = f"{graph.names[graph.root]} over {timeline.counts[chosen.root_line]:,} backward() calls"
        terminal.line(f"{calls}: {short(numbers[0])} {sparkline(numbers)} {short(numbers[-1])}")


def print_earlier(terminal: Terminal, timeline: Timeline) -> None:
    """Print a table of the leaves whose `.grad` was not 0 before the chosen pass."""
    chosen, graph = timeline.chosen, timeline.graph
    if not chosen.earlier:
        return
    own = gradients(graph)
    count = len(chosen.earlier)
    leaves = "1 leaf" if count == 1 else f"{count:,} leaves"
    terminal.heading(
        f".grad is not the gradient of this pass alone: {leaves} had one before, and backward() adds to it"
    )
    rows = [
        [
            graph.names[kept.place],
            repr(own[kept.place]),
            repr(kept.grad),
            repr(graph.nodes[kept.place].grad),
            kept.because,
        ]
        for kept in chosen.earlier[:LONGEST]
    ]
    terminal.table(("node", "this pass", "before", ".grad now", "reason"), rows)
    print_rest(terminal, count)


def print_rest(terminal: Terminal, count: int) -> None:
    """Print the number of omitted rows, if any; `count` is the total number of rows."""
    if count > LONGEST:
        terminal.line(f"  and {count - LONGEST:,} more")


def _tree(graph: Graph) -> Iterator[str]:
    """Yield the lines of an indented tree. If a node occurs again, the line shows only its name."""
    told: set[int] = set()
    pending = [(index, "", "") for index in reversed(graph.outputs)]
    while pending:
        index, lead, below = pending.pop()
        node = graph.nodes[index]
        operands = [x for x in node.arguments if isinstance(x, int)]
        again = index in told and operands
        told.add(index)
        yield lead + (f"{node.name} (see above)" if again else _described(node, graph))
        if not again:
            for i, operand in reversed(list(enumerate(operands))):
                last = i == len(operands) - 1
                pending.append((operand, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  ")))


def _described(node: Node, graph: Graph) -> str:
    """Return a node's name, operation and value as text."""
    if node.is_leaf:
        return f"{node.name} = {short(node.data)}"
    text = operation_text(node, graph)
    is_name = node.name.translate(_NO_BRACKETS) == text.translate(_NO_BRACKETS)
    return " = ".join(dict.fromkeys([node.name, *([] if is_name else [text]), short(node.data)]))
