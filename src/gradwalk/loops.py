"""Loops and branches with the interface of `jax.lax`, such as `fori_loop`, `while_loop`, `scan` and `cond`.

On floats and Values, loops and branches run as ordinary Python code: walks and checks see every iteration, and only the
selected branch is run. In a recorded function, a loop becomes a single instruction, and the step function is recorded
once. `cond` and `switch` become single instructions, too. When the recording is run, only the selected branch is run.
Steps and branches may use numbers and Values of the enclosing function.

The carry is the state that a loop passes from step to step: a number, or a list, tuple, dict, dataclass or array of
numbers.

A condition is a bool, a number or a Value, and is true if its number is not 0.

While a step is recorded, the numbers of its Values are not known. If the step function needs such a number, for example
to index a list, and the number of steps is known, the loop is recorded step by step: the step function is called once
per step. Exceptions that step functions and branches raise always reach the caller.

The backward pass of a recorded loop needs the carries of all steps, in reverse order. The argument `checkpoint` sets
how many carries are stored; the other carries are recomputed from the stored carries. For a loop of n steps,

- None stores all n carries, and no step is recomputed;
- "sqrt" stores about √(2n) carries, and recomputes each step at most twice;
- "binomial" stores k carries, where k is about log₂(n)/2, and recomputes each step at most k times;
- a number k stores k carries, and recomputes each step as few times as possible.

Under `vmap`, `checkpoint` has the same meaning, with two exceptions: short loops are unrolled, and None stores
at most 32 MiB of carries for the samples that run together.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.math import equal, floor, stop_gradient, where
from gradwalk.nn import Module
from gradwalk.program.calls.trace_loop import Carried, recorded_choice, recorded_loop
from gradwalk.program.run.loop_runner import TooManyStepsError
from gradwalk.trees.iterations import Iterations
from gradwalk.trees.prefix_scan import associative_scan
from gradwalk.trees.registry import opened
from gradwalk.trees.tree import TreeDef, flatten, scalars, type_of
from gradwalk.value.arrays import WholeArray
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.modes import depth, is_staging, refusals_ignored, refuse_if_staging, refuses_nans
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value
from gradwalk.value.without_jit import is_jit_disabled

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]

Carry = TypeVar("Carry")

_LARGEST = 2**53
_SCALARS = (float, int, Value, type(None))

Checkpoint = str | int | None


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Carry], Carry],
    init_val: Carry,
    *,
    unroll: int | bool | None = None,
    checkpoint: Checkpoint = None,
) -> Carry:
    """Repeat a function with a counter: `val = body_fun(i, val)` for i in range(lower, upper).

    Args:
        lower: The first value of the counter, a whole number.
        upper: The end of the range, a whole number; the last value of the counter is `upper - 1`. In a recorded
            function, a bound can be a Value. If this Value is not a whole number (such as nan, inf or 2.5), the result
            and its derivatives are nan.
        body_fun: Function that takes the counter and the carry, and returns the next carry. While a loop is recorded,
            the counter is a Value. If `body_fun` needs the counter's number, for example as an index, the loop is
            recorded step by step.
        init_val: The first carry.
        unroll: True to record the steps one by one instead of as a loop; see `scan`.
        checkpoint: The number of carries to store for derivatives: None (all), "sqrt", "binomial" or an int (see
            `gradwalk.loops`).

    Returns:
        The last carry, which is `init_val` if upper <= lower.

    Raises:
        TypeError: The result of `body_fun` differs from the carry in structure, or a bound is not a number.
        ValueError: A bound is not a whole number, or `unroll` or `checkpoint` is invalid.

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
    if _is_one_instruction() and end > first and not _is_unrolled(unroll, end - first):
        with refusals_ignored():  # if the step needs known numbers, it runs below, once per count
            span = first, end - first
            return recorded_loop(lambda i, val, _: (body_fun(i, val), None), carry, [], span, None, memory)[0]  # type: ignore[no-any-return]
    val: Any = init_val
    with Iterations(body_fun, "step", val) as iterations:
        for i in range(first, end):
            val = carry.next(body_fun(i, own_arrays(val)))
            iterations.ended(val)
    return val  # type: ignore[no-any-return]


