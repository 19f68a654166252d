"""Sample numbers and sample graphs for comparing two Value classes to the last bit."""

from __future__ import annotations

import inspect
import itertools
import math
import random
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy

_RANDOM = random.Random(5)  # a separate generator, so that the script's random numbers do not change
_PLAIN = [0.0, 1.0, -1.0, 2.0, -3.0, 0.5]
# Scripts clip the arguments of exp and log at numbers such as these.
_FAR = [25.0, 35.0, 55.0, 95.0, 200.0, 400.0, 650.0, 705.0, 2e3, 2e4, 2e6, 2e9, 2e12, 5e-9, 5e-13, 5e-17]
_NUMBERS = (
    _PLAIN
    + [_RANDOM.uniform(-4.0, 4.0) for _ in range(200)]
    + [_RANDOM.choice((-1, 1)) * 10.0 ** _RANDOM.uniform(-4.0, 2.0) for _ in range(100)]
    + [sign * number for number in _FAR for sign in (1, -1)]
    + _PLAIN[::-1]  # so that there are pairs of equal numbers
)
_COUNT = len(_NUMBERS)
# Methods that agree on ordinary numbers may differ on these numbers, for example max(0, x) at nan and 0 - x at 0.
_NUMBERS += [-0.0, math.nan, math.inf, -math.inf, 5e-324, -5e-324, 1e-300, 1e308, -1e308]
_CONSTANTS = (2, -1, 3.0, 0.5, -2.5, 0, -0.0, math.nan, math.inf)

_GRAPHS = 30  # graphs for each operation
_STEPS = 14  # operations in a graph; a small number, because backward() of some scripts visits every path
_LARGEST = 3.0  # bound on the absolute values in a graph; larger values are scaled down
_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "__add__": lambda a, b: a + b,
    "__mul__": lambda a, b: a * b,
    "__sub__": lambda a, b: a - b,
    "__neg__": lambda a, b: -a,
    "__radd__": lambda a, b: 0.7 + a,
    "__rsub__": lambda a, b: 1.5 - a,
    "__rmul__": lambda a, b: 0.6 * a,
    "__truediv__": lambda a, b: a / 1.3,
    "__pow__": lambda a, b: a**3,
    "tanh": lambda a, b: a.tanh(),
    "relu": lambda a, b: a.relu(),
    "exp": lambda a, b: a.exp(),
}


class Outcome(NamedTuple):
    """The result of a method that was called with sample operands.

    Attributes:
        operands: The operands as text.
        numbers: If the result is an instance of the class: the result's value, then the gradient of each operand that
            is an instance of the class. Otherwise: only the result.
    """

    operands: str
    numbers: tuple[Any, ...]

    def __str__(self) -> str:
        value, *gradients = self.numbers
        return f"{value!r}" + (f" with gradient {' and '.join(map(repr, gradients))}" if gradients else "")


_ARE_GOING_ON = ContextVar("_ARE_GOING_ON", default=False)  # true during passes over sample graphs


def observer(recorder: Callable[[Any], Callable[[], object]]) -> Callable[[Any], Callable[[], object]]:
    """Wrap an observer of `backward()` so that it ignores passes over sample graphs."""
    return lambda root: (lambda: None) if _ARE_GOING_ON.get() else recorder(root)


def operand_count(function: Callable[..., object]) -> int | None:
    """Return how many operands a method takes after self: 0 or 1, or None if it takes more or optional operands."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    is_plain = all(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
    return len(parameters) - 1 if is_plain and 1 <= len(parameters) <= 2 else None


def outcomes(cls: type, name: str, count: int) -> list[Outcome | None]:
    """Call a method with each sample of operands; the method takes `count` operands after self.

    The outcomes have the same order for every class. An outcome is None if the method raised an exception, or if a
    value or gradient is not a number.
    """
    with _going_on():
        return [_outcome(cls, name, leaves, constants) for leaves, constants in _samples(count)]


def difference(
    theirs: list[Outcome | None], ours: list[Outcome | None], *, exactly: bool = True
) -> tuple[Outcome, Outcome | None] | None:
    """Return the first pair of outcomes in which two methods differ, or None if they never differ.

    Samples for which `theirs` is None are skipped. If `exactly` is false, numbers are compared only up to rounding.
    """
    same = _same if exactly else _nearly_same
    for their, our in zip(theirs, ours, strict=True):
        if their is not None and (our is None or not same(their.numbers, our.numbers)):
            return their, our
    return None


def overwrites(cls: type, name: str, count: int) -> bool:
    """Return whether a method's backward rule overwrites an operand's gradient instead of adding to the gradient."""
    with _going_on():
        for leaves, constants in itertools.islice(_samples(count), len(_PLAIN)):
            operand: Any = cls(_NUMBERS[leaves[0]])
            others = [cls(_NUMBERS[i]) for i in leaves[1:]]
            try:
                result: Any = getattr(cls, name)(operand, *others, *constants)
                is_node = isinstance(result, cls)
                if not is_node:
                    return False
                result.backward()
                alone, operand.grad = float(operand.grad), 0.0
                again: Any = getattr(cls, name)(operand, *others, *constants)
                (again + operand * cls(2.0)).backward()
                both = float(operand.grad)
            except Exception:  # the script's class does not support this
                continue
            if math.isfinite(alone) and not math.isclose(both, alone + 2.0, rel_tol=1e-9):
                return True
    return False


def gradients(cls: type) -> list[float]:
    """Return the gradients in a graph of sums and products in which operands are used twice.

    The gradients of the leaves, intermediate results and root after one pass come first, then the gradients of the
    leaves after a second pass from a different root.
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


