"""Loops and branches as in `jax.lax`: `fori_loop`, `while_loop`, `scan`, `map`, `cond`, `switch`.

On floats and Values, each function runs as the Python code that it looks like: walks and checks see every iteration,
and a branch that is not taken is not run. In a recorded function, a loop is one instruction, whose step is recorded
once, and so is a branch. On numbers only the taken branch is run. A step or a branch may use numbers and Values from
outside.

The carry of a loop is a number, or a list, tuple, dict, dataclass or array of numbers.

A condition holds if its number is not 0, also if it is a Value.

If the function of a step asks for a number that is not known, as `xs[i]` does for a list, it is run again, once per
step. This is the only case: exceptions of the functions themselves reach the caller.

The backward pass through a recorded loop needs the carries again, in reverse. `checkpoint` sets how many of them are
kept; the others are computed again. For n steps,

- None keeps all n: no step is run again;
- "sqrt" keeps about √(2n), and runs each step at most twice more;
- "binomial" keeps k, where k is about log₂(n)/2, and runs each step at most k times more;
- a number keeps that many, and runs each step again as few times as that allows.

This holds in batches by `vmap` as well, except for short loops, which `vmap` writes out step by step, and for None,
which keeps up to 32 MiB for the samples that are run together.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.math import equal, floor, stop_gradient, where
from gradwalk.program.calls.trace_loop import Carried, recorded_choice, recorded_loop
from gradwalk.trees.iterations import Iterations
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.modes import depth, is_staging, refusals_ignored, refuse_if_staging, refuses_nans
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]

Carry = TypeVar("Carry")

_LARGEST = 2**53

Checkpoint = str | int | None


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Carry], Carry],
    init_val: Carry,
    *,
    checkpoint: Checkpoint = None,
) -> Carry:
    """Apply a function again and again, counting: `val = body_fun(i, val)` for i in range(lower, upper).

    Args:
        lower: The first count, a whole number.
        upper: The count after the last, a whole number. If it or `lower` is data of a recorded function and is not a
            whole number (nan, inf or 2.5), the result and its derivatives are nan.
        body_fun: Called with the count and the carry; returns the next carry. Where it is recorded the count is a
            Value; if it asks for its number, as an index does, the loop is recorded step by step.
        init_val: The first carry.
        checkpoint: How many carries are kept for derivatives: see above.

    Returns:
        The last carry: `init_val` where upper is not above lower.

    Raises:
        TypeError: `body_fun` does not return numbers in the structure of the carry, or a bound is not a number.
        ValueError: A bound whose number is known is not a whole number, or `checkpoint` is not one of the values above.

    Example:
        >>> from gradwalk import grad
        >>> power = lambda x: fori_loop(0, 3, lambda i, y: y * x, 1.0)
        >>> power(2.0), grad(power)(2.0)
        (8.0, 12.0)
    """
    memory = _checked_memory(checkpoint)
    if is_staging() and (isinstance(lower, Value) or isinstance(upper, Value)):
        return _counted_by_values(lower, upper, body_fun, init_val, checkpoint)
    first, end = _whole(lower, "lower"), _whole(upper, "upper")
    carry = Carried(init_val, "init_val", "body_fun")
    if _is_one_instruction() and end > first:
        with refusals_ignored():  # the steps are run one by one, where the number is known
            span = first, end - first
            return recorded_loop(lambda i, val, _: (body_fun(i, val), None), carry, [], span, None, memory)[0]  # type: ignore[no-any-return]
    val: Any = init_val
    with Iterations(body_fun, "step", val) as iterations:
        for i in range(first, end):
            val = carry.next(body_fun(i, val))
            iterations.ended(val)
    return val  # type: ignore[no-any-return]


def _counted_by_values(
    lower: Any, upper: Any, body_fun: Callable[[Any, Carry], Carry], init_val: Carry, checkpoint: Checkpoint
) -> Carry:
    """Record a loop whose bounds are data. If a bound is not a whole number, the result of one step times nan."""
    lower, is_lower_whole = _bound(lower, "lower")
    upper, is_upper_whole = _bound(upper, "upper")
    are_whole = where(is_lower_whole, is_upper_whole, 0.0)
    last: tuple[Any, Carry] = while_loop(
        lambda state: state[0] < where(are_whole, upper, 1.0),
        lambda state: (state[0] + 1.0, body_fun(state[0], state[1])),
        (where(are_whole, lower, 0.0) + 0.0, init_val),
        checkpoint=checkpoint,
    )
    leaves, treedef = flatten(last[1], "the carry")
    factor = where(are_whole, 1.0, numpy.nan)
    return treedef.filled([number * factor for number in scalars(leaves)])  # type: ignore[no-any-return]


def _bound(given: Any, what: str) -> tuple[Any, Any]:
    """Return a bound without its derivative, and a number that is not 0 if it is whole."""
    if not isinstance(given, Value):
        return float(_whole(given, what)), 1.0
    bound = stop_gradient(given)
    return bound, where(abs(bound) <= _LARGEST, equal(bound, floor(bound)), 0.0)


def while_loop(
    cond_fun: Callable[[Carry], Any],
    body_fun: Callable[[Carry], Carry],
    init_val: Carry,
    *,
    max_steps: int | None = None,
    checkpoint: Checkpoint = None,
) -> Carry:
    """Apply a function as long as a condition holds: `while cond_fun(val): val = body_fun(val)`.

    Its derivatives are those of the steps that were taken. How many these are has none.

    Args:
        cond_fun: Called with the carry; returns a bool, or a number or a Value that is 0 where the loop ends.
        body_fun: Called with the carry; returns the next carry.
        init_val: The first carry.
        max_steps: How many steps may be taken at most. In a batch by `vmap` all numbers of the result of a sample that
            takes more are nan, and so are its derivatives.
        checkpoint: How many carries are kept for derivatives: see above.

    Returns:
        The first carry for which the condition does not hold.

    Raises:
        TypeError: `body_fun` does not return numbers in the structure of the carry, `cond_fun` does not return a
            number, or `max_steps` is not a number.
        ValueError: `max_steps` is not whole, or the condition still holds after so many steps, or `checkpoint` is none
            of those above.

    Example:
        >>> from gradwalk import grad
        >>> def root(x):  # by Newton's method
        ...     return while_loop(lambda r: abs(r * r - x) > 1e-12, lambda r: (r + x / r) / 2, x)
        >>> round(root(2.0), 9), round(grad(root)(4.0), 9)
        (1.414213562, 0.25)
    """
    most = None if max_steps is None else _whole(max_steps, "max_steps", 0)
    memory = _checked_memory(checkpoint)
    carry = Carried(init_val, "init_val", "body_fun")
    if _is_one_instruction():
        step = lambda _, val, __: (body_fun(val), None)  # noqa: E731
        with contextlib.nullcontext() if is_staging() else refusals_ignored():
            return recorded_loop(step, carry, [], (0, most), cond_fun, memory)[0]  # type: ignore[no-any-return]
    val: Any = init_val
    steps = 0
    with Iterations(body_fun, "step", val) as iterations:
        while _holds(cond_fun(val), "the result of cond_fun"):
            if steps == most:
                raise ValueError(f"while_loop: the condition still holds after max_steps={most} steps")
            val = carry.next(body_fun(val))
            iterations.ended(val)
            steps += 1
    return val  # type: ignore[no-any-return]


def scan(
    f: Callable[[Carry, Any], tuple[Carry, Any]],
    init: Carry,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    checkpoint: Checkpoint = None,
) -> tuple[Carry, Any]:
    """Go through arrays with a carry, and stack what comes out: `carry, y = f(carry, x)` for each x.

    Args:
        f: Called with the carry and an element of `xs`; returns the next carry, and an output or None.
        init: The first carry.
        xs: An array, or a list, tuple, dict or dataclass of arrays, that is gone through along the first axes, which
            have one length; None for a loop of `length` steps, whose x is None.
        length: How many steps, where `xs` does not say.
        reverse: Whether to go from the end to the beginning. Outputs then stand where their x stood.
        checkpoint: How many carries are kept for derivatives: see above.

    Returns:
        The last carry, and the outputs, stacked along a new first axis.

    Raises:
        TypeError: `f` returns no pair, or a carry of another structure, or `xs` holds numbers that are no arrays.
        ValueError: The arrays differ in length, or from `length`; or there is neither; or `checkpoint` is none of those
            above.

    Example:
        >>> import numpy
        >>> scan(lambda total, x: (total + x, total), 0.0, numpy.array([1.0, 2.0, 3.0]))
        (6.0, array([0., 1., 3.]))
    """
    memory = _checked_memory(checkpoint)
    columns = _Columns(xs, length)
    carry = Carried(init, "init", "f")
    if _is_one_instruction() and columns.length:
        with refusals_ignored():  # the steps are run one by one, where the number is known
            return _recorded_scan(f, carry, columns, reverse, memory)
    val: Any = init
    outputs: list[Any] = [None] * columns.length
    with Iterations(f, "step", val) as iterations:
        for step in range(columns.length):
            i = columns.length - 1 - step if reverse else step
            val, outputs[i] = _pair(f(val, columns.at(i)))
            val = carry.next(val)
            iterations.ended(val, outputs[i])
    if not outputs:  # what comes out is known from a step that is thrown away
        return val, _stacked([_pair(f(init, columns.zeros()))[1]], 0)
    return val, _stacked(outputs, len(outputs))


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Apply a function to each element of an array, one after the other, and stack the results.

    Args:
        f: Called with an element.
        xs: An array, or a list, tuple, dict or dataclass of arrays, that is gone through along the first axes.

    Returns:
        The results, stacked along a new first axis.

    Raises:
        TypeError: `xs` holds numbers that are no arrays.
        ValueError: The arrays differ in length.

    Example:
        >>> import numpy
        >>> map(lambda x: x * x, numpy.array([1.0, 2.0, 3.0]))
        array([1., 4., 9.])
    """
    return scan(lambda _, x: (0.0, f(x)), 0.0, xs)[1]


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions: `true_fun(*operands) if pred else false_fun(*operands)`.

    The other one is not run, and passes no derivative on. A batch by `vmap` may compute both where `pred` depends on
    the sample; what is not chosen passes no derivative on then, not even where its own is inf or nan.

    Args:
        pred: A bool, or a number or a Value that is 0 where `false_fun` is called.
        true_fun: Called with the operands.
        false_fun: Called with the operands.
        *operands: What both are called with.

    Returns:
        The result.

    Raises:
        TypeError: Both are recorded, and their results differ in structure; or `pred` is no number.

    Example:
        >>> from gradwalk import grad, math
        >>> root = lambda x: cond(x > 0, math.sqrt, lambda x: 0.0 * x, x)
        >>> root(4.0), grad(root)(4.0), grad(root)(0.0)
        (2.0, 0.25, 0.0)
    """
    pred = _number(pred, "pred")
    if not (isinstance(pred, Value) and is_staging()):
        return true_fun(*operands) if _holds(pred, "pred") else false_fun(*operands)
    functions = {"true_fun": lambda: true_fun(*operands), "false_fun": lambda: false_fun(*operands)}
    return recorded_choice(where(pred, 0.0, 1.0), functions)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions, by number: `branches[index](*operands)`.

    As with `cond`, the others are not run, or computed and left out of a batch.

    Args:
        index: A whole number. Below 0 the first function is called, beyond the last the last one. Where it is recorded
            it is rounded down, and the result for nan is nan.
        branches: The functions, at least one.
        *operands: What each is called with.

    Returns:
        The result.

    Raises:
        TypeError: All are recorded, and their results differ in structure; or `index` is no number.
        ValueError: There are no functions, or `index` is not whole.

    Example:
        >>> from gradwalk import grad
        >>> area = lambda kind, r: switch(kind, [lambda r: r * r, lambda r: 3.0 * r * r], r)
        >>> area(0, 2.0), area(1, 2.0), grad(area, argnums=1)(1, 2.0)
        (4.0, 12.0, 12.0)
    """
    if not branches:
        raise ValueError("switch: branches is empty; it takes at least one function")
    last = len(branches) - 1
    if not (isinstance(index, Value) and is_staging()):
        return branches[min(max(_whole(index, "index"), 0), last)](*operands)
    functions = {f"branches[{i}]": functools.partial(branch, *operands) for i, branch in enumerate(branches)}
    return recorded_choice(index, functions)


