"""Tests that a form reads and builds the same trees as its treedef and refuses other trees."""

from __future__ import annotations

import abc
import contextlib
import copy
import dataclasses
import inspect
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest
from checkout import IS_COMPILED
from hypothesis import given
from hypothesis import strategies as st
from modules import Net, Pair, modules, written
from programs import fewer

from gradwalk import Value, grad, jit, no_grad
from gradwalk.nn import MLP, PENDING, Module, Number, attributes_of
from gradwalk.trees.fast.forms import form_of, leaf_forms
from gradwalk.trees.tree import TreeDef, flatten, scalars


@dataclasses.dataclass
class Rates:
    short: Any
    long: Any = 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    rates: Any


Point = namedtuple("Point", "x y")
KINDS = ["f8", "f4", "i4", "u1", "?", ">f8"]
ARRAYS = st.builds(
    lambda shape, kind, order: numpy.arange(numpy.prod(shape)).reshape(shape).astype(kind, order=order),
    st.lists(st.integers(0, 2), max_size=2),
    st.sampled_from(KINDS),
    st.sampled_from("CF"),
)
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, True, 2, Number(3.0)]), st.builds(numpy.float32, st.integers(0, 9))
)


def fits_in_a_module(tree: Any) -> bool:
    """Return whether a tree can be part of a Module's treedef: arrays and dataclasses cannot be hashed."""
    return not any(name in repr(tree) for name in ("array", "Net", "Rates", "Curve"))


TREES = st.recursive(
    st.one_of(NUMBERS, ARRAYS, st.none()),
    lambda trees: st.one_of(
        st.lists(trees, max_size=2),
        st.lists(trees, max_size=2).map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", 1, True]), trees, max_size=2),
        st.dictionaries(st.sampled_from("ab"), trees, max_size=2).map(OrderedDict),
        st.builds(Point, trees, trees),
        st.builds(Rates, trees, trees),
        st.builds(Curve, trees),
        st.builds(lambda part: Net(part=part, value=Value(1.0)), trees.filter(fits_in_a_module)),
    ),
    max_leaves=5,
)
# Few Values, so that one Value often occurs in several places.
FEW = [Value(number) for number in (1.0, 2.0, 3.0)]
ALIASED = modules(st.sampled_from(FEW))


def numbers_of(tree: Any) -> tuple[list[float], TreeDef]:
    leaves, treedef = flatten(tree, "a tree")
    return scalars(leaves), treedef


def shown(tree: Any) -> str:
    """Format a tree with all its types and with the contents of its Modules."""
    if isinstance(tree, Net):
        return written(tree) + str(tree.parameters())
    if dataclasses.is_dataclass(tree):
        return f"{type(tree).__name__} {shown([getattr(tree, field.name) for field in dataclasses.fields(tree)])}"
    if isinstance(tree, dict):
        return f"{type(tree).__name__} {[(key, shown(item)) for key, item in tree.items()]}"
    if isinstance(tree, (list, tuple)):
        return f"{type(tree).__name__} {[shown(item) for item in tree]}"
    return f"{type(tree).__name__} {tree!r}"


def is_usual(tree: Any) -> bool:
    """Return whether a tree has a form; only trees with rare containers have none."""
    return not any(name in shown(tree) for name in ("OrderedDict", "object"))


class TestTrees:
    @given(TREES)
    def test_form_agrees_with_the_treedef(self, tree):
        numbers, treedef = numbers_of(tree)
        form = form_of(treedef)
        assert (form is not None) == is_usual(tree)
        if form is not None:
            found = form.numbers(tree, treedef.size)
            assert found.tolist() == numbers
            assert shown(form.tree(found)) == shown(treedef.filled(found))

    @given(TREES, TREES)
    def test_other_treedefs_are_refused(self, tree, other):
        form = form_of(numbers_of(tree)[1])
        numbers, treedef = numbers_of(other)
        if form is not None:
            found = form.numbers(other, 100)
            assert (found is not None) == (treedef == numbers_of(tree)[1])
            assert found is None or found[: treedef.size].tolist() == numbers

    @given(TREES)
    def test_positions_begin_at_the_given_offset(self, tree):
        numbers, treedef = numbers_of(tree)
        form = form_of(treedef, [*leaf_forms(treedef, 3)])
        if form is not None:
            assert form.numbers(tree, 3 + treedef.size)[3:].tolist() == numbers

    @pytest.mark.parametrize("other", [Value(1.0), numpy.array([Value(1.0)]), "1", None, [1.0], numpy.ma.array([1.0])])
    def test_leaves_must_be_plain_numbers(self, other):
        for tree in (1.0, numpy.ones(1)):
            assert form_of(numbers_of([tree])[1]).numbers([other], 1) is None

    def test_dates_are_refused(self):
        assert form_of(numbers_of(numpy.ones(2))[1]).numbers(numpy.zeros(2, "M8[s]"), 2) is None

    def test_too_large_integers_raise(self):
        with pytest.raises(OverflowError, match="1025 bits"):
            form_of(numbers_of(1)[1]).numbers(1 << 1024, 1)

    def test_deep_trees_have_no_form(self):
        tree: Any = 1.0
        for _ in range(200):
            tree = [tree]
        assert form_of(numbers_of(tree)[1]) is None

    def test_keys_keep_the_order_of_the_first_dict(self):
        form = form_of(numbers_of({"b": 1.0, "a": 2.0})[1])
        assert list(form.tree(form.numbers({"a": 1.0, "b": 2.0}, 2)).items()) == [("b", 2.0), ("a", 1.0)]

    def test_default_dicts_have_no_form(self):
        assert form_of(numbers_of(defaultdict(float, a=1.0))[1]) is None


