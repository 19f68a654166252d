"""`Film`: a walk as a sequence of slides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.diagram import Moment, title
from gradwalk.explain.draw.slides import SIZE, Slides
from gradwalk.explain.draw.svg import SCOPE, Canvas, Theme
from gradwalk.graph.graph import Graph

_GAP = 10.0  # distance between the pictures of a strip


@dataclass(frozen=True, repr=False)
class Film:
    """Pictures of one graph at several moments, which play as an animation in notebooks, browsers and slides.

    The pictures are 960 by 540, with text of at least 14 pixels. If the graph is too large for this size, each picture
    shows the part of the graph in which the step takes place, and the last picture shows the whole graph. Players that
    do not show animations show the last picture.

    Attributes:
        graph: The graph.
        moments: The moments of a walk, one for each picture.
        seconds: Duration of each picture in seconds.
        theme: "light", "dark", or "auto" for the viewer's preference.
    """

    graph: Graph
    moments: Sequence[Moment]
    seconds: float
    theme: Theme

    @cached_property
    def svg(self) -> str:
        """The film as one animated SVG file. Viewers who prefer reduced motion see only the last picture."""
        canvas = self._file()
        count, whole = len(self.moments), self.seconds * len(self.moments)
        # Without animations, the last picture covers all earlier pictures.
        canvas.style(
            f"@keyframes {SCOPE} {{ 0% {{ visibility: visible }}"
            f" {100 / count:.4f}% {{ visibility: hidden }} 100% {{ visibility: hidden }} }}"
            f" @media screen and (prefers-reduced-motion: no-preference) {{ .{SCOPE} .frame {{"
            f" animation: {SCOPE} {whole:g}s step-end infinite }} }}"
        )
        for i in range(count):
            delay = i * self.seconds - (whole if i else 0.0)  # a negative delay hides a picture from the beginning
            self._slides.paint(canvas.group(**{"class": "frame"}, style=f"animation-delay: {delay:g}s"), i)
        return canvas.finished(*SIZE)

    @cached_property
    def strip(self) -> str:
        """All pictures side by side in one static SVG file, in rows from left to right."""
        count = len(self.moments)
        columns = max(1, ceil(sqrt(count * SIZE[1] / SIZE[0] * 1.6)))
        canvas = self._file()
        wide, high = SIZE[0] + _GAP, SIZE[1] + _GAP
        whole = columns * wide + _GAP, ceil(count / columns) * high + _GAP
        canvas.rectangle(0, 0, *whole, "line")
        for i in range(count):
            row, column = divmod(i, columns)
            picture = canvas.group()
            picture.move(_GAP + column * wide, _GAP + row * high)
            self._slides.paint(picture, i)
        return canvas.finished(*whole)

    def save(self, path: str | Path) -> None:
        """Write the film to a file.

        Args:
            path: A file name. The ending .svg, .gif or .mp4 gives an animation; the ending .png gives one image with
                all pictures side by side. GIF and MP4 begin with a glimpse of the last picture, which many programs
                show until the film is started.

        Raises:
            PictureError: The file name has a different ending, or the pictures are too large for PNG.
            ModuleNotFoundError: A package that GIF, MP4 or PNG files need is not installed.
            OSError: The file cannot be written.
        """
        raster.write(
            path,
            {
                ".svg": lambda: self.svg,
                ".gif": lambda: raster.as_gif(self._pictures(), self.seconds),
                ".mp4": lambda: raster.as_mp4(self._pictures(), self.seconds),
                ".png": lambda: raster.as_png(self.strip),
            },
        )

    def _pictures(self) -> Iterator[str]:
        """Yield each picture as the text of an SVG file, the last picture first and again at the end."""
        for i in (len(self.moments) - 1, *range(len(self.moments))):
            canvas = self._file()
            self._slides.paint(canvas, i)
            yield canvas.finished(*SIZE)

    def _file(self) -> Canvas:
        return Canvas.file(self.theme, f"{title(self.graph)}, step by step")

    @cached_property
    def _slides(self) -> Slides:
        return Slides(self.graph, self.moments)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Film of {len(self.moments)} pictures of {self.graph!r}>"
