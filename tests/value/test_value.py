"""Tests of `Value`."""

from __future__ import annotations

import copy
import gc
import math
import operator
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy
import pytest

import gradwalk.math as gm
from gradwalk import Graph, Value, debug_nans, grad, jit, no_grad, refresh, topological_order, vmap, walk, zero_grad
from gradwalk.functions.reductions import sumprod
from gradwalk.nn import Neuron


class TestConstruction:
    @pytest.mark.parametrize(
        "number",
        [2, 2.0, True, numpy.float64(2), numpy.float32(2), numpy.int8(2), numpy.uint64(2), numpy.bool_(True), -0.0],
    )
    def test_real_numbers(self, number):
        value = Value(number)
        assert type(value.data) is float
        assert value.data == float(number)
        assert value.grad == 0.0
        assert (value.label, value.op, value.operands, value.partials) == ("", "", (), ())

    @pytest.mark.parametrize(
        "wrong",
        [
            "2",
            1j,
            None,
            [1.0],
            numpy.array(1.0),
            numpy.ones(2),
            numpy.complex128(1),
            numpy.timedelta64(1, "s"),
            Value(1.0),
            b"2",
        ],
        ids=lambda wrong: type(wrong).__name__,
    )
    def test_other_types_raise_type_error(self, wrong):
        with pytest.raises(TypeError, match=type(wrong).__name__):
            Value(wrong)
        value = Value(1.0)
        for attribute in ("data", "grad"):
            with pytest.raises(TypeError, match=type(wrong).__name__):
                setattr(value, attribute, wrong)
        assert (value.data, value.grad) == (1.0, 0.0)

    def test_label(self):
        assert Value(1.0, label="a").label == "a"
        value = Value(1.0)
        value.label = "b"
        assert value.label == "b"
        with pytest.raises(TypeError, match="label"):
            value.label = 3
        assert value.label == "b"

    def test_children_must_be_values(self):
        with pytest.raises(TypeError, match="children of a Value must be Values, got float"):
            Value(1.0, (2.0,), "f")
        with pytest.raises(TypeError, match="symbol"):
            Value(1.0, (Value(2.0),), 3)

    def test_attributes_can_be_set(self):
        value = Value(1)
        value.data = 3
        value.grad = numpy.float32(2)
        assert (value.data, value.grad) == (3.0, 2.0)
        value.data += 1
        assert value.data == 4.0


class TestStructure:
    def test_operands_are_ordered_and_repeated(self):
        a, b = Value(2.0), Value(3.0)
        assert (a - b).operands == (a, b)
        assert (b - a).operands == (b, a)
        assert (a * a).operands == (a, a)
        assert (a * b).partials == (3.0, 2.0)
        assert (a * b).op == "*"

    def test_constants_are_arguments_but_not_operands(self):
        a = Value(4.0)
        for out, arguments, partials in [
            (2 * a, (2.0, a), (2.0,)),
            (a / 2, (a, 2.0), (0.5,)),
            (2 / a, (2.0, a), (-0.125,)),
            (a**2, (a, 2.0), (8.0,)),
            (3 - a, (3.0, a), (-1.0,)),
            (gm.where(0, a, 5), (0, a, 5), (0.0,)),
        ]:
            assert out.arguments == arguments
            assert out.operands == (a,)
            assert out.partials == partials

    def test_micrograd_attribute_names(self):
        a, b = Value(2.0), Value(3.0)
        c = a * b
        assert c._prev == {a, b}
        assert {(type(x), x.data, x.op) for x in (a + 1)._prev} == {(Value, a.data, ""), (Value, 1.0, "")}
        assert {a} < (1 / a)._prev
        assert (a**2)._prev == a.relu()._prev == {a}
        assert len((2**a)._prev) == 2
        assert c._op == "*"
        assert (a**2)._op == "**2"
        assert (a**0.5)._op == "**0.5"
        assert (a**b)._op == "**"
        c.grad = 1.0
        c._backward()
        assert (a.grad, b.grad) == (3.0, 2.0)
        c._backward()
        assert (a.grad, b.grad) == (6.0, 4.0)
        a._backward()
        assert a.grad == 6.0

    def test_format_shows_the_number(self):
        assert f"{Value(2.0):.3f}" == "2.000"
        assert f"{Value(2.0)}" == "Value(data=2.0, grad=0.0)"

    def test_float_error_suggests_data(self):
        for function in (float, math.exp, numpy.float64):
            with pytest.raises(TypeError, match=r"\.data"):
                function(Value(1.0))


class TestArithmetic:
    @pytest.mark.parametrize("kind", [int, float, numpy.float64, numpy.float32, numpy.int64, Value])
    def test_operands_on_either_side(self, kind):
        a, b = Value(3.0), kind(2)
        results = [a + b, b + a, a - b, b - a, a * b, b * a, a / b, b / a, a**b, b**a]
        assert [type(out) for out in results] == [Value] * 10
        expected = [5, 5, 1, -1, 6, 6, 1.5, 2 / 3, 9, 8]
        assert [out.data for out in results] == pytest.approx(expected)

    def test_unary_and_sum(self):
        a = Value(-2.0)
        assert ((-a).data, (+a), abs(a).data) == (2.0, a, 2.0)
        assert sum([Value(1.0), Value(2.0)]).data == 3.0

    def test_in_place_operators_rebind(self):
        a = b = Value(2.0)
        a += 1
        a *= 2
        a -= 1
        a /= 5
        a **= 2
        assert a.data == 1.0
        assert b.data == 2.0
        assert a is not b

    @pytest.mark.parametrize("wrong", ["x", None, [1]])
    def test_other_types_are_refused(self, wrong):
        a = Value(1.0)
        for operation in (
            lambda: a + wrong,
            lambda: wrong - a,
            lambda: a * wrong,
            lambda: wrong / a,
            lambda: a**wrong,
            lambda: a < wrong,
            lambda: a >= wrong,
        ):
            with pytest.raises(TypeError):
                operation()

    def test_pow_with_modulus_is_refused(self):
        with pytest.raises(TypeError, match="modulus"):
            pow(Value(2.0), 2, 3)

    def test_integers_too_large_for_float_are_refused(self):
        with pytest.raises(OverflowError):
            Value(1.0) * 10**400