class TestModules:
    @given(ALIASED)
    def test_form_agrees_with_the_treedef(self, module):
        numbers, treedef = numbers_of(module)
        form = form_of(treedef)
        if form is None:
            assert any(name in written(module) for name in ("OrderedDict", "object"))
            return
        found = form.numbers(module, treedef.size)
        assert found.tolist() == numbers
        again = form.tree(found)
        assert shown(again) == shown(treedef.filled(found))
        assert numbers_of(again)[1] == treedef

    @given(ALIASED, ALIASED)
    def test_other_treedefs_are_refused(self, module, other):
        form = form_of(numbers_of(module)[1])
        numbers, treedef = numbers_of(other)
        if form is not None:
            found = form.numbers(other, 100)
            assert (found is not None) == (treedef == numbers_of(module)[1])
            assert found is None or found[: treedef.size].tolist() == numbers

    @fewer(4)
    @given(
        st.lists(st.sampled_from(FEW), min_size=4, max_size=4), st.lists(st.sampled_from(FEW), min_size=4, max_size=4)
    )
    def test_shared_parameter_has_one_number(self, values, others):
        module, other = [Net(a=v[:2], b=Pair(v[2], [v[3]])) for v in (values, others)]
        numbers, treedef = numbers_of(other)
        found = form_of(numbers_of(module)[1]).numbers(other, 4)
        assert (found is not None) == (treedef == numbers_of(module)[1])
        assert found is None or found[: treedef.size].tolist() == numbers

    def test_module_with_many_parameters(self):
        module = MLP(100, [100, 1])
        numbers, treedef = numbers_of(module)
        form = form_of(treedef)
        assert form.numbers(module, treedef.size).tolist() == numbers
        module.layers[0].neurons[99].w[99] = module.layers[0].neurons[0].w[0]
        assert form.numbers(module, treedef.size) is None

    def test_module_in_a_cycle(self):
        module = Net(a=Value(2.0))
        module.me = module
        numbers, treedef = numbers_of(module)
        form = form_of(treedef)
        found = form.numbers(module, 1)
        assert found.tolist() == numbers == [2.0]
        again = form.tree(found)
        assert again.me is again
        module.me = Net(a=module.a, me=module)
        assert form.numbers(module, 1) is None

    def test_computed_values_have_no_form(self):
        a = Value(2.0)
        module = Net(a=a, b=a * 2.0)
        assert form_of(numbers_of(module)[1]) is None
        plain = form_of(numbers_of(Net(a=a, b=Value(1.0)))[1])
        assert plain.numbers(module, 2) is None

    def test_changes_of_other_arrays_are_detected(self):
        module = Net(a=Value(1.0), mask=numpy.ones(2))
        form = form_of(numbers_of(module)[1])
        assert form.numbers(module, 1) is not None
        module.mask[0] = 0.0
        assert form.numbers(module, 1) is None
        assert (form.tree(numpy.zeros(1)).mask == 1.0).all()

    def test_modules_inside_a_recording(self):
        net = Net(a=Value(2.0))
        scale = jit(lambda net, x: net.a * x)
        assert scale(net, 3.0) == scale(net, 3.0) == 6.0
        assert grad(lambda x: scale(Net(a=x * x), x))(2.0) == 12.0
        with no_grad():
            assert scale(net, 3.0) == 6.0


@dataclasses.dataclass(eq=False)
class Line(Module):
    slope: Any
    offset: Any = 0.0


class Counting(Net):
    """A Module with `__getattr__`, so that it has every attribute."""

    def __getattr__(self, name: str) -> Any:
        return f"no {name}"


def is_pending(module: Any) -> bool:
    return PENDING in attributes_of(module)


