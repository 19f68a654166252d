"""`Kernel`: runs a program on a batch, block by block, on all cores, without Python and without a compiler."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from numpy.typing import NDArray

from gradwalk.backend import thread_pool
from gradwalk.backend.cpu import lanes
from gradwalk.backend.schedule import Schedule
from gradwalk.ops import c_compat
from gradwalk.program.program import Program

if TYPE_CHECKING:
    from gradwalk.ops import _cython as cython
else:
    import cython

LANES = 128  # of a block: more share the cost of an instruction, fewer leave more rows in the cache
STRANDS = 64  # that a batch is cut into at most: the shares of threads, whatever their number
_FEWEST_STRANDS = 8  # that they are cut into if they can be, however many outputs there are
_LARGEST_TOTALS = 1 << 17  # sums, of all strands together, if that leaves these few
_LEAST_WORK = 2_000_000  # lanes of instructions that are worth another thread

_TILE = 8  # columns that are read together where they stand side by side
_TILES = 4  # that are kept

INSTRUCTION_SETS = ("baseline", "avx2", "avx512")[: lanes.instruction_sets()]


def _chosen() -> str:
    """What GRADWALK_INSTRUCTION_SET says, or the largest that this machine has."""
    name = os.environ.get("GRADWALK_INSTRUCTION_SET") or INSTRUCTION_SETS[-1]
    if name not in INSTRUCTION_SETS:
        raise ValueError(f"GRADWALK_INSTRUCTION_SET={name}: this machine has {', '.join(INSTRUCTION_SETS)}")
    return name


instruction_set = _chosen()


class Columns:
    """One-dimensional arrays of the same length: all that arrays hold along their first axes."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self.arrays = arrays  # which have to live as long as their addresses are used
        self.addresses: Any
        self.strides: Any
        self.tiles: Any  # for each column, the first of 8 side by side that it is one of, or -1
        if cython.compiled:
            addresses = [_addresses(array) for array in arrays]
            strides = [numpy.full(len(found), array.strides[0]) for array, found in zip(arrays, addresses, strict=True)]
            self.addresses = _joined(addresses).astype(numpy.intp)
            self.strides = _joined(strides)
            self.tiles = _tiles(arrays, addresses)
        else:
            self.addresses = [array[:, *at] for array in arrays for at in numpy.ndindex(array.shape[1:])]
            self.strides = self.tiles = []


