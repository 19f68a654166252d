"""Random programs in the grammar of the command line, valid and invalid."""

from __future__ import annotations

import random
import re

from gradwalk.ops.table import TABLE

NAMES = ("a", "b", "x1", "é", "名", "_", "ﬁ")  # Python normalizes the last one to fi
NUMBERS = ("2", "0.5", "1_0", ".25", "3.", "1e2", "2.5e-1", "7")
FUNCTIONS = tuple(row for row in TABLE if row.is_function)
BINARY = ("+", "-", "*", "/", "//", "%", "**")
SIGNS = ("(", ")", "<", ">=", ",", "exp(", "where (", "maximum", "tanhh(", "=", ";", "\n", "# c")
# Typographic variants of operators and powers.
PRINTED = {"*": "\u00b7\u0387\u22c5\u00d7", "-": "\u2212\u2013", "/": "\u00f7"}
POWERS = ("\u00b2", "\u00b3", "\u207b\u00b9", "\u2074", "\u00b9\u2070")
TOKENS = (*NAMES, *NUMBERS, *BINARY, *SIGNS)
STRANGE = (
    "^",
    "1j",
    "'s'",
    ".data",
    "[",
    "==",
    "//=",
    "%=",
    "+=",
    "if",
    "True",
    "$",
    "\0",
    "\u3000",
    "\x1f",
    "😀",
    "²",
)


def expression(draw: random.Random, depth: int = 4) -> str:
    """Draw an expression."""
    kind = draw.random()
    if depth == 0 or kind < 0.15:
        return draw.choice(NAMES if draw.random() < 0.7 else NUMBERS)
    if kind < 0.3:
        return f"{draw.choice('+--')}{expression(draw, depth - 1)}"
    if kind < 0.45:
        return f"({expression(draw, depth - 1)})"
    if kind < 0.6:
        row = draw.choice(FUNCTIONS)
        return f"{row.name}({', '.join(expression(draw, depth - 1) for _ in range(row.arity))})"
    if kind < 0.65:
        sides = [expression(draw, depth - 1) for _ in range(2)]
        return f"({draw.choice(('<', '<=', '>', '>=')).join(sides)})"
    space = draw.choice(("", " "))
    return f"{space}{draw.choice(BINARY)}{space}".join(expression(draw, depth - 1) for _ in range(2))


def program(draw: random.Random) -> str:
    """Draw up to three named parts, which use earlier ones, and a last part with or without a name."""
    made = [f"p{i}" for i in range(draw.randrange(4))]
    parts = []
    for i, name in enumerate(made):
        earlier = draw.choice(made[:i]) if i and draw.random() < 0.8 else "a"
        parts.append(f"{name} = {earlier} {draw.choice(BINARY)} {expression(draw, 2)}")
    last = f"{' + '.join(draw.sample(made, min(2, len(made))) or ['b'])} * {expression(draw, 3)}"
    parts.append(draw.choice((last, f"L = {last}")))
    return draw.choice(("; ", ";", "\n", " ;\r\n\n")).join(parts)


def broken(draw: random.Random) -> str:
    """Draw a program and insert, delete or replace a few tokens."""
    text = program(draw) if draw.random() < 0.5 else expression(draw)
    for _ in range(draw.randint(1, 2)):
        place = draw.randrange(len(text) + 1)
        text = text[:place] + draw.choice((*TOKENS, *STRANGE, "")) + text[place + draw.randrange(2) :]
    return text


def typeset(draw: random.Random) -> str:
    """Draw a program, valid or not, with typographic operators and powers."""
    text = draw.choice((expression, program, broken))(draw)

    def printed(found: re.Match[str]) -> str:
        return draw.choice(PRINTED[found[0]]) if draw.random() < 0.6 else found[0]

    def raised(found: re.Match[str]) -> str:
        return found[0] + draw.choice(POWERS) if draw.random() < 0.2 else found[0]

    text = re.sub(r"(?<!\*)\*(?!\*)|(?<!/)/(?!/)|-", printed, text)
    return re.sub(r"\b[abp]\w*(?!\w|\s*[=(])|\)", raised, text)


def soup(draw: random.Random) -> str:
    """Draw arbitrary tokens."""
    return draw.choice(("", " ")).join(draw.choices((*TOKENS, *STRANGE), k=draw.randrange(9)))