class TestNumPy:
    def test_matrix_times_vector_of_values(self):
        weights = numpy.array([[1.0, 2.0], [3.0, 4.0]])
        a, b = Value(5.0), Value(6.0)
        for x in (numpy.array([a, b]), [a, b]):
            out = weights @ numpy.asarray(x)
            assert [v.data for v in out] == [17.0, 39.0]
        (out[0] * out[1]).backward()
        assert a.grad == 1 * 39 + 3 * 17
        assert (weights.astype(object) @ numpy.array([a, b]))[0].data == 17.0

    def test_array_and_value_on_either_side(self):
        array, v = numpy.array([1.0, 2.0]), Value(3.0)
        for out, expected in (
            (array * v, [3, 6]),
            (v * array, [3, 6]),
            (array - v, [-2, -1]),
            (v - array, [2, 1]),
            (array**v, [1, 8]),
            (v / array, [3, 1.5]),
        ):
            assert out.dtype == object
            assert [x.data for x in out] == expected

    def test_ufuncs_on_values_and_object_arrays(self):
        v = Value(0.5)
        assert numpy.exp(v).data == math.exp(0.5)
        assert numpy.arctan2(v, 2.0).data == math.atan2(0.5, 2.0)
        assert numpy.maximum(v, 3).data == 3.0
        array = numpy.array([v, Value(1.0)])
        assert [x.data for x in numpy.sin(array)] == [math.sin(0.5), math.sin(1.0)]
        assert numpy.square(v).data == 0.25
        assert numpy.add.reduce(array).data == 1.5
        assert array.mean().data == 0.75
        assert (numpy.float64(2) * v).op == "*"
        assert list(numpy.array([0.0, 1.0]) < v) == [True, False]
        assert numpy.linalg.norm(array).data == pytest.approx(math.sqrt(1.25))

    def test_scipy_ufuncs(self):
        special = pytest.importorskip("scipy.special")
        assert special.expit(Value(0.0)).op == "sigmoid"
        assert special.erf(Value(0.3)).op == "erf"

    def test_unsupported_functions_are_refused(self):
        with pytest.raises(TypeError):
            numpy.spacing(Value(8.0))

    def test_arrays_of_values_are_object_arrays(self):
        assert numpy.array([Value(1.0), Value(2.0)]).dtype == object
        with pytest.raises(TypeError):
            numpy.array([Value(1.0)], dtype=float)


class TestOrderAndHash:
    @pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
    @pytest.mark.parametrize(
        "number", [0.5, numpy.float64(0.5), numpy.float32(0.5), numpy.int64(1), numpy.bool_(True)], ids=repr
    )
    def test_numpy_scalars_compare_like_floats(self, name, number):
        compare = getattr(operator, name)

        def f(x):
            return gm.where(compare(number, x), x, 2.0 * x) + gm.where(compare(x, number), 10.0, 20.0)

        for x in (0.25, 0.5, 1.0, 3.0):
            left, right = compare(float(number), x), compare(x, float(number))
            expected = (x if left else 2 * x) + (10.0 if right else 20.0)
            assert jit(f)(x) == vmap(f)(numpy.array([x]))[0] == expected
            assert jit(grad(f))(x) == grad(f)(x) == (1.0 if left else 2.0)
            if name not in ("eq", "ne"):
                assert compare(number, Value(x)) == left
                assert compare(Value(x), number) == right

    def test_order_compares_numbers(self):
        a, b = Value(1.0), Value(2.0)
        assert [a < b, a <= b, b > a, b >= a, a > b, a >= b] == [True] * 4 + [False] * 2
        assert [a < 1.5, a <= numpy.float64(1), a > 0, a >= 2] == [True, True, True, False]
        assert [1.5 > a, 0 < a, numpy.float64(1) >= a] == [True] * 3  # noqa: SIM300  deliberate
        assert not Value(math.nan) < 1
        assert (numpy.float64(1.5) > a) is numpy.bool_(True)  # NumPy scalars return numpy.bool_
        assert sorted([b, a]) == [a, b]
        assert max(a, b) is b

    def test_equality_and_hash_of_two_values_are_identity(self):
        a, b = Value(1.0), Value(1.0)
        assert a != b
        assert a == a
        assert a == 1.0
        assert len({a, b, a}) == 2
        assert {a: "a", b: "b"}[b] == "b"


