"""Writes picture files and rasterizes SVG. Only this module imports resvg, Pillow and PyAV."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from PIL.Image import Image

_SCALE = 2.0  # pixels per SVG unit, for high-density screens
_COARSEST = 0.4  # minimum pixels per SVG unit for readable text
_MOST_PIXELS = 40e6
_GLIMPSE = 0.05  # duration of the first picture of a film in seconds
_RATE = 20  # pictures per second of a video


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


def as_png(svg: str, largest_scale: float = _SCALE) -> bytes:
    """Convert the text of an SVG file to PNG, with `largest_scale` pixels per SVG unit.

    The scale is smaller if the picture would have more than 40 megapixels.

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
    scale = min(largest_scale, math.sqrt(_MOST_PIXELS / (wide * high)))
    if scale < _COARSEST:
        raise PictureError(f"a picture of {wide:,.0f} by {high:,.0f} is too large for pixels: save it as .svg")
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=scale, monospace_family="DejaVu Sans Mono"))


def as_gif(pictures: Iterable[str], seconds: float) -> bytes:
    """Return a GIF file that shows SVG files of equal size one after the other, in an endless loop.

    Args:
        pictures: The texts of the files. The first picture is shown for 0.05 seconds.
        seconds: Duration of each other picture in seconds.

    Raises:
        ModuleNotFoundError: Pillow or resvg is not installed.
    """
    first, *others = [image.quantize(256) for image in _images(pictures, "GIF", 1.0)]
    durations = [int(1000 * _GLIMPSE), *[int(1000 * seconds)] * len(others)]
    buffer = io.BytesIO()
    first.save(buffer, "GIF", save_all=True, append_images=others, duration=durations, loop=0)
    return buffer.getvalue()


def as_mp4(pictures: Iterable[str], seconds: float) -> bytes:
    """Return an MP4 file, in H.264, that shows SVG files of equal size one after the other.

    Args:
        pictures: The texts of the files. The first picture is shown for 0.05 seconds.
        seconds: Duration of each other picture in seconds, rounded to multiples of 0.05.

    Raises:
        ModuleNotFoundError: PyAV, Pillow or resvg is not installed.
    """
    try:
        import av
    except ModuleNotFoundError:
        raise _missing("MP4", "av", "video") from None
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=_RATE, options={"crf": "18", "preset": "veryfast"})
        stream.pix_fmt = "yuv420p"  # the format that all players support
        for i, image in enumerate(_images(pictures, "MP4", _SCALE)):
            if i == 0:
                stream.width, stream.height = image.size
            frame = av.VideoFrame.from_image(image).reformat(format=stream.pix_fmt)
            for _ in range(max(1, round(seconds * _RATE)) if i else 1):
                file.mux(stream.encode(frame))
                frame.pts = None  # the encoder sets the time of the next frame
        file.mux(stream.encode())
    return buffer.getvalue()


def _images(pictures: Iterable[str], format_: str, scale: float) -> Iterator[Image]:
    """Yield SVG files as images of the library Pillow. `format_` is the format for which they are needed."""
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise _missing(format_, "Pillow") from None
    for picture in pictures:
        with Image.open(io.BytesIO(as_png(picture, scale))) as image:
            yield image.convert("RGB")


def _missing(format_: str, package: str, extra: str = "pictures") -> ModuleNotFoundError:
    return ModuleNotFoundError(
        f"{format_} files need {package}: pip install 'gradwalk[{extra}]'. SVG and DOT need no extra package."
    )
