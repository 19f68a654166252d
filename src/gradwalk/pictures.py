"""Picture files; pixels out of SVG, by resvg and Pillow, which only this module imports."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_SCALE = 2.0  # pixels a unit of SVG: sharp on a screen of high density


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
    """A PNG file. Raises `ModuleNotFoundError` where resvg is not installed."""
    try:
        import resvg_py
    except ModuleNotFoundError:
        raise _missing("PNG", "resvg-py") from None
    png: bytes = resvg_py.svg_to_bytes(svg_string=svg, zoom=_SCALE, monospace_family="DejaVu Sans Mono")
    return bytes(png)


def as_gif(frames: Sequence[str], seconds: float) -> bytes:
    """A GIF file that shows SVG files one after the other, each for so many seconds, without end."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise _missing("GIF", "Pillow") from None
    images = [Image.open(io.BytesIO(as_png(frame))).convert("P", palette=Image.Palette.ADAPTIVE) for frame in frames]
    buffer = io.BytesIO()
    images[0].save(buffer, "GIF", save_all=True, append_images=images[1:], duration=int(1000 * seconds), loop=0)
    return buffer.getvalue()


def _missing(format_: str, package: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"for {format_} files {package} is needed: pip install 'gradwalk[pictures]'. SVG and DOT need nothing."
    )
