"""Calls of Python functions: `Callback` for a side effect, and `PythonCall` for results without derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy

from gradwalk.base.array_types import Floats
from gradwalk.program.calls.call import Call, ConstantCall, token_program
from gradwalk.program.program import Program
from gradwalk.program.tape import NO_INDEX, Indices, Tape
from gradwalk.trees.registry import opened
from gradwalk.trees.tree import TreeDef, flatten, scalars
from gradwalk.value.value import Value


class Callback(ConstantCall):
    """A call that is made for its side effect. Its result is always -0.0.

    Args:
        name: The name of the function.
        f: A function of the operands.
    """

    has_effects = True
    remedy = "Remove it, or keep the function uncompiled"

    def __init__(self, name: str, f: Callable[[list[float]], object]) -> None:
        self.name = name
        self._f = f

    def __repr__(self) -> str:
        return f"<call of {self.name}>"

    def numbers(self, operands: Floats) -> Floats:
        """Call the function: see `Call.numbers`."""
        self._f(operands.tolist())
        return numpy.array([-0.0])

    def effectless(self, operands: int) -> Program:
        """Return a program that returns -0.0: see `Call.effectless`."""
        return token_program(operands)


class PythonCall(Call):
    """A call of a Python function without derivatives.

    Args:
        name: The name of the function.
        f: A function that maps the operands to the results.
        outputs: The number of results.
    """

    remedy = "Write it with gradwalk.math instead of a callback"

    def __init__(self, name: str, f: Callable[[list[float]], Sequence[float]], outputs: int) -> None:
        self.name = name
        self.outputs = outputs
        self._f = f

    def __repr__(self) -> str:
        return f"<call of {self.name}>"

    def numbers(self, operands: Floats) -> Floats:
        """Call the function: see `Call.numbers`."""
        return numpy.array(self._f(operands.tolist()), numpy.float64)

    def partials(self, operands: Sequence[float], position: int, result: float) -> Sequence[float]:
        """Raise `TypeError`, because the derivative is unknown."""
        raise self._refusal()

    def vjp_needed(
        self, tape: Tape, operands: Indices, base: int, adjoints: Indices, wanted: Sequence[bool]
    ) -> Indices:
        """Raise `TypeError` if a cotangent is needed."""
        if any(wanted):
            raise self._refusal()
        return [NO_INDEX] * len(operands)

    def jvp(self, tape: Tape, operands: Indices, base: int, tangents: Indices) -> Indices:
        """Raise `TypeError`, because the derivative is unknown."""
        raise self._refusal()

    def _refusal(self) -> Any:
        return TypeError(
            f"{self.name} is called by pure_callback(), which has no derivative: call it in a function of custom_jvp "
            "or custom_vjp, or pass stop_gradient(x) to it"
        )


class CallbackArguments:
    """The arguments of a Python function, in which the Values can be replaced by numbers.

    Args:
        args: The positional arguments.
        kwargs: The keyword arguments.

    Attributes:
        operands: The numbers in the leaves that hold Values.
    """

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.operands: list[Any] = []
        self._leaves: list[Any] = []
        leaves, self._treedef = opened((tuple(args), kwargs), none_is_leaf=True)
        for leaf in leaves:
            is_array = isinstance(leaf, numpy.ndarray) and leaf.dtype == object
            if isinstance(leaf, Value) or (is_array and any(isinstance(x, Value) for x in leaf.flat)):
                own, treedef = flatten(leaf, "an argument of a callback")
                self.operands += scalars(own)
                self._leaves.append(_Varying(treedef))
            else:
                self._leaves.append(leaf)

    def filled(self, numbers: Sequence[float]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with numbers instead of Values."""
        leaves = []
        start = 0
        for leaf in self._leaves:
            if isinstance(leaf, _Varying):
                end = start + leaf.treedef.size
                leaves.append(leaf.treedef.filled(list(numbers[start:end])))
                start = end
            else:
                leaves.append(leaf)
        args, kwargs = self._treedef.unflatten(leaves)
        return args, kwargs


class _Varying(NamedTuple):
    """A leaf that holds Values, without the Values."""

    treedef: TreeDef