class TestBackward:
    def test_every_node_gets_its_derivative(self):
        a, b, c, f = (Value(x) for x in (2.0, -3.0, 10.0, -2.0))
        e = a * b
        d = e + c
        loss = d * f
        loss.backward()
        grads = [v.grad for v in (loss, d, f, e, c, a, b)]
        assert grads == [1.0, -2.0, 4.0, -2.0, -2.0, 6.0, -4.0]
        assert loss.data == -8.0

    def test_finite_difference_of_every_node(self):
        expected = {"L": 1, "d": -2, "f": 4, "e": -2, "c": -2, "a": 6, "b": -4}
        h = 1e-4

        def computed(nudged: str) -> float:
            a = 2.0 + h * (nudged == "a")
            b = -3.0 + h * (nudged == "b")
            c = 10.0 + h * (nudged == "c")
            f = -2.0 + h * (nudged == "f")
            e = a * b + h * (nudged == "e")
            d = e + c + h * (nudged == "d")
            return d * f + h * (nudged == "L")

        for name, gradient in expected.items():
            assert (computed(name) - computed("")) / h == pytest.approx(gradient, abs=1e-10)

    @pytest.mark.parametrize(
        ("build", "data", "grads"),
        [
            (lambda a: a + a, 6.0, [2.0]),
            (lambda a: a * a, 9.0, [6.0]),
            (lambda a, b: (a * b) * (a + b), -6.0, [-3.0, -8.0]),
            (lambda a, b, c: (a + b) * c, -10.0, [10.0, 10.0, -1.0]),
            (lambda a: (a + 1) * (a * 3), 18.0, [15.0]),
            (lambda a, b: (a * b + a) ** 2, 64.0, [64.0, 32.0]),
        ],
        ids=["a+a", "a*a", "(ab)(a+b)", "(a+b)c", "diamond", "(ab+a)**2"],
    )
    def test_small_graphs(self, build, data, grads):
        starts = {6.0: [3.0], 9.0: [3.0], -6.0: [-2.0, 3.0], -10.0: [2.0, -3.0, 10.0], 18.0: [2.0], 64.0: [2.0, 3.0]}
        leaves = [Value(x) for x in starts[data]]
        out = build(*leaves)
        out.backward()
        assert out.data == data
        assert [leaf.grad for leaf in leaves] == grads

    def test_backward_of_one_node(self):
        a, b = Value(2.0), Value(3.0)
        c = a * b
        d = c + a
        e = d**2
        c.grad = 1.0
        c._backward()
        assert (a.grad, b.grad) == (3.0, 2.0)
        zero_grad(e)
        e.backward()
        assert (d.grad, c.grad, a.grad, b.grad) == (16.0, 16.0, 64.0, 32.0)

    def test_second_call_adds_the_same_gradients(self):
        a, b = Value(0.3), Value(-0.7)
        c = a * b
        root = (c.tanh() + a * c).exp()
        root.backward()
        once = [v.grad for v in topological_order(root)]
        root.backward()
        assert [v.grad for v in topological_order(root)] == [2 * g for g in once]
        zero_grad(root)
        assert [v.grad for v in topological_order(root)] == [0.0] * len(once)
        root.backward()
        assert [v.grad for v in topological_order(root)] == once

    def test_gradients_of_several_roots_add_up(self):
        a = Value(3.0)
        b = a * a
        b.backward()
        (b * 2).backward()
        assert a.grad == 6.0 + 12.0
        assert b.grad == 1.0 + 2.0

    def test_earlier_gradients_are_not_propagated(self):
        a = Value(3.0)
        b = a * a
        b.grad = 100.0
        (b + 1).backward()
        assert (a.grad, b.grad) == (6.0, 101.0)

    def test_leaf(self):
        a = Value(3.0)
        a.backward()
        assert a.grad == 1.0


class TestTopologicalOrder:
    def neuron(self):
        x1, x2, w1, w2 = (Value(x, label=n) for n, x in zip(("x1", "x2", "w1", "w2"), (2, 0, -3, 1), strict=True))
        b = Value(6.8813735870195432, label="b")
        x1w1, x2w2 = x1 * w1, x2 * w2
        x1w1.label, x2w2.label = "x1*w1", "x2*w2"
        total = x1w1 + x2w2
        total.label = "x1*w1 + x2*w2"
        n = total + b
        n.label = "n"
        o = n.tanh()
        o.label = "o"
        return o

    def test_operands_in_label_order(self):
        order = topological_order(self.neuron(), key=lambda v: v.label)
        expected = "b, w1, x1, x1*w1, w2, x2, x2*w2, x1*w1 + x2*w2, n, o"
        assert ", ".join(v.label for v in order) == expected

    def test_operands_come_first_from_left_to_right(self):
        order = topological_order(self.neuron())
        assert [v.label for v in order] == ["x1", "w1", "x1*w1", "x2", "w2", "x2*w2", "x1*w1 + x2*w2", "b", "n", "o"]

    def test_all_gradients_of_a_neuron(self):
        o = self.neuron()
        o.backward()
        found = {v.label: v.grad for v in topological_order(o)}
        expected = {"o": 1, "n": 0.5, "b": 0.5, "x1*w1 + x2*w2": 0.5, "x1*w1": 0.5, "x2*w2": 0.5}
        expected |= {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0}
        assert found == pytest.approx(expected, abs=1e-12)
        assert o.operands[0].data == pytest.approx(0.8813735870195432, abs=1e-12)
        assert o.data == pytest.approx(0.7071067811865476, abs=1e-12)

    def test_order_is_the_same_in_every_process(self):
        program = (
            "from gradwalk import Value, topological_order\n"
            "a, b, c = (Value(x) for x in (1., 2., 3.))\n"
            "d = (a*b + c*a).tanh() * (b - c) * a\n"
            "print([(v.op, v.data) for v in topological_order(d)])"
        )
        outputs = {
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
            for _ in range(3)
        }
        assert len(outputs) == 1

    @pytest.mark.parametrize("function", [topological_order, zero_grad, refresh])
    def test_roots_must_be_values(self, function):
        for wrong in (None, 3.0, [Value(1.0)]):
            with pytest.raises(TypeError, match=type(wrong).__name__):
                function(wrong)


