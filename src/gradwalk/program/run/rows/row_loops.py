"""Constants of row_loops.h for segments and links. Only compiled modules run rows, with `row_loops.pxd`."""

from __future__ import annotations

from typing import Any

ROW_WIDTH, STRIDED, INDEXED, ROW_FORMS = 13, 8, 9, 10
CHAIN, LINK_WIDTH = 0, 8
IS_NUMBER, IS_ROW, IS_SCALED, ADD_SCALED, ADD_PRODUCTS, ADD_ROW = range(6)


def run_rows(segments: Any, at: int, count: int, code: Any, links: Any, value: Any) -> int:
    """Raise `NotImplementedError`: an uncompiled interpreter does not reorder programs into rows."""
    raise NotImplementedError
