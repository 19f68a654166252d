"""Train a GPT that is written for single numbers, and let it invent given names.

    python examples/microgpt.py --steps 1000 --samples 20

The model and its training are those of Karpathy's microgpt: embeddings of letters and places, attention with several
heads, a layer of neurons, residual paths around both, and Adam. One source runs in every way that gradwalk knows;
`--run` chooses: on `Value`s (`eager`), as a recorded gradient (`recorded`), as a whole training step in one program
(`program`), and on the gradients of several names at once (`batches`).
"""

import argparse
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from gradwalk import Value, jit, label, math, named_scope, optim, value_and_grad, vmap

Scalar = Any  # float, Value, or what stands for one in a recording
Vector = Sequence[Scalar]
Matrix = Sequence[Vector]
Weights = dict[str, Any]  # of matrices

NAMES = Path(__file__).with_name("names.txt")
WIDTH, HEADS, PLACES = 16, 4, 16  # the heads divide the width; a name has a letter less than there are places
SPREAD = 0.08  # of the weights before training
BATCH = 16  # names


# Letters as numbers


def read_names(path: Path) -> list[str]:
    """The names of a file, one a line, of any letters. Raises `ValueError` where there are none."""
    try:
        names = [name for line in path.read_text(encoding="utf-8").splitlines() if (name := line.strip())]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read as text: {error}") from error
    if not names:
        raise ValueError(f"{path} has no names: write one a line")
    return names


class Tokenizer:
    """Letters as numbers, counted in the order of the alphabet. The last number, `end`, stands around a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.letters = "".join(sorted(set("".join(names))))
        self.end = len(self.letters)

    def __len__(self) -> int:
        return self.end + 1

    def encode(self, name: str) -> list[int]:
        """The tokens of a name, between its ends; of a long one as many as there are places for."""
        return [self.end, *map(self.letters.index, name), self.end][: PLACES + 1]

    def decode(self, tokens: Sequence[int]) -> str:
        """The letters of some tokens that are no ends."""
        return "".join(self.letters[token] for token in tokens)


# The model


def initial_weights(letters: int, rng: random.Random) -> Weights:
    """Matrices of random numbers, by name: what the model has to learn."""

    def matrix(rows: int, columns: int = WIDTH) -> Any:
        return np.array([[rng.gauss(0.0, SPREAD) for _ in range(columns)] for _ in range(rows)])

    embeddings = {"letters": matrix(letters), "places": matrix(PLACES), "unembed": matrix(letters)}
    attention = {name: matrix(WIDTH) for name in ("query", "key", "value", "mix")}
    return embeddings | attention | {"widen": matrix(4 * WIDTH), "narrow": matrix(WIDTH, 4 * WIDTH)}


def linear(matrix: Matrix, x: Vector) -> Vector:
    """The matrix times the vector."""
    return [math.sumprod(row, x) for row in matrix]


@named_scope("norm")
def rms_norm(x: Vector) -> Vector:
    """The vector scaled to a root mean square of 1."""
    scale = (math.sumprod(x, x) / len(x) + 1e-5) ** -0.5
    return [component * scale for component in x]


class GPT:
    """Reads a name letter by letter, and says of each what may follow it."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.keys: list[Vector] = []  # of the letters read so far
        self.values: list[Vector] = []

    def read(self, token: Scalar) -> Vector:
        """The logits of all letters to follow this one, which comes after those that were read before."""
        place = len(self.keys)
        with named_scope(f"place{place}"):
            with named_scope("embed"):
                embedded = map(add, math.take(self.weights["letters"], token), self.weights["places"][place])
                x = label(rms_norm(label(list(embedded), "sum")), "x")
            with named_scope("attention"):
                x = label(list(map(add, self.attend(rms_norm(x)), x)), "x")
            with named_scope("mlp"):
                x = label(list(map(add, self.think(rms_norm(x)), x)), "x")
            with named_scope("logits"):
                logits = linear(self.weights["unembed"], x)
            return label(logits, "logit")

    def attend(self, x: Vector) -> Vector:
        """What the heads find in this letter and those before it."""
        query = label(linear(self.weights["query"], x), "query")
        self.keys.append(label(linear(self.weights["key"], x), "key"))
        self.values.append(label(linear(self.weights["value"], x), "value"))
        size = WIDTH // HEADS
        found: list[Scalar] = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            with named_scope(f"head{head}"):
                found += self.look(query[part], [key[part] for key in self.keys], [v[part] for v in self.values])
        return linear(self.weights["mix"], found)

    def look(self, query: Vector, keys: Sequence[Vector], values: Sequence[Vector]) -> Vector:
        """The mean of the values, weighted by how well their keys fit the query."""
        scores = label([math.sumprod(query, key) / len(query) ** 0.5 for key in keys], "score")
        weights = label(math.softmax(scores), "weight")
        return label([math.sumprod(weights, components) for components in zip(*values, strict=True)], "found")

    def think(self, x: Vector) -> Vector:
        """A layer of neurons, and back to the width of the model."""
        hidden = label([math.relu(neuron) for neuron in linear(self.weights["widen"], x)], "hidden")
        return linear(self.weights["narrow"], hidden)


def loss(weights: Weights, tokens: Sequence[Scalar], targets: Sequence[Scalar]) -> Scalar:
    """The mean of -log(probability) of the letters that follow those of a name, in nats."""
    gpt = GPT(weights)
    logits = [gpt.read(token) for token in tokens]
    with named_scope("loss"):
        losses = [math.logsumexp(row) - math.take(row, target) for row, target in zip(logits, targets, strict=True)]
        mean = sum(losses) / len(losses)
    label(losses, "loss")
    return mean