class Graphs:
    """Sample graphs whose gradients depend, in the last bits, on the order in which contributions are added.

    Each graph has sums, products and one more operation of `names`. With more kinds of operations, most operands would
    be used too rarely for the order to matter.
    """

    def __init__(self, names: Collection[str]) -> None:
        known = [name for name in _OPERATIONS if name in names]
        self._kinds = [list(dict.fromkeys((*known[:2], name))) for name in known[1:]]
        self._alive: list[Any] = []  # all nodes, kept alive so that addresses and the orders of sets vary

    def gradients(self, cls: type) -> list[tuple[float, ...] | None]:
        """Return a tuple (root's value, *leaves' gradients) for each graph, or None for a graph if the class raises."""
        with _going_on():
            draws = [(names, random.Random(seed)) for names in self._kinds for seed in range(_GRAPHS)]
            return [self._gradients_of_one(cls, names, draw) for names, draw in draws]

    def _gradients_of_one(self, cls: type, names: list[str], draw: random.Random) -> tuple[float, ...] | None:
        leaves: list[Any] = [cls(draw.uniform(-1.0, 1.0)) for _ in range(2)]
        nodes = list(leaves)
        try:
            for _ in range(_STEPS):
                node = _OPERATIONS[draw.choice(names)](draw.choice(nodes[-4:]), draw.choice(nodes))
                nodes.append(node if abs(node.data) < _LARGEST else node * cls(0.1))
            root = nodes[-1]
            for node in nodes[-6:-1]:
                root = root + node
            root.backward()
        except Exception:  # the script's class does not support this graph
            return None
        self._alive += [*nodes, root]
        return (root.data, *[leaf.grad for leaf in leaves])


def random_states() -> tuple[object, ...]:
    """Return the states of the global generators of `random` and `numpy.random`."""
    state: Any = numpy.random.get_state(legacy=True)
    name, keys, *rest = state
    return random.getstate(), name, keys.tobytes(), *rest


def same_gradients(these: list[tuple[float, ...] | None], those: list[tuple[float, ...] | None]) -> bool:
    """Return whether two classes gave the same gradients to the last bit, ignoring graphs that are None in `these`."""
    pairs = zip(these, those, strict=True)
    return all(this is None or (that is not None and _same(this, that)) for this, that in pairs)


@contextmanager
def _going_on() -> Iterator[None]:
    """Hide passes over sample graphs from observers, and suppress warnings."""
    token = _ARE_GOING_ON.set(True)
    try:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _ARE_GOING_ON.reset(token)


def _samples(count: int) -> Iterator[tuple[list[int], tuple[float, ...]]]:
    """Yield the operands of each sample: the indices in `_NUMBERS` of its Values, and its constants."""
    special = range(_COUNT, len(_NUMBERS))
    if count == 0:
        yield from (([i], ()) for i in range(len(_NUMBERS)))
        return
    yield from (([i, _COUNT - 1 - i], ()) for i in range(_COUNT))
    yield from (([i, i], ()) for i in (*range(12), *special))
    yield from (([i, j], ()) for i in special for j in (*range(len(_PLAIN)), *special) if i != j)
    yield from (([j, i], ()) for i in special for j in range(len(_PLAIN)))
    yield from (([i], (constant,)) for i in range(20) for constant in _CONSTANTS)
    # The constant 0 is left out: a script that computes -0.0 - 0 as -0.0 + (-0) gets 0.0 instead of -0.0, and its
    # method for a - b would be kept only because of this sign.
    yield from (([i], (constant,)) for i in special for constant in _CONSTANTS if constant)


def _outcome(cls: type, name: str, leaves: list[int], constants: tuple[float, ...]) -> Outcome | None:
    nodes: dict[int, Any] = {i: cls(_NUMBERS[i]) for i in leaves}
    operands: list[Any] = [*(nodes[i] for i in leaves), *constants]
    said = " and ".join([*(repr(_NUMBERS[i]) for i in leaves), *map(repr, constants)])
    if name in ("__repr__", "__str__"):
        operands[0].grad = 0.25  # because the initial gradient may be the integer 0, which is printed differently
    try:
        result: Any = getattr(cls, name)(*operands)
        is_node = isinstance(result, cls)
        if not is_node:
            return Outcome(said, (result,))
        (result * cls(0.75)).backward()  # detects a rule that ignores the gradient of its result
    except Exception:  # the script's class does not support this
        return None
    numbers = (result.data, *[node.grad for node in nodes.values()])
    return Outcome(said, numbers) if all(isinstance(number, (int, float)) for number in numbers) else None


def _same(these: tuple[Any, ...], those: tuple[Any, ...]) -> bool:
    return len(these) == len(those) and all(map(_are_same, these, those))


def _nearly_same(these: tuple[Any, ...], those: tuple[Any, ...]) -> bool:
    """Return whether results agree up to the rounding of sums."""
    pairs = zip(these, those, strict=False)
    return len(these) == len(those) and all(
        _are_same(a, b) or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=1e-9))
        for a, b in pairs
    )


def _are_same(a: object, b: object) -> bool:
    """Return whether two results are equal, where nan equals nan and 0.0 differs from -0.0."""
    if not (isinstance(a, (int, float)) and isinstance(b, (int, float))):
        return bool(a == b)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)
