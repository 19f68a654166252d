"""The forward pass of a loop computes what its reverse pass would compute again at a high cost."""

from __future__ import annotations

import numpy
import pytest

from gradwalk import grad, jit, loops
from gradwalk import math as gm
from gradwalk.program.code.opcodes import CALL, NAMES
from gradwalk.program.routine.lower_calls import routine


def reverse_pass(step, *more):
    """Return the reverse pass in the gradient of a loop with this step."""
    f = jit(grad(lambda x: loops.fori_loop(0, 7, step, x)))
    return f.recorded(0.5, *more).program.calls[0][0]


def names_of(program) -> list[str]:
    return [NAMES[row[0]] for row in program.code.rows]


def parts_give_the_results_of_the_whole(call) -> bool:
    """Compare the two parts with the step of the loop and the step of the reverse pass."""
    rng = numpy.random.default_rng(2)
    split, body = call.stored, call.loop.body
    inputs = rng.uniform(0.1, 1.0, call.body.inputs)
    forward = split.forward.run(inputs[: body.inputs])
    outputs, stored = numpy.split(forward, [len(body.outputs)])
    same_forward = outputs.tolist() == body.run(inputs[: body.inputs]).tolist()
    return same_forward and split.back.run([*inputs, *stored]).tolist() == call.body.run(inputs).tolist()


@pytest.mark.parametrize(
    ("step", "stored"),
    [
        (lambda i, c: c + gm.exp(-c), ["exp"]),
        (lambda i, c: gm.tanh(c) * gm.sin(c), ["tanh", "sin", "cos"]),
        (lambda i, c: c + 1.0 / (2.0 + c), ["div"]),
    ],
)
def test_functions_and_divisions_are_stored(step, stored):
    call = reverse_pass(step)
    assert parts_give_the_results_of_the_whole(call)
    assert call.stored.width >= 1
    for name in stored:
        assert name in names_of(call.stored.forward)
        assert name == "div" or name not in names_of(call.stored.back)


def test_sums_and_products_are_computed_again():
    assert reverse_pass(lambda i, c: c * c * 0.5 + c).stored is None


def test_an_inner_loop_runs_once_in_the_forward_pass():
    call = reverse_pass(lambda i, c: c * loops.while_loop(lambda s: s > 1.0, lambda s: 0.5 * s, 3.0 + c))
    assert len(call.stored.forward.calls) == 1


def test_results_of_inner_loops_are_stored():
    def step(i, c):
        return c * loops.while_loop(lambda s: s > 1.0, lambda s: 0.5 * s, 3.0 + c)

    call = reverse_pass(step)
    assert parts_give_the_results_of_the_whole(call)
    kinds = [function.kind for function, _ in call.stored.back.calls]
    assert kinds == ["loop_back"]
    assert CALL in call.stored.forward.code.instructions[::4]


def test_nothing_is_stored_beyond_the_limit():
    f = grad(lambda x: loops.fori_loop(0, 7, lambda i, c: c + gm.exp(-c), x))
    code = jit(f).recorded(0.5).program.code
    assert [list(routine(code, memory=memory).arrays.values()) for memory in (56, 55)] == [[14], [7]]
    pytest.importorskip("llvmlite")
    results = [jit(f, backend="llvm", memory=memory)(0.5) for memory in (None, 0, 55)]
    assert results == [jit(f, backend="lanes")(0.5)] * 3
