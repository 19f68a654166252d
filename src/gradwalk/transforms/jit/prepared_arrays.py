"""`PreparedArrays`: a fast path for calls of a function of large arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwalk.program.run.fast_call import MISSED, Prepared
from gradwalk.trees.fast.form import DictForm, Form, SequenceForm
from gradwalk.value.modes import refuses_nans

if TYPE_CHECKING:
    from gradwalk.transforms.jit.array_trace import ArrayTrace


class PreparedArrays(Prepared):
    """Runs a trace on arguments of one form, without computing their key.

    Args:
        takes: The form of the tuple of positional arguments.
        keywords: The form of the dict of keyword arguments, or None if there are no keyword arguments.
        numbers: How many numbers of the arguments are not in whole arrays.
        trace: A trace without captured Values.
    """

    def __init__(self, takes: Form, keywords: Form | None, numbers: int, trace: ArrayTrace) -> None:
        self._takes = SequenceForm(tuple, [takes, keywords or DictForm([], [], [])])
        self._numbers = numbers
        self._trace = trace

    @property
    def key(self) -> Any:
        """The cache key of the arguments."""
        return self._trace.key

    def put_first(self, trace: ArrayTrace) -> None:
        """Run this trace from now on, which has the same key."""
        self._trace = trace

    def result(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """See `Prepared.result`. The arguments may take another path than the trace."""
        if refuses_nans():
            return MISSED
        arrays: list[Any] = []
        numbers = self._takes.numbers((args, kwargs), self._numbers, arrays)
        if numbers is None:
            return MISSED
        trace = self._trace
        outputs = trace.program.run(numbers, arrays)
        if trace.outcomes and trace.left_with(outputs) is not None:
            return MISSED
        return trace.tree(outputs)