def _counted_by_values(
    lower: Any, upper: Any, body_fun: Callable[[Any, Carry], Carry], init_val: Carry, checkpoint: Checkpoint
) -> Carry:
    """Record a loop whose bounds are Values; if a bound is not whole, run one step and multiply its result by nan."""
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
    """Return a bound without its derivative, and a number that is nonzero if the bound is whole."""
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
    """Repeat a function while a condition holds: `while cond_fun(val): val = body_fun(val)`.

    The steps that were run are differentiated, and their number is treated as a constant.

    Args:
        cond_fun: Function that takes the carry, and returns a bool, a number or a Value. The loop ends when the result
            is False or 0.
        body_fun: Function that takes the carry, and returns the next carry.
        init_val: The first carry.
        max_steps: Maximum number of steps; None for no limit. Under `vmap`, samples that need more steps do not raise:
            the results of the loop, and derivatives that pass through it, are nan.
        checkpoint: The number of carries to store for derivatives: None (all), "sqrt", "binomial" or an int (see
            `gradwalk.loops`).

    Returns:
        The first carry for which the condition is false.

    Raises:
        TypeError: The result of `body_fun` differs from the carry in structure, `cond_fun` does not return a number, or
            `max_steps` is not a number.
        ValueError: The condition still holds after `max_steps` steps, `max_steps` is not a whole number, or
            `checkpoint` is invalid.

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
                raise TooManyStepsError(f"while_loop: the condition still holds after max_steps={most} steps")
            val = carry.next(body_fun(own_arrays(val)))
            iterations.ended(val)
            steps += 1
    return val  # type: ignore[no-any-return]


def scan(
    f: Callable[[Carry, Any], tuple[Carry, Any]],
    init: Carry,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    *,
    checkpoint: Checkpoint = None,
) -> tuple[Carry, Any]:
    """Loop over arrays with a carry and stack the outputs: `carry, y = f(carry, x)` for each x.

    Args:
        f: Function that takes the carry and an element of `xs`, and returns a pair: the next carry, and an output or
            None.
        init: The first carry.
        xs: An array, or a list, tuple, dict or dataclass of arrays. The loop runs over their first axis, which must
            have the same length in all arrays. None for a loop of `length` steps in which x is None.
        length: The number of steps; required if `xs` is None.
        reverse: Whether to run from the last element to the first. Each output is stored at the index of its x.
        unroll: True, or a number of at least `length`, to record the steps one by one instead of a loop. Smaller
            numbers are accepted for compatibility with JAX, and ignored.
        checkpoint: The number of carries to store for derivatives: None (all), "sqrt", "binomial" or an int (see
            `gradwalk.loops`).

    Returns:
        A pair: the last carry, and the outputs, which are stacked along a new first axis.

    Raises:
        TypeError: `f` does not return a pair, the next carry differs from the carry in structure, or a leaf of `xs` is
            not an array.
        ValueError: The lengths of the arrays and `length` differ, `xs` and `length` are both missing, or `unroll` or
            `checkpoint` is invalid.

    Example:
        >>> import numpy
        >>> scan(lambda total, x: (total + x, total), 0.0, numpy.array([1.0, 2.0, 3.0]))
        (6.0, array([0., 1., 3.]))
    """
    memory = _checked_memory(checkpoint)
    columns = _Columns(xs, length)
    carry = Carried(init, "init", "f")
    if _is_one_instruction() and columns.length and not _is_unrolled(unroll, columns.length):
        with refusals_ignored():  # if the step needs known numbers, it runs below, once per x
            return _recorded_scan(f, carry, columns, reverse, memory)
    val: Any = init
    outputs: list[Any] = [None] * columns.length
    with Iterations(f, "step", val) as iterations:
        for step in range(columns.length):
            i = columns.length - 1 - step if reverse else step
            val, outputs[i] = _pair(f(own_arrays(val), own_arrays(columns.at(i))))
            val = carry.next(val)
            iterations.ended(val, outputs[i])
    if not outputs:  # run one step only for the structure of its output
        return val, _stacked([_pair(f(own_arrays(init), columns.zeros()))[1]], 0)
    return val, _stacked(outputs, len(outputs))


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """Apply a function to each element of an array in order, and stack the results.

    Args:
        f: Function that takes an element and returns a result.
        xs: An array, or a list, tuple, dict or dataclass of arrays; elements are taken along their first axis.
        batch_size: Ignored; accepted for compatibility with JAX. Use `vmap` for large batches.

    Returns:
        The results, stacked along a new first axis.

    Raises:
        TypeError: A leaf of `xs` is not an array.
        ValueError: The arrays differ in length.

    Example:
        >>> import numpy
        >>> map(lambda x: x * x, numpy.array([1.0, 2.0, 3.0]))
        array([1., 4., 9.])
    """
    del batch_size
    return scan(lambda _, x: (0.0, f(x)), 0.0, xs)[1]


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions: `true_fun(*operands) if pred else false_fun(*operands)`.

    The other function is not run and does not contribute to derivatives. Under `vmap`, both functions may run if
    `pred` depends on the sample. The function that was not selected then contributes 0 to the derivatives, even if its
    own derivative is inf or nan.

    Args:
        pred: A bool, a number or a Value. False and 0 select `false_fun`.
        true_fun: The function to call if `pred` is true.
        false_fun: The function to call if `pred` is false.
        *operands: The arguments of both functions.

    Returns:
        The result of the selected function.

    Raises:
        TypeError: `pred` is not a number, or both functions are recorded and their results differ in structure.

    Example:
        >>> from gradwalk import grad, math
        >>> root = lambda x: cond(x > 0, math.sqrt, lambda x: 0.0 * x, x)
        >>> root(4.0), grad(root)(4.0), grad(root)(0.0)
        (2.0, 0.25, 0.0)
    """
    pred = _number(pred, "pred")
    if not (isinstance(pred, Value) and is_staging()):
        return (true_fun if _holds(pred, "pred") else false_fun)(*own_arrays(operands))
    functions = {
        "true_fun": lambda: true_fun(*own_arrays(operands)),
        "false_fun": lambda: false_fun(*own_arrays(operands)),
    }
    return recorded_choice(where(pred, 0.0, 1.0), functions)


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions, selected by index: `branches[index](*operands)`.

    The functions that are not selected are treated as in `cond`.

    Args:
        index: A whole number; a number outside the range of `branches` selects the first or the last function. In a
            recorded function, an index that is a Value is rounded down, and the result is nan if the index is nan.
        branches: The functions, at least one.
        *operands: The arguments of each function.

    Returns:
        The result of the selected function.

    Raises:
        TypeError: `index` is not a number, or all functions are recorded and their results differ in structure.
        ValueError: `branches` is empty, or `index` is not a whole number.

    Example:
        >>> from gradwalk import grad
        >>> area = lambda kind, r: switch(kind, [lambda r: r * r, lambda r: 3.0 * r * r], r)
        >>> area(0, 2.0), area(1, 2.0), grad(area, argnums=1)(1, 2.0)
        (4.0, 12.0, 12.0)
    """
    if not branches:
        raise ValueError("branches of switch() must not be empty: it needs at least one function")
    last = len(branches) - 1
    if not (isinstance(index, Value) and is_staging()):
        return branches[min(max(_whole(index, "index"), 0), last)](*own_arrays(operands))
    functions = {
        f"branches[{i}]": functools.partial(branch, *own_arrays(operands)) for i, branch in enumerate(branches)
    }
    return recorded_choice(index, functions)


def own_arrays(tree: Any) -> Any:
    """Copy the arrays of a tree, because the step or branch that gets them may update them in place."""
    if isinstance(tree, numpy.ndarray):
        return tree.copy()
    if isinstance(tree, _SCALARS):
        return tree
    leaves, treedef = opened(tree, lambda node: isinstance(node, Module))
    if not any(isinstance(leaf, numpy.ndarray) for leaf in leaves):
        return tree
    return treedef.unflatten([leaf.copy() if isinstance(leaf, numpy.ndarray) else leaf for leaf in leaves])


class _Columns:
    """The `xs` of a scan: arrays to loop over along their first axes.

    Args:
        xs: The tree of arrays, or None.
        length: The number of steps, or None to take it from the arrays.
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
            found = "xs and length are missing" if not lengths else f"the lengths {sorted(lengths)} differ"
            raise ValueError(f"{found}: the first axes of all arrays in xs must have one length, the number of steps")
        [self.length] = lengths

    def at(self, i: int) -> Any:
        """Return the tree of elements at an index."""
        return self._treedef and self._tree([leaf[i] for leaf in self._leaves])

    def zeros(self) -> Any:
        """Return a tree of zeros with the structure and shapes of an element; used if the arrays have length 0."""
        return self._treedef and self._tree([numpy.zeros(leaf.shape[1:])[()] for leaf in self._leaves])

    def _tree(self, elements: list[Any]) -> Any:
        plain = [_plain(x) if isinstance(x, numpy.generic) else x for x in elements]
        return self._treedef.unflatten(plain) if self._treedef else None


