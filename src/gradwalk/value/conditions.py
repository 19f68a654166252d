"""Conditions of functions that are being recorded. A condition is a Value that is 0 or 1."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy

from gradwalk.value import modes
from gradwalk.value.node import ValueNode, number_type_of

_COMPARISONS = ("<", "<=", "=")
_ROUNDED = ("rint", "floor", "ceil", "trunc")
_WHOLE = ("+", "-")  # operations that map ints to ints; a product with 1.0 is a conversion to float


def is_condition(node: Any) -> bool:
    """Return whether a Value is 0 or 1 by construction: a comparison, or comparisons joined by `&`, `|` and `^`.

    An argument of the recorded function does not count as a condition, even if it is a bool in this call, because the
    recording may be run with other numbers.
    """
    waiting = [node]
    known: set[int] = set()
    while waiting:
        term = waiting.pop()
        if isinstance(term, float):
            if term not in (0.0, 1.0):
                return False
        elif id(term) not in known:
            known.add(id(term))
            if term.op == "where":
                waiting += term.arguments[1:]
            elif term.op == "-" and len(term.arguments) == 2 and term.arguments[0] == 1.0:
                waiting.append(term.arguments[1])
            elif term.op not in _COMPARISONS:
                return False
    return True


def result_type(node: Any) -> type:
    """Return the type that the number of a Value has where a recorded function returns it: bool, int or float.

    Comparisons are bools. Indices, rounded numbers, and sums of these and of whole constants are ints.
    """
    noted = number_type_of(node)
    if noted is bool or noted is float:
        return noted
    return int if _is_whole(node, are_arguments_whole=False) else float


def is_whole(node: Any) -> bool:
    """Return whether a Value can be an index or a count: a rounded number, an index, or an argument that is an int."""
    return node.op in _ROUNDED or _is_whole(node, are_arguments_whole=True)


def _is_whole(node: Any, *, are_arguments_whole: bool) -> bool:
    """Return whether a Value is an int, or a sum of ints and whole constants.

    `are_arguments_whole` tells whether an argument that is an int counts as an int. Later calls may pass other numbers.
    """
    waiting, known = [node], {id(node)}
    while waiting:
        term = waiting.pop()
        if number_type_of(term) is int and (term.op or are_arguments_whole):
            continue
        if term.op not in _WHOLE:
            return False
        for operand in term.arguments:
            if not isinstance(operand, ValueNode):
                if not float(operand).is_integer():
                    return False
            elif id(operand) not in known:
                known.add(id(operand))
                waiting.append(operand)
    return True


def are_joined(left: Any, right: Any) -> bool:
    """Return whether `&`, `|` and `^` are logical operators for two operands.

    They are if a function is being staged and `right` is a Value or a bool. If `right` is another int, it must be 0 or
    1, and `left` must be a condition. Otherwise `RecordingError` is raised, because `&`, `|` and `^` act on the bits of
    an int.
    """
    if not modes.is_staging():
        return False
    if not isinstance(right, int) or isinstance(right, bool):
        return isinstance(right, (ValueNode, bool, numpy.bool_))
    if right not in (0, 1) or not is_condition(left):
        modes.refuse_if_staging(left, "applies &, | or ^ with an int to")
    return True


def round_and_follow(node: Any, digits: int) -> float:
    """Round the number of a Value to decimal digits. The result is a condition of the path that is being recorded.

    The first condition is the whole number that `rint` finds. It decides the result, except close to a tie. The numbers
    with this result are an interval, because rounding is monotone. Each condition follows from those before it, so that
    equal outcomes always mean equal results.
    """
    modes.note_number(node)
    try:
        scale = 10.0 ** abs(digits)
    except OverflowError:
        scale = math.inf
    whole = modes.follow_number((node * scale if digits >= 0 else node / scale).rint())
    result, half = (whole / scale, 0.5 / scale) if digits >= 0 else (whole * scale, 0.5 * scale)
    result = round(result, digits)
    if math.isfinite(result) and math.isfinite(half):
        low, high = [_last_rounded_to(result, digits, side * half, side) for side in (-1.0, 1.0)]
        if bool(low <= node) and bool(node <= high):
            is_negative_zero = result == 0.0 and not bool(1.0 / node > 0.0)
            return -0.0 if is_negative_zero else result
    return round(modes.ask_for_number(node, "rounds to digits"), digits)


def _last_rounded_to(result: float, digits: int, distance: float, side: float) -> float:
    """Return the last number in the direction `side` that is rounded to `result`, at about this distance from it."""
    bound = max(-sys.float_info.max, min(result + distance, sys.float_info.max))
    while round(bound, digits) == result:
        bound = math.nextafter(bound, side * math.inf)
    while round(bound, digits) != result:
        bound = math.nextafter(bound, -side * math.inf)
    return bound