class _Columns:
    """Arrays that are gone through along their first axes.

    Args:
        xs: The tree of arrays, or None.
        length: How many steps, or None where the arrays say.
    """

    def __init__(self, xs: Any, length: Any) -> None:
        self._leaves: list[Any] = []
        self._treedef: TreeDef | None = None
        if xs is not None:
            self._leaves, self._treedef = flatten(xs, "xs")
            _check_arrays(self._leaves, self._treedef)
        lengths = {len(leaf) for leaf in self._leaves}
        if length is not None:
            lengths.add(_whole(length, "length", 0))
        if len(lengths) != 1:
            found = "there is neither xs nor length" if not lengths else f"the lengths {sorted(lengths)} differ"
            raise ValueError(f"{found}: all arrays of xs are gone through together, along their first axes")
        [self.length] = lengths

    def at(self, i: int) -> Any:
        """Return the elements at an index."""
        return self._treedef and self._tree([leaf[i] for leaf in self._leaves])

    def zeros(self) -> Any:
        """Return elements of empty arrays, as far as they have any: zeros."""
        return self._treedef and self._tree([numpy.zeros(leaf.shape[1:])[()] for leaf in self._leaves])

    def _tree(self, elements: list[Any]) -> Any:
        plain = [as_float(x) if isinstance(x, numpy.generic) else x for x in elements]
        return self._treedef.unflatten(plain) if self._treedef else None