def _plain(number: numpy.generic) -> float:
    """Return a NumPy scalar as a bool, an int or a float."""
    return number.item() if isinstance(number, (numpy.integer, numpy.bool_)) else as_float(number)


def _recorded_scan(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Carried, columns: _Columns, reverse: bool, memory: Checkpoint
) -> tuple[Any, Any]:
    """Record a scan as one instruction."""
    order = range(columns.length)[:: -1 if reverse else 1]
    rows = [columns.at(i) for i in order]
    span = 0, columns.length
    last, outputs = recorded_loop(
        lambda _, val, x: _pair(f(val, None if columns.at(0) is None else x)), carry, rows, span, None, memory
    )
    if outputs is None:
        return last, None
    return last, _stacked([outputs[i] for i in order], len(outputs))


def _checked_memory(checkpoint: Any) -> Checkpoint:
    """Return `checkpoint` if it is valid; else raise ValueError. A loop has fewer than 2**53 steps."""
    if checkpoint is None or (isinstance(checkpoint, str) and checkpoint in ("sqrt", "binomial")):
        return checkpoint
    if not is_number(checkpoint) or isinstance(checkpoint, bool) or checkpoint != checkpoint // 1 or checkpoint < 1:
        raise ValueError(f'checkpoint must be None, "sqrt", "binomial" or a number of carries >= 1, got {checkpoint!r}')
    return int(min(checkpoint, 2**53))


