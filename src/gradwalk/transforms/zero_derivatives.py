"""Warnings of derivatives that are zero because a function uses an argument only to decide or to round."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from gradwalk.program.code.code import Code
from gradwalk.program.tape import Indices
from gradwalk.program.tracing.trace import Recording, display_name
from gradwalk.value.modes import AskedNumber
from gradwalk.value.source.source_line import users_line

_MANY = 20  # comparisons from which on the function seems to search


class ZeroDerivativeWarning(UserWarning):
    """Warning that a function returns a plain number, whose derivatives are 0, although it depends on the arguments.

    The function uses its arguments only in `int`, `round`, string formatting and similar operations, or only in many
    comparisons, as bisection does.
    """


def warn_of_zeros(f: Callable[..., Any], recording: Recording, value: int, inputs: Indices) -> None:
    """Warn if the result is a plain number, but numbers that the function asked for depend on an input.

    Args:
        f: The function that was differentiated.
        recording: The recording of the function.
        value: The tape index of the result.
        inputs: The tape indices of the inputs with respect to which the result was differentiated.
    """
    asked = recording.asked
    nodes: list[Any] = [x.node if isinstance(x, AskedNumber) else x for x in asked]
    code = recording.tape.program([value, *recording.indices_of(nodes, f)]).code
    are_numbers = [isinstance(x, AskedNumber) for x in asked]
    warn_of_plain_result(f, code, recording.input_flags(inputs), are_numbers)


def warn_of_plain_result(
    f: Callable[..., Any], code: Code, inputs: Sequence[bool], are_numbers: Sequence[bool]
) -> None:
    """Warn if the results are plain numbers, but numbers that the function asked for depend on an input.

    Args:
        f: The function.
        code: A program. Its outputs are the results of the function, followed by the numbers that it asked for.
        inputs: A flag for each input of the program: whether the function was differentiated with respect to it.
        are_numbers: Whether the function asked for each number itself, as in `int`, and not for a comparison only.
    """
    results, asked = code.outputs[: -len(are_numbers)], code.outputs[-len(are_numbers) :]
    if any(index < code.inputs or index >= code.first for index in results):
        return  # the result depends on arguments
    depends = code.depending(inputs)
    uses = [is_number for index, is_number in zip(asked, are_numbers, strict=True) if depends[index]]
    searches = len(uses) >= _MANY and not any(map(partial(_is_literal, code), results))
    if not (any(uses) or searches):
        return
    where = "int(), round(), string formatting or similar" if any(uses) else "comparisons"
    cure = (
        "If it rounds its result, differentiate a version that does not round"
        if any(uses)
        else "If it searches for a root, gradwalk.solvers.root_scalar gives the derivative of the root"
    )
    line = users_line()
    warnings.warn_explicit(
        f"the derivatives of {display_name(f)} are 0 because the function uses its arguments only in {where}. {cure}",
        ZeroDerivativeWarning,
        line.filename,
        line.number,
    )


def _is_literal(code: Code, index: int) -> bool:
    """Return whether an output is 0, 1 or -1, which is rather a literal of the function than the result of a search."""
    return code.inputs <= index < code.first and code.constants[index - code.inputs] in (0.0, 1.0, -1.0)