class TestHandMadeNodes:
    @staticmethod
    def cube(x):
        out = Value(x.data**3, (x,), "cube")

        def backward():
            x.grad += 3 * x.data**2 * out.grad

        out._backward = backward
        return out

    def test_mix_with_native_nodes(self):
        a = Value(2.0)
        b = self.cube(a * 3) + a
        b.backward()
        assert b.data == 218.0
        assert a.grad == 3 * 36 * 3 + 1
        b.backward()
        assert a.grad == 2 * (3 * 36 * 3 + 1)

    def test_structure(self):
        a = Value(2.0)
        out = self.cube(a)
        assert (out.op, out._op, out.operands, out._prev) == ("cube", "cube", (a,), {a})
        assert out.partials == (12.0,)
        assert (out.grad, a.grad) == (0.0, 0.0)

    def test_partials_of_a_repeated_operand(self):
        a, b = Value(2.0), Value(5.0)
        out = Value(a.data * b.data * a.data, (a, b, a), "aba")

        def backward():
            a.grad += 2 * a.data * b.data * out.grad
            b.grad += a.data**2 * out.grad

        out._backward = backward
        assert out.partials == (20.0, 4.0, 0.0)

    def test_node_without_a_rule_passes_no_gradient(self):
        a = Value(2.0)
        out = Value(5.0, [a], "f")
        out.backward()
        assert (out.grad, a.grad, out.partials) == (1.0, 0.0, (0.0,))

    def test_rule_of_a_native_node_can_be_replaced(self):
        a, b = Value(2.0), Value(3.0)
        c = a * b

        def backward():
            a.grad += 100 * c.grad

        c._backward = backward
        (c + 0).backward()
        assert (a.grad, b.grad) == (100.0, 0.0)
        assert c.partials == (100.0, 0.0)

    def test_micrograd_attributes_can_be_set(self):
        a = Value(2.0)
        out = Value(4.0)
        out._prev = {a}
        out._op = "double"
        out._backward = lambda: setattr(a, "grad", a.grad + 2 * out.grad)
        (out * 3).backward()
        assert (a.grad, out.op) == (6.0, "double")

    def test_native_nodes_cannot_be_edited(self):
        c = Value(2.0) * Value(3.0)
        for attribute, value in (("_prev", ()), ("_op", "f")):
            with pytest.raises(ValueError, match="native node"):
                setattr(c, attribute, value)
        with pytest.raises(TypeError, match="function"):
            c._backward = 3
        assert len(c.operands) == 2

    def test_cycles_are_reported(self):
        a = Value(1.0, label="a")
        b = Value(2.0, (a,), "f", label="b")
        c = b * 2
        c.label = "c"
        a._prev = {c}
        for use in (c.backward, lambda: topological_order(b), lambda: zero_grad(a), lambda: refresh(c)):
            with pytest.raises(ValueError, match="cycle"):
                use()
        with pytest.raises(ValueError, match="a -> b -> c -> a"):
            c.backward()
        a._prev = ()
        c.backward()
        assert c.grad == 1.0

    def test_failed_rule_restores_gradients(self):
        a = Value(2.0)
        bad = Value(1.0, (a * 2,), "bad")

        def backward():
            raise KeyError("mine")

        bad._backward = backward
        root = bad * 3 + a
        a.grad, bad.grad = 7.0, 8.0
        with pytest.raises(KeyError, match="mine"):
            root.backward()
        assert (a.grad, bad.grad, root.grad) == (7.0, 8.0, 0.0)

    def test_backward_inside_a_rule(self):
        a = Value(2.0)
        inner = Value(3.0)
        out = Value(1.0, (a,), "nested")

        def backward():
            (inner * inner).backward()
            a.grad += out.grad

        out._backward = backward
        (out * 2).backward()
        assert (a.grad, inner.grad) == (2.0, 6.0)

    def test_backward_on_the_same_nodes_in_a_rule_is_refused(self):
        a = Value(2.0)
        out = Value(1.0, (a,), "nested")
        out._backward = (a * a).backward
        with pytest.raises(RuntimeError, match="a _backward function calls"):
            out.backward()
        assert a.grad == 0.0

    def test_rules_create_no_reference_cycles(self):
        class Marked(Value):
            pass

        def doubled(x):
            out = Marked(2 * x.data, (x,), "double")

            def backward():
                x.grad += 2 * out.grad

            out._backward = backward
            return out

        gc.disable()
        try:
            a = Value(2.0)
            b = doubled(a)
            gone = weakref.ref(b)
            b.backward()
            assert a.grad == 2.0
            del b
            assert gone() is None
        finally:
            gc.enable()

    def test_subclasses(self):
        class Named(Value):
            def __init__(self, data, name):
                super().__init__(data, label=name)
                self.extra = [name]

        a = Named(2.0, "a")
        b = a * 3 + a
        b.backward()
        assert (a.grad, a.label, a.extra) == (4.0, "a", ["a"])
        for twin in (copy.copy(a), copy.deepcopy(a)):
            assert type(twin) is Named
            assert (twin.data, twin.label, twin.extra) == (2.0, "a", ["a"])

    def test_rules_can_be_wrapped(self):
        for node in ((a := Value(3.0)) * a, self.cube(a)):
            seen = []
            rule = node._backward

            def hook(rule=rule, seen=seen):
                seen.append(1)
                rule()

            node._backward = hook
            a.grad = 0.0
            node.backward()
            assert seen == [1]
            assert a.grad == (6.0 if node.op == "*" else 27.0)

    def test_custom_attributes(self):
        a, b = Value(2.0), Value(3.0)
        a.momentum = 0.5
        a.momentum += 1
        assert a.momentum == 1.5
        assert not hasattr(b, "momentum")
        with pytest.raises(AttributeError, match="momentum"):
            b.momentum  # noqa: B018
        assert (copy.copy(a).momentum, pickle.loads(pickle.dumps(a * b)).operands[0].momentum) == (1.5, 1.5)
        del a.momentum
        assert not hasattr(a, "momentum")
        with pytest.raises(AttributeError):
            a.op = "x"

    @pytest.mark.parametrize("as_derivatives", [tuple, list, numpy.array])
    def test_local_gradients_as_in_microgpt(self, as_derivatives):
        a, b = Value(2.0), Value(3.0)
        given = list if as_derivatives is list else tuple
        c = Value(6.0, given((a, b)), as_derivatives((3.0, 2)))
        d = Value(36.0, given((c, c)), as_derivatives((c.data, c.data)))
        d.backward()
        assert (a.grad, b.grad, c.grad) == (36.0, 24.0, 12.0)
        assert (c._children, c._local_grads, c.partials, c.op) == ((a, b), (3.0, 2.0), (3.0, 2.0), "")
        assert ((a * b)._children, (a * b)._local_grads, a._children, a._local_grads) == ((a, b), (3.0, 2.0), (), ())
        for twin in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
            zero_grad(twin)
            twin.backward()
            assert [v.grad for v in topological_order(twin)] == [v.grad for v in topological_order(d)]
        graph = Graph.record(d)
        assert Graph.from_json(graph.to_json()).partials.tolist() == [3.0, 2.0, 6.0, 6.0]
        assert walk(d).gradients["c"] == 12.0
        with no_grad():
            assert Value(6.0, given((a,)), as_derivatives((3.0,))).operands == ()
        with pytest.raises(ValueError, match="a hand-made node"):
            grad(lambda x: Value(x.data, given((x,)), as_derivatives((1.0,))))(2.0)
        c._op = "product"
        assert (c.op, c.partials) == ("product", (3.0, 2.0))

    @pytest.mark.parametrize(
        ("children", "derivatives", "error", "text"),
        [
            (1, (), ValueError, "got 1 children and 0 derivatives"),
            (2, (1.0,), ValueError, "got 2 children and 1 derivatives"),
            (1, [1.0, 2.0], ValueError, "got 1 children and 2 derivatives"),
            (1, ("1",), TypeError, "a derivative must be a real number"),
            (1, (Value(1.0),), TypeError, "use its .data"),
            (1, 1.0, TypeError, "the symbol of its operation, or a tuple, list or array .*, got float"),
            (1, {1.0}, TypeError, "one derivative for each child, in order, got set"),
            (1, None, TypeError, ", got NoneType"),
            (1, numpy.float64(1.0), TypeError, ", got float64"),
            (1, numpy.array(1.0), TypeError, ", got ndarray"),
            (1, numpy.ones((1, 1)), TypeError, "a derivative must be a real number"),
            (2, numpy.ones(3), ValueError, "got 2 children and 3 derivatives"),
        ],
    )
    def test_invalid_local_gradients(self, children, derivatives, error, text):
        with pytest.raises(error, match=text):
            Value(1.0, tuple(Value(2.0) for _ in range(children)), derivatives)

    def test_class_and_node_attributes_work_as_in_python(self, monkeypatch):
        class Ordinary:
            pass

        for cls, a, b in ((Ordinary, Ordinary(), Ordinary()), (Value, Value(1.0), Value(2.0))):
            monkeypatch.setattr(cls, "color", "gray", raising=False)
            assert (a.color, b.color) == ("gray", "gray")
            a.color = "red"
            assert (a.color, b.color, cls.color) == ("red", "gray", "gray")
            cls.color = "blue"
            assert (a.color, b.color) == ("red", "blue")
            del a.color
            assert a.color == "blue"
            with pytest.raises(AttributeError):
                del a.color
            a.shape = "round"
            monkeypatch.setattr(cls, "shape", "square", raising=False)
            assert (a.shape, b.shape) == ("round", "square")
            monkeypatch.setattr(cls, "twice", lambda self: 2, raising=False)
            assert a.twice() == 2
            a.twice = lambda: 3
            assert (a.twice(), b.twice()) == (3, 2)
            monkeypatch.setattr(cls, "size", property(lambda self: 5), raising=False)
            with pytest.raises(AttributeError, match="setter"):
                a.size = 6
            assert a.size == 5
            a.weight = 7
            monkeypatch.setattr(cls, "weight", property(lambda self: 8), raising=False)
            assert (a.weight, getattr(b, "missing", None)) == (8, None)
            assert copy.copy(a).shape == copy.deepcopy(a).shape == "round"

    def test_attributes_of_subclasses(self):
        class Sub(Value):
            unit = "m"

        a, b = Sub(1.0), Sub(2.0)
        a.unit, a.note = "s", "a"
        assert (a.unit, b.unit, Sub.unit, a.note, (a * b).data) == ("s", "m", "m", "a", 2.0)

    @pytest.mark.parametrize("number", [3, 3.0, numpy.float64(3.0), numpy.int64(3), numpy.float32(3.0)], ids=repr)
    def test_subclass_operators_with_numpy_scalars(self, number):
        """Classes like micrograd's define all operators themselves, and labels are often NumPy scalars."""

        class Own(Value):
            def __mul__(self, other):
                return Own(self.data * (other.data if isinstance(other, Value) else other), (self,), "mine")

            __rmul__ = __mul__

            def __rsub__(self, other):
                return Own(other - self.data, (self,), "mine")

        class Plain(Value):
            pass

        a, b = Own(2.0), Plain(2.0)
        assert [(type(out), out.data, out.op) for out in (a * number, number * a)] == [(Own, 6.0, "mine")] * 2
        assert (type(number - a), (number - a).data, (number - a).op) == (Own, 1.0, "mine")
        assert (type(number + a), (number + a).op, type(number * b), (number * b).op) == (Value, "+", Value, "*")
        out = (number - b) / (number * b) + number**b + numpy.tanh(b)
        out.backward()
        slope = -1 / 6 - 1 / 12 + 9 * numpy.log(3) + 1 - numpy.tanh(2.0) ** 2
        assert b.grad == pytest.approx(slope, rel=1e-12)

    def test_failed_construction_changes_nothing(self):
        b = Value(2.0) * 3
        with pytest.raises(TypeError):
            b.__init__(1.0, (3,), "x")
        assert (b.data, b.op) == (6.0, "*")

    def test_label_from_a_str_subclass(self):
        assert Value(1.0, label=numpy.str_("a")).label == "a"
        assert Value(1.0, (), numpy.str_("f")).op == "f"

    def test_hand_made_nodes_under_settings(self):
        a = Value(2.0)
        with no_grad():
            out = self.cube(a)
        assert out.operands == ()
        with pytest.raises(RuntimeError, match="no_grad"):
            out.backward()
        with debug_nans(), pytest.raises(FloatingPointError, match=r"bad\(=2\) gave nan|bad\(2\) gave nan"):
            Value(math.nan, (a,), "bad")

    def test_methods_can_be_added_to_the_class(self):
        Value.cubed = lambda self: self * self * self
        try:
            a = Value(2.0)
            a.cubed().backward()
            assert a.grad == 12.0
        finally:
            del Value.cubed


