"""Describe in words and formulas what the boxes of a picture compute: see `network`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw.idioms import Idioms
from gradwalk.explain.expressions import ATOM, Text, combined, last_name
from gradwalk.explain.text import one_line, plural, shortened, width
from gradwalk.graph.boxes import Box
from gradwalk.graph.graph import Graph
from gradwalk.graph.grouping import Grouping
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import SYMBOLS

_MAX_LINES = 6  # maximum number of formulas or source lines
_MAX_OPERATIONS = 5
_MAX_FORMULA = 6  # maximum number of operations in a formula
_LONGEST_FORMULA = 34  # characters
_LONGEST_LINE = 44  # maximum length of a source line or of the formula of a variable
_LONGEST_STATE = 26
_UNKNOWN = ("…", ATOM)  # an operand from another box
_MAX_UNKNOWN = 3


class Descriptions:
    """The texts of the boxes of a graph."""

    def __init__(self, graph: Graph, boxes: Sequence[Box], grouping: Grouping, *, is_network: bool) -> None:
        self._graph, self._boxes, self._grouping = graph, boxes, grouping
        self._is_loss = is_network or grouping.kind == "samples"
        self._idioms = Idioms(graph)

    def computation(self, box: Box) -> Iterator[str]:
        """Yield what a box computes: named computations, and its source lines, formulas or numbers of operations."""
        if box.cells or box.kind in ("inputs", "parameters"):
            yield from _operations(box)
            return
        count = self._grouping.count
        mean = "" if box.is_repeated or not count else self._idioms.mean(box.nodes, self._numbers, count)
        if mean:
            yield mean
            return
        yield from self._idioms.names(box.nodes, is_loss=self._is_loss)
        lines = self._source(box) if box.kind == "operations" else []
        yield from lines or self._updates(box) or self._formula(box) or _operations(box)

    def carried(self, box: Box) -> str:
        """Return the words at the arrow to the next step, such as "state x, y: 60 steps"."""
        names = [self._variables.get(self._grouping.role[node], "") for node in box.carried]
        known = f"state {', '.join(sorted(set(names)))}" if all(names) else f"state of {plural(len(names), 'values')}"
        return f"{shortened(known, _LONGEST_STATE)}: {self._grouping.count:,} steps"

    def use(self, box: Box) -> Iterator[str]:
        """Yield how many of the parameters of a box one sample uses, if it does not use all of them."""
        if box.kind != "parameters" or self._grouping.kind != "samples":
            return
        leaves = set(box.parameters)
        nodes = [node for other in self._boxes if other.is_repeated for node in other.nodes]
        used = {x for node in nodes for x in self._operands(node)} & leaves
        if 0 < len(used) < len(leaves):
            yield f"{len(used):,} of them in each sample"

    def _source(self, box: Box) -> list[str]:
        """Return the source lines of a box; an empty list if they are not known, too many or too long."""
        sources = [self._graph.sources.get(node) for node in box.nodes]
        if None in sources:
            return []
        lines = list(dict.fromkeys(source.text for source in sorted(filter(None, sources)) if source.text))
        return _fitting([one_line(text) for text in lines])

    # Formulas

    @cached_property
    def _numbers(self) -> list[int]:
        """The repetition of each node; -1 outside of the repetitions."""
        numbers: list[int] = self._grouping.number.tolist()
        return numbers

    @cached_property
    def _step_names(self) -> dict[int, str]:
        """The variables of a step, by nodes of the first step. A variable may be known in some of the steps only."""
        groups = self._grouping
        if groups.kind != "steps":
            return {}
        return {
            groups.role[i]: one_line(label).partition(" (")[0]
            for i, label in self._graph.labels.items()
            if groups.number[i] >= 0 and "." not in label
        }

    @cached_property
    def _variables(self) -> dict[int, str]:
        """The variables of a step, and the names of the leaves that its state starts with, by nodes of the first step.

        The first step uses these leaves where later steps use the state.
        """
        graph, groups = self._graph, self._grouping
        names = dict(self._step_names)
        taken = set(names.values())
        for box in self._boxes if groups.kind == "steps" else ():
            for node in box.nodes if box.carried else ():
                for later, first in zip(self._operands(node), self._operands(groups.role[node]), strict=True):
                    name = one_line(graph.labels.get(first, "")) if later in box.carried else ""
                    if name and "." not in name and name not in taken and groups.role[later] not in names:
                        names[groups.role[later]] = name
                        taken.add(name)
        return names

    def _operands(self, node: int) -> list[int]:
        graph = self._graph
        operands: list[int] = graph.operands[graph.offsets[node] : graph.offsets[node + 1]].tolist()
        return operands

    def _updates(self, box: Box) -> list[str]:
        """Return a formula for each variable of a step: of its state, and of named results.

        Returns an empty list if there are too many or too long formulas, or if a variable is used after its update.
        """
        role = self._grouping.role
        names = dict(self._variables)
        state = {role[node] for node in box.carried}
        unnamed = [node for node in sorted(state) if node not in names]
        names |= {node: f"s{i}" for i, node in enumerate(unnamed, 1)}
        names |= {node: f"t{i}" for i, node in enumerate(self._shared(box, names), 1)}
        before = {node: (names[role[node]], ATOM) for node in box.carried}
        texts: dict[int, Text] = {}
        assigned: set[str] = set()
        lines: list[str] = []
        for node in box.nodes if state else ():
            if any(x in before and before[x][0] in assigned for x in self._operands(node)):
                return []
            texts[node] = combined(self._symbol(node), self._operand_texts(node, before, texts))
            name = names.get(role[node])
            if name:
                lines.append(f"{name} = {texts[node][0]}")
                texts[node] = name, ATOM
                assigned.add(name)
        return _fitting(lines)

    def _shared(self, box: Box, names: Mapping[int, str]) -> list[int]:
        """Return the results without a name that a step uses several times, as nodes of the first step."""
        role = self._grouping.role
        uses = Counter(x for node in box.nodes for x in self._operands(node))
        return [role[node] for node in box.nodes if uses[node] > 1 and role[node] not in names]

    def _formula(self, box: Box) -> list[str]:
        """Return the formula of a small box in terms of other boxes.

        Returns an empty list if the formula is too long, or if the box has several results, such as four products.
        """
        if not 0 < len(box.nodes) <= _MAX_FORMULA:
            return []
        if not self._has_one_result(box):
            return []
        modules = [other for other in self._boxes if other.kind == "module" and self._has_one_result(other)]
        named = {other.nodes[-1]: (other.name, ATOM) for other in modules}
        texts: dict[int, Text] = {}
        for node in box.nodes:
            texts[node] = combined(self._symbol(node), self._operand_texts(node, named, texts))
        text = texts[box.nodes[-1]][0]
        return [text] if width(text) <= _LONGEST_FORMULA and text.count(_UNKNOWN[0]) <= _MAX_UNKNOWN else []

    def _has_one_result(self, box: Box) -> bool:
        """Return whether a box has nodes, and all of them except the last one are used in the box."""
        offsets, operands = self._graph.offsets, self._graph.operands
        used = {x for node in box.nodes for x in operands[offsets[node] : offsets[node + 1]].tolist()}
        return bool(box.nodes) and used.issuperset(box.nodes[:-1])

    def _operand_texts(self, node: int, named: Mapping[int, Text], texts: Mapping[int, Text]) -> list[Text]:
        """Return the operands of a node as texts with precedences."""
        graph = self._graph
        operands = []
        for k in range(graph.offsets[node], graph.offsets[node + 1]):
            x = int(graph.operands[k])
            label = last_name(graph.labels.get(x, ""))
            if x == CONSTANT:
                operands.append((_number(graph.partials[k]), ATOM))
            elif x in texts or x in named:
                operands.append(texts.get(x) or named[x])
            elif graph.offsets[x] == graph.offsets[x + 1]:
                operands.append((label or _number(graph.data[x]), ATOM))
            else:
                is_final = self._grouping.number[x] == self._grouping.count - 1
                label = label or (self._variables.get(self._grouping.role[x], "") if is_final else "")
                operands.append((label, ATOM) if label else _UNKNOWN)
        return operands

    def _symbol(self, node: int) -> str:
        return self._graph.symbols.get(node, SYMBOLS[self._graph.opcodes[node]])


def _fitting(lines: list[str]) -> list[str]:
    """Return the lines, or an empty list if they are too many or too long."""
    return lines if len(lines) <= _MAX_LINES and all(width(line) <= _LONGEST_LINE for line in lines) else []


def _number(number: float) -> str:
    """Write a number in a formula."""
    return f"{number:.3g}" if number >= 0 else f"({number:.3g})"


def _operations(box: Box) -> Iterator[str]:
    """Yield the number of operations by symbol."""
    if box.cells and box.kind == "module":
        functions = [symbol for symbol in box.operations if symbol not in ("*", "+", "sumprod")]
        if functions:
            yield shortened(", ".join(functions), 22)
        return
    most = box.operations.most_common()
    for symbol, count in most[:_MAX_OPERATIONS]:
        yield f"{count:,} {shortened(one_line(symbol), 20)}"
    if most[_MAX_OPERATIONS:]:
        yield plural(sum(count for _, count in most[_MAX_OPERATIONS:]), "others")