def _is_unrolled(unroll: Any, length: int) -> bool:
    """Return whether to record `length` steps one by one; raise ValueError if `unroll` is invalid."""
    if unroll is None or isinstance(unroll, bool):
        return bool(unroll)
    if not is_number(unroll) or unroll != unroll // 1 or unroll < 1:
        raise ValueError(f"unroll must be a bool or a whole number >= 1, got {unroll!r:.60}")
    return int(unroll) >= length > 1


def _stacked(results: list[Any], count: int) -> Any:
    """Stack results of equal structure, leaf by leaf, along a new first axis of length `count`."""
    if results[0] is None:
        return None
    found = [flatten(result, "what f returned") for result in results]
    treedef = found[0][1].with_numbers()
    for _, other in found:
        if other.with_numbers() != treedef:
            raise TypeError(f"the outputs of f must have one structure, got {treedef} at first and {other} later")
    columns = zip(*[leaves for leaves, _ in found], strict=True)
    return treedef.unflatten([_array(column)[:count] for column in columns])


def _array(column: tuple[Any, ...]) -> Any:
    """Stack numbers, or arrays of equal shape; the result is an object array if any of them is or contains a Value."""
    if any(isinstance(x, WholeArray) for x in column):
        return numpy.stack(column)
    has_values = any(isinstance(x, Value) or getattr(x, "dtype", None) == numpy.dtype(object) for x in column)
    if not has_values:
        types = {type_of(x) for x in column}
        return numpy.array(column, types.pop() if len(types) == 1 else float)
    stacked = numpy.empty((len(column), *numpy.shape(column[0])), object)
    for i, x in enumerate(column):
        stacked[i] = x
    return stacked


def _pair(result: Any) -> tuple[Any, Any]:
    if not isinstance(result, tuple) or len(result) != 2:
        raise TypeError(f"f of scan() must return a pair, the next carry and an output or None, got {result!r:.60}")
    return result


def _check_arrays(leaves: list[Any], treedef: TreeDef) -> None:
    for leaf, path in zip(leaves, treedef.paths("xs"), strict=True):
        if not isinstance(leaf, numpy.ndarray) or not leaf.ndim:
            raise TypeError(
                f"{path} must be an array to loop over, got {leaf!r:.60}; write numpy.array([...]), or "
                "numpy.array([...], dtype=object) for Values"
            )


def _is_one_instruction() -> bool:
    """Return whether to record loops as one instruction.

    Under `debug_nans()` and `disable_jit()`, `grad` runs the steps one by one.
    """
    return depth() > 0 and (is_staging() or not (refuses_nans() or is_jit_disabled()))


def _holds(condition: Any, what: str) -> bool:
    """Return whether a condition is true: its number is not 0."""
    number = _number(condition, what)
    return bool(primal_of(number) != 0.0 if isinstance(number, Value) else number)


def _number(given: Any, what: str) -> Any:
    if isinstance(given, numpy.ndarray) and given.size == 1:
        given = given.item()
    if not isinstance(given, (bool, numpy.bool_, Value)) and not is_number(given):
        raise TypeError(f"{what} must be a number, got {given!r:.60}, a {type(given).__name__}")
    return given


def _whole(given: Any, what: str, least: int = -_LARGEST) -> int:
    """Convert a whole number to an int. A Value that is being recorded is refused, because its number is not known."""
    number = _number(given, what)
    if isinstance(number, Value):
        refuse_if_staging(number, "calls int() on the count")
        number = primal_of(number)
    if number != number // 1 or number in (numpy.inf, -numpy.inf):
        raise ValueError(f"{what} must be a whole number, got {given!r:.60}")
    if not least <= number <= _LARGEST:
        raise ValueError(
            f"{what} must be a whole number from {least} to {_LARGEST} (exact in a float), got {given!r:.60}"
        )
    return int(number)