class Kernel:
    """A program for batches.

    `varies`: for each input of the program, whether it has a number for each sample, in a column, or one for all.
    `reduced`: whether the outputs are wanted as sums over the batch.
    """

    def __init__(self, program: Program, varies: Sequence[bool], *, reduced: bool = False, lanes: int = LANES) -> None:
        if lanes < 1 or lanes % 16:
            raise ValueError(f"a block has a positive multiple of 16 lanes, not {lanes}")
        self.schedule = Schedule(program, varies, reduced)
        self.reduced = reduced
        self.lanes = lanes
        self._outputs = len(program.outputs)
        self._scratch: list[Any] = []  # memory of threads that have ended their work

    def __str__(self) -> str:
        return str(self.schedule)

    def __reduce__(self) -> Any:
        return _made, (self.schedule.program, self.schedule.varies, self.reduced, self.lanes)

    @property
    def memory(self) -> int:
        """Bytes that each thread works in: slots · lanes · 8, and as much for 32 columns more.

        Inputs and outputs come on top, and where it is reduced 16 bytes for each output and strand, at most 64 strands.
        """
        return (self.schedule.slots + _TILE * _TILES) * self.lanes * 8

    def run(self, numbers: NDArray[Any], columns: Columns, outputs: Columns, count: int, *, single: bool) -> Any:
        """Run the program on `count` samples: the outputs that do not vary or, where it is reduced, all sums.

        `numbers`: float64, the inputs that do not vary. `columns`: the others. `outputs`: where the outputs that vary
        are written to, by the position of each. All of these are float32 where it is `single`, else float64.
        """
        once = self.schedule.once.run(numbers)
        with numpy.errstate(over="ignore"):  # inf is what float32 has for larger numbers
            scalars = once[: self.schedule.scalars].astype(numpy.float32 if single else numpy.float64)
        strands = self._strands(count)
        totals = numpy.zeros((strands if self.reduced else 1, self._outputs, 2))

        def work(tasks: Iterator[int]) -> None:
            try:
                scratch = self._scratch.pop()
            except IndexError:
                scratch = self._new_scratch()
            for strand in tasks:
                blocks = -(-count // self.lanes)
                first, last = [min(count, i * blocks // strands * self.lanes) for i in (strand, strand + 1)]
                self._run(
                    single, scalars, columns, outputs, totals[strand if self.reduced else 0], scratch, first, last
                )
            self._scratch.append(scratch)

        if len(self.schedule) * count < _LEAST_WORK:
            work(iter(range(strands)))
        else:
            thread_pool.spread(range(strands), work)
        fixed = once[self.schedule.scalars :]
        return self._sums(totals, fixed, count) if self.reduced else fixed

    def _run(
        self,
        single: bool,
        scalars: Any,
        columns: Columns,
        outputs: Columns,
        totals: Any,
        scratch: Any,
        first: cython.longlong,
        last: cython.longlong,
    ) -> None:
        """Run all instructions for the samples from `first` to `last`."""
        chosen: cython.int = INSTRUCTION_SETS.index(instruction_set)
        in_float32: cython.bint = single
        code: cython.p_int = c_compat.integers(self.schedule.code)
        length: cython.longlong = len(self.schedule.code)
        slots: cython.longlong = self.schedule.slots
        width: cython.longlong = self.lanes
        scalar: cython.p_void = c_compat.cells(scalars)
        column: cython.p_void = c_compat.cells(columns.addresses)
        stride: cython.p_void = c_compat.cells(columns.strides)
        tile: cython.p_void = c_compat.cells(columns.tiles)
        output: cython.p_void = c_compat.cells(outputs.addresses)
        output_stride: cython.p_void = c_compat.cells(outputs.strides)
        total: cython.p_void = c_compat.cells(totals.reshape(-1))
        rows, cells = scratch
        row: cython.p_void = c_compat.cells(rows)
        cell: cython.p_void = c_compat.cells(cells)
        with cython.nogil:
            lanes.run(
                chosen,
                in_float32,
                code,
                length,
                scalar,
                column,
                stride,
                tile,
                output,
                output_stride,
                total,
                row,
                cell,
                slots,
                width,
                first,
                last,
            )

    def _strands(self, count: int) -> int:
        """How many strands a batch is cut into. Sums depend on it: it follows from the program and the batch alone."""
        most = max(_FEWEST_STRANDS, _LARGEST_TOTALS // max(1, self._outputs)) if self.reduced else STRANDS
        return max(1, min(STRANDS, most, -(-count // self.lanes)))

    def _new_scratch(self) -> tuple[Any, Any]:
        """The addresses of rows, and room for them."""
        return numpy.empty(max(1, self.schedule.slots), numpy.intp), numpy.empty(self.memory + 64, numpy.uint8)

    def _sums(self, totals: Any, fixed: Any, count: int) -> Any:
        """The sums over the batch, from those of the strands."""
        lanes.add_totals(c_compat.doubles(totals.reshape(-1)), len(totals), self._outputs)
        totals, lost = totals[0].T
        with numpy.errstate(all="ignore"):
            sums = numpy.where(numpy.isfinite(lost), totals + lost, totals)  # inf takes all else away
            sums[self.schedule.fixed] = fixed * count if count else 0.0  # of nothing, even where that is inf
        return sums


def _made(program: Program, varies: tuple[bool, ...], reduced: bool, lanes: int) -> Kernel:
    """A kernel as it was pickled."""
    return Kernel(program, varies, reduced=reduced, lanes=lanes)


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[numpy.int64]:
    return numpy.concatenate(parts, dtype=numpy.int64) if parts else numpy.zeros(1, numpy.int64)


def _addresses(array: NDArray[Any]) -> NDArray[numpy.int64]:
    """Where the first number of each column of an array stands in memory."""
    offsets = numpy.full((), array.__array_interface__["data"][0], numpy.int64)
    for length, stride in zip(array.shape[1:], array.strides[1:], strict=True):
        offsets = offsets[..., None] + stride * numpy.arange(length)
    return offsets.ravel()


def _tiles(arrays: Sequence[NDArray[Any]], addresses: Sequence[NDArray[numpy.int64]]) -> NDArray[numpy.int64]:
    """For each column, the first of 8 side by side that it is one of, or -1."""
    tiles = _joined([numpy.full(len(found), -1) for found in addresses])
    first = 0
    for array, found in zip(arrays, addresses, strict=True):
        whole = len(found) // _TILE * _TILE
        if whole and array.flags.aligned and array.strides[0] != array.itemsize:
            are_adjacent = (numpy.diff(found[:whole].reshape(-1, _TILE)) == array.itemsize).all(axis=1)
            starts = numpy.where(are_adjacent, numpy.arange(first, first + whole, _TILE), -1)
            tiles[first : first + whole] = numpy.repeat(starts, _TILE)
        first += len(found)
    return tiles
