"""Train a GPT whose model code works on single numbers, and generate given names with it.

    python examples/microgpt.py --steps 1000 --samples 20

The model and its training follow Karpathy's microgpt: embeddings of letters and positions, multi-head attention, an
MLP, residual connections around both, and Adam. The same source runs in four ways, selected by `--run`: on `Value`s
with `backward()` (`eager`), with a recorded gradient (`recorded`), as one program for the whole training step
(`program`), and with gradients of several names at once (`batches`).
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

Scalar = Any  # a float, a Value, or a tracer
Vector = Sequence[Scalar]
Matrix = Sequence[Vector]
Weights = dict[str, Any]  # matrices by name

NAMES = Path(__file__).with_name("names.txt")
WIDTH, HEADS, PLACES = 16, 4, 16  # HEADS divides WIDTH; a name has at most PLACES - 1 letters
SPREAD = 0.08  # standard deviation of the initial weights
BATCH = 16  # names per step with --run batches


# Tokens


def read_names(path: Path) -> list[str]:
    """Read the names of a file, one per line. Raise `ValueError` if there are none."""
    try:
        names = [name for line in path.read_text(encoding="utf-8").splitlines() if (name := line.strip())]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path} as text: {error}") from error
    if not names:
        raise ValueError(f"{path} must contain at least one name, one per line")
    return names


class Tokenizer:
    """Maps letters to numbers in alphabetical order. The last token, `end`, marks both ends of a name."""

    def __init__(self, names: Sequence[str]) -> None:
        self.letters = "".join(sorted(set("".join(names))))
        self.end = len(self.letters)

    def __len__(self) -> int:
        return self.end + 1

    def encode(self, name: str) -> list[int]:
        """Return the tokens of a name, including its end tokens; long names are truncated."""
        return [self.end, *map(self.letters.index, name), self.end][: PLACES + 1]

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the letters of tokens, which must not contain `end`."""
        return "".join(self.letters[token] for token in tokens)


# The model


def initial_weights(letters: int, rng: random.Random) -> Weights:
    """Return the randomly initialized weight matrices, by name."""

    def matrix(rows: int, columns: int = WIDTH) -> Any:
        return np.array([[rng.gauss(0.0, SPREAD) for _ in range(columns)] for _ in range(rows)])

    embeddings = {"letters": matrix(letters), "places": matrix(PLACES), "unembed": matrix(letters)}
    attention = {name: matrix(WIDTH) for name in ("query", "key", "value", "mix")}
    return embeddings | attention | {"widen": matrix(4 * WIDTH), "narrow": matrix(WIDTH, 4 * WIDTH)}


def linear(matrix: Matrix, x: Vector) -> Vector:
    """Return the matrix-vector product."""
    return [math.sumprod(row, x) for row in matrix]


@named_scope("norm")
def rms_norm(x: Vector) -> Vector:
    """Scale a vector to a root mean square of 1."""
    scale = (math.sumprod(x, x) / len(x) + 1e-5) ** -0.5
    return [component * scale for component in x]