class TestSettings:
    def test_no_grad(self):
        a = Value(2.0)
        with no_grad():
            b = a * a + 1
            c = gm.where(b, a, b)
            d = sumprod([a], [b])
        for out in (b, c, d):
            assert out.operands == ()
            with pytest.raises(RuntimeError, match="no_grad"):
                out.backward()
        assert (b.data, c.data, d.data) == (5.0, 2.0, 10.0)
        assert (a * a).operands == (a, a)
        (a * b).backward()
        assert a.grad == 5.0

    def test_backward_inside_no_grad(self):
        a = Value(2.0)
        connected = a * a
        with no_grad():
            connected.backward()
            with pytest.raises(RuntimeError, match="needs a graph"):
                Value(1.0).backward()
        assert a.grad == 4.0

    def test_no_grad_ends_and_is_per_thread(self):
        a = Value(2.0)
        with pytest.raises(KeyError), no_grad():
            raise KeyError
        assert (a * a).operands == (a, a)
        seen = []
        with no_grad():
            thread = threading.Thread(target=lambda: seen.append((a * a).operands))
            thread.start()
            thread.join()
        assert seen == [(a, a)]

    def test_no_grad_as_a_decorator(self):
        @no_grad()
        def f(x):
            return x * x

        assert f(Value(2.0)).operands == ()

    def test_detach(self):
        a = Value(2.0)
        b = a * a
        c = b.detach()
        assert (c.data, c.operands, c.grad) == (4.0, (), 0.0)
        (c * a).backward()
        assert (a.grad, b.grad, c.grad) == (4.0, 0.0, 2.0)
        with pytest.raises(RuntimeError, match="detach"):
            c.backward()


