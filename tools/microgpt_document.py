"""Record examples/microgpt.py for the page: write src/gradwalk/explain/page/microgpt.json.

The page runs two recorded graphs: the loss of a name of maximal length, and the update of one weight by Adam.
web/src/microgpt/document.js reads the file, and web/src/microgpt/protocol.js describes its contents.

usage: python tools/microgpt_document.py [--check]

With --check nothing is written, and the exit code is 1 if the file is out of date. Packed data is compared unpacked,
and weights as numbers with a tolerance, because compression and math libraries may differ in single bytes.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import random
import string
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from gradwalk import Graph, Value, optim, source_lines
from gradwalk.ops.compiled.opcodes import NAMES

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "examples/microgpt.py"
FILE = ROOT / "src/gradwalk/explain/page/microgpt.json"

VERSION = 1
SEED = 42
STEPS = 1000
NAME_COUNT, STRIDE = 200, 1009  # names from the whole list, in mixed order

Document = dict[str, Any]


def microgpt() -> Any:
    """Import the example."""
    spec = importlib.util.spec_from_file_location("microgpt", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def document() -> Document:
    """Build the document for the page."""
    model = microgpt()
    letters = string.ascii_lowercase
    weights = model.initial_weights(len(letters) + 1, random.Random(SEED))
    text = SOURCE.read_text(encoding="utf-8")
    return {
        "gradwalk": "microgpt",
        "version": VERSION,
        "source": {"file": SOURCE.name, "text": text},
        "letters": letters,
        "config": {"width": model.WIDTH, "heads": model.HEADS, "places": model.PLACES, "steps": STEPS},
        "names": " ".join(chosen(model.NAMES.read_text(encoding="utf-8").split())),
        "matrices": [{"name": name, "rows": len(rows), "columns": len(rows[0])} for name, rows in weights.items()],
        "weights": packed_floats(numpy.concatenate([rows.ravel() for rows in weights.values()])),
        "program": packed_loss(loss_of_places(model, weights, model.PLACES), weights, text),
        "update": packed(update := update_of_a_weight(model), range(len(update))),
    }


def chosen(names: Sequence[str]) -> list[str]:
    """Select some of the names."""
    return [names[turn * STRIDE % len(names)] for turn in range(NAME_COUNT)]


# Recording


def loss_of_places(model: Any, weights: Mapping[str, Any], places: int) -> Graph:
    """Record the loss of a name that fills all places; tokens and targets are leaves."""
    with source_lines():
        tokens = [Value(0.0, label=f"token.{place}") for place in range(places)]
        targets = [Value(0.0, label=f"target.{place}") for place in range(places)]
        root = model.loss(model.named_values(weights), tokens, targets)
        root.label = "loss"
    return Graph.record(root)


def arranged(graph: Graph, weights: Mapping[str, Any], places: int) -> list[int]:
    """Return the nodes of the loss in the order of the page: weights, tokens, targets, then the computed nodes.

    -1 marks leaves that the graph of a shorter name does not have.
    """
    index = {label: node for node, label in graph.labels.items()}
    matrices = ((name, *numpy.shape(rows)) for name, rows in weights.items())
    labels = [f"{name}.{i}.{j}" for name, rows, columns in matrices for i in range(rows) for j in range(columns)]
    labels += [f"{kind}.{place}" for kind in ("token", "target") for place in range(places)]
    return [index.get(label, -1) for label in labels] + numpy.flatnonzero(graph.opcodes).tolist()


def update_of_a_weight(model: Any) -> Graph:
    """Record a step of the example's Adam for one weight. `done` counts the steps of the learning rate schedule."""
    optimizer = model.adam(STEPS)
    with source_lines():
        names = ("weight", "gradient", "mean", "square", "count", "done")
        weight, gradient, mean, square, count, done = (Value(0.5, label=name) for name in names)
        adam, schedule = optimizer.init(0.0)
        state = adam._replace(count=count, mu=mean, nu=square), schedule._replace(count=done)
        updates, (adam, _) = optimizer.update(gradient, state, weight)
        return Graph.record([optim.apply_updates(weight, updates), adam.mu, adam.nu])


# Packing


def packed_loss(graph: Graph, weights: Mapping[str, Any], text: str) -> Document:
    """Pack the loss. `sums` has the nodes with the sum of the losses of the first 1, 2, 3, ... places.

    Labels of weights are left out, because the matrices give their names. The source line of a weight is the line that
    creates its matrix.
    """
    places = sum(label.startswith("token.") for label in graph.labels.values())
    order = arranged(graph, weights, places)
    sums = [int(graph.operands[graph.offsets[graph.root]])]
    while len(sums) < places:
        sums.append(int(graph.operands[graph.offsets[sums[-1]]]))
    lines = [line_of(text, name) for name, rows in weights.items() for _ in range(numpy.size(rows))]
    return packed(graph, order, lines) | {"sums": [order.index(node) for node in reversed(sums)]}


def line_of(text: str, matrix: str) -> int:
    """Return the number of the line that creates a matrix of weights."""
    return next(number for number, line in enumerate(text.splitlines(), 1) if f'"{matrix}"' in line)