class GPT:
    """Reads a name letter by letter and predicts the next letter."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.keys: list[Vector] = []  # one per token read so far
        self.values: list[Vector] = []

    def read(self, token: Scalar) -> Vector:
        """Append a token to the sequence and return the logits of the next token."""
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
        """Apply multi-head attention to this position and the previous ones."""
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
        """Return the mean of the values, weighted by the softmax of query-key products."""
        scores = label([math.sumprod(query, key) / len(query) ** 0.5 for key in keys], "score")
        weights = label(math.softmax(scores), "weight")
        return label([math.sumprod(weights, components) for components in zip(*values, strict=True)], "found")

    def think(self, x: Vector) -> Vector:
        """Apply a hidden layer of neurons and project back to the model width."""
        hidden = label([math.relu(neuron) for neuron in linear(self.weights["widen"], x)], "hidden")
        return linear(self.weights["narrow"], hidden)


def loss(weights: Weights, tokens: Sequence[Scalar], targets: Sequence[Scalar]) -> Scalar:
    """Return the mean of -log(probability of the next token), in nats."""
    gpt = GPT(weights)
    logits = [gpt.read(token) for token in tokens]
    with named_scope("loss"):
        losses = [math.logsumexp(row) - math.take(row, target) for row, target in zip(logits, targets, strict=True)]
        mean = sum(losses) / len(losses)
    label(losses, "loss")
    return mean


def by_backward(weights: Weights, tokens: Sequence[int], targets: Sequence[int]) -> tuple[float, Weights]:
    """Return the loss and its gradient, by `backward()` on the graph of Values."""
    values = named_values(weights)
    result = loss(values, tokens, targets)
    result.backward()
    slopes = {name: np.array([[leaf.grad for leaf in row] for row in matrix]) for name, matrix in values.items()}
    return result.data, slopes


def named_values(weights: Weights) -> Weights:
    """Return the weights as Values labeled by their path, such as `query.3.5`, for `walk` and `backward()`."""
    return {
        name: [[Value(float(w), label=f"{name}.{i}.{j}") for j, w in enumerate(row)] for i, row in enumerate(matrix)]
        for name, matrix in weights.items()
    }


# Training


def adam(steps: int) -> optim.GradientTransformation:
    """Return the Adam optimizer with a learning rate that falls linearly to 0."""
    return optim.adam(optim.linear_schedule(0.01, 0.0, steps), b1=0.85, b2=0.99, eps=1e-8)


Step = Callable[..., Any]  # maps (weights, state, tokens, targets) to (weights, state, loss)
RUNS = ("program", "recorded", "eager", "batches")


def step_of(run: str, optimizer: optim.GradientTransformation) -> Step:
    """Return a training step that runs in the given way."""

    def learn(weights: Weights, state: Any, slopes: Weights) -> tuple[Weights, Any]:
        updates, state = optimizer.update(slopes, state, weights)
        return optim.apply_updates(weights, updates), state

    gradients: dict[str, Callable[..., Any]] = {
        "program": value_and_grad(loss),  # recorded below, together with the update
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
    """Yield tokens and next tokens without end: one name at a time, or batches of names of equal length."""
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
    """Yield the loss before each step and the weights after it."""
    optimizer = adam(steps)
    state = optimizer.init(weights)
    step = step_of(run, optimizer)
    for _, (tokens, targets) in zip(range(steps), examples(names, tokenizer, run, rng), strict=False):
        weights, state, value = step(weights, state, tokens, targets)
        yield float(value), weights


# Sampling


def invent(weights: Weights, tokenizer: Tokenizer, rng: random.Random, temperature: float) -> str:
    """Generate a name letter by letter; a lower temperature favors likely letters."""
    gpt = GPT({name: matrix.tolist() for name, matrix in weights.items()})  # plain floats are fast enough here
    tokens = [tokenizer.end]
    while len(tokens) <= PLACES:
        logits = gpt.read(tokens[-1])
        probabilities = math.softmax([logit / temperature for logit in logits])
        tokens += rng.choices(range(len(tokenizer)), probabilities)
        if tokens[-1] == tokenizer.end:
            return tokenizer.decode(tokens[1:-1])
    return tokenizer.decode(tokens[1:])


def main() -> None:
    """Parse the command line, train, and generate names."""
    parser = argparse.ArgumentParser(description="Train microgpt on given names.")
    parser.add_argument("--names", type=Path, default=NAMES, help="file with one name per line (default: names.txt)")
    parser.add_argument("--steps", type=int, default=1000, help="training steps (default: %(default)s)")
    parser.add_argument("--run", choices=RUNS, default=RUNS[0], help="how to run a step (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=20, help="names to generate (default: %(default)s)")
    parser.add_argument("--temperature", type=float, default=0.5, help="sampling temperature (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=42, help="random seed (default: %(default)s)")
    options = parser.parse_args()
    if options.temperature <= 0:
        parser.error(f"--temperature must be > 0, got {options.temperature}")
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
