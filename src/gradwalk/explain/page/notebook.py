"""The page as a widget, for Jupyter, VS Code, Colab and marimo. Only this module imports anywidget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradwalk.explain.page.page import document, module

try:
    import anywidget
    import traitlets
except ModuleNotFoundError:
    raise ModuleNotFoundError("for widgets anywidget is needed: pip install 'gradwalk[notebook]'") from None


class WalkWidget(anywidget.AnyWidget):
    """The page of a walk in a notebook, which `walk(root)` shows when it is the last line of a cell.

    Nothing that is changed in the page changes a Value.

    Args:
        essence: What the page shows, as `Walk.essence()` returns it.

    Attributes:
        document: The walk as JSON text, as the page reads it.
        state: Where the page stands, as text. It can be read, kept and set again.
    """

    _esm = module()
    document = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)

    def __init__(self, essence: Mapping[str, Any]) -> None:
        super().__init__(document=document(essence))
