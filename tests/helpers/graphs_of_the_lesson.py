"""The graphs of a backpropagation lesson, built by hand, with their expected gradients."""

from __future__ import annotations

from gradwalk import Value


def labeled(value: Value, label: str) -> Value:
    value.label = label
    return value


def leaves(**numbers: float) -> list[Value]:
    return [Value(number, label=name) for name, number in numbers.items()]


def neuron() -> Value:
    x1, x2, w1, w2, b = leaves(x1=2.0, x2=0.0, w1=-3.0, w2=1.0, b=6.8813735870195432)
    x1w1, x2w2 = labeled(x1 * w1, "x1w1"), labeled(x2 * w2, "x2w2")
    n = labeled(labeled(x1w1 + x2w2, "x1w1x2w2") + b, "n")
    return labeled(n.tanh(), "o")


def twice() -> Value:
    (a,) = leaves(a=3.0)
    return labeled(a + a, "b")


def square() -> Value:
    (a,) = leaves(a=3.0)
    return labeled(a * a, "f")


def product_of_product_and_sum() -> Value:
    a, b = leaves(a=-2.0, b=3.0)
    return labeled(labeled(a * b, "d") * labeled(a + b, "e"), "f")


def sum_times() -> Value:
    a, b, c = leaves(a=2.0, b=-3.0, c=10.0)
    return labeled(labeled(a + b, "e") * c, "f")


def diamond() -> Value:
    (a,) = leaves(a=2.0)
    return labeled(labeled(a + 1, "b") * labeled(a * 3, "c"), "d")


def power() -> Value:
    a, b = leaves(a=2.0, b=3.0)
    return labeled(labeled(labeled(a * b, "c") + a, "d") ** 2, "e")


def loss() -> Value:
    a, b, c, f = leaves(a=2.0, b=-3.0, c=10.0, f=-2.0)
    return labeled(labeled(labeled(a * b, "e") + c, "d") * f, "L")


GRADIENTS = {
    neuron: {"o": 1, "n": 0.5, "b": 0.5, "x1w1x2w2": 0.5, "x1w1": 0.5, "x2w2": 0.5}
    | {"x1": -1.5, "w1": 1.0, "x2": 0.5, "w2": 0.0},
    twice: {"b": 1, "a": 2},
    square: {"f": 1, "a": 6},
    product_of_product_and_sum: {"f": 1, "d": 1, "e": -6, "a": -3, "b": -8},
    sum_times: {"f": 1, "e": 10, "c": -1, "a": 10, "b": 10},
    diamond: {"d": 1, "b": 6, "c": 3, "a": 15},
    power: {"e": 1, "d": 16, "c": 16, "a": 64, "b": 32},
    loss: {"L": 1, "d": -2, "f": 4, "e": -2, "c": -2, "a": 6, "b": -4},
}