def gradient_of(module: Any, squares: Any = None) -> Any:
    """Return a gradient whose attributes are not created yet; its numbers are twice the parameters."""
    squares = squares or jit(grad(lambda module: sum(p * p for p in module.parameters())))
    squares(module)
    return squares(module)


class TestPendingModules:
    @fewer(4)
    @given(modules(st.builds(Value, st.integers(-9, 9))).filter(lambda module: module.parameters()))
    def test_pending_module_equals_a_complete_one(self, module):
        numbers, treedef = numbers_of(module)
        expected = treedef.filled(2.0 * numpy.array(numbers))
        assert shown(gradient_of(module)) == shown(expected)
        assert gradient_of(module).parameters() == expected.parameters()
        assert numbers_of(gradient_of(module)) == numbers_of(expected)
        assert shown(pickle.loads(pickle.dumps(gradient_of(module)))) == shown(expected)
        for copied in (copy.copy, copy.deepcopy):
            assert shown(copied(gradient_of(module))) == shown(expected)
        assert dir(gradient_of(module)) == dir(expected)

    def test_pending_modules_are_passed_as_numbers(self):
        module = MLP(2, [3, 1])
        squares = jit(grad(lambda module: sum(p * p for p in module.parameters())))
        gradient = gradient_of(module, squares)
        again = squares(gradient)
        assert is_pending(gradient) == IS_COMPILED
        assert again.parameters() == [4.0 * p.data for p in module.parameters()]
        assert is_pending(again) == IS_COMPILED
        assert [p.data for p in module.parameters()] == [0.5 * number for number in gradient.layers[0].parameters()] + [
            0.5 * number for number in gradient.layers[1].parameters()
        ]
        assert not is_pending(gradient)
        assert {type(number) for number in gradient.parameters()} == {Number}

    def test_pending_modules_of_other_treedefs(self):
        scale = jit(lambda module: module.parameters()[0] * 2.0)
        for module in (MLP(1, [1]), MLP(1, [2, 1]), Net(a=Value(1.0))):
            expected = 4.0 * module.parameters()[0].data
            assert scale(gradient_of(module)) == scale(gradient_of(module)) == expected
        assert scale.statistics.recordings == 3

    def test_pending_modules_can_be_changed(self):
        gradient = gradient_of(Net(a=Value(1.0), b=Value(2.0)))
        gradient.b = 7.0
        gradient.c = 8.0
        assert list(vars(gradient).items()) == [("a", 2.0), ("b", 7.0), ("c", 8.0)]
        gradient = gradient_of(Net(a=Value(1.0), b=Value(2.0)))
        del gradient.a
        assert vars(gradient) == {"b": 4.0}
        gradient.__dict__ = {"d": 1.0}
        assert vars(gradient) == {"d": 1.0}

    def test_missing_attribute_raises(self):
        gradient = gradient_of(Net(a=Value(1.0)))
        with pytest.raises(AttributeError, match="'Net' object has no attribute 'b'") as caught:
            _ = gradient.b
        assert (caught.value.name, caught.value.obj) == ("b", gradient)
        assert gradient.a == 2.0
        assert not hasattr(Net(), "a")

    @pytest.mark.parametrize("module", [Line(Value(1.0), Value(2.0)), Counting(a=Value(1.0))])
    def test_classes_with_own_lookup_are_never_pending(self, module):
        gradient = gradient_of(module)
        assert not is_pending(gradient)
        assert gradient.parameters() == [2.0 * p.data for p in module.parameters()]

    def test_classes_can_define_setattr_and_delattr(self):
        class Own(Net):
            def __setattr__(self, name: str, value: Any) -> None:
                super().__setattr__(name, value)

            def __delattr__(self, name: str) -> None:
                super().__delattr__(name)

        own = Own(a=Value(1.0))
        for module in (own, Net(a=Value(2.0))):
            assert gradient_of(module).a == 2.0 * module.a.data
        own.tag = 2
        del own.tag
        object.__setattr__(own, "b", 3)
        assert Own(a=Value(1.0)).a.data == 1.0
        assert inspect.getattr_static(own, "b") == 3

    def test_pending_modules_of_classes_that_change(self):
        class Changing(Module):
            def __init__(self) -> None:
                self.a = Value(1.0)

        squares = jit(grad(lambda module: module.a * module.a))
        squares(Changing())
        assert squares(Changing()).a == 2.0
        Changing.__getattr__ = lambda self, name: f"no {name}"
        assert squares(Changing()).a == 2.0
        assert squares(Changing()).b == "no b"
        del Changing.__getattr__
        assert squares(Changing()).a == 2.0

    def test_number_subclasses_use_their_own_float(self):
        class Emptying(Number):
            def __float__(self) -> float:
                module.w.clear()
                return 1.0

        total = jit(lambda module: sum(module.w))
        module = Net(w=[Number(i) for i in range(30)])
        assert total(module) == total(module) == 435.0
        module.w[0] = Emptying(5.0)
        with contextlib.suppress(Exception):  # an error is allowed, a crash is not
            total(module)

    def test_pending_modules_of_abstract_classes(self):
        class Shape(Module, abc.ABC):
            def __init__(self, side: Any) -> None:
                self.side = side

        class Square(Shape):
            pass

        assert gradient_of(Square(Value(3.0))).side == 6.0

        @dataclasses.dataclass
        class Rate(abc.ABC):
            rate: Any

        double = jit(lambda rate: rate.rate * 2.0)
        assert double(Rate(3.0)) == double(Rate(3.0)) == 6.0

    def test_pending_module_that_contains_itself(self):
        module = Net(a=Value(3.0))
        module.me = [module]
        gradient = gradient_of(module)
        assert gradient.me == [gradient]
        assert gradient.a == 6.0

    def test_many_threads_complete_one_module(self):
        module = MLP(3, [4, 1])
        for _ in range(20):
            gradient = gradient_of(module)
            with ThreadPoolExecutor(8) as pool:
                found = list(pool.map(lambda _: gradient.layers, range(8)))  # noqa: B023  # used at once
            assert all(layers is found[0] for layers in found)