class TestDebugNans:
    def test_forward(self):
        with debug_nans():
            a = Value(0.0, label="a")
            with pytest.raises(FloatingPointError, match=r"log\(a=0\) gave -inf, at .*test_value.py:\d+: .*a.log\(\)"):
                a.log()
            with pytest.raises(FloatingPointError, match=r"div\(1, a=0\) gave inf"):
                1 / a
            with pytest.raises(FloatingPointError, match=r"where\(1, a=0, inf\)|where\(0, a=0, inf\) gave inf"):
                gm.where(0, a, math.inf)
            with pytest.raises(FloatingPointError, match="sumprod"):
                sumprod([a], [math.inf])
        assert a.log().data == -math.inf

    def test_backward(self):
        with debug_nans():
            a = Value(0.0, label="a")
            root = a.sqrt() * 2
            with pytest.raises(FloatingPointError, match=r"label='a'.* became inf when sqrt\(a=0\).*a.sqrt\(\)"):
                root.backward()
            assert (a.grad, root.grad) == (0.0, 0.0)

    def test_line_is_unknown_outside_debug_nans(self):
        a = Value(0.0)
        root = a.sqrt()
        with debug_nans(), pytest.raises(FloatingPointError, match="line is not known"):
            root.backward()

    def test_finite_numbers_pass(self):
        with debug_nans():
            a = Value(2.0)
            b = (a * a).tanh()
            b.backward()
        assert b.source is not None
        assert b.source.filename == __file__
        assert (a * a).source is None

    def test_line_of_a_network_call(self):
        with debug_nans():
            out = Neuron(2)([1.0, 2.0])
        assert out.source.filename == __file__