def by_backward(weights: Weights, tokens: Sequence[int], targets: Sequence[int]) -> tuple[float, Weights]:
    """The loss and its gradient, by a sweep over the graph of all Values."""
    values = named_values(weights)
    result = loss(values, tokens, targets)
    result.backward()
    slopes = {name: np.array([[leaf.grad for leaf in row] for row in matrix]) for name, matrix in values.items()}
    return result.data, slopes


def named_values(weights: Weights) -> Weights:
    """The weights as Values, each named by its path, such as `query.3.5`: for `walk(loss(...))` and `backward()`."""
    return {
        name: [[Value(float(w), label=f"{name}.{i}.{j}") for j, w in enumerate(row)] for i, row in enumerate(matrix)]
        for name, matrix in weights.items()
    }


# Training


def adam(steps: int) -> optim.GradientTransformation:
    """Adam, at a rate that falls to 0."""
    return optim.adam(optim.linear_schedule(0.01, 0.0, steps), b1=0.85, b2=0.99, eps=1e-8)


Step = Callable[..., Any]  # takes weights, state, tokens and targets; returns the next weights and state, and the loss
RUNS = ("program", "recorded", "eager", "batches")


def step_of(run: str, optimiser: optim.GradientTransformation) -> Step:
    """A training step that runs in the given way."""

    def learn(weights: Weights, state: Any, slopes: Weights) -> tuple[Weights, Any]:
        updates, state = optimiser.update(slopes, state, weights)
        return optim.apply_updates(weights, updates), state

    gradients: dict[str, Callable[..., Any]] = {
        "program": value_and_grad(loss),  # recorded below, together with all else
        "recorded": jit(value_and_grad(loss)),
        "eager": by_backward,
        "batches": jit(vmap(value_and_grad(loss), in_axes=(None, 0, 0), reduce="mean")),
    }
    gradient = gradients[run]
    if run in ("recorded", "batches"):
        learn = jit(learn)

    def step(weights: Weights, state: Any, tokens: Any, targets: Any) -> Any:
        value, slopes = gradient(weights, tokens, targets)
        return *learn(weights, state, slopes), value

    return jit(step) if run == "program" else step


def examples(names: Sequence[str], tokenizer: Tokenizer, run: str, rng: random.Random) -> Iterator[tuple[Any, Any]]:
    """Tokens and those that follow them, without end: of one name after the other, or of batches of equal length."""
    spellings = [tokenizer.encode(name) for name in names]
    by_length = defaultdict(list)
    for spelling in spellings:
        by_length[len(spelling)].append(spelling)
    for turn in count():
        spelling = spellings[turn % len(spellings)]
        if run == "eager":
            yield spelling[:-1], spelling[1:]
        else:
            chosen = np.array(rng.choices(by_length[len(spelling)], k=BATCH) if run == "batches" else spelling, float)
            yield chosen[..., :-1], chosen[..., 1:]


def train(
    weights: Weights, names: Sequence[str], tokenizer: Tokenizer, steps: int, run: str, rng: random.Random
) -> Iterator[tuple[float, Weights]]:
    """Yield the loss before each step, and the weights after it."""
    optimiser = adam(steps)
    state = optimiser.init(weights)
    step = step_of(run, optimiser)
    for _, (tokens, targets) in zip(range(steps), examples(names, tokenizer, run, rng), strict=False):
        weights, state, value = step(weights, state, tokens, targets)
        yield float(value), weights


# Sampling


def invent(weights: Weights, tokenizer: Tokenizer, rng: random.Random, temperature: float) -> str:
    """A name drawn letter by letter; the lower the temperature, the likelier the letters."""
    gpt = GPT({name: matrix.tolist() for name, matrix in weights.items()})  # on floats: for some letters, it is enough
    tokens = [tokenizer.end]
    while len(tokens) <= PLACES:
        logits = gpt.read(tokens[-1])
        probabilities = math.softmax([logit / temperature for logit in logits])
        tokens += rng.choices(range(len(tokenizer)), probabilities)
        if tokens[-1] == tokenizer.end:
            return tokenizer.decode(tokens[1:-1])
    return tokenizer.decode(tokens[1:])


def main() -> None:
    """Read the command line, train, and invent."""
    parser = argparse.ArgumentParser(description="Train microgpt on given names.")
    parser.add_argument("--names", type=Path, default=NAMES, help="a file with a name a line (default: names.txt)")
    parser.add_argument("--steps", type=int, default=1000, help="of training (default: %(default)s)")
    parser.add_argument("--run", choices=RUNS, default=RUNS[0], help="how a step runs (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=20, help="names to invent (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.5, help="of the samples (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=42, help="of everything random (default: %(default)s)")
    options = parser.parse_args()
    if options.temperature <= 0:
        parser.error(f"--temperature is {options.temperature}: it has to be above 0")
    try:
        names = read_names(options.names)
    except ValueError as error:
        parser.error(str(error))

    rng = random.Random(options.seed)
    rng.shuffle(names)
    tokenizer = Tokenizer(names)
    weights = initial_weights(len(tokenizer), rng)
    print(f"{len(names)} names, {len(tokenizer)} tokens, {sum(map(np.size, weights.values()))} parameters")
    training = train(weights, names, tokenizer, options.steps, options.run, rng)
    for number, (value, learnt) in enumerate(training, 1):
        print(f"step {number:4d} / {options.steps:4d} | loss {value:.4f}")
        weights = learnt
    print("--- invented names ---")
    for _ in range(options.samples):
        print(invent(weights, tokenizer, rng, options.temperature))


if __name__ == "__main__":
    main()
