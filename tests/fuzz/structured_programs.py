"""Random programs with nested loops, branches, table look-ups and long straight code, as functions of gradwalk.

A program is a tuple of statements, and a statement is a nested tuple whose first item is its kind. Each statement
appends numbers, and some append arrays, to a `Scope`. Operands are relative references, which are valid in any scope,
so that a program is still valid after statements were removed:

- a float is a constant;
- a whole number n >= 0 is the n-th last number of the scope;
- a whole number n < 0 is the carry number -1 - n of the innermost loop.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy

from gradwalk import Value, loops, take, vmap
from gradwalk import math as gm
from gradwalk.ops.compiled.opcodes import OPCODES
from gradwalk.ops.table import BY_NAME, TABLE
from gradwalk.program.program import Program
from gradwalk.program.tape import Tape
from gradwalk.value.apply import apply

Statement = tuple[Any, ...]
Block = tuple[Statement, ...]

SIZE = 4  # elements of the array that is an argument
POLICIES = (None, None, "sqrt", "binomial", 1, 2, 3)
BOUNDED = ("sin", "tanh", "cos", "atan", "erf", "sigmoid")
COMMON = ("add", "sub", "mul", "mul", "sin", "tanh", "exp", "div", "sqrt", "where", "less", "maximum", "neg", "abs")
EXACT = ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "relu", "maximum", "where", "sign", "less", "equal", "floor")
# IEEE 754 leaves the sign of nan undefined, and `copysign` would copy it.
EVERY = tuple(row.name for row in TABLE if row.name != "copysign")
MOST_STEPS = 1500  # product of the numbers of steps of nested loops
BATCH = 40  # samples; smaller batches are unrolled


# Drawing programs


class Dice:
    """Draws statements.

    Args:
        rng: The source of randomness.
        budget: Maximum number of statements, approximately.
        is_exact: Whether to use only operations that IEEE 754 specifies exactly, whose bits are equal in batches.
    """

    def __init__(self, rng: Random, budget: int, is_exact: bool) -> None:
        self.rng = rng
        self.budget = budget
        self.is_exact = is_exact
        self.bounded = ("squash",) if is_exact else BOUNDED
        self.reductions = ("sum", "prod", "sumprod", "max") if is_exact else tuple(REDUCTIONS)

    def block(self, depth: int, room: int, most: int = 5) -> Block:
        """Draw a block that nests at most `depth` loops and branches, and runs loops of at most `room` steps."""
        count = max(1, min(self.rng.randint(1, most), self.budget))
        self.budget -= count
        return tuple([self.statement(depth, room) for _ in range(count)])

    def statement(self, depth: int, room: int) -> Statement:
        is_nested = depth > 0 and self.budget > 0 and self.rng.random() < 0.7
        return self.nested(depth, room) if is_nested else self.rng.choice(FLAT)(self)

    def nested(self, depth: int, room: int) -> Statement:
        return self.rng.choice(NESTED)(self, depth, room)

    def operand(self) -> int | float:
        kind = self.rng.random()
        if kind < 0.12:
            return self.rng.choice([0.0, -0.0, 1.0, 0.5, -1.5, round(self.rng.uniform(-2.0, 2.0), 2)])
        if kind < 0.3:
            return -1 - self.rng.randrange(3)
        return self.rng.randrange(4) if kind < 0.8 else self.rng.randrange(12)

    def operands(self, least: int, most: int) -> tuple[int | float, ...]:
        return tuple([self.operand() for _ in range(self.rng.randint(least, most))])

    def steps(self, room: int) -> int:
        kind = self.rng.random()
        steps = 0 if kind < 0.1 else 1 if kind < 0.2 else self.rng.randint(2, 6) if kind < 0.9 else 60
        return min(steps, room)

    def nexts(self, inits: Sequence[Any]) -> tuple[int | float, ...]:
        """Draw the next carry: computed numbers, permuted carries, constants."""
        count = len(inits)
        if count > 1 and self.rng.random() < 0.2:
            return tuple(self.rng.sample([-1 - i for i in range(count)], count))
        chances = [0, 0, 0, 1, self.operand(), -1 - self.rng.randrange(count)]
        return tuple([self.rng.choice([*chances, -1 - i]) for i in range(count)])

    def calm(self) -> Block:
        """Draw the end of a loop body: usually a bounded function, so that carries rarely overflow."""
        return (("apply", self.rng.choice(self.bounded), (0,)),) if self.rng.random() < 0.8 else ()

    def array(self) -> int:
        return self.rng.choice([0, 0, 1, 2])


def _apply(dice: Dice) -> Statement:
    name = dice.rng.choice(EXACT if dice.is_exact else COMMON if dice.rng.random() < 0.75 else EVERY)
    return "apply", name, dice.operands(BY_NAME[name].arity, BY_NAME[name].arity)


def _bounded(dice: Dice) -> Statement:
    return "apply", dice.rng.choice(dice.bounded), (dice.operand(),)


def _array(dice: Dice) -> Statement:
    return "array", dice.operands(1, 5)


def _take(dice: Dice) -> Statement:
    return "take", dice.array(), dice.operand(), dice.rng.random() < 0.85


def _element(dice: Dice) -> Statement:
    return "element", dice.array(), dice.rng.randrange(6)


def _reduce(dice: Dice) -> Statement:
    return "reduce", dice.rng.choice(dice.reductions), dice.array(), dice.array()


def _straight(dice: Dice) -> Statement:
    """Draw straight code: now and then more than 250 instructions, in which loops are found."""
    is_long = dice.rng.random() < 0.1
    times = 60 if is_long else dice.rng.randint(2, 8)
    count = dice.rng.randint(3, 7) if is_long else dice.rng.randint(1, 7)
    block = tuple([dice.rng.choice((_apply, _bounded, _element))(dice) for _ in range(count)])
    return "straight", times, block, dice.rng.random() < 0.5


def _fori(dice: Dice, depth: int, room: int) -> Statement:
    steps, inits = dice.steps(room), dice.operands(1, 3)
    body = (*dice.block(depth - 1, room // max(steps, 1)), *dice.calm())
    return "fori", dice.rng.randint(-2, 2), steps, dice.rng.choice(POLICIES), inits, body, dice.nexts(inits)


def _counted(dice: Dice, depth: int, room: int) -> Statement:
    most, inits = min(dice.rng.randint(1, 7), max(room, 1)), dice.operands(1, 2)
    body = (*dice.block(depth - 1, room // most), *dice.calm())
    is_whole = dice.rng.random() < 0.85
    return "counted", dice.operand(), most, is_whole, dice.rng.choice(POLICIES), inits, body, dice.nexts(inits)


def _while(dice: Dice, depth: int, room: int) -> Statement:
    steps, inits = dice.steps(room), dice.operands(1, 3)
    condition = dice.block(depth - 1 if dice.rng.random() < 0.1 else 0, 10, most=2)
    limit = dice.rng.choice([math.inf, 0.9, 0.5, -0.5])
    most = dice.rng.choice([None, None, steps, steps + 5, *([max(steps - 1, 0)] if dice.rng.random() < 0.3 else [])])
    is_known = dice.rng.random() < 0.6  # whether the largest number of steps is a constant
    body = (*dice.block(depth - 1, room // max(steps, 1)), *dice.calm())
    rule = (steps, is_known, dice.operand(), condition, limit)
    return "while", rule, most, dice.rng.choice(POLICIES), inits, body, dice.nexts(inits)


def _scan(dice: Dice, depth: int, room: int) -> Statement:
    xs = tuple([dice.array() for _ in range(dice.rng.choice([0, 1, 1, 2]))])
    length, inits = min(dice.steps(room), 8), dice.operands(1, 3)
    body = (*dice.block(depth - 1, room // 6), *dice.calm())
    outs = tuple([dice.rng.choice([0, 1, dice.operand()]) for _ in range(dice.rng.choice([0, 1, 1, 2]))])
    options = dice.rng.random() < 0.3, length, dice.rng.choice(POLICIES)
    return "scan", options, xs, inits, body, dice.nexts(inits), outs


def _cond(dice: Dice, depth: int, room: int) -> Statement:
    yes, no = (dice.block(depth - 1, room, most=3) for _ in range(2))
    count = dice.rng.randint(1, 2)
    return "cond", dice.operand(), dice.operand(), yes, no, *[dice.operands(count, count) for _ in range(2)]


def _switch(dice: Dice, depth: int, room: int) -> Statement:
    count, outs = dice.rng.randint(1, 4), dice.rng.randint(1, 2)
    branches = tuple([(dice.block(depth - 1, room, most=2), dice.operands(outs, outs)) for _ in range(count)])
    return "switch", dice.operand(), dice.rng.random() < 0.85, branches


def _batch(dice: Dice, depth: int, room: int) -> Statement:
    if dice.is_exact or dice.rng.random() < 0.8:
        return _fori(dice, depth, room)
    return "batch", dice.operand(), dice.rng.choice(["sum", "max"]), dice.block(min(depth - 1, 1), 3, most=2)


FLAT: tuple[Callable[[Dice], Statement], ...] = (
    *(_apply, _apply, _apply, _bounded, _bounded, _array),
    *(_take, _take, _element, _reduce, _straight),
)
NESTED: tuple[Callable[[Dice, int, int], Statement], ...] = (
    *(_fori, _fori, _while, _while, _scan, _scan),
    *(_counted, _cond, _cond, _switch, _batch),
)


def random_program(seed: int, is_exact: bool = False) -> Block:
    """Draw a program; equal arguments give equal programs. See `Dice` for the options."""
    rng = Random(seed)
    dice = Dice(rng, rng.choice([8, 15, 15, 25, 40]), is_exact)
    depth = rng.choice([1, 2, 2, 3, 3])
    first, nested, last = (
        dice.block(0, MOST_STEPS, most=2),
        dice.nested(depth, MOST_STEPS),
        dice.block(depth, MOST_STEPS),
    )
    return (*first, nested, *last)


# Running them


class Scope:
    """The numbers and arrays that statements may use.

    Args:
        numbers: The numbers.
        arrays: The arrays.
        carry: The carry of the innermost loop.
    """

    def __init__(self, numbers: Sequence[Any], arrays: Sequence[Any], carry: Sequence[Any] = ()) -> None:
        self.numbers = list(numbers)
        self.arrays = list(arrays)
        self.carry = list(carry)

    def get(self, operand: int | float) -> Any:
        if isinstance(operand, float):
            return operand
        if operand < 0 and self.carry:
            return self.carry[(-1 - operand) % len(self.carry)]
        return self.numbers[-1 - abs(operand) % len(self.numbers)]

    def several(self, operands: Sequence[int | float]) -> tuple[Any, ...]:
        return tuple([self.get(operand) for operand in operands])

    def array(self, number: int) -> Any:
        return self.arrays[-1 - number % len(self.arrays)]

    def inner(self, numbers: Sequence[Any], carry: Sequence[Any] | None = None) -> Scope:
        """Return a scope for the body of a loop or branch."""
        own = self.carry if carry is None else carry
        return Scope([*self.numbers, *numbers, *(carry or ())], self.arrays, own)


def run(block: Block, scope: Scope) -> Scope:
    """Run the statements of a block; return the scope."""
    for kind, *fields in block:
        STATEMENTS[kind](scope, *fields)
    return scope


def applied(name: str, *operands: Any) -> Any:
    """Apply an operation to numbers and Values. "squash" is a bounded function: x / (1 + |x|)."""
    if name == "squash":
        return applied("div", operands[0], applied("add", 1.0, applied("abs", *operands)))
    if any(isinstance(x, Value) for x in operands):
        return apply(OPCODES[name], *operands)
    return float(operation(name).run(operands)[0])


@functools.cache
def operation(name: str) -> Program:
    """Return a program of one operation, which computes the bits that a recorded operation gives."""
    tape = Tape()
    return tape.program([tape.append(name, *[tape.input() for _ in range(BY_NAME[name].arity)])])


def whole(x: Any, count: int) -> Any:
    """Return a whole number from 0 to count - 1, or nan."""
    return applied("floor", applied("div", count - 0.001, applied("add", 1.0, applied("mul", x, x))))


def array_of(numbers: Sequence[Any]) -> Any:
    made = numpy.empty(len(numbers), object)
    made[:] = numbers
    return made


def _run_apply(scope: Scope, name: str, operands: Sequence[Any]) -> None:
    scope.numbers.append(applied(name, *scope.several(operands)))


def _run_array(scope: Scope, operands: Sequence[Any]) -> None:
    scope.arrays.append(array_of(scope.several(operands)))


def _run_take(scope: Scope, array: int, operand: Any, is_inside: bool) -> None:
    table, x = scope.array(array), scope.get(operand)
    count = len(table)
    index = whole(x, count) if is_inside and count else applied("floor", x)
    if not count or (not isinstance(index, Value) and not -count <= index < count):
        found = math.nan
    else:
        found = take(table, index if isinstance(index, Value) else int(index))
    scope.numbers.append(found)


def _run_element(scope: Scope, array: int, number: int) -> None:
    table = scope.array(array)
    scope.numbers.append(table[number % len(table)] if len(table) else 0.25)


def _sum(x: Any, _: Any) -> Any:
    return sum(x, 0.0)


def _sum_of_values(x: Any, _: Any) -> Any:
    return gm.fsum(list(x))


def _product(x: Any, _: Any) -> Any:
    return gm.prod(list(x))


def _sum_of_products(x: Any, y: Any) -> Any:
    count = min(len(x), len(y))
    return gm.sumprod(list(x)[:count], list(y)[:count])


def _log_sum_exp(x: Any, _: Any) -> Any:
    return gm.logsumexp(list(x))


def _largest(x: Any, _: Any) -> Any:
    largest = x[0]
    for element in x[1:]:
        largest = applied("maximum", largest, element)
    return largest


REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": _sum,
    "fsum": _sum_of_values,
    "prod": _product,
    "sumprod": _sum_of_products,
    "logsumexp": _log_sum_exp,
    "max": _largest,
}


def _run_reduce(scope: Scope, kind: str, x: int, y: int) -> None:
    first, second = scope.array(x), scope.array(y)
    scope.numbers.append(REDUCTIONS[kind](first, second) if len(first) and len(second) else 0.5)


def _run_straight(scope: Scope, times: int, block: Block, is_stacked: bool) -> None:
    """Run a block several times as straight code that reads the elements of an array in order and sums up results."""
    array, total, results = scope.array(0), scope.get(0), []
    for i in range(times):
        element = array[i % len(array)] if len(array) else 1.0
        last = run(block, scope.inner([element, total])).numbers[-1]
        total = applied("squash", applied("add", applied("mul", total, 0.75), last))
        results.append(last)
    scope.numbers.append(total)
    if is_stacked:
        scope.arrays.append(array_of(results[:8]))


def _run_fori(
    scope: Scope, lower: int, steps: int, checkpoint: Any, inits: Sequence[Any], body: Block, nexts: Sequence[Any]
) -> None:
    def step(i: Any, carry: Any) -> Any:
        return run(body, scope.inner([i], carry)).several(nexts)

    scope.numbers += loops.fori_loop(lower, lower + steps, step, scope.several(inits), checkpoint=checkpoint)


def _run_counted(
    scope: Scope,
    operand: Any,
    most: int,
    is_whole: bool,
    checkpoint: Any,
    inits: Sequence[Any],
    body: Block,
    nexts: Sequence[Any],
) -> None:
    def step(i: Any, carry: Any) -> Any:
        return run(body, scope.inner([i], carry)).several(nexts)

    x, init = scope.get(operand), scope.several(inits)
    upper = whole(x, most + 1) if is_whole else applied("minimum", x, float(most))
    if not isinstance(upper, Value) and upper != upper // 1:
        scope.numbers += [math.nan for _ in init]
    else:
        scope.numbers += loops.fori_loop(0, upper, step, init, checkpoint=checkpoint)


def _run_while(
    scope: Scope,
    rule: tuple[int, bool, Any, Block, float],
    most: int | None,
    checkpoint: Any,
    inits: Sequence[Any],
    body: Block,
    nexts: Sequence[Any],
) -> None:
    steps, is_known, operand, condition, limit = rule
    last = float(steps) if is_known else whole(scope.get(operand), steps + 1)

    def goes_on(state: Any) -> Any:
        count, carry = state
        is_early = applied("less", count, last)
        if limit == math.inf:
            return is_early
        found = run(condition, scope.inner([], carry)).numbers[-1]
        return applied("where", is_early, applied("less", found, limit), 0.0)

    def step(state: Any) -> Any:
        count, carry = state
        return count + 1.0, run(body, scope.inner([count], carry)).several(nexts)

    init = (0.0, scope.several(inits))
    count, carry = loops.while_loop(goes_on, step, init, max_steps=most, checkpoint=checkpoint)
    scope.numbers += [count, *carry]


def _run_scan(
    scope: Scope,
    options: tuple[bool, int, Any],
    xs: Sequence[int],
    inits: Sequence[Any],
    body: Block,
    nexts: Sequence[Any],
    outs: Sequence[Any],
) -> None:
    reverse, length, checkpoint = options
    arrays = [scope.array(x) for x in xs]
    shortest = min([len(array) for array in arrays], default=length)
    columns = [array[:shortest] for array in arrays]

    def step(carry: Any, elements: Any) -> Any:
        inner = run(body, scope.inner(elements or (), carry))
        return inner.several(nexts), list(inner.several(outs)) if outs else None

    init = scope.several(inits)
    given = (columns or None, None if columns else length, reverse)
    last, stacked = loops.scan(step, init, *given, checkpoint=checkpoint)
    scope.numbers += last
    scope.arrays += [array_of(list(array)) for array in stacked or ()]


def _run_cond(scope: Scope, a: Any, b: Any, yes: Block, no: Block, if_yes: Any, if_no: Any) -> None:
    scope.numbers += loops.cond(
        applied("less", scope.get(a), scope.get(b)),
        lambda: run(yes, scope.inner(())).several(if_yes),
        lambda: run(no, scope.inner(())).several(if_no),
    )


def _run_switch(scope: Scope, operand: Any, is_inside: bool, branches: Sequence[Any]) -> None:
    x = scope.get(operand)
    index = whole(x, len(branches)) if is_inside else applied("mul", x, 1.5)
    if isinstance(index, Value) or not math.isnan(index):
        known = index if isinstance(index, Value) else math.floor(max(-1.0, min(float(len(branches)), index)))
        functions = [lambda part=part: run(part[0], scope.inner(())).several(part[1]) for part in branches]
        scope.numbers += loops.switch(known, functions)
    else:
        scope.numbers += [math.nan for _ in branches[0][1]]


def _run_batch(scope: Scope, operand: Any, kind: str, block: Block) -> None:
    """Reduce a batch whose samples share the numbers of the scope."""
    x = scope.get(operand)

    def sample(number: Any) -> Any:
        return applied("sin", run(block, scope.inner([number * x])).numbers[-1])

    scope.numbers.append(vmap(sample, reduce=kind)(numpy.linspace(-1.0, 1.0, BATCH)))


STATEMENTS: dict[str, Callable[..., None]] = {
    "apply": _run_apply,
    "array": _run_array,
    "take": _run_take,
    "element": _run_element,
    "reduce": _run_reduce,
    "straight": _run_straight,
    "fori": _run_fori,
    "counted": _run_counted,
    "while": _run_while,
    "scan": _run_scan,
    "cond": _run_cond,
    "switch": _run_switch,
    "batch": _run_batch,
}


def all_results(program: Block) -> Callable[..., Any]:
    """Return the function that computes the last numbers and the last array of a program."""

    def f(x: Any, y: Any, z: Any, a: Any) -> Any:
        scope = run(program, Scope([x, y, z], [array_of(list(a))]))
        return scope.numbers[-5:], list(scope.arrays[-1])

    return f


def objective(program: Block) -> Callable[..., Any]:
    """Return the function that computes a weighted sum of the results of a program."""

    def f(x: Any, y: Any, z: Any, a: Any) -> Any:
        numbers, array = all_results(program)(x, y, z, a)
        total = 1.0 * x
        for i, number in enumerate([*numbers, *array]):
            total = total + (1.0 + 0.25 * i) * number
        return total

    return f
