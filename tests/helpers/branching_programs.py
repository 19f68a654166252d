"""Random Python functions that branch, loop, round, look up, mutate, print and raise, written as source code."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

from gradwalk import loops, math

UNARY = ("math.sin({})", "math.exp(-{} * {})", "abs({})", "math.sqrt(1.0 + {} * {})", "(-{})", "0.5 * {}")
BINARY = ("{} + {}", "{} - 0.3 * {}", "{} * {}", "{} / (1.5 + abs({}))", "max({}, {})", "min({}, {})")
ROUNDED = ("int({})", "round({}, 1)", "round({})", "({} // 0.7)", "int({}) % 3", "[0.5, 2.0][{} > 0.4]")
CONDITIONS = (
    "{} > {}",
    "{} < 0.3 * {}",
    "{} * {} <= 0.2",
    "not {} > 0.1 + {}",
    "0.0 < {} < 1.0 + {}",
    "{} == round({})",
)


class Dice:
    """Draws a function of two numbers. `names` are the variables that are defined at the current place."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0

    def operand(self, names: list[str]) -> str:
        return self.rng.choice(names) if self.rng.random() < 0.85 else repr(round(self.rng.uniform(-2.0, 2.0), 2))

    def filled(self, patterns: tuple[str, ...], names: list[str]) -> str:
        pattern = self.rng.choice(patterns)
        if pattern in UNARY or pattern in ROUNDED:
            name = self.rng.choice(names)
            return pattern.replace("{}", name)
        return pattern.format(self.rng.choice(names), self.operand(names))

    def expression(self, names: list[str]) -> str:
        kind = self.rng.random()
        if kind < 0.15:
            return f"{self.filled(ROUNDED, names)} * {self.rng.choice(names)}"
        if kind < 0.25:
            one, other = self.rng.choice(names), self.rng.choice(names)
            return f"{one} if {self.filled(CONDITIONS, names)} else 0.7 * {other}"
        if kind < 0.3:
            return f"sorted([{', '.join(self.rng.choices(names, k=3))}])[{self.rng.randrange(3)}]"
        return self.filled(UNARY if kind < 0.6 else BINARY, names)

    def block(self, depth: int, names: list[str], indent: str) -> list[str]:
        """Append statements; return the variables that are defined after them."""
        names = [*names]
        for _ in range(self.rng.randint(1, 4)):
            names = self.statement(depth, names, indent)
        return names

    def statement(self, depth: int, names: list[str], indent: str) -> list[str]:
        kind = self.rng.random()
        if depth == 0 or kind < 0.4:
            name = f"v{self.count}" if self.rng.random() < 0.6 else self.rng.choice(names)
            self.count += 1
            self.lines.append(f"{indent}{name} = {self.expression(names)}")
            return [*dict.fromkeys([*names, name])]
        inner = indent + "    "
        if kind < 0.65:
            self.lines.append(f"{indent}if {self.filled(CONDITIONS, names)}:")
            self.block(depth - 1, names, inner)
            if self.rng.random() < 0.6:
                self.lines.append(f"{indent}else:")
                self.block(depth - 1, names, inner)
        elif kind < 0.75:
            name, count = self.rng.choice(names), f"n{self.count}"
            self.count += 1
            self.lines += [f"{indent}{count} = 0", f"{indent}while abs({name}) > 0.4 and {count} < 5:"]
            self.lines += [f"{inner}{count} += 1", f"{inner}{name} = 0.6 * {name}"]
            self.block(depth - 1, names, inner)
        elif kind < 0.82:
            self.lines.append(f"{indent}for k in range(int(abs({self.rng.choice(names)})) % 4):")
            self.lines.append(f"{inner}x = x + 0.1 * k")
            self.block(depth - 1, names, inner)
        elif kind < 0.87:
            self.lines.append(f"{indent}y = loops.fori_loop(0, 3, lambda i, c: 0.5 * c + math.sin(i * x), y)")
        elif kind < 0.91:
            self.lines.append(f"{indent}y = sum(v for v in [{', '.join(names[:4])}] if v > 0.2) + y")
        elif kind < 0.95:
            self.lines.append(f"{indent}seen.append(1)")
            self.lines.append(f"{indent}x = helper(x, 1 if y > 0.5 else 2)")
        else:
            self.lines += [f"{indent}if {self.rng.choice(names)} > 2.5:", f"{inner}raise ArithmeticError"]
        return names


@functools.lru_cache
def factor(power: int) -> float:
    return 0.5**power


def helper(x: Any, power: int) -> Any:
    return x * factor(power) if x < 1.0 else x - factor(power)


def source_of(seed: int) -> str:
    """Return the source of a function f(x, y, seen), where `seen` is a list."""
    dice = Dice(seed)
    names = dice.block(3, ["x", "y"], "    ")
    result = " + ".join(f"{0.5 + i / 10} * {name}" for i, name in enumerate(names))
    return "\n".join(["def f(x, y, seen=[]):", *dice.lines, f"    return {result}"])


def function_of(source: str) -> Callable[..., Any]:
    """Return the function with this source."""
    found: dict[str, Any] = {"math": math, "loops": loops, "helper": helper}
    exec(source, found)
    f: Callable[..., Any] = found["f"]
    return f
