"""Tests of trees of numbers: flattened, unflattened, compared and named."""

from __future__ import annotations

import dataclasses
import importlib
import subprocess
import sys
import textwrap
from collections import OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import fewer
from references import needs

from gradwalk import Value, grad, jit, vmap
from gradwalk.nn import MLP, Module
from gradwalk.trees.tree import SCALAR, flatten, scalars, tupled, write

Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Rates:
    short: Any
    long: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    rates: Rates
    weights: Any
    shift: float = dataclasses.field(default=0.0, kw_only=True)


@dataclasses.dataclass
class Interval:
    low: float
    length: float
    high: float = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.high = self.low + self.length


ARRAYS = st.lists(st.integers(0, 3), max_size=3).map(
    lambda shape: numpy.arange(float(numpy.prod(shape))).reshape(shape)
)
NUMBERS = st.one_of(st.floats(-9, 9), st.integers(-9, 9), st.booleans(), st.builds(numpy.float32, st.integers(-9, 9)))
TREES = st.recursive(
    st.one_of(NUMBERS, ARRAYS, st.none()),
    lambda trees: st.one_of(
        st.lists(trees, max_size=3),
        st.lists(trees, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", "c"]), trees, max_size=3),
        st.builds(Point, trees, trees),
        st.builds(Rates, trees, trees),
        st.builds(Curve, st.builds(Rates, trees, trees), trees),
        st.lists(trees, max_size=2).map(deque),
        st.lists(st.tuples(st.sampled_from("xy"), trees), max_size=2).map(OrderedDict),
    ),
    max_leaves=8,
)


def as_floats(tree: Any) -> Any:
    """Convert every number of a tree to float64 by recursion, as a reference."""
    if tree is None:
        return None
    if dataclasses.is_dataclass(tree):
        parts = {f.name: as_floats(getattr(tree, f.name)) for f in dataclasses.fields(tree)}
        return (type(tree).__name__, parts)
    if isinstance(tree, dict):
        return (type(tree).__name__, {key: as_floats(item) for key, item in tree.items()})
    if isinstance(tree, (tuple, list, deque)):
        return (type(tree).__name__, [as_floats(item) for item in tree])
    if isinstance(tree, numpy.ndarray):
        return ("array", tree.shape, tree.astype(float).tolist())
    return float(tree)


def rebuilt(tree: Any, numbers: Any = None) -> Any:
    leaves, structure = flatten(tree, "x")
    return structure.filled(numpy.array(scalars(leaves), float) if numbers is None else numbers)


class TestFlattening:
    @fewer(4)
    @given(TREES)
    def test_unflattened_tree_is_equal_in_floats(self, tree):
        assert as_floats(rebuilt(tree)) == as_floats(tree)

    @fewer(4)
    @given(TREES)
    def test_names_sizes_and_ranges_agree(self, tree):
        leaves, structure = flatten(tree, "x")
        numbers = scalars(leaves)
        assert structure.size == len(numbers) == len(structure.names("x"))
        assert len(set(structure.names("x"))) == structure.size
        assert [i for part, _ in structure.ranges() for i in range(structure.size)[part]] == list(range(structure.size))
        row = numpy.full(structure.size, numpy.nan)
        assert write(leaves, row)
        assert row.tolist() == numbers

    @fewer(4)
    @given(TREES)
    def test_names_evaluate_to_their_numbers(self, tree):
        leaves, structure = flatten(tree, "x")
        for name, number in zip(structure.names("x"), scalars(leaves), strict=True):
            assert eval(name.replace("[]", "[()]"), {"x": tree}) == number

    @fewer(4)
    @given(TREES, TREES)
    def test_treedefs_do_not_depend_on_numbers(self, tree, other):
        structure = flatten(tree, "x")[1]
        changed = rebuilt(tree, numpy.arange(float(structure.size)))
        assert flatten(changed, "x")[1] == structure
        assert hash(flatten(changed, "x")[1]) == hash(structure)
        shape = str(as_floats(rebuilt(tree, numpy.zeros(structure.size))))
        other_structure = flatten(other, "x")[1]
        other_shape = str(as_floats(rebuilt(other, numpy.zeros(other_structure.size))))
        assert (structure == other_structure) <= (len(shape) == len(other_shape))

    @fewer(4)
    @given(TREES)
    def test_unflattened_tree_holds_the_given_values(self, tree):
        structure = flatten(tree, "x")[1]
        values = [Value(float(i)) for i in range(structure.size)]
        leaves, again = flatten(structure.filled(values), "x")
        assert scalars(leaves) == values
        assert again == structure


class TestNumbers:
    @pytest.mark.parametrize("number", [2, 2.0, True, numpy.int8(2), numpy.float16(2), numpy.longdouble(2), Value(2.0)])
    def test_number_has_the_scalar_treedef(self, number):
        leaves, structure = flatten(number, "x")
        assert structure == SCALAR
        assert structure.is_scalar
        assert leaves == [number]
        assert structure.names("rate") == ["rate"]

    def test_numbers_become_floats(self):
        assert [type(x) for x in rebuilt([2, True, numpy.float32(3)])] == [float, float, float]

    @pytest.mark.parametrize("length", [0, 1])
    def test_containers_of_one_number_are_not_scalars(self, length):
        assert flatten(numpy.ones((1,) * length), "x")[1] != SCALAR
        assert not flatten([1.0], "x")[1].is_scalar


class TestArrays:
    @pytest.mark.parametrize(
        "array",
        [
            numpy.array(2.0),
            numpy.zeros((0, 3)),
            numpy.asfortranarray(numpy.arange(6.0).reshape(2, 3)),
            numpy.arange(12.0).reshape(3, 4)[::2, ::-1],
            numpy.arange(6.0).reshape(2, 3).T,
            numpy.arange(3),
            numpy.array([True, False]),
            numpy.arange(3, dtype=numpy.float16),
            numpy.arange(3, dtype=numpy.uint8),
            numpy.broadcast_to(numpy.array([1.0, 2.0]), (3, 2)),
        ],
        ids=["0-d", "empty", "Fortran", "strided", "transposed", "int", "bool", "float16", "uint8", "broadcast"],
    )
    def test_arrays_keep_shape_and_numbers(self, array):
        again = rebuilt(array)
        assert (again.dtype, again.shape, again.tolist()) == (float, array.shape, array.astype(float).tolist())
        assert again.flags.writeable
        assert not numpy.shares_memory(again, array)
        assert rebuilt([array])[0].tolist() == array.tolist()

    def test_arrays_of_values_and_numbers(self):
        v = Value(1.0)
        array = numpy.array([[v, 2.0], [3, True]], dtype=object)
        leaves, structure = flatten(array, "x")
        numbers = scalars(leaves)
        assert numbers == [v, 2.0, 3.0, 1.0]
        assert [type(x) for x in numbers] == [Value, float, float, float]
        assert structure.filled(numbers).dtype == object
        assert structure.filled([1.0, 2.0, 3.0, 4.0]).dtype == float
        assert not write(leaves, numpy.empty(4))
        assert not write([v], numpy.empty(1))

    def test_arrays_of_values_without_dimensions(self):
        v = Value(1.0)
        array = numpy.empty((), dtype=object)
        array[()] = v
        assert scalars(flatten(array, "x")[0]) == [v]
        assert rebuilt(array, [v])[()] is v


class TestContainers:
    def test_containers_keep_their_types(self):
        tree = Curve(Rates(1.0, [2.0, None]), {"b": 3.0, "a": (4.0,)}, shift=5.0)
        again = rebuilt(tree)
        assert again == tree
        assert type(again.rates) is Rates

    def test_computed_fields_are_numbers(self):
        again = rebuilt(Interval(1.0, 2.0), numpy.array([10.0, 5.0, 7.0]))
        assert dataclasses.astuple(again) == (10.0, 5.0, 7.0)

    def test_dataclass_type_is_static(self):
        assert flatten([Rates], "x")[0] == []
        assert rebuilt([Rates]) == [Rates]

    def test_default_factory_is_kept(self):
        again = rebuilt(defaultdict(list, a=1.0))
        assert again["a"] == 1.0
        assert again["b"] == []

    def test_none_and_empty_containers_have_no_leaves(self):
        assert flatten(None, "x")[0] == flatten([], "x")[0] == flatten({"a": ()}, "x")[0] == []
        assert rebuilt([None, ()]) == [None, ()]

    def test_container_types_and_names_are_distinguished(self):
        trees = [[1.0], (1.0,), {"a": 1.0}, {"b": 1.0}, Point(1.0, 2.0), (1.0, 2.0), [numpy.ones(1)], [[1.0]], 1.0]
        structures = [flatten(tree, "x")[1] for tree in trees]
        assert len(set(structures)) == len(trees)

    def test_treedef_of_a_tuple_has_parts(self):
        parts = [SCALAR, flatten([1.0, numpy.ones((2, 2))], "x")[1], SCALAR]
        structure = tupled(parts)
        assert structure.parts() == parts
        assert structure.size == 7
        one, (two, array), seven = structure.filled(numpy.arange(1.0, 8.0))
        assert (one, two, array.tolist(), seven) == (1.0, 2.0, [[3.0, 4.0], [5.0, 6.0]], 7.0)

    def test_parts_of_a_list(self):
        structure = flatten([1.0, (2.0, 3.0), None], "x")[1]
        assert [part.size for part in structure.parts()] == [1, 2, 0]
        assert structure.parts()[0].is_scalar
        assert SCALAR.parts() == []


class TestModules:
    def test_module_is_a_tree_of_its_parameters(self):
        model = MLP(2, [2, 1])
        leaves, structure = flatten(model, "model")
        assert leaves == [p.data for p in model.parameters()]
        assert structure.names("model")[:4] == [
            "model.layers[0].neurons[0].w[0]",
            "model.layers[0].neurons[0].w[1]",
            "model.layers[0].neurons[0].b",
            "model.layers[0].neurons[1].w[0]",
        ]
        assert structure.parts() == []
        assert str(structure) == "a MLP with 9 parameters"
        assert rebuilt(model).parameters() == leaves

    def test_modules_in_containers(self):
        tree = ({"net": MLP(1, [1])}, [MLP(1, [1]), 2.0], MLP(1, [1]))
        again = rebuilt(tree)
        parameters = [*again[0]["net"].parameters(), *again[1][0].parameters(), again[1][1], *again[2].parameters()]
        assert parameters == scalars(flatten(tree, "x")[0])
        assert flatten(again, "x")[1] == flatten(tree, "x")[1]
        assert flatten(tree, "x")[1].names("x")[1] == "x[0]['net'].layers[0].neurons[0].b"
        assert "Layer of [LinearNeuron(1)]" in str(flatten([MLP(1, [1])], "x")[1])

    def test_module_alone_needs_no_optree(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "optree", None)
        assert len(rebuilt(MLP(1, [1])).parameters()) == 2

    def test_module_without_parameters(self):
        assert flatten(Module(), "x")[0] == []
        assert type(rebuilt(Module())) is Module


class TestMessages:
    @pytest.mark.parametrize(
        ("tree", "text"),
        [
            (1.0, "a number"),
            (numpy.ones((2, 3)), "an array of shape (2, 3)"),
            ([1.0, numpy.ones(2)], "[number, array of shape (2,)]"),
            ({"a": 1.0}, "{'a': number}"),
            (Point(1.0, 2.0), "a Point(x=number, y=number)"),
        ],
    )
    def test_str_of_a_treedef(self, tree, text):
        assert str(flatten(tree, "x")[1]) == text

    @pytest.mark.parametrize(
        ("tree", "text"),
        [
            (bytearray(b"b"), r"x is a bytearray \(bytearray\(b'b'\)\), not a number"),
            ({1.0}, r"x is a set \(\{1\.0\}\)"),
            (Decimal(1), "x is a Decimal"),
            (numpy.timedelta64(3, "s"), "x is a timedelta64"),
            (object(), "x is an object"),
            ([1.0, {"a": (2.0, {3.0})}], r"x\[1\]\['a'\]\[1\] is a set \(\{3\.0\}\)"),
            (Rates(1.0, Decimal(1)), r"x\.long is a Decimal"),
            (Point(1.0, bytearray()), r"x\.y is a bytearray"),
            (numpy.array(["b"]), r"x is an array of <U1"),
            (numpy.array(["2020-01-01"], "M8[D]"), r"x is an array of datetime64"),
            (numpy.array([1.0, None], dtype=object), "an element of x is a NoneType"),
            (numpy.array([1.0, [2.0]], dtype=object), "an element of x is a list"),
            (set(map(str, range(1000))), "x is a set"),
        ],
    )
    def test_error_names_the_invalid_leaf(self, tree, text):
        with pytest.raises(TypeError, match=text) as caught:
            flatten(tree, "x")
        assert "int, float, complex, NumPy numbers, Values and Complex" in str(caught.value)
        assert len(str(caught.value)) < 380


LIBRARIES = {"pandas": "Series", "polars": "Series", "torch": "tensor", "jax.numpy": "array"}


def array_of(library, numbers):
    """Make an array of another library."""
    return getattr(importlib.import_module(library), LIBRARIES[library])(numbers)


@pytest.mark.parametrize("library", [pytest.param(name, marks=needs(name)) for name in LIBRARIES])
class TestArraysOfOtherLibraries:
    def test_foreign_arrays_become_numpy_arrays(self, library):
        array = array_of(library, [1.0, 2.0, 3.0])
        leaves, treedef = flatten({"x": array, "y": [array, 2.0]}, "it")
        assert [type(leaf) for leaf in leaves] == [numpy.ndarray, numpy.ndarray, float]
        assert leaves[0].tolist() == [1.0, 2.0, 3.0]
        assert treedef == flatten({"x": numpy.ones(3), "y": [numpy.ones(3), 0.0]}, "it")[1]
        assert flatten(array, "it")[1] == flatten(numpy.ones(3), "it")[1]

    def test_foreign_arrays_in_transforms(self, library):
        tree = {"x": array_of(library, [1.0, 2.0]), "y": array_of(library, [3.0, 5.0])}
        slopes = jit(grad(lambda tree: (tree["x"] * tree["y"]).sum()))
        for _ in range(2):  # the second call uses the recording
            assert {key: slope.tolist() for key, slope in slopes(tree).items()} == {"x": [3.0, 5.0], "y": [1.0, 2.0]}
        assert slopes.statistics.recordings == 1
        assert jit(vmap(lambda tree: tree["x"] * tree["y"]))(tree).tolist() == [3.0, 10.0]

    def test_data_frames(self, library):
        if library in ("pandas", "polars"):
            columns = {"x": [1.0, 2.0], "y": [3.0, 5.0]}
            frame = importlib.import_module(library).DataFrame(columns)
            assert vmap(lambda row: row @ row)(frame).tolist() == [10.0, 29.0]
            assert vmap(lambda x, y: x * y)(**{name: frame[name] for name in columns}).tolist() == [3.0, 10.0]
        else:
            assert flatten(array_of(library, 2.0), "it") == ([2.0], SCALAR)  # arrays without dimensions are numbers


@needs("pandas")
@pytest.mark.parametrize(("numbers", "kind"), [(["a", "b"], "a str"), ([Decimal(1)], "a Decimal")])
def test_columns_of_other_types_are_refused(numbers, kind):
    with pytest.raises(TypeError, match=f"an element of x is {kind}"):
        flatten(array_of("pandas", numbers), "x")


@needs("pandas")
def test_missing_numbers_in_columns_are_nan():
    for library in ("pandas", "polars"):
        [leaf], _ = flatten(array_of(library, [1, None]), "x")
        assert numpy.isnan(leaf).tolist() == [False, True]


def test_optree_is_loaded_for_the_first_list():
    program = """
        import sys
        import numpy
        from gradwalk import grad, jacobian, jit

        print(grad(lambda x: x * x)(3.0), jacobian(lambda x: x * x)(numpy.ones(1)), jit(lambda x, y: x * y)(2.0, 3.0))
        print("optree" in sys.modules, grad(lambda x: x[0] * x[0])([3.0]), "optree" in sys.modules)
    """
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines() == ["6.0 [[2.]] 6.0", "False [6.0] True"]
