"""Replaces a script's own Value class by gradwalk's Value if both compute the same numbers.

The script's class name is bound to `Value` itself, not to a subclass, because operations return a plain Value. A method
of the script's class is replaced by gradwalk's method if both give the same value and gradients to the last bit. The
script's other methods are set on `Value` and work on gradwalk's nodes. The script's `backward()` is also kept if it
adds contributions in a different order than gradwalk's. Finally, Value is compared with the script's class, and the
replacement is refused if a number would change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from math import isclose
from types import FunctionType, MemberDescriptorType
from typing import Any

from gradwalk.cli.notice import agreed, can_ask, say
from gradwalk.cli.replace import probe_points
from gradwalk.cli.replace.probe_points import Outcome
from gradwalk.cli.replace.value_like_class import OwnClass, Script
from gradwalk.value.source.source_line import users_line
from gradwalk.value.sweep.backward import observed, started
from gradwalk.value.sweep.order import topological_order
from gradwalk.value.value import Value

_CALL = "__gradwalk_replacement__"
_TAKES = "gradwalk's Value takes data, children, op or local gradients, and label, in this order"
_RAISES = f"raises ({_TAKES})"
_WATCHED = 20  # number of backward passes, counted from the first, that are checked for leftover gradients
_COLLECTIONS = (tuple, list, set, frozenset)  # types in which a class may keep operands
_REFUSED = {
    *("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__", "__del__"),
    *("__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__"),  # cannot be added to a compiled type
}
_PREV: Any = Value.__dict__["_prev"]
_BACKWARD: Any = Value.__dict__["backward"]
_TOGETHER = (  # Python derives the methods in each set from each other
    {"__eq__", "__ne__"},
    {"__lt__", "__le__", "__gt__", "__ge__"},
    {"__repr__", "__str__", "__format__"},
)
_LEFT_OUT = {  # members of every class, and members that gradwalk's Value implements for its own nodes
    *("__init__", "__post_init__", "__hash__", "__dict__", "__weakref__", "__slots__", "__module__", "__doc__"),
    *("__qualname__", "__annotations__", "__annotate_func__", "__annotations_cache__", "__match_args__"),
    *("__dataclass_fields__", "__dataclass_params__", "__static_attributes__", "__firstlineno__", "__replace__"),
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__sizeof__"),
    *("data", "grad", "backward", "label", "_children", "_local_grads", "_prev", "_op", "_backward"),
}


def offer(source: bytes, script: str, command: str, *, ask: bool) -> str | None:
    """Offer to replace a script's own Value class; return the class's name, or None to run the script unchanged.

    If `ask` is true and there is a terminal, ask a question. Otherwise print how to use --replace with `command`, which
    is "run" or "walk", and return None.
    """
    name = own_class_name(source, script)
    if name is None:
        return None
    if ask and can_ask():
        return name if agreed(f"{script} defines its own {name}. Replace it by gradwalk's?") else None
    say(
        f"{script} defines its own {name}, which runs unchanged. To replace it by gradwalk's Value: "
        f"gradwalk {command} --replace {name} {script}"
    )
    return None


def own_class_name(source: bytes, script: str) -> str | None:
    """Return the name of the first class in a script that is like micrograd's Value, or None.

    The result is None if there is no such class or if the script does not parse.
    """
    if b"def backward" not in source:
        return None
    try:
        return next(iter(Script(source, script).like_micrograds()), None)
    except SyntaxError:
        return None


def execute(source: bytes, script: str, name: str, namespace: dict[str, Any]) -> None:
    """Execute a script in a namespace, and replace its class `name` by gradwalk's Value once the class is defined.

    Raises `ReplacementError` if the class does not exist or cannot be replaced. Problems visible in the source are
    reported before any code of the script runs.
    """
    text = Script(source, script)
    classes = text.own_classes(name)
    for own in classes:
        own.refuse_what_would_be_lost()
    namespace[_CALL] = Replacement(classes)
    with observed(namespace[_CALL].watch):
        exec(compile(text.replaced(classes, _CALL), script, "exec", dont_inherit=True), namespace)


class Replacement:
    """Replaces a script's class; statements added to the script call `placed` and `check` after the class definition.

    Args:
        classes: The classes to replace, in the order of the script. All of them have the same name.
    """

    def __init__(self, classes: Sequence[OwnClass]) -> None:
        self._classes = classes
        self._own = classes[0]
        self._expected: dict[str, tuple[int, list[Outcome | None]]] = {}
        self._native: list[str] = []
        self._kept: list[str] = []
        self._operands: list[str] = []
        self._added: dict[str, Any] = {}  # maps each member set on Value to the member that it replaced, or None
        self._order: _Order | None = None
        self._left_to_watch = 0

    def placed(self, cls: type, index: int) -> type[Value]:
        """Extend gradwalk's Value by the script's methods that must be kept, and return Value as the new class.

        Args:
            cls: The script's class.
            index: The index of the class in `classes`.

        Raises:
            ReplacementError: Instances of the class have data or gradients that differ from gradwalk's.
        """
        self._own = self._classes[index]
        states = probe_points.random_states()
        self._restore()
        self._refuse_other_values(cls)
        self._expected, self._native, self._kept, self._operands, self._left_to_watch = {}, [], [], [], 0
        added = self._other_names(cls)
        self._refuse_other_arguments(cls)
        members = _members(cls)
        for name, member in members.items():
            if self._has_to_be_kept(cls, name, member):
                self._kept.append(name)
                added[name] = member
        for group in _TOGETHER:
            if group & added.keys():
                added |= {name: getattr(object, name) for name in group - members.keys()}
        self._order = _Order(cls, {name: members[name] for name in self._native})
        self._add(added)
        # A class that draws random numbers is refused: gradwalk draws none, so the script's later random numbers would
        # differ.
        if probe_points.random_states() != states:
            raise self._own.refusal("it draws random numbers while it computes")
        return Value

    def check(self) -> None:
        """Compare Value with the script's class, and print a message about the replacement.

        Raises:
            ReplacementError: A method gives different numbers, or no method could be replaced.
        """
        said = self._keep_order()
        for name, (count, expected) in self._expected.items():
            different = probe_points.difference(expected, probe_points.outcomes(Value, name, count), exactly=not said)
            if different is not None:
                theirs, ours = different
                raise self._own.refusal(
                    f"its {name} of {theirs.operands} returns {theirs}, but {_RAISES if ours is None else ours} with "
                    "gradwalk's nodes"
                )
        if not self._native:
            raise self._own.refusal("none of its methods gives the same numbers as gradwalk's")
        self._left_to_watch = 0 if "backward" in self._kept else _WATCHED
        kept = f"; kept from the script: {', '.join(self._kept)}" if self._kept else ""
        say(f"{self._own.title} was replaced by gradwalk's Value{kept}{said}{self._said_of_graph()}")

    def _keep_order(self) -> str:
        """Keep the script's `backward()` if it adds contributions in another order; if that fails, return a warning."""
        order = self._order
        assert order is not None
        self._order = None
        if order.is_same():
            return ""
        if not order.is_fixed:
            return (
                "; its backward() iterates over sets of nodes, whose order changes from run to run, so the last digits "
                "of gradients may differ from gradwalk's"
            )
        for kept in order.kept_members():
            self._add(kept)
            if order.is_same():
                self._kept = [*kept, *self._kept]
                return ""
            self._restore(*kept)
        return "; its backward() adds contributions in a different order, so the last digits of gradients may differ"

    def _add(self, members: Mapping[str, Any]) -> None:
        """Set attributes of gradwalk's Value, and store the previous attributes."""
        for name, member in members.items():
            self._added[name] = vars(Value).get(name)
            setattr(Value, name, member)

    def _restore(self, *names: str) -> None:
        """Undo `_add` for the given names, or for all added members if no name is given."""
        for name in names or list(self._added):
            earlier = self._added.pop(name)
            if earlier is None:
                delattr(Value, name)
            else:
                setattr(Value, name, earlier)

    def watch(self, root: Value) -> Callable[[], None]:
        """Print a message if nodes have gradients from an earlier pass; return a no-op to call after the pass."""
        if self._left_to_watch == 0:
            return _nothing
        self._left_to_watch -= 1
        if any(node.grad and node.operands for node in topological_order(root)):
            self._left_to_watch = 0
            say(
                f"{users_line()}: backward() visits results that have a gradient from an earlier pass. gradwalk "
                f"propagates only new gradients; the script's {self._own.name} would propagate the old ones again, so "
                "the numbers differ from here on"
            )
        return _nothing

    def _said_of_graph(self) -> str:
        """Return a warning if the script reads the graph itself, because gradwalk's graph differs; otherwise ""."""
        for name in ("_children", "_prev", *self._operands):
            if name in self._own.used_outside:
                line = self._own.used_outside[name]
                return f"; line {line} reads .{name}: gradwalk's graph has fewer nodes, for example one for a - b"
        return ""

    def _has_to_be_kept(self, cls: type, name: str, member: object) -> bool:
        """Return whether a member of the script's class must be set on gradwalk's Value."""
        if isinstance(member, FunctionType) and "__class__" in member.__code__.co_freevars:
            raise self._own.refusal(f"its {name} uses super()")
        if not hasattr(Value, name):
            return True
        if not isinstance(member, FunctionType):
            raise self._own.refusal(f"its .{name} is not a function, and gradwalk's Value has a .{name} of its own")
        code = member.__name__  # the name in the def statement: "__add__" for __radd__ = __add__
        if code in self._own.effects:
            raise self._own.refusal(f"its {name} has a side effect in line {self._own.effects[code]}")
        count = probe_points.operand_count(member)
        if count is None:
            return True
        theirs = probe_points.outcomes(cls, name, count)
        self._expected[name] = count, theirs
        is_same = probe_points.difference(theirs, probe_points.outcomes(Value, name, count)) is None
        shows_labels = name in ("__repr__", "__str__")  # gradwalk's methods also show the label
        again = probe_points.outcomes(cls, name, count)
        if not shows_labels and (probe_points.difference(theirs, again) or probe_points.difference(again, theirs)):
            raise self._own.refusal(f"its {name} gives different numbers when it is called again")
        is_same = is_same and not probe_points.overwrites(cls, name, count)
        if code in self._own.of_powers or not is_same or not any(theirs) or shows_labels:
            return True
        self._native.append(name)
        return False

    def _refuse_other_values(self, cls: type) -> None:
        """Refuse a class whose data or gradients differ from micrograd's."""
        for name in sorted(_REFUSED & _members(cls).keys()):
            raise self._own.refusal(f"it defines {name}")
        try:
            leaf = cls(1.5)
            data, grad, gradients = leaf.data, leaf.grad, probe_points.gradients(cls)
        except Exception as error:
            raise self._own.refusal(f"sums and products of {cls.__name__}(1.5) raise {error!r}") from None
        if not _are_numbers(data, grad) or (data, grad) != (1.5, 0.0):
            raise self._own.refusal(f"{cls.__name__}(1.5) has .data {data!r} and .grad {grad!r}, not 1.5 and 0.0")
        ours = probe_points.gradients(Value)
        if not (_are_numbers(*gradients) and all(map(partial(isclose, rel_tol=1e-9), gradients, ours))):
            raise self._own.refusal(
                f"its backward() gives the gradients {gradients} for a graph of sums and products; the correct "
                f"gradients are {ours}"
            )

    def _refuse_other_arguments(self, cls: type) -> None:
        """Refuse a class if the script's order of constructor arguments differs from the order of gradwalk's Value."""
        for index, line in sorted(self._own.lines_that_give().items()):
            if index > 0 and not _is_same_argument(cls, index):
                names = [name for name, _ in self._own.arguments]
                name = names[index] if index < len(names) else "value"
                raise self._own.refusal(
                    f"line {line} passes a {name} as argument {index + 1} of its constructor, but {_TAKES}"
                )

    def _other_names(self, cls: type) -> dict[str, object]:
        """Create properties for attributes that have different names in the script's class and in gradwalk's Value."""
        a, b, leaf = cls(3.0), cls(-2.0), Value(3.0)
        out = a * b
        found: dict[str, object] = {}
        for name in self._own.used & {"label", "op", "_op"}:
            for what, their, our in (("leaf", a, leaf), ("product", out, leaf * -2.0)):
                theirs, ours = getattr(their, name, None), getattr(our, name)
                if theirs is not None and theirs != ours:
                    raise self._own.refusal(
                        f"the script uses .{name}, which must be {ours!r} for a {what}, got {theirs!r}"
                    )
        for name in _attributes(out):
            held = getattr(out, name)
            if name in vars(cls).keys() & _members(cls).keys() or _has_such(leaf * -2.0, name, held):
                continue
            role = _role(held, (a, b))
            if role is not None:
                found[name] = role
                self._operands += [name] if isinstance(held, _COLLECTIONS) and any(one is a for one in held) else []
            elif name in self._own.used:
                raise self._own.refusal(f"the script uses its .{name}, which gradwalk's Value does not have")
        return found


