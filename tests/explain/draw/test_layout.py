"""Tests of layouts: nodes do not overlap, edges lead to the right, and few edges cross."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.explain.draw.layout import Layout, layered


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[tuple[int, int]]]:
    n = draw(st.integers(1, 25))
    sizes = [(draw(st.sampled_from([30.0, 120.0])), draw(st.sampled_from([10.0, 30.0]))) for _ in range(n)]
    edges = [(draw(st.integers(0, end - 1)), end) for end in range(1, n) for _ in range(draw(st.integers(0, 3)))]
    return sizes, edges


def overlap(layout: Layout, sizes: list[tuple[float, float]], i: int, j: int) -> bool:
    (x1, y1), (x2, y2) = layout.centers[i], layout.centers[j]
    wide, high = (sizes[i][0] + sizes[j][0]) / 2, (sizes[i][1] + sizes[j][1]) / 2
    return abs(x1 - x2) < wide - 1e-6 and abs(y1 - y2) < high - 1e-6


@given(graphs())
def test_nodes_do_not_overlap_and_edges_lead_right(graph):
    sizes, edges = graph
    layout = layered(sizes, edges, gap=50.0)
    assert not [pair for pair in combinations(range(len(sizes)), 2) if overlap(layout, sizes, *pair)]
    for (start, end), route in zip(edges, layout.routes, strict=True):
        xs = [layout.centers[start][0], *(x for x, _ in route), layout.centers[end][0]]
        assert xs == sorted(xs)
        assert layout.centers[start][0] < layout.centers[end][0]


@given(graphs())
def test_nodes_are_inside_the_layout(graph):
    sizes, edges = graph
    layout = layered(sizes, edges, gap=50.0)
    for (x, y), (wide, high), (left, right) in zip(layout.centers, sizes, layout.columns, strict=True):
        assert left - 1e-6 <= x - wide / 2
        assert x + wide / 2 <= right + 1e-6
        assert right <= layout.width + 1e-6
        assert y - high / 2 >= -1e-6
        assert y + high / 2 <= layout.height + 1e-6


@given(graphs())
def test_long_edges_avoid_nodes(graph):
    sizes, edges = graph
    layout = layered(sizes, edges, gap=50.0)
    for route in layout.routes:
        for x, y in route:
            for (cx, cy), (wide, high) in zip(layout.centers, sizes, strict=True):
                assert abs(x - cx) > wide / 2 - 1e-6 or abs(y - cy) > high / 2 - 1e-6


@given(graphs())
def test_layout_is_deterministic(graph):
    assert layered(*graph, gap=50.0) == layered(*graph, gap=50.0)


def crossings(layout: Layout, edges: list[tuple[int, int]]) -> int:
    lines = [(layout.centers[a], layout.centers[b]) for a, b in edges]
    return sum(
        p[0] == q[0] and r[0] == s[0] and (p[1] - q[1]) * (r[1] - s[1]) < 0 for (p, r), (q, s) in combinations(lines, 2)
    )


def test_crossings_are_removed():
    # a ladder with crossed rungs
    edges = [(0, 7), (1, 6), (2, 5), (3, 4)]
    assert crossings(layered([(10.0, 10.0)] * 8, edges, gap=50.0), edges) == 0


def test_binary_tree_has_no_crossings():
    edges = [(i, 16 + i // 2) for i in range(16)] + [(16 + i, 24 + i // 2) for i in range(8)]
    edges += [(24 + i, 28 + i // 2) for i in range(4)] + [(28, 30), (29, 30)]
    layout = layered([(10.0, 10.0)] * 31, edges, gap=50.0)
    assert crossings(layout, edges) == 0
    assert layout.centers[30][1] == pytest.approx(layout.height / 2, abs=5.0)


def test_leaves_are_placed_next_to_their_users():
    layout = layered([(10.0, 10.0)] * 5, [(0, 1), (1, 2), (2, 4), (3, 4)], gap=50.0)
    assert layout.centers[3][0] == layout.centers[2][0]


def test_chains_are_straight():
    layout = layered([(10.0, 10.0)] * 100, [(i, i + 1) for i in range(99)], gap=50.0)
    assert {y for _, y in layout.centers} == {5.0}


def test_empty_graph():
    assert layered([], [], gap=50.0) == Layout((), (), (), 0.0, 0.0)
