"""Writes picture files, and makes pixels of SVG by resvg and Pillow, which only this module imports."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

_SCALE = 2.0  # pixels for each unit of SVG, sharp on screens of high density
_COARSEST = 0.4  # pixels for each unit; below that letters cannot be read
_MOST_PIXELS = 40e6


class PictureError(ValueError):
    """A picture cannot be made: the message says why."""


def write(path: str | Path, formats: Mapping[str, Callable[[], str | bytes]]) -> None:
    """Write a file in the format that its name ends with.

    Args:
        path: The name of the file.
        formats: A function that makes the content, by suffix.

    Raises:
        PictureError: The name ends with none of the suffixes.
        OSError: The file cannot be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in formats:
        raise PictureError(f"the name of the file tells its format: {', '.join(formats)}; not {str(path)!r}")
    content = formats[suffix]()
    Path(path).write_bytes(content.encode() if isinstance(content, str) else content)


def as_png(svg: str) -> bytes:
    """Make a PNG file, with two pixels for each unit, or fewer if there would be too many.

    Args:
        svg: The text of an SVG file.

    Returns:
        The bytes of the file.

    Raises:
        ModuleNotFoundError: resvg is not installed.
        PictureError: The picture is so large that nobody could read it.
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
    """Make a GIF file that shows the parts of an SVG file one after the other, endlessly.

    Args:
        column: The text of an SVG file whose parts stand below each other.
        count: The number of parts, which are equally high.
        seconds: How long each part is shown.

    Returns:
        The bytes of the file.

    Raises:
        ModuleNotFoundError: Pillow or resvg is not installed.
        PictureError: The picture is so large that nobody could read it.
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
        f"for {format_} files {package} is needed: pip install 'gradwalk[pictures]'. SVG and DOT need nothing."
    )
