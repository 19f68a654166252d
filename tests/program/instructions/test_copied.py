"""Copies of instructions: each call is visited once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradwalk.arrays.kinds import ArrayKind
from gradwalk.arrays.layout_calls import Pack, Unpack
from gradwalk.program.calls.call import Call
from gradwalk.program.tape import Tape


class Counted(list[int]):
    """A list that counts how often it is iterated."""

    iterations = 0

    def __iter__(self) -> Iterator[int]:
        self.iterations += 1
        return super().__iter__()


class Many(Call):
    """A call with as many results as operands."""

    name = "many"

    def __init__(self, outputs: int) -> None:
        self.outputs = outputs


@pytest.fixture
def tape_and_outputs() -> tuple[Tape, list[int], Counted]:
    """Return a tape with a call on the elements of an array, the results of the call, and its operands."""
    kind, tape = ArrayKind(10, 1), Tape()
    first = tape.call(Unpack(kind), [tape.array_input(kind)])
    made = tape.call(Many(kind.size), list(range(first, first + kind.size)))
    call, given, base = tape.calls[-1]
    operands = Counted(given)
    tape.calls[-1] = call, operands, base
    return tape, list(range(made, made + kind.size)), operands


def test_operands_of_a_call_are_visited_once_and_not_once_for_each_result(tape_and_outputs):
    tape, outputs, operands = tape_and_outputs
    assert len(tape.program(outputs).code.outputs) == 10
    assert operands.iterations < len(operands)


def test_stages_visit_operands_of_a_call_once_and_not_once_for_each_result(tape_and_outputs):
    tape, outputs, operands = tape_and_outputs
    calls, [(before, _), (given, found)] = tape.stages(outputs)
    assert (calls, before) == ([0], [])
    assert set(given) == set(operands)
    assert found == outputs
    assert operands.iterations < len(operands)


def test_stages_of_a_call_whose_first_result_is_unused(tape_and_outputs):
    tape, outputs, _ = tape_and_outputs
    packed = tape.call(Pack(ArrayKind(9, 1)), outputs[1:])
    calls, stages = tape.stages([packed])
    assert calls == [0, 2]
    assert stages[1][1] == outputs[1:]