def _recorded_scan(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Carried, columns: _Columns, reverse: bool, memory: Checkpoint
) -> tuple[Any, Any]:
    """Record a scan as one instruction."""
    order = range(columns.length)[:: -1 if reverse else 1]
    rows = [columns.at(i) for i in order]
    span = 0, columns.length
    last, numbers, treedef = recorded_loop(
        lambda _, val, x: _pair(f(val, None if columns.at(0) is None else x)), carry, rows, span, None, memory
    )
    if treedef is None:
        return last, None
    size = treedef.size
    outputs = [treedef.filled(numbers[i * size : (i + 1) * size]) for i in order]
    return last, _stacked(outputs, len(outputs))


def _checked_memory(checkpoint: Any) -> Checkpoint:
    """`checkpoint` as it is, if it is one."""
    if checkpoint in (None, "sqrt", "binomial"):
        return checkpoint  # type: ignore[no-any-return]
    if not is_number(checkpoint) or isinstance(checkpoint, bool) or checkpoint != checkpoint // 1 or checkpoint < 1:
        raise ValueError(f'checkpoint is {checkpoint!r}: it is None, "sqrt", "binomial", or how many carries are kept')
    return int(checkpoint)


def _stacked(results: list[Any], count: int) -> Any:
    """Results of one structure, each leaf stacked along a new first axis of this length."""
    if results[0] is None:
        return None
    found = [flatten(result, "what f returned") for result in results]
    treedef = found[0][1].with_numbers()
    for _, other in found:
        if other.with_numbers() != treedef:
            raise TypeError(f"f returned {treedef} at first and {other} later: outputs of one structure can be stacked")
    columns = zip(*[leaves for leaves, _ in found], strict=True)
    return treedef.unflatten([_array(column)[:count] for column in columns])


