"""Tests of raster files, and the errors for missing packages."""

from __future__ import annotations

import io
import subprocess
import sys
from importlib import import_module

import pytest
from references import Image, needs

from gradwalk import Value, draw
from gradwalk.explain.draw.raster import PictureError, as_gif, as_mp4, as_png, write

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10" fill="{}"/></svg>'


@needs("resvg_py", "PIL")
def test_png_has_two_pixels_per_unit():
    with Image.open(io.BytesIO(as_png(SQUARE.format("#ff0000")))) as image:
        assert image.size == (20, 20)
        assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


@needs("resvg_py", "PIL")
def test_gif_keeps_frame_order():
    pictures = [SQUARE.format(color) for color in ("#00ff00", "#ff0000", "#0000ff")]
    with Image.open(io.BytesIO(as_gif(pictures, 0.25))) as image:
        assert (image.size, image.n_frames) == ((10, 10), 3)
        for i, (color, duration) in enumerate([((0, 255, 0), 50), ((255, 0, 0), 250), ((0, 0, 255), 250)]):
            image.seek(i)
            assert (image.convert("RGB").getpixel((5, 5)), image.info["duration"]) == (color, duration)


@needs("resvg_py", "PIL", "av")
def test_mp4_keeps_frame_order():
    pictures = [SQUARE.format(color) for color in ("#00ff00", "#ff0000", "#0000ff")]
    with import_module("av").open(io.BytesIO(as_mp4(pictures, 0.25))) as file:
        assert file.streams.video[0].codec_context.name == "h264"
        frames = [(float(frame.time), frame.to_ndarray(format="rgb24")) for frame in file.decode(video=0)]
    assert [time for time, _ in frames] == pytest.approx([i * 0.05 for i in range(11)])
    assert frames[0][1].shape == (20, 20, 3)
    assert [int(pixels[10, 10].argmax()) for _, pixels in frames] == [1] + 5 * [0] + 5 * [2]


@needs("resvg_py")
def test_too_large_pictures_raise():
    with pytest.raises(PictureError, match=r"100,000 by 90,000 is too large for pixels: save it as .svg"):
        as_png('<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="90000"></svg>')


@needs("resvg_py")
def test_letters_are_drawn():
    """Check this because a renderer without fonts silently omits letters."""
    blank, lettered = (as_png(draw(Value(1.0, label=label)).svg) for label in ("x", "y"))
    assert blank != lettered


def test_write_keeps_the_file_when_rendering_fails(tmp_path):
    path = tmp_path / "x.svg"
    path.write_text("kept")
    with pytest.raises(ZeroDivisionError):
        write(path, {".svg": lambda: 1 / 0})
    assert path.read_text() == "kept"


@pytest.mark.parametrize(
    ("suffix", "package", "extra"),
    [("png", "resvg_py", "pictures"), ("gif", "PIL", "pictures"), ("mp4", "av", "video")],
)
def test_missing_package_error_names_the_extra(tmp_path, suffix, package, extra):
    program = f"""
import sys
sys.modules[{package!r}] = None
from gradwalk import Value, walk
w = walk(Value(2.0) * 3)
w.draw().save({str(tmp_path / "x.svg")!r})
try:
    (w.draw() if {suffix!r} == "png" else w.film()).save({str(tmp_path / "x")!r} + ".{suffix}")
except ModuleNotFoundError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert f"pip install 'gradwalk[{extra}]'. SVG and DOT need no extra package." in result.stdout