def _nothing() -> None:
    """Do nothing after a pass."""


def _has_such(node: Value, name: str, held: object) -> bool:
    """Return whether gradwalk's nodes have the attribute `name`; if it is a collection, of the same type as `held`."""
    return hasattr(Value, name) and not (isinstance(held, _COLLECTIONS) and type(held) is not type(getattr(node, name)))


class _Order:
    """The order in which the script's class adds contributions to gradients, detected from the gradients' last bits.

    Args:
        cls: The script's class.
        native: The methods of the class that gradwalk's methods replace.

    Attributes:
        is_fixed: Whether the class gives the same gradients when it is run again; false if it iterates over sets of
            nodes.
    """

    def __init__(self, cls: type, native: Mapping[str, Any]) -> None:
        self._cls: Any = cls
        self._composed = {name: member for name, member in native.items() if _is_composed(cls, name)}
        self._graphs = probe_points.Graphs(_members(cls).keys() & dir(Value))
        self._theirs = self._graphs.gradients(cls)
        self.is_fixed = probe_points.same_gradients(self._theirs, self._graphs.gradients(cls))

    def is_same(self) -> bool:
        """Return whether gradwalk's Value, with the members added so far, gives the same gradients."""
        return probe_points.same_gradients(self._theirs, self._graphs.gradients(Value))

    def kept_members(self) -> list[dict[str, Any]]:
        """Return sets of members to keep, to be tried in turn until contributions are added in the script's order.

        The first set is `backward()` alone. The second set has `backward()` and the methods that create several nodes
        where gradwalk creates one. The list is empty if `backward()` uses super().
        """
        theirs = self._cls.backward
        if not isinstance(theirs, FunctionType) or "__class__" in theirs.__code__.co_freevars:
            return []
        alone = {"backward": self._backward()}
        return [alone, alone | self._composed] if self._composed else [alone]

    def _backward(self) -> Callable[[Value], object]:
        """Wrap the script's `backward()` so that it notifies the observers of gradwalk's `backward()`."""
        theirs: Any = self._cls.backward

        @wraps(theirs)
        def backward(root: Value) -> object:
            ends = started(root)
            result = theirs(root)
            for end in ends:
                end()
            return result

        return backward