class TestNumbers:
    def test_ieee(self):
        zero, one = Value(0.0), Value(1.0)
        assert zero.log().data == -math.inf
        assert (one / zero).data == math.inf
        assert (-one / zero).data == -math.inf
        assert math.isnan((zero / zero).data)
        assert Value(1000.0).exp().data == math.inf
        assert math.isnan(Value(-1.0).log().data)
        assert math.isnan(Value(-1.0).sqrt().data)
        assert Value(1000.0).tanh().data == 1.0
        assert (Value(1e308) * 10).data == math.inf
        assert (Value(10.0) ** 400).data == math.inf
        assert math.isnan((Value(-8.0) ** (1 / 3)).data)
        assert gm.log(0) == -math.inf
        assert gm.pow(0, -1) == math.inf

    def test_gradients_at_kinks(self):
        for function, expected in ((Value.relu, 0.0), (Value.abs, 0.0)):
            for number in (0.0, -0.0):
                x = Value(number)
                function(x).backward()
                assert x.grad == expected
        for function in (gm.maximum, gm.minimum):
            x, y = Value(2.0), Value(2.0)
            function(x, y).backward()
            assert (x.grad, y.grad) == (0.5, 0.5)
            z = Value(1.0)
            function(z, z).backward()
            assert z.grad == 1.0

    def test_conditions_get_zero_gradient(self):
        x = Value(0.0)
        condition = x.sqrt()
        root = gm.where(condition, x, x + 1)
        root.backward()
        assert (x.grad, condition.grad) == (1.0, 0.0)
        assert condition in topological_order(root)

    def test_unselected_operand_gets_zero_instead_of_nan(self):
        x = Value(-1.0)
        gm.maximum(x, 0).sqrt().backward()
        assert x.grad == 0.0

    def test_power_at_zero(self):
        x = Value(0.0)
        (x**2 + x**1 + x**0).backward()
        assert x.grad == 1.0


class TestSumprod:
    def test_same_result_as_a_loop(self):
        p, q, start = [Value(0.1 * i) for i in range(7)], [Value(0.3 * i - 1) for i in range(7)], Value(0.7)
        out = sumprod(p, q, start)
        loop = start
        for x, y in zip(p, q, strict=True):
            loop = loop + x * y
        assert out.data == loop.data
        out.backward()
        grads = [v.grad for v in (*p, *q, start)]
        zero_grad(out)
        loop.backward()
        assert grads == [v.grad for v in (*p, *q, start)]
        assert (out.op, out.operands) == ("sumprod", (start, *p, *q))

    def test_mixed_with_numbers(self):
        a = Value(2.0)
        out = sumprod([a, 3, numpy.float64(1)], (10.0, a, True))
        out.backward()
        assert (out.data, a.grad) == (27.0, 13.0)
        assert sumprod([1, 2], [3, 4]) == 11.0
        assert type(sumprod([1, 2], [3, 4])) is float
        assert sumprod([], []) == 0.0
        assert sumprod(iter([a]), (x for x in [5])).data == 10.0
        assert sumprod(numpy.array([a, a]), numpy.array([1.0, 2.0])).data == 6.0

    def test_errors(self):
        class Liar(list):
            def __len__(self):
                return 1

        with pytest.raises(ValueError, match="3 and 1"):
            sumprod(Liar([1, 2, 3]), [Value(1.0)])
        with pytest.raises(ValueError, match="3 and 1"):
            sumprod([1, 2, 3], [Value(1.0)])
        with pytest.raises(TypeError, match="str"):
            sumprod([Value(1.0)], ["2"])
        with pytest.raises(TypeError, match="list"):
            sumprod([Value(1.0)], [1], [2])

    def test_refresh(self):
        a, b = Value(2.0), Value(3.0)
        out = sumprod([a, 5], [b, b], 1)
        a.data = 4.0
        refresh(out)
        assert out.data == 1 + 4 * 3 + 5 * 3
        out.backward()
        assert (a.grad, b.grad) == (3.0, 9.0)


class TestRefresh:
    def test_numbers_and_partials_follow_the_leaves(self):
        def build(a, b):
            return gm.where(1, (a * b + 2 / a).tanh() ** b, a) + gm.sumprod([a, b], [b, a], a)

        a, b = Value(0.5), Value(2.0)
        root = build(a, b)
        root.backward()
        a.data, b.data = 0.3, 1.5
        grads = [v.grad for v in topological_order(root)]
        refresh(root)
        assert [v.grad for v in topological_order(root)] == grads
        zero_grad(root)
        root.backward()
        a2, b2 = Value(0.3), Value(1.5)
        fresh = build(a2, b2)
        fresh.backward()
        assert root.data == fresh.data
        assert (a.grad, b.grad) == (a2.grad, b2.grad)

    def test_hand_made_nodes_are_refused(self):
        a = Value(2.0)
        b = a * 2
        root = TestHandMadeNodes.cube(b) + b
        a.data = 5.0
        with pytest.raises(ValueError, match=r"the hand-made node .*cube"):
            refresh(root)
        assert b.data == 4.0
        with pytest.raises(
            ValueError, match=r"\(operation ''\): it was created with its number and its local derivatives"
        ):
            refresh(Value(4.0, (b,), (1.0,)))


