"""Recordings of functions on Values, and errors for functions that cannot be recorded."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from programs import EVERY, EXTREME, OPCODES, fewer, programs

import gradwalk.math as gm
from gradwalk import Value, grad, no_grad, source_lines, zero_grad
from gradwalk.functions.reductions import sumprod
from gradwalk.graph.node import GraphError
from gradwalk.program.tracing.trace import Recording, display_name, evaluate
from gradwalk.trees.tree import Parameters
from gradwalk.value.apply import apply
from gradwalk.value.modes import depth
from gradwalk.value.node import level_of, open_inputs


def same(a: float, b: float) -> bool:
    """Return whether two numbers are equal; 0.0 and -0.0 differ, and nan equals nan."""
    return (a != a and b != b) or (a == b and math.copysign(1.0, a) == math.copysign(1.0, b))


def record(f, *args):
    """Record a function of numbers; return the recording and the indices of the results."""
    recording = Recording()
    opened = [recording.add_inputs(arg, name) for arg, name in zip(args, Parameters(f).first(len(args)), strict=True)]
    indices, _ = recording.run(f, opened, {})
    return recording, indices


def count_instructions(f, *args):
    """Count the instructions that a function records."""
    recording, indices = record(f, *args)
    return len(recording.tape.program(indices))


class TestRecording:
    @fewer(2)
    @given(programs(EXTREME, EVERY, longest=12))
    def test_recording_gives_the_same_bits(self, program):
        def f(*leaves):
            it = iter(leaves)
            call = lambda name, *operands: apply(OPCODES[name], *operands)  # noqa: E731
            return program.run(lambda _: next(it), call)[1]

        recording, indices = record(f, *program.leaves)
        assert same(recording.evaluate(indices)[0], f(*program.leaves))

    def test_inputs_are_new_values_of_the_arguments(self):
        recording = Recording()
        names = []
        tree = {"a": [1.0, numpy.array([2.0, 3.0])], "b": 4}
        opened = recording.add_inputs(tree, "x", names)
        assert names == ["x['a'][0]", "x['a'][1][0]", "x['a'][1][1]", "x['b']"]
        assert [opened["a"][0].label, opened["b"].label] == ["x['a'][0]", "x['b']"]
        assert (opened["a"][1].dtype, opened["b"].data) == (object, 4.0)
        assert recording.operands == [1.0, 2.0, 3.0, 4.0]
        assert tree == {"a": [1.0, tree["a"][1]], "b": 4}

    def test_opened_inputs_are_reused(self):
        recording = Recording()
        opened = recording.add_inputs([1.0, 2.0], "x")
        assert recording.add_inputs(opened, "x") is opened
        assert recording.add_inputs(opened[1], "x") is opened[1]
        assert recording.input_indices(opened)[0] == [0, 1]

    def test_a_value_as_argument_becomes_a_new_input(self):
        outside = Value(2.0)
        recording = Recording()
        opened = recording.add_inputs([outside, outside], "x")
        assert recording.operands == [outside, outside]
        assert opened[0] is not outside
        assert recording.input_indices(opened)[0] == [0, 1]

    def test_captured_values_become_inputs(self):
        w = Value(2.0)
        recording, indices = record(lambda x: w * x + w, 3.0)
        assert recording.operands == [3.0, w]
        root = recording.evaluate(indices)[0]
        root.backward()
        assert (root.data, w.grad) == (8.0, 4.0)

    def test_captured_intermediates_are_not_recorded_again(self):
        w = Value(2.0)
        square = w * w
        recording, _ = record(lambda x: square * x, 3.0)
        assert recording.operands == [3.0, square]

    def test_values_created_inside_are_constants(self):
        program = program_of(lambda x: x * Value(2.0), 3.0)
        assert (program.inputs, program.constants) == (1, (2.0,))

    def test_sums_of_products(self):
        assert count_instructions(lambda x, y: sumprod([x, y], [y, 2.0], 1.0), 3.0, 4.0) == 2

    def test_constant_results(self):
        recording, indices = record(lambda x: [x, 2.0, numpy.array([3, 4])], 1.0)
        assert recording.evaluate(indices).tolist() == [1.0, 2.0, 3.0, 4.0]

    def test_seeds_are_extra_inputs(self):
        recording, indices = record(lambda x: x * x, 3.0)
        [seed] = recording.add_seeds([10.0])
        gradients = recording.tape.reverse([(indices[0], seed)], [0])
        assert recording.evaluate(gradients).tolist() == [60.0]

    def test_nested_recordings_have_separate_inputs(self):
        levels = []

        def outer(x):
            levels.append((depth(), level_of(x), level_of(x * 2)))

            def inner(y):
                levels.append((depth(), level_of(y), level_of(x * y), level_of(x * 2)))
                return x * y

            recording, indices = record(inner, x)
            assert [operand is x for operand in recording.operands] == [True, True]
            return recording.evaluate(indices)[0]

        recording, indices = record(outer, 3.0)
        assert recording.evaluate(indices).tolist() == [9.0]
        assert levels == [(1, 1, 1), (2, 2, 2, 1)]
        assert depth() == 0

    def test_gradients_of_captured_values_do_not_change(self):
        w = Value(2.0)
        (w * w).backward()
        grad(lambda x: w * x)(3.0)
        assert w.grad == 4.0

    def test_evaluate_gives_numbers_or_values(self):
        recording, indices = record(lambda x: [x * x, 1.0], 3.0)
        program = recording.tape.program(indices)
        assert isinstance(evaluate(program, [3.0]), numpy.ndarray)
        square, one = evaluate(program, [Value(3.0)])
        assert (square.data, one) == (9.0, 1.0)


def program_of(f, *args):
    recording, indices = record(f, *args)
    return recording.tape.program(indices)


class TestState:
    def test_results_under_no_grad_are_constants(self):
        def f(x):
            with no_grad():
                y = x * x
            return x * y

        assert grad(f)(3.0) == 9.0

    def test_an_exception_ends_the_recording(self):
        with pytest.raises(ZeroDivisionError):
            record(lambda x: x / 0 + 1 // 0, 3.0)
        assert depth() == 0
        assert level_of(Value(1.0)) == 0
        assert Value(1.0) < 2

    def test_recording_leaves_no_marks_on_the_graph(self):
        w = Value(2.0)
        square = w * w
        record(lambda x: square * x, 3.0)
        square.backward()
        assert w.grad == 4.0
        zero_grad(square)
        assert w.grad == 0.0


class TestErrors:
    def test_a_missing_return_is_reported(self):
        def f(x): ...

        with pytest.raises(TypeError, match=r"f\(\) returned None; .* is a `return` missing\?"):
            record(f, 3.0)

    @pytest.mark.parametrize("result", [{1.0}, [1.0, {"text"}], object(), bytearray()])
    def test_results_that_are_not_numbers_are_refused(self, result):
        with pytest.raises(TypeError, match=r"the result of <lambda>\(\).*, not a number"):
            record(lambda x: result, 3.0)

    def test_generators_are_refused(self):
        def generator(x):
            yield x

        with pytest.raises(TypeError, match=r"the result of generator\(\) is a generator"):
            record(generator, 3.0)

    def test_custom_nodes_are_refused_with_operation_and_line(self):
        def f(x):
            return Value(9.0, (x,), "square") * 2

        with pytest.raises(GraphError, match=r"f\(\) uses a hand-made node with the operation 'square'") as caught:
            record(f, 3.0)
        line = f.__code__.co_firstlineno + 1
        assert f'{__file__}:{line}: return Value(9.0, (x,), "square") * 2' in str(caught.value)
        assert "gradwalk.primitive" in str(caught.value)

    def test_custom_nodes_with_a_rule_are_refused(self):
        def f(x):
            out = Value(9.0, (x,), "square")
            out._backward = lambda: None
            return out

        with pytest.raises(GraphError, match="'square'"):
            record(f, 3.0)

    def test_captured_custom_nodes_are_inputs(self):
        w = Value(3.0)
        square = Value(9.0, (w,), "square")
        assert grad(lambda x: square * x)(2.0).data == 9.0

    def test_unused_custom_nodes_are_ignored(self):
        def f(x):
            Value(9.0, (x,), "square")
            return x * x

        assert grad(f)(3.0) == 6.0

    def test_custom_leaves_are_constants(self):
        assert grad(lambda x: Value(9.0, (), "nine") * x)(3.0) == 9.0

    def test_cycles_are_refused(self):
        def f(x):
            a, b = Value(1.0, (x,), "a"), Value(1.0, (x,), "b")
            a._prev, b._prev = [b], [a]
            return a

        with pytest.raises(ValueError, match="the graph of Values has a cycle"):
            record(f, 3.0)
        assert grad(lambda x: x * x)(3.0) == 6.0

    def test_more_than_254_nested_recordings_are_refused(self):
        with pytest.raises(RecursionError, match="more than 254"):
            open_inputs([Value(1.0)], 256, 1)


class TestNames:
    def test_display_names_of_functions(self):
        assert display_name(math.sin) == "sin()"
        assert display_name(lambda x: x) == "<lambda>()"
        assert display_name(gm.sin) == "sin()"

    @pytest.mark.parametrize(
        ("f", "count", "names"),
        [
            (lambda x, y: x, 2, ["x", "y"]),
            (lambda x, y=1.0: x, 1, ["x"]),
            (lambda x, *rest: x, 3, ["x", "argument 2", "argument 3"]),
            (lambda x, *, k: x, 1, ["x"]),
            (lambda x, **k: x, 1, ["x"]),
            (max, 2, ["argument 1", "argument 2"]),
        ],
        ids=["all", "some", "rest", "keyword", "keywords", "builtin"],
    )
    def test_names_of_parameters(self, f, count, names):
        assert Parameters(f).first(count) == names


def test_values_made_under_source_lines_are_inputs():
    outside = Value(2.0)
    with source_lines():
        made = outside * 3.0
    assert made.source.filename == __file__
    assert grad(lambda x: made * x)(2.0).data == 6.0
