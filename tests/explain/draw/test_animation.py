"""Tests of films of walks."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from graphs_of_the_lesson import diamond
from references import Image, needs
from test_draw import SVG, parsed

from gradwalk import Value, walk
from gradwalk.explain.draw.raster import PictureError


def test_svg_has_a_frame_per_picture():
    film = walk(diamond()).film(seconds=1.5)
    svg = film.svg
    root = parsed(svg)
    frames = [element for element in root.iter(f"{SVG}g") if element.get("class") == "frame"]
    assert len(frames) == len(film.moments) == 7
    assert frames[2].get("style") == "animation-delay: 3s"
    assert "10.5s step-end infinite" in svg
    assert walk(diamond()).film(seconds=2.0).svg[:200] != svg[:200]  # each film has its own CSS rules
    assert "prefers-reduced-motion" in svg
    captions = [next(frame.iter(f"{SVG}text")).text for frame in frames]
    assert captions[0] == "b = a + 1 = 2 + 1 = 3"
    assert captions[-1] == "a is a leaf: it keeps its gradient 15."


def test_numbers_appear_in_sequence():
    film = walk(diamond()).film()
    frames = [
        [element.text for element in frame.iter(f"{SVG}text")]
        for frame in ElementTree.fromstring(film.svg).iter(f"{SVG}g")
        if frame.get("class") == "frame"
    ]
    assert [frame.count("·") for frame in frames] == [6, 5, 4, 1, 0, 0, 0]
    assert "9.0000" in frames[4]
    assert "15.0000" in frames[5]


@needs("resvg_py", "PIL")
def test_saving_films(tmp_path):
    film = walk(diamond()).film(seconds=0.5)
    for name in ("x.svg", "x.gif", "x.png"):
        film.save(tmp_path / name)
    with Image.open(tmp_path / "x.gif") as gif:
        assert (gif.n_frames, gif.info["duration"]) == (7, 500)
        sizes = {gif.size}
    with Image.open(tmp_path / "x.png") as strip:
        assert strip.size[0] > next(iter(sizes))[0]
    parsed(film.strip)
    with pytest.raises(PictureError, match=r"\.svg or \.gif or \.png"):
        film.save(tmp_path / "x.mp4")


def test_themes_and_notebooks():
    film = walk(diamond()).film(theme="dark")
    assert "#15181d" in film.svg
    assert set(film._repr_mimebundle_()) == {"image/svg+xml", "text/plain"}
    assert repr(film) == "<Film of 7 pictures of <Graph of 4 nodes to d>>"


def test_invalid_seconds_raise():
    for seconds in (0.0, -1.0, 1e9, float("nan")):
        with pytest.raises(ValueError, match=r"seconds must be from 0\.02 to 60"):
            walk(diamond()).film(seconds=seconds)


@needs("resvg_py", "PIL")
def test_long_films_are_scaled_down(tmp_path):
    x = Value(0.5)
    for _ in range(20):
        x = x.tanh()
    walk(x).film().save(tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as image:
        assert image.size[0] * image.size[1] <= 41e6


@needs("resvg_py", "PIL")
def test_gif_frames_differ(tmp_path):
    walk(diamond()).film().save(tmp_path / "x.gif")
    with Image.open(io.BytesIO((tmp_path / "x.gif").read_bytes())) as gif:
        seen = set()
        for i in range(gif.n_frames):
            gif.seek(i)
            seen.add(gif.convert("RGB").tobytes())
    assert len(seen) == 7