class TestCopies:
    def graph(self):
        a, b = Value(0.5, label="a"), Value(2.0)
        c = a * b + 3
        return gm.where(1, c.tanh() * a, b) + sumprod([a, 2], [c, b], 1.5), a, c

    def test_copy_shares_operands(self):
        root, a, _ = self.graph()
        twin = copy.copy(root)
        assert twin is not root
        assert twin.operands == root.operands
        assert (twin.data, twin.op) == (root.data, root.op)
        twin.backward()
        assert a.grad != 0.0
        copied = copy.copy(a)
        assert (copied.label, copied.grad) == ("a", a.grad)

    @pytest.mark.parametrize("way", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
    def test_deep_copies(self, way):
        root, a, c = self.graph()
        root.backward()
        root2, a2, c2 = way([root, a, c])
        assert a2.label == "a"
        order, order2 = topological_order(root), topological_order(root2)
        assert {a2, c2} <= set(order2)
        assert not set(order) & set(order2)
        for v, v2 in zip(order, order2, strict=True):
            assert (v.data, v.grad, v.op, v.label, v.partials) == (v2.data, v2.grad, v2.op, v2.label, v2.partials)
        zero_grad(root2)
        root2.backward()
        assert [v.grad for v in order] == [v.grad for v in order2]
        a2.data = 0.1
        refresh(root2)
        assert root.data != root2.data

    def test_deep_copy_of_hand_made_nodes_uses_the_copy(self):
        a = Value(2.0)
        root = TestHandMadeNodes.cube(a) * 2
        root2 = copy.deepcopy(root)
        root2.backward()
        leaf = topological_order(root2)[0]
        assert (a.grad, leaf.grad) == (0.0, 24.0)

    @pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
    def test_copies_keep_custom_rules(self, way):
        def rule():
            rule.calls += 1

        rule.calls = 0
        a = Value(2.0)
        for node in (Value(1.0), a * 3, a * a, a.tanh(), gm.where(1, a, 2)):
            node.label = "labels must not hide rules"
            node._backward = rule
            twin = way(node)
            assert len(twin.operands) == len(node.operands)
            twin.backward()
        assert rule.calls == 5
        assert a.grad == 0.0

    def test_deep_copy_of_rules_with_other_references(self):
        a, b = Value(2.0), Value(3.0)

        def summed():
            children = [a, b]
            out = Value(5.0, children, "sum")

            def backward():
                for child in children:
                    child.grad += out.grad

            out._backward = backward
            return out

        def by_default():
            out = Value(5.0, (a, b), "sum")

            def backward(children=(a, b), out=out):
                for child in children:
                    child.grad += out.grad

            out._backward = backward
            return out

        for make in (summed, by_default):
            twin = copy.deepcopy(make())
            twin.backward()
            assert [x.grad for x in twin.operands] == [1.0, 1.0]
            assert (a.grad, b.grad) == (0.0, 0.0)
            make().backward()
            assert (a.grad, b.grad) == (1.0, 1.0)
            a.grad = b.grad = 0.0

    def test_deep_copy_of_rules_with_globals_is_refused(self):
        names = {"a": Value(2.0), "Value": Value}
        exec("out = Value(4.0, (a,), 'double')\ndef f(): a.grad += 2 * out.grad\nout._backward = f", names)
        with pytest.raises(TypeError, match="global name 'a'"):
            copy.deepcopy(names["out"])

    def test_hand_made_nodes_cannot_be_pickled(self):
        with pytest.raises(TypeError, match=r"cannot pickle the hand-made node .*cube"):
            pickle.dumps(TestHandMadeNodes.cube(Value(2.0)) + 1)

    def test_pickled_detached_value_stays_detached(self):
        d = pickle.loads(pickle.dumps((Value(2.0) * 2).detach()))
        with pytest.raises(RuntimeError, match="detach"):
            d.backward()

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_every_pickle_protocol(self, protocol):
        root, _, _ = self.graph()
        assert pickle.loads(pickle.dumps(root, protocol)).data == root.data

    def test_pickles_of_subclasses_keep_their_attributes(self):
        a = Tagged(2.0)
        a.tag = "mine"
        b = pickle.loads(pickle.dumps(a * 3)).operands[0]
        assert (type(b), b.tag) == (Tagged, "mine")


class Tagged(Value):
    """A subclass defined at module level, so it can be pickled."""


def run_together(threads: list[threading.Thread]) -> None:
    """Run threads that switch as often as Python allows."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


class TestThreads:
    def test_two_threads_call_one_rule(self):
        a = Value(2.0)
        out = TestHandMadeNodes.cube(a)
        out.grad = 1.0
        errors = []

        def work():
            try:
                for _ in range(300):
                    out._backward()
            except NameError as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        run_together(threads)
        assert errors == []
        assert a.grad == 900 * 12.0

    def test_separate_graphs_are_independent(self):
        wrong = []

        def work(seed):
            for i in range(300):
                a, b = Value(seed + i), Value(2.0)
                c = TestHandMadeNodes.cube(a) * b + a
                c.backward()
                if a.grad != 6 * (seed + i) ** 2 + 1:
                    wrong.append((seed, i, a.grad))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        run_together(threads)
        assert wrong == []

    def test_processes_forked_during_a_sweep_can_differentiate(self):
        program = """
            import os, threading, warnings
            from gradwalk import Value
            warnings.simplefilter("ignore")
            done = threading.Event()

            def work():
                a = Value(2.0)
                out = Value(4.0, (a,), "by hand")
                out._backward = lambda: sum(range(1000))
                while not done.is_set():
                    out.backward()

            thread = threading.Thread(target=work)
            thread.start()
            for _ in range(20):
                child = os.fork()
                if child == 0:
                    a = Value(3.0)
                    (a * a).backward()
                    os._exit(0 if a.grad == 6.0 else 1)
                assert os.waitpid(child, 0)[1] == 0
            done.set()
            thread.join()
            print("done")
        """
        command = [sys.executable, "-c", textwrap.dedent(program)]
        if hasattr(os, "fork"):
            result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert result.stdout == "done\n", result.stderr

    def test_two_threads_on_one_graph_add_up(self):
        a = Value(2.0)
        root = a
        for _ in range(50):
            root = TestHandMadeNodes.cube(root * 0.1) + a
        root.backward()
        once = a.grad
        zero_grad(root)
        threads = [threading.Thread(target=lambda: [root.backward() for _ in range(20)]) for _ in range(3)]
        run_together(threads)
        assert a.grad == pytest.approx(60 * once, rel=1e-12)
