"""Loops and branches as in `jax.lax`: `fori_loop`, `while_loop`, `scan`, `map`, `cond`, `switch`.

On floats and on Values each is the Python that it looks like: walks and checks see every iteration, and a branch that
is not taken is not run. In a function that is recorded, a count has to be a number, a loop by a condition needs a
bound, and of branches that depend on an argument all are computed and one is chosen.

What goes round a loop, the carry, is a number, or a list, tuple, dict, dataclass or array of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy

from gradwalk.math import maximum, minimum, take, where
from gradwalk.trees.tree import TreeDef, flattened, scalars
from gradwalk.value.convert import as_float, is_number
from gradwalk.value.modes import is_staging, refuse_if_staging
from gradwalk.value.node import primal_of
from gradwalk.value.value import Value

__all__ = ["cond", "fori_loop", "map", "scan", "switch", "while_loop"]

Carry = TypeVar("Carry")


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[int, Carry], Carry], init_val: Carry) -> Carry:
    """Apply a function again and again, counting: `val = body_fun(i, val)` for i in range(lower, upper).

    Args:
        lower: The first count, a whole number.
        upper: The count after the last, a whole number.
        body_fun: Called with the count and the carry; returns the next carry.
        init_val: The first carry.

    Returns:
        The last carry: `init_val` where upper is not above lower.

    Raises:
        TypeError: `body_fun` returns something else than numbers in the structure of the carry, or a bound is no
            number.
        ValueError: A bound is not whole.
        RecordingError: A bound depends on an argument of a function that is being recorded.

    Example:
        >>> from gradwalk import grad
        >>> power = lambda x: fori_loop(0, 3, lambda i, y: y * x, 1.0)
        >>> power(2.0), grad(power)(2.0)
        (8.0, 12.0)
    """
    first, end = _whole(lower, "lower"), _whole(upper, "upper")
    carry = _Checked(init_val, "init_val", "body_fun")
    val: Any = init_val
    for i in range(first, end):
        val = carry.next(body_fun(i, val))
    return val  # type: ignore[no-any-return]


def while_loop(
    cond_fun: Callable[[Carry], Any],
    body_fun: Callable[[Carry], Carry],
    init_val: Carry,
    *,
    max_steps: int | None = None,
) -> Carry:
    """Apply a function as long as a condition holds: `while cond_fun(val): val = body_fun(val)`.

    Its derivatives are those of the steps that were taken. How many these are has none.

    Args:
        cond_fun: Called with the carry; returns a bool, or a number that is 0 where the loop ends.
        body_fun: Called with the carry; returns the next carry.
        init_val: The first carry.
        max_steps: How many steps may be taken at most. In a function that is recorded as many are computed, and those
            after the end left out; where it takes more, all numbers of the result are nan.

    Returns:
        The first carry for which the condition does not hold.

    Raises:
        TypeError: `body_fun` returns something else than numbers in the structure of the carry, or `max_steps` is no
            number.
        ValueError: `max_steps` is not whole, or the condition still holds after so many steps.
        RecordingError: The function is being recorded, and there is no `max_steps`.

    Example:
        >>> from gradwalk import grad
        >>> def root(x):  # by Newton's method
        ...     return while_loop(lambda r: abs(r * r - x) > 1e-12, lambda r: (r + x / r) / 2, x)
        >>> round(root(2.0), 9), round(grad(root)(4.0), 9)
        (1.414213562, 0.25)
    """
    most = None if max_steps is None else _whole(max_steps, "max_steps")
    carry = _Checked(init_val, "init_val", "body_fun")
    val: Any = init_val
    steps = 0
    while True:
        holds = cond_fun(val)
        if isinstance(holds, Value) and is_staging():
            if most is None:
                refuse_if_staging(holds, "repeats while")
            return _masked(cond_fun, body_fun, carry, val, holds, most or 0)  # type: ignore[no-any-return]
        if not holds:
            return val  # type: ignore[no-any-return]
        if steps == most:
            raise ValueError(f"while_loop: the condition still holds after max_steps={most} steps")
        val = carry.next(body_fun(val))
        steps += 1


def scan(
    f: Callable[[Carry, Any], tuple[Carry, Any]],
    init: Carry,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Carry, Any]:
    """Go through arrays with a carry, and stack what comes out: `carry, y = f(carry, x)` for each x.

    Args:
        f: Called with the carry and an element of `xs`; returns the next carry, and an output or None.
        init: The first carry.
        xs: An array, or a list, tuple, dict or dataclass of arrays, that is gone through along the first axes, which
            have one length; None for a loop of `length` steps, whose x is None.
        length: How many steps, where `xs` does not say.
        reverse: Whether to go from the end to the beginning. Outputs then stand where their x stood.

    Returns:
        The last carry, and the outputs, stacked along a new first axis.

    Raises:
        TypeError: `f` returns no pair, or a carry of another structure, or `xs` holds numbers that are no arrays.
        ValueError: The arrays differ in length, or from `length`; or there is neither.

    Example:
        >>> import numpy
        >>> scan(lambda total, x: (total + x, total), 0.0, numpy.array([1.0, 2.0, 3.0]))
        (6.0, array([0., 1., 3.]))
    """
    columns = _Columns(xs, length)
    carry = _Checked(init, "init", "f")
    val: Any = init
    outputs: list[Any] = [None] * columns.length
    for step in range(columns.length):
        i = columns.length - 1 - step if reverse else step
        val, outputs[i] = _pair(f(val, columns.at(i)))
        val = carry.next(val)
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

    The other one is not run, and passes no derivative on. In a function that is recorded, where `pred` depends on an
    argument, both are computed, and what is not chosen passes no derivative on, not even where its own is inf or nan.

    Args:
        pred: A bool, or a number that is 0 where `false_fun` is called.
        true_fun: Called with the operands.
        false_fun: Called with the operands.
        *operands: What both are called with.

    Returns:
        The result.

    Raises:
        TypeError: Both are computed, and their results differ in structure; or `pred` is no number.

    Example:
        >>> from gradwalk import grad, math
        >>> root = lambda x: cond(x > 0, math.sqrt, lambda x: 0.0 * x, x)
        >>> root(4.0), grad(root)(4.0), grad(root)(0.0)
        (2.0, 0.25, 0.0)
    """
    pred = _number(pred, "pred")
    if not (isinstance(pred, Value) and is_staging()):
        return true_fun(*operands) if pred else false_fun(*operands)
    results = _Branches([true_fun(*operands), false_fun(*operands)], ["true_fun", "false_fun"])
    return results.chosen(lambda numbers: where(pred, *numbers))


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Call one of several functions, by number: `branches[index](*operands)`.

    As with `cond`, the others are not run, or computed and left out.

    Args:
        index: A whole number. Below 0 the first function is called, beyond the last the last one.
        branches: The functions, at least one.
        *operands: What each is called with.

    Returns:
        The result.

    Raises:
        TypeError: All are computed, and their results differ in structure; or `index` is no number.
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
    names = [f"branches[{i}]" for i in range(len(branches))]
    results = _Branches([branch(*operands) for branch in branches], names)
    place = minimum(maximum(index, 0.0), float(last))
    return results.chosen(lambda numbers: take(numbers, place))


