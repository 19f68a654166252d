"""`BatchCode`: what a batch runs, as data for the C printer: the prologue, the code for lanes, and the sums."""

from __future__ import annotations

from typing import NamedTuple

from gradwalk.backend.lane_kernel import LaneKernel
from gradwalk.backend.llvm.lane_program import LaneProgram, lane_program
from gradwalk.backend.loops.loop_kernel import LoopKernel
from gradwalk.backend.schedule.analysis import analyse
from gradwalk.backend.schedule.encoding import FORMS, WIDTH
from gradwalk.backend.schedule.prologue import make_prologue
from gradwalk.backend.schedule.schedule import Schedule
from gradwalk.batching.axes import SUMS
from gradwalk.batching.files.batch_program import BatchProgram
from gradwalk.exporting.lanes.lane_printer import LaneText, array_sizes, lane_text
from gradwalk.exporting.lanes.lane_writer import LANES
from gradwalk.program.code.opcodes import DOT, LOAD, SCATTER, STORE, SUM
from gradwalk.program.program import Program
from gradwalk.program.routine.limits import why_not_lowerable
from gradwalk.program.routine.lower_calls import routine_on_lanes
from gradwalk.program.routine.lower_program import TooLargeError

_MOST_STATEMENTS = 20_000
MOST_LINES = (
    5_000  # maximum number of lines of C for lanes: compilers take about 10 s for 5,000 lines, 100 s for 20,000
)
_MOST_BYTES = 1 << 18  # maximum size of the arrays of a function for lanes, on the stack


class Term(NamedTuple):
    """A term of a sum over the batch, or a result that is stored for each sample.

    Attributes:
        output: The position of the output.
        text: The number of lane `l` as C text; for a term that is the same for all samples, C text without `l`.
        is_same: Whether the term is the same for all samples.
    """

    output: int
    text: str
    is_same: bool = False


class BatchCode(NamedTuple):
    """A batch as data for the C printer.

    Attributes:
        prologue: The program that runs once per batch. Its inputs are the numbers that all samples share. Its outputs
            are the scalars, then the outputs that are the same for all samples.
        scalars: The number of scalars.
        fixed: The positions of the outputs that are the same for all samples.
        columns: For each row of numbers that the lanes read, the number of its column.
        results: The number of rows that the lanes write.
        terms: The terms of the sums in the order in which they are added, or the results that are stored.
        lanes: The code for lanes; None to run the program of one sample for each lane.
        slots: The number of slots of the kernel, which determines the number of samples in a block.
        is_split: Whether outputs are split into terms that are summed separately.
    """

    prologue: Program
    scalars: int
    fixed: tuple[int, ...]
    columns: list[int]
    results: int
    terms: list[Term]
    lanes: LaneText | None
    slots: int
    is_split: bool

    @property
    def needs_samples(self) -> bool:
        """Whether a batch may run sample by sample: always, or if a sum that is split into terms is not finite."""
        return self.lanes is None or self.is_split


def batch_code(batch: BatchProgram) -> BatchCode:
    """Return the code of a batch program, with the order of sums of the kernel that runs it in this process."""
    schedule, program = scheduled(batch)
    rows = program.schedule.reshape(-1, WIDTH).tolist()
    lanes = None if any(row[0] // FORMS == SCATTER for row in rows) else _lane_text(program)
    if lanes is None:
        return by_samples(batch, schedule)
    column_of = {slot: column for operation, slot, column, *_ in rows if operation == FORMS * LOAD}
    inputs = program.code.inputs - program.scalars
    columns = [column_of[slot] for slot in range(inputs)]
    results = len(program.code.outputs)
    place = {slot: f"rows[{slot}][l]" for slot in range(inputs)}
    place |= {inputs + k: f"results[{LANES * k} + l]" for k in range(results)}
    for slot in sorted(column_of.keys() - place.keys()):  # outputs that are inputs
        place[slot] = f"rows[{len(columns)}][l]"
        columns.append(column_of[slot])
    terms = [_term(row, place) for row in rows if row[0] // FORMS in (STORE, SUM, DOT)]
    return BatchCode(
        schedule.prologue,
        schedule.scalars,
        schedule.fixed,
        columns,
        results,
        terms,
        lanes,
        schedule.slots,
        schedule.apart,
    )


def scheduled(batch: BatchProgram) -> tuple[Schedule, LaneProgram]:
    """Return the schedule of a batch, and the program that lanes run."""
    kernel = batch.kernel
    if isinstance(kernel, LoopKernel):
        return kernel.scheduled()
    assert isinstance(kernel, LaneKernel)
    schedule = kernel.schedule
    analysis = analyse(schedule.program, schedule.varies, schedule.reduced, schedule.apart)
    return schedule, lane_program(analysis, make_prologue(analysis))


def by_samples(batch: BatchProgram, schedule: Schedule) -> BatchCode:
    """Return the code of a batch that runs the program of one sample for each lane."""
    count = sum(schedule.varies)
    outputs = [i for i in range(len(batch.sample.outputs)) if i not in schedule.fixed]
    terms = [Term(i, f"results[{LANES * i} + l]") for i in outputs]
    return BatchCode(
        schedule.prologue,
        schedule.scalars,
        schedule.fixed,
        list(range(count)),
        len(batch.sample.outputs),
        terms,
        None,
        schedule.slots,
        is_split=False,
    )


def _lane_text(program: LaneProgram) -> LaneText | None:
    """Return the code for lanes; None if it is too large, its memory has no bound, or a loop contains a batch."""
    if why_not_lowerable(program.code):
        return None
    try:
        routine = routine_on_lanes(program.code, program.scalars, LANES, memory=_MOST_BYTES // 2, most=_MOST_STATEMENTS)
    except TooLargeError:
        return None
    sizes = array_sizes(routine)
    if sizes is None or 8 * sum(sizes.values()) > _MOST_BYTES:
        return None
    found = lane_text(routine, sizes)
    return found if found.bytes <= _MOST_BYTES and len(found.lines) <= MOST_LINES else None


def _term(row: list[int], place: dict[int, str]) -> Term:
    operation, output, x, y, _ = row
    opcode, form = divmod(operation, FORMS)
    if opcode == DOT:
        return Term(output, f"{place[x]} * {f'scalars[{y}]' if form == 2 else place[y]}")
    return Term(output, f"scalars[{x}]", is_same=True) if form else Term(output, place[x])


def is_reduced(batch: BatchProgram) -> bool:
    """Return whether the results are sums or means over the batch."""
    return batch.reduce in SUMS