def _is_composed(cls: Any, name: str) -> bool:
    """Return whether a method of a script's class creates several nodes, for example `a + (-b)` for `a - b`."""
    a, b = cls(3.0), cls(2.0)
    count = probe_points.operand_count(getattr(cls, name))
    try:
        result = getattr(a, name)(*[b][:count])
    except Exception:  # the script's class does not support this
        return False
    children = _operands(result, a * b, (a, b))
    return any(child is not a and child is not b and _operands(child, a * b, (a, b)) for child in children)


def _operands(node: Any, product: Any, factors: tuple[Any, Any]) -> list[Any]:
    """Return the operands of a node of a script's class, from the attribute in which a product holds its factors."""
    names = [name for name in _attributes(product) if _holds(getattr(product, name), factors)]
    return [*getattr(node, names[0], ())] if names else []


def _is_same_argument(cls: Any, index: int) -> bool:
    """Return whether a constructor argument of a script's class has the same meaning as in gradwalk's Value.

    `index` is 1 for children, 2 for op or local gradients, and 3 for label; self is not counted.
    """
    a, b = cls(3.0), cls(-2.0)
    product = a * b
    probes: dict[int, list[Any]] = {1: [(a, b)], 2: ["*", (b.data, a.data)], 3: ["label"]}
    for probe in probes.get(index, []):
        try:
            node = cls(1.5, *[(), ""][: index - 1], probe)
        except Exception:  # the class expects another kind of argument
            continue
        for name in _attributes(node):
            is_set_by_operations = repr(getattr(product, name, None)) != repr(getattr(a, name, None))
            if _holds(getattr(node, name), probe) and (name == "label" if index == 3 else is_set_by_operations):
                return index != 1 or _holds(getattr(product, name), probe)
    return False


