"""`Layout`: the positions of primals and of tangents in one sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from gradwalk.program.tape import NO_INDEX

# A group of numbers that is repeated, such as a row of xs: how often, and for each number whether it has a tangent.
Group = tuple[int, Sequence[bool]]


class Layout(NamedTuple):
    """Positions of primals and of their tangents in one sequence.

    Attributes:
        primals: The position of each primal.
        tangents: The position of each primal's tangent, or -1 for a primal whose tangent is always 0.
    """

    primals: NDArray[numpy.intp]
    tangents: NDArray[numpy.intp]

    @property
    def length(self) -> int:
        """Length of the sequence."""
        return len(self.primals) + int((self.tangents >= 0).sum())

    def join(self, primals: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        """Return the primals and tangents as one sequence."""
        kept = self.tangents >= 0
        joined = numpy.empty(self.length, object)
        joined[self.primals] = primals
        joined[self.tangents[kept]] = [tangent for tangent, is_kept in zip(tangents, kept, strict=True) if is_kept]
        found: list[Any] = joined.tolist()
        return found

    def split(self, joined: Sequence[Any], missing: Any = NO_INDEX) -> tuple[list[Any], list[Any]]:
        """Return the primals and the tangents in a sequence; `missing` for a tangent that is always 0."""
        primals = [joined[i] for i in self.primals.tolist()]
        return primals, [joined[i] if i >= 0 else missing for i in self.tangents.tolist()]


def layout(*groups: Group) -> Layout:
    """Return the layout of some groups: in each repetition of a group, the primals come before the tangents."""
    primals, tangents, start = [numpy.empty(0, numpy.intp)], [numpy.empty(0, numpy.intp)], 0
    for times, flags in groups:
        has_tangent = numpy.array(flags, bool)
        width = len(flags) + int(has_tangent.sum())
        first = start + width * numpy.arange(times)[:, None]
        own = numpy.where(has_tangent, len(flags) - 1 + numpy.cumsum(has_tangent), 0)
        primals.append((first + numpy.arange(len(flags))).ravel())
        tangents.append(numpy.where(has_tangent, first + own, -1).ravel())
        start += times * width
    return Layout(numpy.concatenate(primals), numpy.concatenate(tangents))
