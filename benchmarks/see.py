"""Inspection is fast: recording takes at most 100 ns per node; walking, checking or drawing a large graph at most 1 s.

The peer of the check is PyTorch's gradcheck, which perturbs the leaves of the same function; our check perturbs every
node with several step sizes. The peer of recording is micrograd's `trace`, made iterative.
"""

from __future__ import annotations

import random
from typing import Any

from timing import Row, at_most, best_of, faster, main, peer

from gradwalk import Graph, Value, check, draw, nn, walk


def chain(leaves: list[Any]) -> Any:
    """Apply two operations per leaf to any kind of number."""
    y = leaves[0]
    for x in leaves[1:]:
        y = y * x + x
    return y


def traced(root: Value) -> tuple[set[Value], set[tuple[Value, Value]]]:
    """Collect the nodes and edges of a graph as micrograd's notebooks do, but without recursion."""
    nodes, edges, pending = set(), set(), [root]
    while pending:
        node = pending.pop()
        if node not in nodes:
            nodes.add(node)
            for operand in node._prev:
                edges.add((operand, node))
                pending.append(operand)
    return nodes, edges


def network(samples: int) -> Value:
    """Return the loss of a network over some samples."""
    random.seed(1337)
    model = nn.MLP(2, [16, 16, 1])
    outputs: list[Any] = [model([random.random(), random.random()]) for _ in range(samples)]
    loss: Value = sum(((output - 1.0) ** 2 for output in outputs), Value(0.0))
    loss.backward()
    return loss


def numbers(count: int) -> list[float]:
    """Return numbers that keep the chain near 1."""
    random.seed(1337)
    return [random.uniform(0.4, 0.6) for _ in range(count)]


def measure(quick: bool) -> list[Row]:
    """Return the six rows."""
    million, thousands, two_thousand, samples = (1000, 100, 20, 10) if quick else (10**6, 10**4, 2000, 1470)
    torch = peer("torch", "torch")
    x = Value(0.5)
    recorded = chain([x] * (million // 2))
    walked = chain([x] * (thousands // 2))
    points = numbers(two_thousand // 3)
    checked = chain([Value(point) for point in points])
    loss = network(samples)
    nodes = len(Graph.record(loss))

    def by_torch() -> None:
        leaves = [torch.tensor(point, dtype=torch.float64, requires_grad=True) for point in points]
        if not torch.autograd.gradcheck(lambda *values: chain(list(values)), leaves):
            raise AssertionError("PyTorch's gradcheck failed")

    def by_us() -> None:
        if not check(checked):
            raise AssertionError("gradwalk's check failed")

    recording = best_of(1 if quick else 3, {"ours": lambda: Graph.record(recorded), "trace": lambda: traced(recorded)})
    checking = best_of(1, {"ours": by_us, "PyTorch": by_torch})
    looking = best_of(1, {"walk": lambda: walk(walked).steps, "draw": lambda: draw(loss).svg})
    ns = {name: 1e9 * time / million for name, time in recording.items()}
    return [
        at_most(f"record a graph of {million:,} nodes, a node", "ns", ns["ours"], 100),
        faster(f"record a graph of {million:,} nodes, a node", "ns", ns["ours"], ("trace", ns["trace"]), 1),
        at_most(f"walk of {thousands:,} nodes, all steps", "s", looking["walk"], 1),
        at_most(f"check of {two_thousand:,} nodes", "s", checking["ours"], 1),
        faster(f"check of {two_thousand:,} nodes", "s", checking["ours"], ("PyTorch", checking["PyTorch"]), 1),
        at_most(f"draw a network of {nodes:,} nodes by module", "s", looking["draw"], 1),
    ]


if __name__ == "__main__":
    main(measure)
