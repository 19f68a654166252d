"""Puts gradwalk's Value in the place of a class that a script defines for itself, where the two compute the same.

The name of the class comes to mean `Value` itself, and not a subclass, because what operations return is a plain Value.
A method of the script's class is gradwalk's own where that gives the same numbers to the last bit, in value and in
gradients; every other method of the script goes on as it is written, on gradwalk's nodes. What comes out is compared
with what the script's class gave, and a class whose numbers change is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isclose
from types import FunctionType, MemberDescriptorType
from typing import Any

from gradwalk.cli import samples
from gradwalk.cli.notice import agreed, can_ask, say
from gradwalk.cli.own_class import OwnClass, Script
from gradwalk.cli.samples import Outcome
from gradwalk.value.backward import observed
from gradwalk.value.order import topological_order
from gradwalk.value.source_line import users_line
from gradwalk.value.value import Value

_CALL = "__gradwalk_replacement__"
_RAISES = "raises (gradwalk's Value takes data, children, and op or local gradients, in this order)"
_WATCHED = 20  # passes that are looked at before they begin: a loop that does it does it at once
_COLLECTIONS = (tuple, list, set, frozenset)  # that operands are kept in
_REFUSED = {
    *("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__", "__del__"),
    *("__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__"),  # which no type in C takes afterwards
}
_TOGETHER = (  # what Python makes of one another
    {"__eq__", "__ne__"},
    {"__lt__", "__le__", "__gt__", "__ge__"},
    {"__repr__", "__str__", "__format__"},
)
_LEFT_OUT = {  # what a class is made with, and what gradwalk's Value does for its own nodes
    *("__init__", "__post_init__", "__hash__", "__dict__", "__weakref__", "__slots__", "__module__", "__doc__"),
    *("__qualname__", "__annotations__", "__annotate_func__", "__annotations_cache__", "__match_args__"),
    *("__dataclass_fields__", "__dataclass_params__", "__static_attributes__", "__firstlineno__", "__replace__"),
    *("__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__sizeof__"),
    *("data", "grad", "backward", "label", "_children", "_local_grads", "_prev", "_op", "_backward"),
}


def offer(source: bytes, script: str, command: str, *, ask: bool) -> str | None:
    """Say that a script defines a Value of its own, or ask whether to replace it.

    Args:
        source: The text of the script.
        script: Its path.
        command: The command that was given, "run" or "walk".
        ask: Whether to ask, where there is a terminal; else a line on standard error says what can be asked for.

    Returns:
        The name of the class to replace; None to run the script as it is.
    """
    name = own_class_name(source, script)
    if name is None:
        return None
    if ask and can_ask():
        return name if agreed(f"{script} defines its own {name}. Put gradwalk's in its place?") else None
    say(
        f"{script} defines its own {name}, which runs as it is; this puts gradwalk's in its place: "
        f"gradwalk {command} --replace {name} {script}"
    )
    return None


def own_class_name(source: bytes, script: str) -> str | None:
    """Return the name of the first class of a script that is like micrograd's Value.

    Args:
        source: The text of the script.
        script: Its path.

    Returns:
        The name; None if there is no such class, or the text is not Python, which running it reports.
    """
    if b"def backward" not in source:
        return None
    try:
        return next(iter(Script(source, script).like_micrograds()), None)
    except SyntaxError:
        return None


def execute(source: bytes, script: str, name: str, namespace: dict[str, Any]) -> None:
    """Execute a script with gradwalk's Value in the place of its own class, from where it defines that.

    Args:
        source: The text of the script.
        script: Its path.
        name: The class.
        namespace: The script's globals, which get the object that its two new statements call.

    Raises:
        SyntaxError: If the text is not Python.
        ReplacementError: If there is no such class, or it cannot be replaced. Where the text shows it, nothing of the
            script has been run.
        Exception: Whatever the script raises.
    """
    own = Script(source, script).own_class(name)
    own.refuse_what_would_be_lost()
    namespace[_CALL] = Replacement(own)
    with observed(namespace[_CALL].watch):
        exec(compile(own.replaced(_CALL), script, "exec", dont_inherit=True), namespace)


class Replacement:
    """The replacement of one class, which its script calls as soon as it has defined it.

    Args:
        own: The class, as the script has it.
    """

    def __init__(self, own: OwnClass) -> None:
        self._own = own
        self._expected: dict[str, tuple[int, list[Outcome | None]]] = {}
        self._native: list[str] = []
        self._kept: list[str] = []
        self._operands: list[str] = []
        self._left_to_watch = 0

    def placed(self, cls: type) -> type[Value]:
        """Take in the script's class, while its name still means it, and return what the name is to mean.

        Args:
            cls: The class.

        Returns:
            gradwalk's Value, with those methods of the script that it has not, or has otherwise.

        Raises:
            ReplacementError: If this class keeps other things than gradwalk's.
        """
        self._refuse_other_values(cls)
        self._expected, self._native, self._kept, self._left_to_watch = {}, [], [], 0
        added = self._other_names(cls)
        members = _members(cls)
        for name, member in members.items():
            if self._has_to_be_kept(cls, name, member):
                self._kept.append(name)
                added[name] = member
        for group in _TOGETHER:
            if group & added.keys():
                added |= {name: getattr(object, name) for name in group - members.keys()}
        for name, member in added.items():
            setattr(Value, name, member)
        return Value

    def check(self) -> None:
        """Compare with the script's class, now that its name means gradwalk's, and say what was replaced.

        Raises:
            ReplacementError: If a method gives other numbers, or none of gradwalk's gives the same.
        """
        for name, (count, expected) in self._expected.items():
            different = samples.difference(expected, samples.outcomes(Value, name, count))
            if different is not None:
                theirs, ours = different
                raise self._own.refusal(
                    f"its {name} of {theirs.operands} gives {theirs}, and on gradwalk's nodes "
                    f"{_RAISES if ours is None else ours}"
                )
        if not self._native:
            raise self._own.refusal("all of its methods give other numbers than gradwalk's")
        self._left_to_watch = _WATCHED
        kept = f"; as the script has them: {', '.join(self._kept)}" if self._kept else ""
        say(f"{self._own.name} of {self._own.path} is gradwalk's{kept}{self._said_of_graph()}")

    def watch(self, root: Value) -> Callable[[], None]:
        """Look, before one of the first passes, for gradients that are left of an earlier one.

        Args:
            root: The root of the pass.

        Returns:
            A function to call after the pass, which does nothing.
        """
        if self._left_to_watch == 0:
            return _nothing
        self._left_to_watch -= 1
        if any(node.grad and node.operands for node in topological_order(root)):
            self._left_to_watch = 0
            say(
                f"{users_line()}: backward() goes through results that have a gradient from an earlier pass. "
                f"gradwalk's adds that of this pass alone; the script's {self._own.name} passes the earlier one on "
                "again, so the numbers differ from here on"
            )
        return _nothing

    def _said_of_graph(self) -> str:
        """That the script looks at the graph itself, if it does, where gradwalk's is another."""
        for name in ("_children", "_prev", *self._operands):
            if name in self._own.used_outside:
                line = self._own.used_outside[name]
                return f"; line {line} reads .{name}: gradwalk's graph has fewer nodes, such as one for a - b"
        return ""

    def _has_to_be_kept(self, cls: type, name: str, member: object) -> bool:
        """Whether a member of the script's class has to take its place in gradwalk's."""
        if isinstance(member, FunctionType) and "__class__" in member.__code__.co_freevars:
            raise self._own.refusal(f"its {name} uses super()")
        if not hasattr(Value, name):
            return True
        if not isinstance(member, FunctionType):
            raise self._own.refusal(f"its .{name} is not the method that gradwalk's Value has under this name")
        code = member.__name__  # another than the name where a class says __radd__ = __add__
        if code in self._own.effects:
            raise self._own.refusal(f"its {name} does more than compute, in line {self._own.effects[code]}")
        count = samples.operand_count(member)
        if count is None:
            return True
        theirs = samples.outcomes(cls, name, count)
        self._expected[name] = count, theirs
        is_same = samples.difference(theirs, samples.outcomes(Value, name, count)) is None
        shows_labels = name in ("__repr__", "__str__")  # as gradwalk's does, to which any Value may get one
        if code in self._own.of_powers or not is_same or not any(theirs) or shows_labels:
            return True
        self._native.append(name)
        return False

    def _refuse_other_values(self, cls: type) -> None:
        """Refuse a class whose instances or gradients are not those of micrograd."""
        for name in sorted(_REFUSED & _members(cls).keys()):
            raise self._own.refusal(f"it defines {name}")
        try:
            leaf = cls(1.5)
            data, grad, gradients = leaf.data, leaf.grad, samples.gradients(cls)
        except Exception as error:
            raise self._own.refusal(f"sums and products of {cls.__name__}(1.5) raise {error!r}") from None
        if not _are_numbers(data, grad) or (data, grad) != (1.5, 0.0):
            raise self._own.refusal(f"{cls.__name__}(1.5) has .data {data!r} and .grad {grad!r}, not 1.5 and 0.0")
        ours = samples.gradients(Value)
        if not (_are_numbers(*gradients) and all(map(partial(isclose, rel_tol=1e-9), gradients, ours))):
            raise self._own.refusal(
                f"in a graph of sums and products its backward() gives the gradients {gradients}, and gradwalk's {ours}"
            )

    def _other_names(self, cls: type) -> dict[str, object]:
        """Properties for attributes that the script's class has under other names than gradwalk's."""
        a, b, leaf = cls(3.0), cls(-2.0), Value(3.0)
        out = a * b
        found: dict[str, object] = {}
        for name in self._own.used & {"label", "op", "_op"}:
            for what, their, our in (("leaf", a, leaf), ("product", out, leaf * -2.0)):
                theirs, ours = getattr(their, name, None), getattr(our, name)
                if theirs is not None and theirs != ours:
                    raise self._own.refusal(f"the script uses .{name}, which of a {what} is {theirs!r}, not {ours!r}")
        for name in _attributes(out):
            if hasattr(Value, name) or name in vars(cls).keys() & _members(cls).keys():
                continue
            held = getattr(out, name)
            role = _role(held, (a, b))
            if role is not None:
                found[name] = role
                self._operands += [name] if isinstance(held, _COLLECTIONS) and any(one is a for one in held) else []
            elif name in self._own.used:
                raise self._own.refusal(f"the script uses its .{name}, which gradwalk's Value has not")
        return found


