"""Tests of `Closure`, which keeps a function without the node in its closure."""

from __future__ import annotations

import functools

import pytest

from gradwalk.value.sweep.hand_made import Closure


class Node:
    total = 0


def adder(node: Node, amount: int, *, times: int = 1):
    def add(extra: int = 1, *, more: int = 2) -> None:
        node.total += amount * times + extra + more

    return add


def test_node_is_bound_during_a_call():
    node, other = Node(), Node()
    closure = Closure(adder(node, 10), node)
    closure(node)
    assert node.total == 13
    closure(other)
    assert (node.total, other.total) == (13, 13)


def test_other_callables_are_called_unchanged():
    calls = []
    Closure(functools.partial(calls.append, 1), Node())(Node())
    assert calls == [1]


def test_copies_refer_to_replacements():
    node, operand, replacement = Node(), Node(), Node()

    def backward():
        operand.total += 1
        node.total += 10

    copy = Closure(backward, node).replaced({id(operand): replacement})
    twin = Node()
    copy(twin)
    assert (operand.total, node.total, replacement.total, twin.total) == (0, 0, 1, 10)


def test_opaque_callables_cannot_be_copied():
    with pytest.raises(TypeError, match="partial"):
        Closure(functools.partial(print), Node()).replaced({})


def test_empty_cells():
    def outer():
        def backward():
            return late

        closure = Closure(backward, Node())
        late = 3
        return closure, late

    closure, late = outer()
    closure(Node())
    assert late == 3


def test_function_without_a_closure():
    calls = adder.__defaults__
    Closure(adder, Node()).replaced({})
    assert adder.__defaults__ is calls
