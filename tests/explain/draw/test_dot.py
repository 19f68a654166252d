"""Tests of DOT output, using the quoting rules of the graphviz package."""

from __future__ import annotations

import re

from graphs_of_the_lesson import diamond

from gradwalk import Graph, Value
from gradwalk.explain.draw.dot import as_dot


def test_records_operations_and_edges():
    root = diamond()
    root.backward()
    lines = as_dot(Graph.record(root)).splitlines()
    assert lines[:3] == [
        "digraph gradwalk {",
        "  rankdir=LR",
        '  0 [shape=record label="{ a | data 2.0000 | grad 15.0000 }"]',
    ]
    assert '  "1:op" [label="+\\ 1.0"]' in lines
    assert '  "1:op" -> 1' in lines
    assert '  0 -> "1:op"' in lines
    assert lines[-1] == "}"
    assert "rankdir=TB" in as_dot(Graph.record(root), "TB")


def test_edge_for_every_operand():
    a = Value(3.0)
    assert as_dot(Graph.record(a + a)).count('  0 -> "1:op"') == 2


def test_hostile_labels_are_quoted():
    a = Value(1.0, label='"]; evil [label="<b>|{x}\\\n\x00')
    text = as_dot(Graph.record(a * 2))
    assert len(text.splitlines()) == 8
    for line in text.splitlines():
        unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
        assert "evil" not in unquoted
        assert '"' not in unquoted