def _nothing() -> None:
    """What is to be done after a pass."""


def _members(cls: type) -> dict[str, Any]:
    """The members of a class and its bases that are a matter of its own, by name."""
    members = {name: member for base in reversed(cls.__mro__[:-1]) for name, member in vars(base).items()}
    slots = [name for name, member in members.items() if isinstance(member, MemberDescriptorType)]
    return {name: member for name, member in members.items() if name not in _LEFT_OUT and name not in slots}


def _attributes(node: object) -> list[str]:
    """The names of the attributes that an instance has, in its dict or in slots."""
    slots = [
        name for base in type(node).__mro__ for name, m in vars(base).items() if isinstance(m, MemberDescriptorType)
    ]
    return [*getattr(node, "__dict__", {}), *(name for name in slots if hasattr(node, name))]


def _role(held: object, operands: tuple[Any, Any]) -> property | None:
    """What of gradwalk's Value has the part of an attribute of a product of two operands; None if nothing has."""
    if callable(held):
        return property(lambda node: node._backward, lambda node, function: setattr(node, "_backward", function))
    if isinstance(held, str) and held == "*":
        return property(lambda node: node._op, lambda node, symbol: setattr(node, "_op", symbol))
    if not isinstance(held, _COLLECTIONS):
        return None
    kind, ids = type(held), [*map(id, held)]  # ids, because == of the script's class may be anything
    if isinstance(held, (set, frozenset)) and set(ids) == {*map(id, operands)}:
        return property(lambda node: node._prev, lambda node, children: setattr(node, "_prev", children))
    if ids == [*map(id, operands)]:
        return property(lambda node: kind(node._children), lambda node, children: setattr(node, "_prev", children))
    if _are_numbers(*held) and tuple(held) == (operands[1].data, operands[0].data):
        return property(lambda node: kind(node._local_grads))
    return None


def _are_numbers(*numbers: object) -> bool:
    return all(isinstance(number, (int, float)) for number in numbers)
