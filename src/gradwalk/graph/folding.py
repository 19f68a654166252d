"""Find boxes of a picture that are alike, such as the equal layers of a deep network and the heads of an attention.

The paths of such boxes differ only in one number: `("layers", "7")` and `("layers", "8")`, or `("attention", "head0")`
and `("attention", "head1")`. A picture shows the first of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from gradwalk.graph.paths import Path, written

_FEWEST = 3  # minimum number of equal parts that are shown once
_DIGITS = "0123456789"


class Fold(NamedTuple):
    """A box that is shown for several equal boxes.

    Attributes:
        members: The list positions of the boxes, the first of which is shown.
        name: The name, such as "layers[1…38]".
        unit: The parts that are equal, in the plural, such as "layers".
        run: Equal for all folds of the same parts.
    """

    members: list[int]
    name: str
    unit: str
    run: Hashable


def folds(paths: Sequence[Path], kinds: Sequence[Hashable]) -> list[Fold]:
    """Find the boxes that are shown once.

    Args:
        paths: The path of each box; the first name is "" for boxes without a module.
        kinds: A description of each box. Boxes with different descriptions are not equal.

    Returns:
        The folds. No box is in two of them.

    Example:
        >>> [fold.name for fold in folds([("layers", str(i)) for i in range(5)], [1, 2, 2, 2, 1])]
        ['layers[1…3]']
    """
    series: dict[tuple[int, Path, str], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for box, path in enumerate(paths):
        for level, part in enumerate(path if path and path[0] else ()):
            stem = part.rstrip(_DIGITS)
            if stem != part:
                series[level, path[:level], stem][int(part[len(stem) :])].append(box)
    found: list[Fold] = []
    used: set[int] = set()
    for key, numbered in sorted(series.items(), key=lambda item: item[0][0]):  # the outermost numbers first
        if used.isdisjoint(box for boxes in numbered.values() for box in boxes):
            for run in _runs(numbered, key[0], paths, kinds):
                found += _folded(key, run, numbered, paths)
                used.update(box for number in run for box in numbered[number])
    return found


def _runs(
    numbered: Mapping[int, list[int]], level: int, paths: Sequence[Path], kinds: Sequence[Hashable]
) -> list[range]:
    """Return the ranges of successive numbers whose boxes are alike."""
    found: list[range] = []
    alike: Hashable = None
    for number in sorted(numbered):
        kind = tuple([(paths[box][level + 1 :], kinds[box]) for box in numbered[number]])
        if found and kind == alike and number == found[-1].stop:
            found[-1] = range(found[-1].start, number + 1)
        else:
            found.append(range(number, number + 1))
        alike = kind
    return [run for run in found if len(run) >= _FEWEST]


def _folded(
    key: tuple[int, Path, str], run: range, numbered: Mapping[int, list[int]], paths: Sequence[Path]
) -> list[Fold]:
    """Return a fold for each box of the first number of a run."""
    level, before, stem = key
    unit = f"{stem}s" if stem else before[-1] if before else "parts"
    found = []
    for i, box in enumerate(numbered[run[0]]):
        path = paths[box]
        several = f"{run[0]}…{run[-1]}"
        start = f"{written(before)}[{several}]" if not stem else written((*before, stem + several))
        name = ".".join(filter(None, [start, written(path[level + 1 :])]))
        found.append(Fold([numbered[number][i] for number in run], name, unit, (key, run.start)))
    return found
