"""A walk as a widget, for Jupyter, VS Code, Colab and marimo. Only this module imports anywidget."""

from __future__ import annotations

import traitlets

from gradwalk.explain.page.page import document, module
from gradwalk.explain.walk import Walk

try:
    import anywidget
except ModuleNotFoundError:
    raise ModuleNotFoundError("for widgets anywidget is needed: pip install 'gradwalk[notebook]'") from None


class WalkWidget(anywidget.AnyWidget):
    """The page of a walk in a notebook, which `walk(root)` shows of itself.

    `document`: the walk, as the page reads it. `state`: where the page stands, as text; it can be read, kept and set
    again. What is changed in the page changes no Value.
    """

    _esm = module()
    document = traitlets.Unicode().tag(sync=True)
    state = traitlets.Unicode().tag(sync=True)

    def __init__(self, walk: Walk) -> None:
        super().__init__(document=document(walk))
