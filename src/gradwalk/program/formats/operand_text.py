"""Format operand names for program listings, including indices that depend on loop counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise, product

from gradwalk.program.code.code import Code
from gradwalk.program.reroll.repeats import Moving, Repeat, even_runs

_COUNTERS = "ijklmnpqrst"
_SUBSCRIPT = re.compile(r"(?<=[\[ ])\d+(?=[,\]])")  # matches 2 and 5 in A[2, 5], and 3 and 0 in b['x1'][3][0]
_MOST = 6  # maximum number of constants that are shown in a list
_FEWEST = 5  # minimum number of outputs that are printed as a loop


def operand_names(code: Code, letter: str = "v") -> list[str]:
    """Return a list with the text that is shown for each index of a program.

    An input with an unambiguous name is shown by name, and a constant as a number. All other indices are shown as
    `letter` followed by the index.
    """
    count = Counter(code.input_names)
    own = rf"{letter}\d+"
    names = [
        on_one_line(name) if name and count[name] == 1 and not re.fullmatch(own, name) else f"{letter}{index}"
        for index, name in enumerate(code.input_names or [""] * code.inputs)
    ]
    names += map(repr, code.constants)
    return [*names, *(f"{letter}{index}" for index in range(code.first, code.count))]


def on_one_line(name: str) -> str:
    """Return a name, or its `repr` if it has unprintable characters."""
    return name if name.isprintable() else repr(name)


class OperandText:
    """Formats the operands of a program with loops.

    Attributes:
        names: The text for each index; see `operand_names`.
        counters: The names of the loop counters, outermost first.
    """

    def __init__(self, code: Code) -> None:
        words = {word for name in code.input_names for word in re.findall(r"\w+", name)}
        self._letter = next((letter for letter in "vuwz" if letter not in words), "v_")
        self._code = code
        self.counters = [letter for letter in _COUNTERS if letter not in words] + [f"i{n}" for n in range(1, 60)]
        self.names = operand_names(code, self._letter)

    def __call__(self, place: Moving, loops: Sequence[Repeat]) -> str:
        """Format an operand whose index is affine in the counters of the loops.

        If the index is the same in all iterations, the result is the operand's name. Inputs whose names have subscripts
        give a text such as `x[2 + i]`. Constants give a list with a subscript, such as `[1.0, 2.0][i]`. Other operands
        give a text such as `v[5 + 3*i]`, for v5, v8 and so on.
        """
        if not any(place.strides):
            return self.names[place.start]
        least, greatest = place.reaches(loops)
        if greatest < self._code.inputs:
            return self._input(place, loops) or self._any(place)
        if least >= self._code.inputs and greatest < self._code.first:
            return self._constants(place, loops)
        return self._any(place)

    def _constants(self, place: Moving, loops: Sequence[Repeat]) -> str:
        """Format constants as a list with a subscript.

        If the index depends on a single counter, the list has only the constants that are used. Otherwise it has all
        constants from the first to the last constant that is used.
        """
        moving = [i for i, stride in enumerate(place.strides) if stride]
        if len(moving) == 1:
            stride, subscript = place.strides[moving[0]], self.counters[moving[0]]
            numbers = [self.names[place.start + i * stride] for i in range(loops[moving[0]].times)]
        else:
            least, greatest = place.reaches(loops)
            numbers = self.names[least : greatest + 1]
            subscript = place._replace(start=place.start - least).text(self.counters)
        if len(numbers) > _MOST:
            numbers[_MOST - 1 : -1] = ["…"]
        return f"[{', '.join(numbers)}][{subscript}]"

    def output(self, names: Sequence[str], outputs: Sequence[int], start: int, count: int) -> tuple[str, str]:
        """Format `count` equally spaced outputs, beginning with output `start`.

        Returns the text of their names and the text of their values.
        """
        loop = Repeat(0, 1, count, ())
        (text, numbers), (_, others) = _subscripts(names[start]), _subscripts(names[start + 1])
        subscripts = [Moving(a, (b - a,)).text(self.counters) for a, b in zip(numbers, others, strict=True)]
        stride = outputs[start + 1] - outputs[start]
        return text.format(*subscripts), self(Moving(outputs[start], (stride,)), [loop])

    def _any(self, place: Moving) -> str:
        return f"{self._letter}[{place.text(self.counters)}]"

    def _input(self, place: Moving, loops: Sequence[Repeat]) -> str:
        """Format inputs whose names have affine subscripts; return "" if their names do not."""
        moves = [range(loop.times) if stride else range(1) for loop, stride in zip(loops, place.strides, strict=True)]
        first, *after = [_subscripts(self.names[place.start + stride]) for stride in (0, *place.strides)]
        text, numbers = first
        if not numbers or any(other != text or len(others) != len(numbers) for other, others in after):
            return ""
        steps = [tuple(b - a for a, b in zip(numbers, others, strict=True)) for _, others in after]
        for times in product(*moves):
            index = place.start + sum(n * stride for n, stride in zip(times, place.strides, strict=True))
            moved = tuple(
                number + sum(n * step[k] for n, step in zip(times, steps, strict=True))
                for k, number in enumerate(numbers)
            )
            if _subscripts(self.names[index]) != (text, moved):
                return ""
        subscripts = [
            Moving(number, tuple([step[k] for step in steps])).text(self.counters) for k, number in enumerate(numbers)
        ]
        return text.format(*subscripts)


def _subscripts(name: str) -> tuple[str, tuple[int, ...]]:
    """Replace each subscript in a name by {}; return the new name and the subscripts."""
    text = _SUBSCRIPT.sub("\0", name).replace("{", "{{").replace("}", "}}").replace("\0", "{}")
    return text, tuple(map(int, _SUBSCRIPT.findall(name)))


def named_runs(names: Sequence[str], outputs: Sequence[int]) -> list[tuple[int, int]]:
    """Split outputs into runs, in which subscripts and indices are equally spaced, and single outputs.

    Returns a pair (start, length) for each run and each single output.
    """
    split = [_subscripts(name) for name in names]
    steps = [
        None
        if a[0] != b[0] or not a[1]
        else (outputs[i + 1] - outputs[i], *(y - x for x, y in zip(a[1], b[1], strict=True)))
        for i, (a, b) in enumerate(pairwise(split))
    ]
    return even_runs(steps, _FEWEST)


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Abbreviate each run of more than `most` names that differ only in subscripts, for example to x0, x1, …, x9."""
    found: list[str] = []
    alike: list[str] = []
    text = ""
    for name in [*names, ""]:
        before, text = text, _subscripts(name)[0]
        if alike and text != before:
            found += alike if len(alike) <= most else [*alike[:2], "…", alike[-1]]
            alike = []
        alike.append(name)
    return found
