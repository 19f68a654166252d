"""Picture files; pixels out of SVG, by resvg and Pillow, which only this module imports."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

_SCALE = 2.0  # pixels a unit of SVG: sharp on a screen of high density
_COARSEST = 0.4  # below that, letters cannot be read
_MOST_PIXELS = 40e6


class PictureError(ValueError):
    """Why there is no such picture."""


def write(path: str | Path, formats: Mapping[str, Callable[[], str | bytes]]) -> None:
    """Write a file in the format that its name ends with; `formats` has a function that makes it for each.

    Raises `PictureError` for other names, and `OSError` where the file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise PictureError(f"the name of the file tells its format: {', '.join(formats)}; not {str(path)!r}")
    content = formats[suffix]()
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


def as_png(svg: str) -> bytes:
    """A PNG file, of two pixels a unit, or fewer where it would have too many.

    Raises `ModuleNotFoundError` where resvg is not installed, `PictureError` where nobody could read it.
    """
    try:
        import resvg_py
    except ModuleNotFoundError:
        raise _missing("PNG", "resvg-py") from None
    root = ElementTree.fromstring(svg)
    wide, high = float(root.get("width", "1")), float(root.get("height", "1"))
    scale = min(_SCALE, math.sqrt(_MOST_PIXELS / (wide * high)))
    if scale < _COARSEST:
        raise PictureError(f"a picture of {wide:,.0f} by {high:,.0f} is too large for pixels: save it as .svg")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, monospace_family="DejaVu Sans Mono"))


def as_gif(column: str, count: int, seconds: float) -> bytes:
    """A GIF file that shows so many parts of an SVG file, which stand in a column, one after the other without end."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise _missing("GIF", "Pillow") from None
    with Image.open(io.BytesIO(as_png(column))) as sheet:
        wide, high = sheet.size[0], sheet.size[1] // count
        parts = [sheet.crop((0, i * high, wide, (i + 1) * high)) for i in range(count)]
    images = [part.convert("P", palette=Image.Palette.ADAPTIVE) for part in parts]
    buffer = io.BytesIO()
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=int(1000 * seconds), loop=0)
    return buffer.getvalue()


def _missing(format_: str, package: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"for {format_} files {package} is needed: pip install 'gradwalk[pictures]'. SVG and DOT need nothing."
    )