class _Checked:
    """The structure of a carry, which every step keeps: looked at after the first one.

    Args:
        init: The first carry.
        name: What messages call it.
        function: What messages call the function that makes the next one.
    """

    def __init__(self, init: Any, name: str, function: str) -> None:
        _, self.treedef = flattened(init, name)
        self._name = name
        self._function = function
        self._is_known = False

    def next(self, carry: Any) -> Any:
        """Return the next carry, if it is one."""
        if not self._is_known:
            _, treedef = flattened(carry, f"the carry that {self._function} returned")
            if treedef != self.treedef:
                raise TypeError(
                    f"{self._function} returned {treedef} as the next carry, where {self._name} is {self.treedef}: it "
                    "has to return the structure that it is given"
                )
            self._is_known = True
        return carry


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
            self._leaves, self._treedef = flattened(xs, "xs")
            _check_arrays(self._leaves, self._treedef)
        lengths = {len(leaf) for leaf in self._leaves}
        if length is not None:
            lengths.add(_whole(length, "length"))
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
        return self._treedef.with_leaves(plain) if self._treedef else None


class _Branches:
    """The results of all branches, of one structure.

    Args:
        results: The results.
        names: What messages call the functions that they are of.
    """

    def __init__(self, results: list[Any], names: list[str]) -> None:
        found = [flattened(result, f"the result of {name}") for result, name in zip(results, names, strict=True)]
        self._treedef = found[0][1]
        for (_, treedef), name in zip(found, names, strict=True):
            if treedef != self._treedef:
                raise TypeError(
                    f"{names[0]} returned {self._treedef} and {name} {treedef}: where the choice is recorded, all "
                    "functions have to return one structure"
                )
        self._numbers = [scalars(leaves) for leaves, _ in found]

    def chosen(self, choose: Callable[[list[Any]], Any]) -> Any:
        """Return the result of which every number is chosen among those of the branches."""
        return self._treedef.filled([choose(list(numbers)) for numbers in zip(*self._numbers, strict=True)])


def _masked(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], carry: _Checked, val: Any, holds: Any, most: int
) -> Any:
    """A recorded loop by a condition: so many steps, of which those after the end are left out."""
    for _ in range(most):
        stepped = carry.next(body_fun(val))
        val = _Branches([stepped, val], ["body_fun", "init_val"]).chosen(_where_nonzero(holds))
        holds = holds * (cond_fun(val) != 0)
    lost = carry.treedef.filled([numpy.nan] * carry.treedef.size)
    return _Branches([lost, val], ["body_fun", "init_val"]).chosen(_where_nonzero(holds))


def _where_nonzero(condition: Any) -> Callable[[list[Any]], Any]:
    return lambda numbers: where(condition, *numbers)


def _stacked(results: list[Any], count: int) -> Any:
    """Results of one structure, each leaf stacked along a new first axis of this length."""
    if results[0] is None:
        return None
    found = [flattened(result, "what f returned") for result in results]
    treedef = found[0][1]
    for _, other in found:
        if other != treedef:
            raise TypeError(f"f returned {treedef} at first and {other} later: outputs of one structure can be stacked")
    columns = zip(*[leaves for leaves, _ in found], strict=True)
    return treedef.with_leaves([_array(column)[:count] for column in columns])


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


def _number(given: Any, what: str) -> Any:
    if isinstance(given, numpy.ndarray) and given.ndim == 0:
        given = given.item()
    if not isinstance(given, (bool, numpy.bool_, Value)) and not is_number(given):
        raise TypeError(f"{what} is {given!r:.60}, a {type(given).__name__}, and not a number")
    return given


def _whole(given: Any, what: str) -> int:
    """A whole number as an int. One that is recorded is refused: a recording has a fixed number of steps."""
    number = _number(given, what)
    if isinstance(number, Value):
        refuse_if_staging(number, "counts by int() of")
        number = primal_of(number)
    if number != number // 1 or number in (numpy.inf, -numpy.inf):
        raise ValueError(f"{what} is {given!r:.60}, and not a whole number")
    return int(number)
