"""`Film`: a walk as a sequence of pictures, for slides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

from gradwalk.base.cached import cached_property
from gradwalk.explain.draw import raster
from gradwalk.explain.draw.diagram import Moment, Scene, largest_of, title
from gradwalk.explain.draw.svg import SCOPE, Canvas, Theme
from gradwalk.graph.graph import Graph

_GAP = 10.0  # distance between the pictures of a strip


@dataclass(frozen=True, repr=False)
class Film:
    """Pictures of one graph at several moments, which play as an animation in notebooks, browsers and slides.

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
        canvas = Canvas.file(self.theme, f"{title(self.graph)}, step by step")
        share = 100 / len(self.moments)
        canvas.style(
            f"@keyframes {SCOPE} {{ 0% {{ visibility: visible }}"
            f" {share:.4f}% {{ visibility: hidden }} 100% {{ visibility: hidden }} }}"
            f" .{SCOPE} .frame {{ visibility: hidden;"
            f" animation: {SCOPE} {self.seconds * len(self.moments):g}s step-end infinite }}"
            f" @media (prefers-reduced-motion: reduce) {{ .{SCOPE} .frame {{ animation: none }}"
            f" .{SCOPE} .frame:last-of-type {{ visibility: visible }} }}"
        )
        size = (0.0, 0.0)
        for i, moment in enumerate(self.moments):
            frame = canvas.group(**{"class": "frame"}, style=f"animation-delay: {i * self.seconds:g}s")
            size = self._scene.paint(frame, moment, self._largest)
        return canvas.finished(*size)

    @cached_property
    def strip(self) -> str:
        """All pictures side by side in one static SVG file, in rows from left to right."""
        wide, high = self._scene.paint(Canvas.file(self.theme, ""), self.moments[0], self._largest)
        return self._sheet(max(1, ceil(sqrt(len(self.moments) * high / wide * 1.6))), _GAP)

    def _sheet(self, columns: int, gap: float) -> str:
        """Return one SVG file with all pictures in a given number of columns."""
        canvas = Canvas.file(self.theme, f"{title(self.graph)}, step by step")
        paper = canvas.group()
        wide, high = 0.0, 0.0
        for i, moment in enumerate(self.moments):
            picture = canvas.group()
            wide, high = self._scene.paint(picture, moment, self._largest)
            row, column = divmod(i, columns)
            picture.move(gap + column * (wide + gap), gap + row * (high + gap))
        size = columns * (wide + gap) + gap, ceil(len(self.moments) / columns) * (high + gap) + gap
        paper.rectangle(0, 0, *size, "line")
        return canvas.finished(*size)

    def save(self, path: str | Path) -> None:
        """Write the film to a file.

        Args:
            path: A file name. The ending .svg or .gif gives an animation; the ending .png gives one image with all
                pictures side by side.

        Raises:
            PictureError: The file name has a different ending, or the pictures are too large for GIF or PNG.
            ModuleNotFoundError: A package that GIF or PNG files need is not installed.
            OSError: The file cannot be written.
        """
        raster.write(path, {".svg": lambda: self.svg, ".gif": self._gif, ".png": lambda: raster.as_png(self.strip)})

    def _gif(self) -> bytes:
        return raster.as_gif(self._sheet(1, 0.0), len(self.moments), self.seconds)

    @cached_property
    def _scene(self) -> Scene:
        return Scene(self.graph)

    @cached_property
    def _largest(self) -> float:
        return max(largest_of(moment) for moment in self.moments)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"image/svg+xml": self.svg, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<Film of {len(self.moments)} pictures of {self.graph!r}>"
