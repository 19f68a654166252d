"""Random programs for batches, run on lanes, one sample at a time, and with NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy
from hypothesis import strategies as st
from programs import EVERY, OPCODES

from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.ops.compiled.evaluate import ARITIES
from gradwalk.ops.compiled.opcodes import NAMES
from gradwalk.program.code import opcodes
from gradwalk.program.program import Program

SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -1e-310, 2.3e-308, 1e-300, 1e300, -1.7e308]
FUSED = {name: opcodes.OPCODES[name] for name in ("muladd", "mulsub", "submul")}

# Operations that IEEE 754 specifies exactly, written from the definitions, not from the table.
EXACT: dict[str, Callable[..., Any]] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "div": numpy.divide,
    "neg": numpy.negative,
    "abs": numpy.absolute,
    "sqrt": numpy.sqrt,
    "relu": lambda x: numpy.where(x < 0, 0, x),
    "maximum": lambda x, y: numpy.where(numpy.isnan(y) | (x < y), y, x),
    "minimum": lambda x, y: numpy.where(numpy.isnan(y) | (x > y), y, x),
    "where": lambda x, y, z: numpy.where(x != 0, y, z),
    "sign": lambda x: numpy.where(x > 0, 1, numpy.where(x < 0, -1, x)),
    "less": lambda x, y: numpy.where(x < y, 1, 0),
    "less_equal": lambda x, y: numpy.where(x <= y, 1, 0),
    "equal": lambda x, y: numpy.where(x == y, 1, 0),
    "stop_gradient": lambda x: x,
    "muladd": lambda x, y, z: x * y + z,
    "mulsub": lambda x, y, z: x * y - z,
    "submul": lambda x, y, z: z - x * y,
}
ALL = [*EVERY, *FUSED]


def opcode(name: str) -> int:
    return FUSED[name] if name in FUSED else OPCODES[name]


def arity(code: int) -> int:
    return 3 if code in FUSED.values() else ARITIES[code]


def spelled(code: int) -> str:
    return next((name for name, fused in FUSED.items() if fused == code), "") or NAMES[code]


@dataclass(frozen=True)
class Case:
    """A program and the inputs that vary over the batch."""

    program: Program
    varies: tuple[bool, ...]

    def __repr__(self) -> str:
        return f"{self.varies}\n{self.program}"

    def batch(self, seed: int, count: int, kind: Any = numpy.float64) -> tuple[Any, list[Any]]:
        """Draw numbers for fixed inputs and columns, with various memory layouts, for varying ones."""
        generator = numpy.random.default_rng(seed)
        shared = numbers(generator, len(self.varies) - sum(self.varies))
        columns = [numbers(generator, count, kind) for _ in range(sum(self.varies))]
        return shared, [laid_out(generator, column) for column in columns]

    def one_at_a_time(self, shared: Any, columns: Sequence[Any], count: int) -> Any:
        """Compute the outputs with `Program.run`, one row per sample."""
        rows = numpy.empty((count, len(self.varies)))
        rows[:, numpy.flatnonzero(numpy.logical_not(self.varies))] = shared
        for i, column in zip(numpy.flatnonzero(self.varies), columns, strict=True):
            rows[:, i] = column
        results = [self.program.run(row) for row in rows]
        return numpy.array(results).reshape(count, len(self.program.outputs))

    def by_numpy(self, shared: Any, columns: Sequence[Any], count: int, kind: Any) -> Any:
        """Compute the outputs with NumPy, one row per sample: varying inputs in `kind`, fixed ones in float64."""
        given = iter(shared)
        varying = iter(columns)
        results = [next(varying) if varies else numpy.float64(next(given)) for varies in self.varies]
        results += [numpy.float64(constant) for constant in self.program.constants]
        varies = [*self.varies, *[False] * len(self.program.constants)]
        with numpy.errstate(all="ignore"):
            for code, *indices in self.program.instructions.reshape(-1, 4).tolist():
                used = indices[: arity(code)]
                varies.append(any(varies[index] for index in used))
                of_kind = kind if varies[-1] else numpy.float64
                result = EXACT[spelled(code)](*[results[index].astype(of_kind) for index in used])
                results.append(numpy.asarray(result, of_kind)[()])
            outputs = [numpy.broadcast_to(results[index], count).astype(kind) for index in self.program.outputs]
        return numpy.stack(outputs, axis=1) if outputs else numpy.empty((count, 0), kind)


@st.composite
def cases(draw: st.DrawFn, names: Sequence[str], longest: int = 12) -> Case:
    """Draw programs of these operations, whose operands are inputs, constants and results, often repeated."""
    varies = draw(st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=5))
    constants = draw(st.lists(st.sampled_from([*SPECIAL, 0.5, 2.0, 3.0]), max_size=3))
    code = []
    first = len(varies) + len(constants)
    end = first + draw(st.integers(0, longest))
    for index in range(first, end):
        operation = opcode(draw(st.sampled_from(list(names))))
        recent = st.integers(max(0, index - 3), index - 1)
        indices = [draw(st.one_of(recent, st.integers(0, index - 1))) for _ in range(arity(operation))]
        code += [operation, *indices, *[0] * (3 - len(indices))]
    outputs = draw(st.lists(st.integers(max(0, end - 6), end - 1), min_size=1, max_size=4))
    return Case(Program(len(varies), constants, numpy.array(code, numpy.int32), [], outputs), tuple(varies))


def numbers(generator: numpy.random.Generator, count: int, kind: Any = numpy.float64) -> Any:
    """Draw ordinary numbers with some special ones."""
    ordinary = generator.normal(size=count) * 10.0 ** generator.integers(-3, 4, count)
    return rounded(numpy.where(generator.random(count) < 0.3, generator.choice(SPECIAL, count), ordinary), kind)


def rounded(array: Any, kind: Any) -> Any:
    """Convert to a type; numbers too large for it become inf."""
    with numpy.errstate(all="ignore"):
        return numpy.asarray(array).astype(kind)


def laid_out(generator: numpy.random.Generator, column: Any) -> Any:
    """Copy a column to one of several memory layouts, read-only."""
    count, size = len(column), column.itemsize
    way = generator.integers(6)
    if way == 0:
        result = column.copy()
    elif way == 1:
        result = numpy.repeat(column, 3)[::3]
    elif way == 2:
        result = column[::-1].copy()[::-1]
    elif way == 3:  # unaligned
        result = numpy.frombuffer(b"?" + column.tobytes() + b"?" * size, column.dtype, count, offset=1)
    elif way == 4:  # a field of a structured array
        records = numpy.zeros(count, [("before", "u1"), ("number", column.dtype), ("after", "u2")])
        records["number"] = column
        result = records["number"]
    else:
        result = numpy.asfortranarray(numpy.stack([column, column, column], axis=1))[:, 1]
    result.flags.writeable = False
    return result


def on_lanes(kernel: LaneKernel, shared: Any, columns: Sequence[Any], count: int, kind: Any = numpy.float64) -> Any:
    """Compute the outputs on lanes, one row per sample, or their sums if the kernel reduces."""
    single = kind is numpy.float32
    if kernel.reduced:
        return kernel.run(shared, columns, [], count, single=single)
    outputs = numpy.full((len(kernel.schedule.program.outputs), count), 12345.0, kind)
    fixed = kernel.run(shared, columns, list(outputs), count, single=single)
    outputs[list(kernel.fixed)] = rounded(fixed, kind)[:, None]
    return outputs.T


def same(a: Any, b: Any) -> Any:
    """Compare bits elementwise, with signed zeros distinct and all nans equal."""
    return (numpy.isnan(a) & numpy.isnan(b)) | ((a == b) & (numpy.signbit(a) == numpy.signbit(b)))


def ulps_apart(a: Any, b: Any) -> Any:
    """Return the distance of two arrays in ulp of the larger number; 0 for two nans."""
    with numpy.errstate(all="ignore"):
        apart = numpy.abs(a.astype(numpy.longdouble) - b) / numpy.spacing(numpy.maximum(numpy.abs(a), numpy.abs(b)))
        apart = numpy.where(numpy.isfinite(a) & numpy.isfinite(b) & ((a != 0) | (b != 0)), apart, math.inf)
    return numpy.where(same(a, b), 0.0, apart.astype(float))
