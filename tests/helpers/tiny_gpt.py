"""A small GPT on names with its own autodiff engine, similar to the scripts people write after microgpt.

usage: python tiny_gpt.py NAMES STEPS

Numbers are printed with all digits, so equal output means equal numbers.
"""

import math
import random
import sys

WIDTH, HEADS, CONTEXT, RATE = 8, 2, 8, 0.02
say = sys.stdout.write


class Scalar:
    __slots__ = ("data", "grad", "inputs", "slopes")

    def __init__(self, data, inputs=(), slopes=()):
        self.data = data
        self.grad = 0.0
        self.inputs = inputs
        self.slopes = slopes

    def __add__(self, other):
        other = lifted(other)
        return Scalar(self.data + other.data, inputs=(self, other), slopes=(1.0, 1.0))

    def __mul__(self, other):
        other = lifted(other)
        return Scalar(self.data * other.data, inputs=(self, other), slopes=(other.data, self.data))

    def __pow__(self, power):
        return Scalar(self.data**power, (self,), (power * self.data ** (power - 1),))

    def exp(self):
        result = math.exp(self.data)
        return Scalar(result, (self,), (result,))

    def log(self):
        return Scalar(math.log(self.data), (self,), (1.0 / self.data,))

    def relu(self):
        return Scalar(self.data if self.data > 0.0 else 0.0, (self,), (float(self.data > 0.0),))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-other)

    def __truediv__(self, other):
        return self * other**-1

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self):
        order, seen = [], set()

        def visit(node):
            if node not in seen:
                seen.add(node)
                for operand in node.inputs:
                    visit(operand)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            for operand, slope in zip(node.inputs, node.slopes, strict=True):
                operand.grad += slope * node.grad


def lifted(x):
    return x if isinstance(x, Scalar) else Scalar(x)


def product(matrix, vector):
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in matrix]


def normed(vector):
    size = sum(x * x for x in vector) / len(vector)
    return [x * (size + 1e-5) ** -0.5 for x in vector]


def shares(scores):
    highest = max(score.data for score in scores)
    powers = [(score - highest).exp() for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


class Model:
    def __init__(self, letters):
        def matrix(rows, columns):
            return [[Scalar(random.gauss(0.0, 0.1)) for _ in range(columns)] for _ in range(rows)]

        self.letters, self.places = matrix(letters, WIDTH), matrix(CONTEXT, WIDTH)
        self.query, self.key, self.value, self.mix = [matrix(WIDTH, WIDTH) for _ in range(4)]
        self.wider, self.narrower = matrix(2 * WIDTH, WIDTH), matrix(WIDTH, 2 * WIDTH)
        self.head = matrix(letters, WIDTH)
        self.parameters = [p for part in vars(self).values() for row in part for p in row]

    def step(self, letter, place, past):
        x = [a + b for a, b in zip(self.letters[letter], self.places[place], strict=True)]
        y = normed(x)
        past.append((product(self.key, y), product(self.value, y)))
        question, heard, size = product(self.query, y), [], WIDTH // HEADS
        for start in range(0, WIDTH, size):
            part = range(start, start + size)
            weights = shares([sum(question[j] * key[j] for j in part) / size**0.5 for key, _ in past])
            heard += [sum(w * value[j] for w, (_, value) in zip(weights, past, strict=True)) for j in part]
        x = [a + b for a, b in zip(x, product(self.mix, heard), strict=True)]
        hidden = [h.relu() for h in product(self.wider, normed(x))]
        x = [a + b for a, b in zip(x, product(self.narrower, hidden), strict=True)]
        return shares(product(self.head, x))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123  a script as people write it
        names = file.read().split()
    steps = int(sys.argv[2])
    random.seed(7)
    random.shuffle(names)
    letters = sorted(set("".join(names)))
    end = len(letters)
    model = Model(end + 1)
    first, second = [[0.0] * len(model.parameters) for _ in range(2)]
    for step in range(steps):
        text = [end, *map(letters.index, names[step]), end][: CONTEXT + 1]
        past = []
        chances = [model.step(letter, place, past)[text[place + 1]] for place, letter in enumerate(text[:-1])]
        loss = sum(-chance.log() for chance in chances) / len(chances)
        loss.backward()
        say(f"{step} {loss.data!r}\n")
        for i, p in enumerate(model.parameters):
            first[i] = 0.9 * first[i] + 0.1 * p.grad
            second[i] = 0.99 * second[i] + 0.01 * p.grad**2
            unbiased = second[i] / (1.0 - 0.99 ** (step + 1))
            p.data -= RATE * (1.0 - step / steps) * first[i] / (1.0 - 0.9 ** (step + 1)) / (unbiased**0.5 + 1e-8)
            p.grad = 0
    for _ in range(5):
        letter, past, name = end, [], ""
        while len(past) < CONTEXT:
            chances = [chance.data for chance in model.step(letter, len(past), past)]
            letter = random.choices(range(end + 1), weights=chances)[0]
            if letter == end:
                break
            name += letters[letter]
        say(f"{name}\n")
    say(f"{sum(p.data for p in model.parameters)!r}\n")


if __name__ == "__main__":
    main()
