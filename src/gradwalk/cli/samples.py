"""What the methods of a class like micrograd's compute, on some numbers: values and gradients, to the last bit."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

_RANDOM = random.Random(5)  # of its own: the script's numbers stay what they are
_PLAIN = [0.0, 1.0, -1.0, 2.0, -3.0, 0.5]
# Where scripts cut off what they give to exp and log.
_FAR = [25.0, 35.0, 55.0, 95.0, 200.0, 400.0, 650.0, 705.0, 2e3, 2e4, 2e6, 2e9, 2e12, 5e-9, 5e-13, 5e-17]
_NUMBERS = (
    _PLAIN
    + [_RANDOM.uniform(-4.0, 4.0) for _ in range(200)]
    + [_RANDOM.choice((-1, 1)) * 10.0 ** _RANDOM.uniform(-4.0, 2.0) for _ in range(100)]
    + [sign * number for number in _FAR for sign in (1, -1)]
    + _PLAIN[::-1]  # so that there are pairs of equal numbers
)
_CONSTANTS = (2, -1, 3.0, 0.5, -2.5, 0)


class Outcome(NamedTuple):
    """What a method gave for some operands.

    Attributes:
        operands: The operands, in words.
        numbers: The value and the gradient of each operand that is of the class; or what else the method returned.
    """

    operands: str
    numbers: tuple[Any, ...]

    def __str__(self) -> str:
        value, *gradients = self.numbers
        return f"{value!r}" + (f" with gradient {' and '.join(map(repr, gradients))}" if gradients else "")


_ARE_GOING_ON = ContextVar("_ARE_GOING_ON", default=False)  # passes over samples


def observer(recorder: Callable[[Any], Callable[[], object]]) -> Callable[[Any], Callable[[], object]]:
    """Return an observer of `backward()` that is not told of the passes over samples.

    Args:
        recorder: The observer that is told of all others.

    Returns:
        The observer.
    """
    return lambda root: (lambda: None) if _ARE_GOING_ON.get() else recorder(root)


def operand_count(function: Callable[..., object]) -> int | None:
    """Return how many operands a method takes behind self.

    Args:
        function: The method, as it stands in its class.

    Returns:
        0 or 1; None where it is more, or where some may be left out.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    is_plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
    return len(parameters) - 1 if is_plain and 1 <= len(parameters) <= 2 else None


def outcomes(cls: type, name: str, count: int) -> list[Outcome | None]:
    """Return what a method gives for each sample.

    Args:
        cls: The class.
        name: The method.
        count: How many operands it takes behind self.

    Returns:
        One a sample, in the same order for every class; None where the method raised.
    """
    with _going_on():
        return [_outcome(cls, name, leaves, constants) for leaves, constants in _samples(count)]


def difference(theirs: list[Outcome | None], ours: list[Outcome | None]) -> tuple[Outcome, Outcome | None] | None:
    """Return the first sample on which two methods differ, the first of them having given a number.

    Args:
        theirs: What one gave.
        ours: What the other gave.

    Returns:
        Both outcomes; None if there is no such sample.
    """
    for their, our in zip(theirs, ours, strict=True):
        if their is not None and (our is None or not _same(their.numbers, our.numbers)):
            return their, our
    return None


def gradients(cls: type) -> list[float]:
    """Return the gradients in a graph of sums and products in which operands are used twice.

    Args:
        cls: The class.

    Returns:
        The gradients of the leaves, of what is between and of the root, after a backward pass and after one more, of
        another root.
    """
    x, y = cls(3.0), cls(-2.0)
    a = x * y + x
    b = a * a + y * y
    root = (b + b) * a * x
    with _going_on():
        root.backward()
        once = [node.grad for node in (x, y, a, b, root)]
        (x * y).backward()
    return [*once, x.grad, y.grad]


@contextmanager
def _going_on() -> Iterator[None]:
    """Keep observers of the script's passes from those over samples."""
    token = _ARE_GOING_ON.set(True)
    try:
        yield
    finally:
        _ARE_GOING_ON.reset(token)


def _samples(count: int) -> Iterator[tuple[list[int], tuple[float, ...]]]:
    """Operands, as the numbers of Values (the same one twice where it is the same Value) and of constants."""
    if count == 0:
        yield from (([i], ()) for i in range(len(_NUMBERS)))
        return
    yield from (([i, len(_NUMBERS) - 1 - i], ()) for i in range(len(_NUMBERS)))
    yield from (([i, i], ()) for i in range(12))
    yield from (([i], (constant,)) for i in range(20) for constant in _CONSTANTS)


def _outcome(cls: type, name: str, leaves: list[int], constants: tuple[float, ...]) -> Outcome | None:
    nodes: dict[int, Any] = {i: cls(_NUMBERS[i]) for i in leaves}
    operands: list[Any] = [*(nodes[i] for i in leaves), *constants]
    said = " and ".join([*(repr(_NUMBERS[i]) for i in leaves), *map(repr, constants)])
    if name in ("__repr__", "__str__"):
        operands[0].grad = 0.25  # for a gradient that nothing was added to may be the integer 0
    try:
        result: Any = getattr(cls, name)(*operands)
        is_node = isinstance(result, cls)
        if not is_node:
            return Outcome(said, (result,))
        result.backward()
    except Exception:  # whatever: the script's class does not do this
        return None
    numbers = (result.data, *[node.grad for node in nodes.values()])
    return Outcome(said, numbers) if all(isinstance(number, (int, float)) for number in numbers) else None


def _same(these: tuple[Any, ...], those: tuple[Any, ...]) -> bool:
    return len(these) == len(those) and all(a == b or _both_nan(a, b) for a, b in zip(these, those, strict=True))


def _both_nan(a: object, b: object) -> bool:
    return isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)