def _array(column: tuple[Any, ...]) -> Any:
    """Numbers, or arrays of one shape, stacked; of objects where there are Values."""
    has_values = any(isinstance(x, Value) or getattr(x, "dtype", None) == numpy.dtype(object) for x in column)
    if not has_values:
        return numpy.array(column, numpy.float64)
    stacked = numpy.empty((len(column), *numpy.shape(column[0])), object)
    for i, x in enumerate(column):
        stacked[i] = x
    return stacked


def _pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"f returned {result!r:.60}: scan takes a pair from it, the next carry and an output, or None")
    return result


def _check_arrays(leaves: list[Any], treedef: TreeDef) -> None:
    for leaf, path in zip(leaves, treedef.paths("xs"), strict=True):
        if not isinstance(leaf, numpy.ndarray) or not leaf.ndim:
            raise TypeError(
                f"{path} is {leaf!r:.60}: what is gone through is an array, such as numpy.array([...]) or, of Values, "
                "numpy.array([...], dtype=object)"
            )


def _is_one_instruction() -> bool:
    """Return whether loops are recorded as one instruction. Under `debug_nans()`, `grad` runs their steps instead."""
    return depth() > 0 and (is_staging() or not refuses_nans())


def _holds(condition: Any, what: str) -> bool:
    """Return whether a condition is not 0."""
    number = _number(condition, what)
    return bool(primal_of(number) != 0.0 if isinstance(number, Value) else number)


def _number(given: Any, what: str) -> Any:
    if isinstance(given, numpy.ndarray) and given.size == 1:
        given = given.item()
    if not isinstance(given, (bool, numpy.bool_, Value)) and not is_number(given):
        raise TypeError(f"{what} is {given!r:.60}, a {type(given).__name__}, and not a number")
    return given


def _whole(given: Any, what: str, least: int = -_LARGEST) -> int:
    """A whole number as an int. One that is recorded is refused: a recording has a fixed number of steps."""
    number = _number(given, what)
    if isinstance(number, Value):
        refuse_if_staging(number, "counts by int() of")
        number = primal_of(number)
    if number != number // 1 or number in (numpy.inf, -numpy.inf):
        raise ValueError(f"{what} is {given!r:.60}, and not a whole number")
    if not least <= number <= _LARGEST:
        raise ValueError(
            f"{what} is {given!r:.60}: counts go from {least} to {_LARGEST}, as far as floats tell them apart"
        )
    return int(number)
