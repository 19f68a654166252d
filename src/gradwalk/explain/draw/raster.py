"""Writes picture files and rasterizes SVG. Only this module imports resvg and Pillow."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

_SCALE = 2.0  # pixels per SVG unit, for high-density screens
_COARSEST = 0.4  # minimum pixels per SVG unit for readable text
_MOST_PIXELS = 40e6


class PictureError(ValueError):
    """Raised if a picture cannot be created."""


def write(path: str | Path, formats: Mapping[str, Callable[[], str | bytes]]) -> None:
    """Write a file; `formats` maps each allowed suffix of the file name to a function that returns the content.

    Raises:
        PictureError: The file name has none of these suffixes.
        OSError: The file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise PictureError(f"the file name must end with {' or '.join(formats)}, got {str(path)!r}")
    content = formats[suffix]()
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


def as_png(svg: str) -> bytes:
    """Convert the text of an SVG file to PNG, with 2 pixels per SVG unit, or fewer to stay below 40 megapixels.

    Raises:
        ModuleNotFoundError: resvg is not installed.
        PictureError: The picture is too large to be readable.
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
    """Return a GIF file that shows the parts of an SVG file one after the other, in an endless loop.

    Args:
        column: The text of an SVG file that consists of parts one below the other.
        count: The number of parts, which have equal heights.
        seconds: Duration of each part in seconds.

    Raises:
        ModuleNotFoundError: Pillow or resvg is not installed.
        PictureError: The picture is too large to be readable.
    """
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
        f"{format_} files need {package}: pip install 'gradwalk[pictures]'. SVG and DOT need no extra package."
    )
