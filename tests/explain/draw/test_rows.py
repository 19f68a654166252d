"""Tests of wide layouts that are broken into rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradwalk.explain.draw.layout import layered
from gradwalk.explain.draw.rows import in_rows, rounded

GRAPHS = st.lists(
    st.tuples(st.tuples(st.integers(20, 200), st.integers(20, 120)), st.lists(st.integers(0, 100), max_size=3)),
    min_size=1,
    max_size=12,
)


@given(GRAPHS)
def test_boxes_stay_apart_and_rows_are_narrow(nodes):
    sizes = [(float(w), float(h)) for (w, h), _ in nodes]
    edges = sorted({(x % i, i) for i, (_, given_) in enumerate(nodes) for x in given_ if i})
    layout = layered(sizes, edges, 40.0)
    rows = in_rows(layout, sizes, edges, 500.0)
    corners = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(rows.layout.centers, sizes, strict=True)
    ]
    for i, one in enumerate(corners):
        for other in corners[:i]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert one[0] >= 0
        assert one[2] <= rows.layout.width
        assert one[1] >= -0.01
        assert one[3] <= rows.layout.height + 0.01
    if layout.width <= 500.0:
        assert rows.layout is layout
    else:
        assert max(x2 for _, _, x2, _ in corners) - min(x1 for x1, *_ in corners) <= 500.0
    for number, (start, end) in enumerate(edges):
        if number in rows.detours:
            detour = rows.detours[number]
            assert detour.corners[0][0] >= corners[start][2]
            assert detour.corners[-1][0] <= corners[end][0] + 0.01
            assert corners[start][1] < corners[end][1]


def test_corners_are_round():
    assert rounded([(0.0, 0.0), (20.0, 0.0), (20.0, 30.0)]) == "M0.0,0.0L12.0,0.0Q20.0,0.0 20.0,8.0L20.0,30.0"
