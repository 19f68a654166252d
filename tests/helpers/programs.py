"""Random programs: graphs over all operations, recorded or run on Values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from gradwalk import Value
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.program.program import Program as Recorded
from gradwalk.program.run.fast_call import PreparedCall, PreparedPath
from gradwalk.program.run.interpreter import Interpreter
from gradwalk.program.tape import Tape
from gradwalk.trees.fast.form import NumberForm, SequenceForm
from gradwalk.value.apply import apply

# Rows that are undefined for some numbers or have poles.
PARTLY_DEFINED = (
    *("pow", "log", "log2", "log10", "log1p", "log1mexp", "sqrt", "cbrt", "asin", "acos", "acosh", "atanh", "div"),
    *("norm_ppf", "gamma", "lgamma", "digamma", "trigamma"),
)
# Smooth and moderate functions on [-3, 3], so that a difference is a bug and not a matter of conditioning.
TAME = [row.name for row in TABLE if row.name not in PARTLY_DEFINED]
EVERY = [row.name for row in TABLE]
ORDINARY = st.floats(-3.0, 3.0).map(lambda number: round(number, 3))
# Without subnormals: a stored partial such as 1/x overflows for them, while PyTorch divides the gradient by x.
EXTREME = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-300, 1e300, 1.7e308]),
)


def prepared(interpreter: Interpreter, numbers: tuple[Any, ...]) -> Any:
    """Call a prepared function of numbers; return its results as a list, or `MISSED`."""
    takes = SequenceForm(tuple, [NumberForm(i) for i in range(interpreter.inputs)])
    makes = SequenceForm(list, [NumberForm(i) for i in range(len(interpreter.code.outputs))])
    return PreparedCall(takes, None, PreparedPath(interpreter, makes, None)).result(numbers, {})


def fewer(times: int) -> settings:
    """Divide the number of examples of a slow test by `times`."""
    return settings(max_examples=max(settings.default.max_examples // times, 1))


@dataclass(frozen=True)
class Program:
    """Leaves, and steps of an operation and operand positions or constants."""

    leaves: tuple[float, ...]
    steps: tuple[tuple[str, tuple[int | float, ...]], ...]

    def run(self, leaf: Callable[[float], Any], apply: Callable[..., Any]) -> tuple[list[Any], Any]:
        """Return the leaves and the last result."""
        leaves = [leaf(number) for number in self.leaves]
        results = list(leaves)
        for name, places in self.steps:
            results.append(apply(name, *[results[p] if isinstance(p, int) else p for p in places]))
        return leaves, results[-1]


@st.composite
def programs(draw: st.DrawFn, numbers: st.SearchStrategy[float], names: list[str], longest: int) -> Program:
    """Draw programs whose steps use earlier results, often repeatedly."""
    leaves = draw(st.lists(numbers, min_size=1, max_size=4))
    steps = []
    for count in range(len(leaves), len(leaves) + draw(st.integers(1, longest))):
        name = draw(st.sampled_from(names))
        place = st.integers(max(0, count - 6), count - 1)
        places = draw(
            st.lists(
                st.one_of(place, place, place, numbers), min_size=BY_NAME[name].arity, max_size=BY_NAME[name].arity
            )
        )
        places[draw(st.integers(0, len(places) - 1))] = draw(place)
        steps.append((name, tuple(places)))
    return Program(tuple(leaves), tuple(steps))


def without_constants(program: Program) -> Program:
    """Replace each constant operand by a new leaf."""
    constants = [x for _, operands in program.steps for x in operands if isinstance(x, float)]
    first = len(program.leaves)
    count = itertools.count(first)
    steps = [
        (name, tuple([next(count) if isinstance(x, float) else x + len(constants) * (x >= first) for x in operands]))
        for name, operands in program.steps
    ]
    return Program((*program.leaves, *constants), tuple(steps))


def as_values(program: Program) -> tuple[list[Value], Value]:
    """Run a program on Values; return the leaves and the last result."""
    return program.run(Value, lambda name, *operands: apply(OPCODES[name], *operands))


def as_recorded(*programs: Program) -> Recorded:
    """Record programs as one: inputs are all leaves in order, outputs the last results."""
    tape = Tape()

    def append(name: str, *operands: int | float) -> int:
        return tape.append(name, *[tape.constant(x) if isinstance(x, float) else x for x in operands])

    return tape.program([program.run(lambda _: tape.input(), append)[1] for program in programs])