class TestCalls:
    """Repeated calls of recorded functions: a prepared call gives the same result as the first."""

    @fewer(2)
    @given(st.lists(TREES.filter(is_usual), min_size=1, max_size=3))
    def test_repeated_calls_give_the_same(self, trees):
        kept = [numbers_of(tree) for tree in trees]
        doubled = jit(lambda *args: [as_list(arg) for arg in args])
        first, second = doubled(*trees), doubled(*trees)
        assert shown(first) == shown(second)
        assert doubled.statistics.recordings == 1
        assert [sum(scalars(flatten(part, "")[0])) for part in first] == [2.0 * sum(numbers) for numbers, _ in kept]

    def test_alternating_structures(self):
        total = jit(lambda tree: 2.0 * sum(flatten(tree, "")[0], start=0.0))
        for _ in range(3):
            for length in range(1, 8):
                assert total([1.0] * length) == 2.0 * length
                assert total(tuple([1.0] * length)) == 2.0 * length
        assert total.statistics.recordings == 14

    def test_static_arguments_are_distinguished(self):
        power = jit(lambda x, n: x**n, static_argnames="n")
        assert [power(3.0, 2), power(3.0, n=2), power(3.0, 3), power(3.0, True), power(3.0, 1)] == [
            9.0,
            9.0,
            27.0,
            3.0,
            3.0,
        ]
        assert power.statistics.recordings == 5
        assert [power(2.0, 2), power(2.0, n=2), power(2.0, 3), power(2.0, True), power(2.0, 1)] == [
            4.0,
            4.0,
            8.0,
            2.0,
            2.0,
        ]
        signed = jit(lambda x, zero: x if str(zero) == "0.0" else -x, static_argnums=1)
        assert [signed(1.0, 0.0), signed(1.0, -0.0), signed(1.0, 0.0)] == [1.0, -1.0, 1.0]

    def test_keyword_order_does_not_matter(self):
        f = jit(lambda x, *, a, b: x + 10.0 * a + 100.0 * b)
        assert f(1.0, a=2.0, b=3.0) == f(1.0, b=3.0, a=2.0) == 321.0
        assert f.statistics.recordings == 1
        with pytest.raises(TypeError, match="'b'"):
            f(1.0, a=2.0)

    def test_values_give_values(self):
        double = jit(lambda pair: 2.0 * pair[0] + pair[1])
        assert double([1.0, 2.0]) == 4.0
        x = Value(1.0)
        double([x, 2.0]).backward()
        assert x.grad == 2.0

    def test_captured_values_are_read_at_each_call(self):
        rate = Value(2.0)
        scaled = jit(lambda xs: rate * xs[0])
        assert scaled([3.0]).data == 6.0
        rate.data = 5.0
        assert scaled([3.0]).data == 15.0

    def test_each_call_returns_new_objects(self):
        both = jit(lambda x: ([x, 1.0], {"y": 2.0 * x}, numpy.array([x, x])))
        one, two = both(1.0), both(1.0)
        one[0].append(3.0)
        one[1]["y"] = one[2][0] = 0.0
        assert shown(two) == shown(both(1.0))


def as_list(tree: Any) -> Any:
    """Return twice the numbers of a tree."""
    return [2.0 * leaf for leaf in scalars(flatten(tree, "")[0])]
