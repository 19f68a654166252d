"""`LaneWriter`: writes instructions on lanes as C loops over the lanes.

Consecutive instructions share a loop, in which their results are local variables. A function such as `exp` is called
for all lanes at once, between two loops. Results that another loop or a function needs are stored in slots: rows of
the array `slots`, which are reused after the last use.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

LANES = 16  # number of samples that run side by side, and of partial sums of a reduction
_MOST_IN_LOOP = 120  # maximum number of statements in a loop over lanes


class Plan(NamedTuple):
    """Facts about the results that are known once all instructions have been written.

    Attributes:
        live: The results that an effect depends on. Other results are left out.
        stored: The results that are stored in slots.
        last: Maps each result to the number of the last chunk that uses it.
    """

    live: frozenset[str]
    stored: frozenset[str]
    last: dict[str, int]


class _Pending(NamedTuple):
    """A statement of the next loop: `result` is "" for an effect, which writes to memory."""

    result: str
    text: str
    operands: Sequence[str]


class LaneWriter:
    """Writes C code. A chunk is a loop over lanes or a call of a function for all lanes.

    A text may have placeholders {0}, {1} and so on for the operands, which are the names of results.

    Args:
        plan: The plan of an earlier pass over the same instructions; None for the first pass.

    Attributes:
        lines: The lines that were written.
        slots: The number of slots.
    """

    def __init__(self, plan: Plan | None) -> None:
        self.lines: list[str] = []
        self.slots = 0
        self._plan = plan
        self._indent = 1
        self._pending: list[_Pending] = []
        self._chunk = 0
        self._chunk_of: dict[str, int] = {}  # result -> the chunk that computes it
        self._depth_of: dict[str, int] = {}  # result -> the number of loops around it
        self._operands_of: dict[str, Sequence[str]] = {}
        self._roots: set[str] = set()
        self._stored: set[str] = set()
        self._last: dict[str, int] = {}
        self._loops: list[int] = []  # ids of the open loops
        self._ends: dict[int, int] = {}  # id of a loop -> number of its last chunk
        self._used_in: list[tuple[str, int]] = []  # results and loops that use them and do not compute them
        self._slot_of: dict[str, int] = {}
        self._free: list[int] = []

    def plan(self) -> Plan:
        """Return the plan for the next pass."""
        live, waiting = set(), [*self._roots]
        while waiting:
            name = waiting.pop()
            if name not in live:
                live.add(name)
                waiting += self._operands_of.get(name, ())
        last = dict(self._last)
        for name, loop in self._used_in:
            last[name] = max(last[name], self._ends[loop])
        return Plan(frozenset(live), frozenset(self._stored), last)

    def line(self, text: str) -> None:
        """Append a line outside of loops over lanes, before the statements that are pending."""
        self.lines.append(f"{'    ' * self._indent}{text}")

    def define(self, result: str, text: str, operands: Sequence[str]) -> None:
        """Append the computation of a result."""
        if self._is_dead(result, operands):
            return
        self._add(_Pending(result, text, operands))
        self._note(result)

    def effect(self, text: str, operands: Sequence[str]) -> None:
        """Append a statement that writes to memory."""
        self._roots.update(operands)
        self._add(_Pending("", text, operands))

    def call(self, result: str, function: str, operands: Sequence[str]) -> None:
        """Append the call of a function for all lanes. The operands are results."""
        if self._is_dead(result, operands):
            return
        self.flush()
        for name in operands:
            self._use(name)
            self._stored.add(name)
        self._stored.add(result)
        self._note(result)
        given = [self._address(name) for name in operands]
        self._allocate(result)
        self.line(f"SET({function})({', '.join([*given, self._address(result)])});")
        self._end_chunk()

    def open(self, head: str, operands: Sequence[str] = ()) -> None:
        """Begin a loop or a block. Placeholders in its head stand for the addresses of the operands."""
        self.flush()
        self._roots.update(operands)
        for name in operands:
            self._use(name)
            self._stored.add(name)
        head = head.format(*map(self._address, operands)) if operands else head
        self.line(f"{head} {{")
        self._indent += 1
        self._loops.append(len(self._ends))
        self._ends[self._loops[-1]] = -1

    def close(self) -> None:
        """End the innermost loop."""
        self.flush()
        self._ends[self._loops.pop()] = self._chunk
        self._indent -= 1
        self.line("}")
        self._end_chunk()

    def flush(self) -> None:
        """Write the pending statements as one loop over the lanes."""
        if not self._pending:
            return
        before, lines = _hoisted(self._body())
        margin = "    " if before else ""
        for text in [*before, "EACH {", *(f"    {line}" for line in lines), "}"]:
            self.line(f"{margin}{text}")
        if before:
            self.lines.insert(len(self.lines) - len(before) - len(lines) - 2, f"{'    ' * self._indent}{{")
            self.line("}")
        self._pending = []
        self._end_chunk()

    def _body(self) -> list[str]:
        """Return the lines of the loop with the pending statements."""
        lines: list[str] = []
        loaded: set[str] = set()
        for statement in self._pending:
            for name in statement.operands:
                if self._chunk_of[name] != self._chunk and name not in loaded:
                    loaded.add(name)
                    lines.append(f"const double {name} = slots[{LANES * self._slot_of.get(name, 0)} + l];")
            text = statement.text.format(*statement.operands)
            if not statement.result:
                lines.append(text)
                continue
            lines.append(f"const double {statement.result} = {text};")
            if self._plan is not None and statement.result in self._plan.stored:
                self._allocate(statement.result)
                lines.append(f"slots[{LANES * self._slot_of[statement.result]} + l] = {statement.result};")
        return lines

    def _add(self, statement: _Pending) -> None:
        if len(self._pending) >= _MOST_IN_LOOP:
            self.flush()
        for name in statement.operands:
            self._use(name)
            if self._chunk_of[name] != self._chunk:
                self._stored.add(name)
        self._pending.append(statement)

    def _is_dead(self, result: str, operands: Sequence[str]) -> bool:
        self._operands_of[result] = operands
        return self._plan is not None and result not in self._plan.live

    def _note(self, result: str) -> None:
        self._chunk_of[result], self._depth_of[result] = self._chunk, len(self._loops)
        self._last[result] = self._chunk

    def _use(self, name: str) -> None:
        self._last[name] = self._chunk
        depth = self._depth_of[name]
        if depth < len(self._loops):
            self._used_in.append((name, self._loops[depth]))

    def _address(self, name: str) -> str:
        return f"slots + {LANES * self._slot_of.get(name, 0)}"

    def _allocate(self, name: str) -> None:
        if not self._free:
            self._free.append(self.slots)
            self.slots += 1
        self._slot_of[name] = self._free.pop()

    def _end_chunk(self) -> None:
        """Begin another chunk; free the slots of results that are not used any more."""
        if self._plan is not None:
            ended = [name for name in self._slot_of if self._plan.last[name] <= self._chunk]
            self._free += [self._slot_of.pop(name) for name in ended]
        self._chunk += 1


def _hoisted(lines: list[str]) -> tuple[list[str], list[str]]:
    """Move numbers that are the same for all lanes in front of the loop.

    In the loop, compilers might load them in a branch, and then they would not use vector instructions.
    """
    names: dict[str, str] = {}

    def name_of(match: re.Match[str]) -> str:
        return names.setdefault(match.group(), f"u{len(names)}")

    moved = [_SAME.sub(name_of, line) for line in lines]
    return [f"const double {name} = {cell};" for cell, name in names.items()], moved


_SAME = re.compile(r"\b(?:scalars|[ak]\d+)\[(?![^\]]*\bl\])[^\]]*\]")
