"""Draw the pictures of the gallery: docs/images/NAME.png and NAME-dark.png for each example that draws a picture.

usage: python tools/gallery_pictures.py [NAME ...]

It takes a few minutes. Needs `pip install ".[examples]"`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.style
from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
COLORS = 128  # size of the palette; the files are a third of the size of files without a palette

# Matplotlib's dark style, with the background color of the site's dark pages.
DARK: dict[str, object] = {
    **dict(matplotlib.style.library["dark_background"].items()),
    "figure.facecolor": "#131416",
    "axes.facecolor": "#131416",
    "savefig.facecolor": "#131416",
    "grid.color": "#30363d",
}


def draw(example: Path, target: Path, settings: dict[str, object]) -> None:
    """Run an example with settings of Matplotlib, and store its picture."""
    with tempfile.TemporaryDirectory() as folder:
        configuration, picture = Path(folder, "matplotlibrc"), Path(folder, "picture.png")
        lines = (f"{key}: {str(value).removeprefix('#')}\n" for key, value in settings.items() if "cycle" not in key)
        configuration.write_text("".join(lines), encoding="utf-8")
        command = [sys.executable, str(example), "--output", str(picture)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "MATPLOTLIBRC": folder})
        Image.open(picture).convert("RGB").quantize(COLORS).save(target, optimize=True)


def main() -> None:
    """Draw the pictures of the examples on the command line, or of all examples."""
    for example in sorted((ROOT / "examples").glob("*.py")):
        is_wanted = not sys.argv[1:] or example.stem in sys.argv[1:]
        if is_wanted and '"--output"' in example.read_text(encoding="utf-8"):
            for name, settings in ((example.stem, {}), (f"{example.stem}-dark", DARK)):
                draw(example, IMAGES / f"{name}.png", settings)
                print(IMAGES / f"{name}.png", flush=True)


if __name__ == "__main__":
    main()