def packed(graph: Graph, order: Sequence[int], lines_of_weights: Sequence[int] = ()) -> Document:
    """Pack a graph as the page reads it: constants, columns of integers, and texts with one line per node."""
    opcodes = sorted({int(opcode) for opcode in graph.opcodes})
    constants, operands = constants_and_operands(graph, order)
    kinds = [opcodes.index(graph.opcodes[node]) for node in order]
    named = order[len(lines_of_weights) :]
    lines = [*lines_of_weights, *(line_in_source(graph, node) for node in named)]
    return {
        "operations": [NAMES[opcode] for opcode in opcodes],
        "constants": [x if math.isfinite(x) else str(x) for x in constants],
        "outputs": [order.index(node) for node in graph.outputs],
        "kinds": packed_integers(kinds),
        "counts": packed_integers([len(of_node) for of_node in operands]),
        "operands": packed_integers([x for of_node in steps(kinds, operands) for x in of_node]),
        "lines": packed_integers(numpy.diff(lines, prepend=0)),
        "scopes": packed_text([graph.scopes.get(node, "") for node in order]),
        "labels": packed_text([*[""] * len(lines_of_weights), *(own_label(graph, node) for node in named)]),
    }


def constants_and_operands(graph: Graph, order: Sequence[int]) -> tuple[list[float], list[list[int]]]:
    """Return the constants, and the operands of each node; an operand of -1 - i is constant i.

    The constant of the first output (the loss) comes last and is not shared with other nodes: it is the number of
    places, which the page replaces for shorter names.
    """
    place_of = {node: place for place, node in enumerate(order)}
    constants: list[float] = []

    def slot(operand: int, number: float, is_own: bool) -> int:
        if operand >= 0:
            return place_of[operand]
        if is_own or number not in constants:
            constants.append(number)
            return -len(constants)
        return -1 - constants.index(number)

    operands = []
    for node in order:
        part = slice(graph.offsets[node], graph.offsets[node + 1])
        pairs = zip(graph.operands[part].tolist(), graph.partials[part].tolist(), strict=True)
        operands.append([slot(operand, number, node == graph.outputs[0]) for operand, number in pairs])
    return constants, operands


def steps(kinds: Sequence[int], operands: Sequence[list[int]]) -> Iterator[list[int]]:
    """Subtract the operands of the previous node of the same kind and arity, to get numbers that compress well."""
    before: dict[tuple[int, int], list[int]] = {}
    for kind, of_node in zip(kinds, operands, strict=True):
        last = before.get((kind, len(of_node)), [0] * len(of_node))
        yield [operand - earlier for operand, earlier in zip(of_node, last, strict=True)]
        before[kind, len(of_node)] = of_node


def own_label(graph: Graph, node: int) -> str:
    """Return a node's label without its scope prefix and without the number that made it unique.

    Labels of outputs, and labels with the prefix of another scope, are kept whole and begin with a dot.
    """
    label = graph.labels.get(node, "").partition(" (")[0]
    scope = graph.scopes.get(node, "") + "."
    is_whole = node in graph.outputs or ("." in label and not label.startswith(scope))
    return f".{label}" if is_whole else label.removeprefix(scope)


def line_in_source(graph: Graph, node: int) -> int:
    """Return the line of the example that created a node; 0 for nodes created elsewhere."""
    source = graph.sources.get(node)
    return source.number if source and Path(source.filename).name == SOURCE.name else 0


def packed_integers(column: Any) -> str:
    """Pack integers as little-endian 32-bit numbers, compressed."""
    return in_base64(zlib.compress(numpy.asarray(column, dtype="<i4").tobytes(), 9))


def packed_text(lines: Sequence[str]) -> str:
    """Pack lines of text, compressed."""
    return in_base64(zlib.compress("\n".join(lines).encode(), 9))


def packed_floats(column: Any) -> str:
    """Pack floats as little-endian 64-bit numbers. Their digits are too random for compression."""
    return in_base64(numpy.asarray(column, dtype="<f8").tobytes())


def in_base64(data: bytes) -> str:
    """Encode bytes in base64, for JSON."""
    return base64.b64encode(data).decode()


# Comparing


PACKED = ("kinds", "counts", "operands", "lines", "scopes", "labels")


def is_same(one: Document, other: Document) -> bool:
    """Return whether two documents have the same contents, however they are packed."""
    return unpacked(one) == unpacked(other) and bool(numpy.allclose(floats(one), floats(other), rtol=1e-12, atol=0.0))


def unpacked(given: Document) -> Document:
    """Return a document without its weights, with packed data decompressed."""
    programs = {
        key: {part: zlib.decompress(base64.b64decode(x)) if part in PACKED else x for part, x in given[key].items()}
        for key in ("program", "update")
    }
    return {key: value for key, value in given.items() if key != "weights"} | programs


def floats(given: Document) -> NDArray[numpy.float64]:
    """Return the weights of a document."""
    return numpy.frombuffer(base64.b64decode(given["weights"]), dtype="<f8")


def main() -> int:
    """Write the file, or check it; return the exit code."""
    new = document()
    if FILE.exists() and is_same(json.loads(FILE.read_text(encoding="utf-8")), new):
        return 0
    if "--check" in sys.argv:
        print(f"out of date: {FILE.relative_to(ROOT)} - run: python tools/microgpt_document.py", file=sys.stderr)
        return 1
    FILE.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
