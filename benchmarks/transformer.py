"""A transformer made of scalars, forward + backward: at least 28 times the same program on plain-Python Values.

The program is `examples/scalar_gpt.py`, the loss of a few names; the plain Values are those of `plain_value.py`.
"""

from __future__ import annotations

import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import plain_value
from plain_value import Value as Plain
from timing import Row, best_of, faster, main

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
sys.setrecursionlimit(1_000_000)  # the plain Values' backward recurses as deep as the graph

NAMES = ("emma", "olivia", "isabella", "william")


class Program:
    """The transformer on one kind of scalars, with the same weights for each."""

    def __init__(self, scalar_gpt: Any, scalars: Any) -> None:
        self.model = scalar_gpt.Transformer(scalars=scalars, rng=random.Random(1337))
        self.parameters = list(self.model.parameters)

    def run(self, names: tuple[str, ...]) -> float:
        """Forward and backward; the loss."""
        for parameter in self.parameters:
            parameter.grad = 0.0
        loss = self.model.loss(names)
        loss.backward()
        return float(loss.data)


def check_same(ours: Program, theirs: Program, names: tuple[str, ...]) -> None:
    """Raise `AssertionError` where the losses or the gradients differ by more than 1e-10."""
    differences = [abs(ours.run(names) - theirs.run(names))]
    differences += [abs(p.grad - q.grad) for p, q in zip(ours.parameters, theirs.parameters, strict=True)]
    if max(differences) > 1e-10:
        raise AssertionError(f"gradwalk and plain Values differ by {max(differences)}")


def measure(quick: bool) -> list[Row]:
    """A row with the garbage collector off and one with it on."""
    names, turns = (NAMES[:1], 1) if quick else (NAMES, 2)
    scalar_gpt: Any = import_module("scalar_gpt")
    scalars = scalar_gpt.Scalars(Plain, plain_value.sumprod, Plain.exp, Plain.log, Plain.sqrt, Plain.relu)
    ours, theirs = Program(scalar_gpt, scalar_gpt.Scalars()), Program(scalar_gpt, scalars)
    check_same(ours, theirs, names)
    rows = []
    for setting, collector in (("collector off", False), ("as shipped", True)):
        best = best_of(turns, {"ours": lambda: ours.run(names), "theirs": lambda: theirs.run(names)}, collector)
        plain = ("plain Python", 1e3 * best["theirs"])
        rows.append(faster(f"scalar transformer, {setting}", "ms", 1e3 * best["ours"], plain, 28))
    return rows


if __name__ == "__main__":
    main(measure)
