"""The page as a widget for Jupyter, VS Code, Colab and marimo. Only this module imports anywidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gradwalk.explain.page.page import document, module
from gradwalk.explain.page.static import hidden_beside

try:
    import anywidget
    import traitlets
    from IPython.display import display
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


def show(essence: Mapping[str, Any], html: str, text: str, description: str) -> None:
    """Display a walk in a notebook: the widget, and HTML that is hidden where the widget is shown.

    A saved notebook, or a web page made from it, often cannot show the widget. A front end shows only one
    representation of an output, so the HTML is a separate output.

    Args:
        essence: The walk, from `Walk.essence()`.
        html: The walk as static HTML.
        text: The walk as text.
        description: A short text for viewers that show neither the widget nor HTML.
    """
    widget = WalkWidget(essence)
    name = f"gradwalk-{widget.model_id}"
    widget.add_class(name)  # a front end adds the class to the page when it shows the widget
    output: Callable[..., object] = display
    data, metadata = widget._repr_mimebundle_() or ({}, {})
    output(data | {"text/plain": description}, metadata=metadata, raw=True)
    output({"text/html": hidden_beside(name, html), "text/plain": text}, raw=True)
