"""Tests of films of walks."""

from __future__ import annotations

import io
from importlib import import_module
from xml.etree import ElementTree

import pytest
from graphs_of_the_lesson import diamond, neuron
from references import Image, needs
from test_draw import SVG, parsed

from gradwalk import Value, walk
from gradwalk.explain.draw.raster import PictureError, as_png


def same(one, other):
    """Return whether two images look alike."""
    pixels = (image.convert("RGB").resize((96, 54)).tobytes() for image in (one, other))
    return max(abs(x - y) for x, y in zip(*pixels, strict=True)) < 40


def test_svg_has_a_frame_per_picture():
    film = walk(diamond()).film(seconds=1.5)
    svg = film.svg
    root = parsed(svg)
    frames = [element for element in root.iter(f"{SVG}g") if element.get("class") == "frame"]
    assert len(frames) == len(film.moments) == 7
    assert [frame.get("style") for frame in frames[:3]] == [f"animation-delay: {t}s" for t in ("0", "-9", "-7.5")]
    assert "10.5s step-end infinite" in svg
    assert walk(diamond()).film(seconds=2.0).svg[:200] != svg[:200]  # each film has its own CSS rules
    assert "prefers-reduced-motion" in svg
    captions = [" ".join(line.text for line in frame.findall(f"{SVG}text")) for frame in frames]
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
    (tmp_path / "still.png").write_bytes(as_png(film.svg))
    for name in ("x.svg", "x.gif", "x.png"):
        film.save(tmp_path / name)
    with Image.open(tmp_path / "x.gif") as gif:
        assert (gif.n_frames, gif.size, gif.info["duration"]) == (8, (960, 540), 50)
        first = gif.convert("RGB")
        gif.seek(1)
        assert gif.info["duration"] == 500
        gif.seek(7)
        assert same(gif, first)  # until the film is started, the last picture is shown
        with Image.open(tmp_path / "still.png") as still:
            assert same(still.resize((960, 540)), first)
    with Image.open(tmp_path / "x.png") as strip:
        assert strip.size[0] > 960
    parsed(film.strip)
    with pytest.raises(PictureError, match=r"\.svg or \.gif or \.mp4 or \.png"):
        film.save(tmp_path / "x.webm")


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


@needs("resvg_py", "PIL", "av")
def test_saving_a_video(tmp_path):
    walk(Value(2.0) * 3).film(seconds=0.1).save(tmp_path / "x.mp4")
    with import_module("av").open(tmp_path / "x.mp4") as file:
        stream = file.streams.video[0]
        assert (stream.width, stream.height) == (1920, 1080)
        assert stream.frames == 1 + 2 * 3


# Slides


def texts(film):
    """Yield the font size of each text on a slide, its place, and the number of the slide."""
    frames = [frame for frame in parsed(film.svg).iter(f"{SVG}g") if frame.get("class") == "frame"]
    for number, frame in enumerate(frames):
        for window in frame.iter(f"{SVG}svg"):
            x, y, w, h = map(float, window.get("viewBox").split())
            scale = min(float(window.get("width")) / w, float(window.get("height")) / h)
            for text in window.iter(f"{SVG}text"):
                place = float(text.get("x")), float(text.get("y"))
                inside = x <= place[0] <= x + w and y <= place[1] <= y + h
                yield number, text.text, scale * float(text.get("font-size", 12)), inside
        for text in frame.findall(f"{SVG}text"):
            yield number, text.text, float(text.get("font-size")), True


def chain(n):
    x = Value(0.5, label="x")
    for _ in range(n):
        x = x.tanh()
    return x


@pytest.mark.parametrize("root", [diamond(), neuron(), chain(20), sum(Value(float(i)) * 2 for i in range(20))])
def test_text_on_slides_has_at_least_14_pixels(root):
    film = walk(root).film()
    assert parsed(film.svg).get("viewBox") == "0 0 960 540"
    last = len(film.moments) - 1
    sizes = {size for number, _, size, _ in texts(film) if number < last}
    assert min(sizes) >= 13.99
    assert all(inside for number, _, _, inside in texts(film) if number == last)  # the whole graph


def test_slides_show_the_node_of_the_step_and_its_operands():
    root = chain(20)
    film = walk(root).film()
    frames = [frame for frame in parsed(film.svg).iter(f"{SVG}g") if frame.get("class") == "frame"]
    for moment, frame in zip(film.moments[:-1], frames[:-1], strict=True):
        (window,) = frame.iter(f"{SVG}svg")
        x, y, w, h = map(float, window.get("viewBox").split())
        slides = film._slides
        box = slides._scene.box_around([moment.active, *film.graph.nodes[moment.active].operands])
        assert x <= box.left < box.right <= x + w
        assert y <= box.top < box.bottom <= y + h


def test_small_graphs_fit_on_a_slide():
    for root in (diamond(), Value(1.0) * 2):
        assert len(set(walk(root).film()._slides._views)) == 1
