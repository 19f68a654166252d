"""The page as a widget for Jupyter, VS Code, Colab and marimo. Only this module imports anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwalk.explain.page.page import document, module

try:
    import anywidget
    import traitlets
except ModuleNotFoundError:
    raise ModuleNotFoundError("widgets need anywidget: pip install 'gradwalk[notebook]'") from None


class WalkWidget(anywidget.AnyWidget):
    """The page of a walk in a notebook, displayed for `walk(root)` on the last line of a cell.

    Changes that the user makes in the page do not change any Value.

    Args:
        essence: The walk, from `Walk.essence()`.

    Attributes:
        document: The walk as JSON text, which the page reads.
        state: The state of the page as text, which can be saved and restored.
    """

    _esm = module()
    document = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)

    def __init__(self, essence: Mapping[str, Any]) -> None:
        super().__init__(document=document(essence))
