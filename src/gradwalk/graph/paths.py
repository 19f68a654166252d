"""Paths of modules, such as `("layers", "0", "neurons", "2")`, and the way they are written: `layers[0].neurons[2]`."""

from __future__ import annotations

import re

Path = tuple[str, ...]

_PATH = re.compile(r"[^\W\d][\w.\[\]]*")
_INDEX = re.compile(r"\.([0-9]+)(?=[.\[]|$)")  # a number between dots, as in layers.0.b
_BRACKETS = re.compile(r"\[([0-9]+)\]")


def common(first: Path, last: Path) -> Path:
    """Return the path of the innermost module that contains two modules."""
    length = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        length += 1
    return first[:length]


def written(path: Path) -> str:
    """Write a path as Python does.

    Example:
        >>> written(("layers", "0", "neurons"))
        'layers[0].neurons'
    """
    return with_brackets(".".join(path))


def with_brackets(label: str) -> str:
    """Write the indices of a label in brackets.

    Example:
        >>> with_brackets("layers.0.neurons.2.w.1"), with_brackets("0.5 * x"), with_brackets("x * 0.5")
        ('layers[0].neurons[2].w[1]', '0.5 * x', 'x * 0.5')
    """
    return _INDEX.sub(r"[\1]", label) if "." in label and _PATH.fullmatch(label) else label


def path_of(label: str) -> Path:
    """Return the parts of a label: names and indices.

    Example:
        >>> path_of("layers[0].neurons.2.b")
        ('layers', '0', 'neurons', '2', 'b')
    """
    return tuple(_BRACKETS.sub(r".\1", label).split("."))
