"""Recognize common computations, such as a softmax or a squared error, so that a picture can name them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradwalk.graph.graph import Graph
from gradwalk.graph.record import CONSTANT
from gradwalk.ops.compiled.opcodes import OPCODES

_ADD, _SUB, _NEG, _MUL, _DIV, _POW, _EXP, _LOG, _RELU, _EQUAL, _TAKE = map(
    OPCODES.__getitem__, ("add", "sub", "neg", "mul", "div", "pow", "exp", "log", "relu", "equal", "take")
)
_SUMS = (_ADD, _SUB)
_MORE = " + …"  # stands for other terms
_CROSS_ENTROPY = "cross-entropy: log of softmax"
_MANY_SQUARES = 3
_MAX_TERMS = 10_000  # maximum number of terms of a sum that are followed


class Idioms:
    """Finds common computations in a graph."""

    def __init__(self, graph: Graph) -> None:
        self._opcodes: list[int] = graph.opcodes.tolist()
        self._offsets: list[int] = graph.offsets.tolist()
        self._operands: list[int] = graph.operands.tolist()
        self._partials: list[float] = graph.partials.tolist()
        self._data = graph.data

    def names(self, nodes: Sequence[int], *, is_loss: bool) -> list[str]:
        """Return the names of the computations that some nodes perform, such as "softmax", each name once.

        A squared difference is called an error if `is_loss` is true.
        """
        found = dict.fromkeys(name for node in nodes for name in self._named(node, is_loss=is_loss))
        squares = [node for node in nodes if self._is_square(node) and not self._given(self._given(node)[0])]
        if len(squares) >= _MANY_SQUARES and 2 * len(squares) + 2 >= len(nodes):
            return [f"sum of {len(squares):,} squares (L2)"]
        if _CROSS_ENTROPY in found:
            found.pop("softmax", None)
        return list(found)

    def mean(self, nodes: Sequence[int], number: Sequence[int], count: int) -> str:
        """Return "mean of 30" or "sum of 30" if the nodes add up one term of each of `count` repetitions; else "".

        Return "mean of 30 + …" if they also add other terms, such as a penalty. `number` has the repetition of each
        node.
        """
        sums = [node for node in nodes if self._opcodes[node] in _SUMS]
        others = [node for node in nodes if self._opcodes[node] not in _SUMS]
        if not others:
            terms = list(self._terms(sums))
            more = len(terms) - sum(number[x] >= 0 for x in terms if x != CONSTANT)
            return f"sum of {count:,}{_MORE * (more > 0)}" if len(terms) - more == count else ""
        mean = others[0]
        if others[1:] or self._constant(mean) not in (float(count), 1.0 / count):
            return ""
        inside = [node for node in sums if node < mean]
        terms = list(self._terms(inside))
        rest = self._given(nodes[-1]) if nodes[-1] != mean else []
        if len(terms) != count or any(x == CONSTANT or number[x] < 0 for x in terms):
            return ""
        if not rest:
            return f"mean of {count:,}"
        is_added = self._opcodes[nodes[-1]] == _ADD or rest[0] == mean
        return f"mean of {count:,}{_MORE}" if len(inside) + 1 == len(sums) and mean in rest and is_added else ""

    def _terms(self, sums: Sequence[int]) -> Iterator[int]:
        """Yield the terms that some sums add up: operands that are not among the sums, except zeros."""
        inside = set(sums)
        for node in sums:
            for i in range(self._offsets[node], self._offsets[node + 1]):
                x = self._operands[i]
                is_zero = self._partials[i] == 0.0 if x == CONSTANT else self._is_zero_leaf(x)
                if x not in inside and not is_zero:
                    yield x

    def _is_zero_leaf(self, node: int) -> bool:
        """Return whether a node is a leaf with the number 0, such as the start of a sum."""
        return self._offsets[node] == self._offsets[node + 1] and self._data[node] == 0.0

    def _named(self, node: int, *, is_loss: bool) -> Iterator[str]:
        """Yield the name of the computation that a node completes, if it has one."""
        opcode, given = self._opcodes[node], self._given(node)
        if opcode == _DIV and self._is_softmax(given):
            yield "softmax"
        elif self._is_log_share(opcode, given):
            yield _CROSS_ENTROPY
        elif self._is_square(node) and self._is_difference(given[0]):
            yield "squared error" if is_loss else "squared difference"
        elif opcode == _RELU and self._is_margin(given[0]):
            yield "hinge loss"

    def _given(self, node: int) -> list[int]:
        return self._operands[self._offsets[node] : self._offsets[node + 1]]

    def _constant(self, node: int) -> float | None:
        """Return the constant operand of a product or quotient; None if there is none."""
        for i in range(self._offsets[node], self._offsets[node + 1]):
            if self._operands[i] == CONSTANT and self._opcodes[node] in (_MUL, _DIV):
                return self._partials[i]
        return None

    def _is_softmax(self, given: Sequence[int]) -> bool:
        """Return whether a numerator is one of the exponentials that the denominator adds up."""
        top, bottom = given
        if CONSTANT in given or self._opcodes[top] != _EXP or self._opcodes[bottom] != _ADD:
            return False
        terms = self._summands(bottom)
        return top in terms and all(self._opcodes[term] == _EXP for term in terms)

    def _summands(self, node: int) -> list[int]:
        """Return the terms of a sum, without constants."""
        pending, terms, count = [node], [], 0
        while pending and count < _MAX_TERMS:
            node = pending.pop()
            count += 1
            if self._opcodes[node] == _ADD:
                pending += [x for x in self._given(node) if x != CONSTANT]
            else:
                terms.append(node)
        return terms

    def _is_score(self, total: int, score: int) -> bool:
        """Return whether `score` is one of the numbers whose logsumexp is `total`.

        The numbers may be shifted by their maximum, as in `log(exp(x - m) + exp(y - m)) + m`.
        """
        logs = [x for x in (total, *self._given(total)) if x != CONSTANT and self._opcodes[x] == _LOG]
        if not logs or (logs[0] != total and self._opcodes[total] != _ADD) or self._given(logs[0])[0] == CONSTANT:
            return False
        terms = self._summands(self._given(logs[0])[0])
        if any(self._opcodes[term] not in (_EXP, _EQUAL) for term in terms):  # gradwalk's own logsumexp compares
            return False
        exponents = [self._given(term)[0] for term in terms if self._opcodes[term] == _EXP]
        shifted = [self._given(x)[0] for x in exponents if x != CONSTANT and self._opcodes[x] == _SUB]
        scores = self._given(score) if self._opcodes[score] == _TAKE else [score]
        return any(x != CONSTANT and x in scores for x in (*exponents, *shifted))

    def _is_share(self, node: int) -> bool:
        return self._opcodes[node] == _DIV and self._is_softmax(self._given(node))

    def _is_log_share(self, opcode: int, given: Sequence[int]) -> bool:
        """Return whether an operation is the logarithm of a softmax, or the difference of a logsumexp and a score."""
        if CONSTANT in given:
            return False
        if opcode == _LOG:
            return self._is_share(given[0])
        return opcode == _SUB and (self._is_score(*given) or self._is_score(*given[::-1]))

    def _is_square(self, node: int) -> bool:
        """Return whether a node is x**2 or x * x."""
        given = self._given(node)
        if self._opcodes[node] == _POW:
            return given[0] != CONSTANT and given[1] == CONSTANT and self._partials[self._offsets[node] + 1] == 2.0
        return self._opcodes[node] == _MUL and given[0] == given[1] != CONSTANT

    def _is_difference(self, node: int) -> bool:
        """Return whether a node is a difference, or a sum with a constant."""
        return self._opcodes[node] == _SUB or (self._opcodes[node] == _ADD and CONSTANT in self._given(node))

    def _is_margin(self, node: int) -> bool:
        """Return whether a node is 1 plus or minus a product."""
        if node == CONSTANT or self._opcodes[node] not in (_ADD, _SUB):
            return False
        start, given = self._offsets[node], self._given(node)
        if given.count(CONSTANT) != 1:
            return False
        position = given.index(CONSTANT)
        return self._partials[start + position] == 1.0 and self._opcodes[given[1 - position]] in (_MUL, _NEG)
