"""Tests of raster files, and the errors for missing packages."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from references import Image, needs

from gradwalk import Value, draw
from gradwalk.explain.draw.raster import PictureError, as_gif, as_png, write

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10" fill="{}"/></svg>'


@needs("resvg_py", "PIL")
def test_png_has_two_pixels_per_unit():
    with Image.open(io.BytesIO(as_png(SQUARE.format("#ff0000")))) as image:
        assert image.size == (20, 20)
        assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)


@needs("resvg_py", "PIL")
def test_gif_keeps_frame_order():
    column = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="20"><rect width="10" height="10" fill="#ff0000"/>'
        '<rect y="10" width="10" height="10" fill="#0000ff"/></svg>'
    )
    with Image.open(io.BytesIO(as_gif(column, 2, 0.25))) as image:
        assert (image.size, image.n_frames, image.info["duration"]) == ((20, 20), 2, 250)
        assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
        image.seek(1)
        assert image.convert("RGB").getpixel((5, 5)) == (0, 0, 255)


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


@pytest.mark.parametrize(("suffix", "package"), [("png", "resvg_py"), ("gif", "PIL")])
def test_missing_package_error_names_the_extra(tmp_path, suffix, package):
    program = f"""
import sys
sys.modules[{package!r}] = None
from gradwalk import Value, walk
w = walk(Value(2.0) * 3)
w.draw().save({str(tmp_path / "x.svg")!r})
try:
    (w.film() if {suffix!r} == "gif" else w.draw()).save({str(tmp_path / "x")!r} + ".{suffix}")
except ModuleNotFoundError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert "pip install 'gradwalk[pictures]'. SVG and DOT need no extra package." in result.stdout
