"""Write docs/reference/jax_numpy.md: the names of jax.numpy, and how gradwalk.numpy differs.

usage: python tools/jax_numpy_names.py [--check]

With --check nothing is written, and the exit code is 1 if the page is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy
from website.links import DOCS

import gradwalk.numpy as gnp
from gradwalk.numpy.names.advice import ADVICE, NUMBERS_ONLY

PAGE = DOCS / "reference" / "jax_numpy.md"

_CONDITION = "in a recorded function, the result contains Values that are 1 or 0"
_INDEX = "in a recorded function, the result contains Values, which only `take` accepts as indices"
_SIZE = "without `size`; a recorded function records one path for each selection"
_DTYPE = "`dtype` must be a floating dtype for Values, which keep float64"

_GROUPS = {
    _CONDITION: "all any allclose array_equal array_equiv equal greater greater_equal isclose isfinite isin isinf "
    "isnan isneginf isposinf less less_equal logical_and logical_not logical_or logical_xor not_equal signbit",
    _INDEX: "argmax argmin argsort count_nonzero digitize nanargmax nanargmin searchsorted linalg.matrix_rank",
    _SIZE: "argwhere compress extract flatnonzero intersect1d nonzero setdiff1d setxor1d trim_zeros union1d unique",
    _DTYPE: "array asarray astype mean nanmean nanstd nanvar prod std sum var",
    "for Values, the result is an array of float64": "empty_like full_like ones_like zeros_like",
}
_NOTES = {
    "abs": "the derivative at 0 is 0",
    "absolute": "the derivative at 0 is 0",
    "fabs": "the derivative at 0 is 0",
    "take_along_axis": "indices that are data, such as a recorded `argsort`, are refused",
    "bincount": "`x` must be known; without `length`",
    "choose": "an index that is data and out of range gives nan",
    "histogram": "in a recorded function, `range` or the edges must be given",
    "interp": "`period` for numbers only; without `left='extrapolate'`",
    "linalg.cholesky": "reads one triangle; JAX reads both",
    "linalg.lstsq": "the rank is a Value in a recorded function",
    "linalg.qr": '`mode="complete"` needs a square or wide matrix of Values',
    "linalg.svd": "`full_matrices=True` needs a square matrix of Values",
    "partition": "Values are sorted",
    "sort": "without `descending`",
    "take": "an index that is data and out of range gives nan",
    "where": "without `size` for one argument",
}
DIFFERENCES = {name: note for note, names in _GROUPS.items() for name in names.split()} | _NOTES
OWN = {"at", "linalg.expm"}  # functions that jax.numpy has in another place

TEXT = """# gradwalk.numpy and jax.numpy

`from gradwalk import numpy as jnp` replaces `from jax import numpy as jnp` in a program that is ported from JAX. This
table lists the names of `jax.numpy`, and the differences of `gradwalk.numpy`:

- *same*: the function has the parameters and results of JAX, except `out`, `device`, `precision` and similar options.
  *NumPy's* means that the name is NumPy's own object, which works on arrays of Values.
- *differs*: a difference, for arrays of Values.
- *numbers only*: the function accepts arrays of numbers, and raises a `TypeError` for Values.
- *use*: the name does not exist, and its error message contains this advice.

The tests compare the values and two derivatives of all differentiable functions with JAX, in eager and recorded
functions.

| name | state |
|---|---|
{rows}

## Operators

The operators of arrays are NumPy's. In a recorded function, `x < y` of arrays branches on each element, so `jit` and
`vmap` record one path for each combination of outcomes. `less(x, y)` needs one recording, as in JAX.

## Updates of elements

`x.at[i].set(v)` becomes `at(x)[i].set(v)`. The other methods are `add`, `subtract`, `multiply`, `divide`, `power`,
`min`, `max`, `apply` and `get`. An index that is out of range raises an `IndexError`; JAX ignores it.
`jax.scipy.linalg.expm` is `linalg.expm`.
"""


def states() -> Iterator[tuple[str, str]]:
    """Yield the names, and their states."""
    for prefix, module, origin in (("", gnp, numpy), ("linalg.", gnp.linalg, numpy.linalg)):
        names = {name for name in dir(module) if not _is_hidden(name, module)}
        for name in sorted(names | (ADVICE.keys() if module is gnp else set()), key=str.lower):
            if prefix + name not in OWN:
                yield prefix + name, _state(prefix + name, name, module, origin)


def _is_hidden(name: str, module: ModuleType) -> bool:
    """Return whether a name is not public: private, a submodule, or an import of the module itself."""
    thing = getattr(module, name)
    return name.startswith("_") or isinstance(thing, ModuleType) or name in {"annotations", "TYPE_CHECKING"}


def _state(path: str, name: str, module: ModuleType, origin: Any) -> str:
    if module is gnp and name in ADVICE:
        return f"use {ADVICE[name]}"
    if name in NUMBERS_ONLY:
        return f"numbers only: {NUMBERS_ONLY[name]}"
    if path in DIFFERENCES:
        return f"differs: {DIFFERENCES[path]}"
    is_numpys = getattr(module, name) is getattr(origin, name, getattr(numpy, name, None))
    return "same (NumPy's)" if is_numpys else "same"


def page() -> str:
    """Return the page."""
    return TEXT.format(rows="\n".join([f"| `{name}` | {state} |" for name, state in states()]))


def main() -> int:
    """Write the page, or check it; return the exit code."""
    new = page()
    if "--check" not in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
        print("out of date: jax_numpy.md - run: python tools/jax_numpy_names.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