def _holds(held: object, given: Any) -> bool:
    """Return whether an attribute holds the objects passed to the constructor, in a collection of any type."""
    if isinstance(held, _COLLECTIONS):
        return {*map(id, held)} == {*map(id, given)}
    return held is given


def _members(cls: type) -> dict[str, Any]:
    """Return a dict of the members of a class and its base classes; slots and names in `_LEFT_OUT` are left out."""
    members = {name: member for base in reversed(cls.__mro__[:-1]) for name, member in vars(base).items()}
    slots = [name for name, member in members.items() if isinstance(member, MemberDescriptorType)]
    return {name: member for name, member in members.items() if name not in _LEFT_OUT and name not in slots}


def _attributes(node: object) -> list[str]:
    """Return the names of an instance's attributes, in its dict or in slots."""
    slots = [
        name for base in type(node).__mro__ for name, m in vars(base).items() if isinstance(m, MemberDescriptorType)
    ]
    return [*getattr(node, "__dict__", {}), *(name for name in slots if hasattr(node, name))]


def _role(held: object, operands: tuple[Any, Any]) -> property | None:
    """Create the property of Value for an attribute with the value `held` in a product; return None if none fits."""
    if callable(held):
        return property(lambda node: node._backward, lambda node, function: setattr(node, "_backward", function))
    if isinstance(held, str) and held == "*":
        return property(lambda node: node._op, lambda node, symbol: setattr(node, "_op", symbol))
    if not isinstance(held, _COLLECTIONS):
        return None
    kind, ids = type(held), [*map(id, held)]  # ids, because the script's class may define == in any way
    if isinstance(held, (set, frozenset)) and set(ids) == {*map(id, operands)}:
        return property(_PREV.__get__, _PREV.__set__)
    if ids == [*map(id, operands)]:
        return property(lambda node: kind(node.operands), _PREV.__set__)
    if _are_numbers(*held) and tuple(held) == (operands[1].data, operands[0].data):
        return property(lambda node: kind(node.partials))
    return None


def _are_numbers(*numbers: object) -> bool:
    return all(isinstance(number, (int, float)) for number in numbers)
